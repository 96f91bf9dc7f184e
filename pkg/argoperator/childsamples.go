package argoperator

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/expression"
	"github.com/argoperator/argoperator/pkg/internal/plan"
	"github.com/argoperator/argoperator/pkg/internal/resource"
)

const (
	// randomSamples of any legal custom resource are tried on every template.
	randomSamples = 8
	// maxSamples of those that all templates share, with the edges of values.
	maxSamples = 40
	// maxSearch is how many custom resources are asked whether they want a child.
	maxSearch = 256
)

// samples are the custom resources that templates are tried on. Plausible ones
// come first: with the required fields, with all of them, and one step away from
// those, wherever a template looks. Others have values that are only legal.
type samples struct {
	api    plan.Kind
	schema *resource.Schema // nil where nothing is known of the fields
	// sensible is the schema for what only has to be legal: a text with a default
	// keeps it, as whoever wrote the default has shown what the text is.
	sensible *resource.Schema
	plain    []customResource // plausible: the required fields, and all of them
	wild     []customResource
	known    map[string]customResource // by what is written
}

// customResource is a custom resource as it is written and as the API server hands it out.
type customResource struct {
	id              string // what is written, as JSON
	written, served map[string]any
}

func newSamples(d *definition.Definition, p *plan.Plan) *samples {
	k := p.API.Kind
	s := &samples{api: k, known: map[string]customResource{}}
	schema, err := resource.New(resource.Kind{
		Group: k.Group, Version: k.Version, Kind: k.Kind, Namespaced: k.Namespaced, Status: k.StatusSubresource,
	}, d.Schema(d.WorkingVersion()))
	if err != nil { // an existing kind has none; what is wrong with a schema is found elsewhere
		return s
	}
	s.schema, s.sensible = schema, schema.Sensible()
	add := func(list *[]customResource, object map[string]any, err error) {
		if err == nil && len(s.known) < maxSamples { // what has no sample cannot be tried
			before := len(s.known)
			if one := s.served(object); len(s.known) > before {
				*list = append(*list, one)
			}
		}
	}
	start, err := s.schema.Start()
	add(&s.plain, start, err)
	full, err := s.schema.Full()
	add(&s.plain, full, err)
	minimal, err := s.schema.Minimal()
	add(&s.wild, minimal, err)
	random := rand.New(rand.NewPCG(1, 2)) // the same samples every time
	for range randomSamples {
		object, err := s.sensible.Random(random)
		add(&s.wild, object, err)
	}
	if full != nil {
		for _, edge := range s.sensible.EdgesOf(full) {
			add(&s.wild, edge.Object, nil)
		}
	}
	return s
}

// served is what the API server makes of a custom resource.
func (s *samples) served(written map[string]any) customResource {
	data, err := json.Marshal(written)
	id := string(data)
	if known, ok := s.known[id]; ok && err == nil {
		return known
	}
	one := customResource{id, written, alive(s.schema.Defaulted(written), s.api.Namespaced)}
	s.known[id] = one
	return one
}

// of are the samples for a child: those of all children, and what is one step
// from a plausible one that wants the child.
func (s *samples) of(t *trial) []customResource {
	if s.schema == nil {
		return []customResource{{served: alive(map[string]any{"apiVersion": s.api.APIVersion(), "kind": s.api.Kind}, s.api.Namespaced)}}
	}
	if len(s.plain) == 0 {
		return s.wild
	}
	var list []customResource
	full := s.plain[len(s.plain)-1]
	for i, from := range s.plain {
		base, steps := s.wanting(t, from, full)
		if steps < 0 {
			continue
		}
		list = append(list, base)
		list = append(list, s.asking(t, base, full)...)
		list = append(list, s.steps(s.sensible, base, full, t.child.Object)...)
		if i == len(s.plain)-1 && steps > 0 {
			for _, edge := range s.sensible.EdgesOf(base.written) {
				list = append(list, s.served(edge.Object))
			}
		}
	}
	return append(list, s.wild...)
}

// wanting looks for a sample that wants the child, in as few steps from another
// as it takes, and says how many; -1 if none was found.
func (s *samples) wanting(t *trial, from, full customResource) (wanting customResource, steps int) {
	wants := func(cr customResource) bool {
		return slices.ContainsFunc(t.around(cr), func(among surroundings) bool { return t.wants(cr, among) })
	}
	level, asked := []customResource{from}, map[string]bool{from.id: true}
	for steps = 0; len(level) > 0; steps++ {
		var next []customResource
		for _, cr := range level {
			if wants(cr) {
				return cr, steps
			}
		}
		for _, cr := range level {
			if len(asked) > maxSearch {
				return customResource{}, -1
			}
			for _, near := range s.asking(t, cr, full) {
				if !asked[near.id] {
					asked[near.id] = true
					next = append(next, near)
				}
			}
		}
		level = next
	}
	return customResource{}, -1
}

// asking are the samples next to one in what decides whether the child is wanted.
func (s *samples) asking(t *trial, from, full customResource) []customResource {
	return s.steps(s.schema, from, full, t.child.When, t.child.ForEach)
}

// steps are the samples next to one, wherever programs look. The schema says
// which values texts may take.
func (s *samples) steps(schema *resource.Schema, from, full customResource, programs ...*expression.Program) []customResource {
	var about [][]string
	var words []any
	for _, p := range programs {
		if p != nil {
			about = append(about, p.Reads()...)
			words = append(words, resource.ComparedValues(p.Source())...)
		}
	}
	if about == nil {
		return nil
	}
	var out []customResource
	for _, object := range schema.Variants(from.written, full.written, about, words) {
		out = append(out, s.served(object))
	}
	return out
}

// reworded are samples like one, with other words in its free texts.
func (s *samples) reworded(like customResource, complaint string) []customResource {
	if s.schema == nil || like.written == nil {
		return nil
	}
	var out []customResource
	for _, object := range s.schema.Reworded(like.written, complaint) {
		out = append(out, s.served(object))
	}
	return out
}

// alive gives an object what the API server adds.
func alive(object map[string]any, namespaced bool) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	metadata["name"] = "sample"
	metadata["uid"] = "00000000-0000-4000-8000-000000000000"
	metadata["generation"] = 1
	metadata["creationTimestamp"] = "2000-01-01T00:00:00Z"
	if namespaced {
		metadata["namespace"] = "default"
	}
	return object
}
