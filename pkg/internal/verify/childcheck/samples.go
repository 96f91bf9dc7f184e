package childcheck

import (
	"encoding/json"
	"math/rand/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

const (
	// randomSamples is the number of random valid custom resources per template.
	randomSamples = 4
	// maxSamples limits the samples that all templates share, including edge cases.
	maxSamples = 40
	// maxSearch limits the custom resources evaluated to find one that has the
	// child.
	maxSearch = 256
)

// samples are the custom resources to check templates with. Plausible ones come
// first: with the required fields, with all fields, and with one change to a field
// that the template reads. Others have values that are valid but unlikely.
type samples struct {
	api    plan.Kind
	place  place
	schema *resource.Schema // nil if the fields are unknown
	// sensible is the schema for random values: a text with a default keeps it,
	// because the default shows what the text means.
	sensible  *resource.Schema
	plausible []customResource // plausible: the required fields, and all fields
	unlikely  []customResource
	known     map[string]customResource // by id

	there, none map[string]any // see run.related
}

// customResource is a custom resource as written by a user and as the API server
// returns it.
type customResource struct {
	id              string // the written fields as JSON
	written, served map[string]any
}

func newSamples(d *definition.Definition, p *plan.Plan, at place) *samples {
	s := &samples{api: p.API.Kind, place: at, known: map[string]customResource{}}
	schema := Schema(d, p)
	if schema == nil {
		return s
	}
	s.schema, s.sensible = schema, schema.Sensible()
	add := func(list *[]customResource, object map[string]any, err error) {
		if err == nil && len(s.known) < maxSamples { // ignore fields without a sample
			before := len(s.known)
			if one := s.served(object); len(s.known) > before {
				*list = append(*list, one)
			}
		}
	}
	start, err := s.schema.Start()
	add(&s.plausible, start, err)
	full, err := s.schema.Full()
	add(&s.plausible, full, err)
	if full != nil {
		add(&s.plausible, s.withKeys(p, full), nil)
	}
	minimal, err := s.schema.Minimal()
	add(&s.unlikely, minimal, err)
	random := rand.New(rand.NewPCG(1, 2)) // fixed seed: the same samples every time
	for range randomSamples {
		object, err := s.sensible.Random(random)
		add(&s.unlikely, object, err)
	}
	if full != nil {
		for _, edge := range s.sensible.EdgesOf(full) {
			add(&s.unlikely, edge.Object, nil)
		}
	}
	return s
}

// Schema returns the schema of the custom resources; nil for an existing kind, and for a
// schema with errors, which are reported elsewhere.
func Schema(d *definition.Definition, p *plan.Plan) *resource.Schema {
	return schemaOf(p.API.Kind, p.API.Kind.Version, d.Schema(d.WorkingVersion()))
}

// schemaOf returns the schema of a kind in a version; nil for one with errors.
func schemaOf(k plan.Kind, version string, fields *apiextensionsv1.JSONSchemaProps) *resource.Schema {
	schema, err := resource.New(resource.Kind{
		Group: k.Group, Version: version, Kind: k.Kind, Namespaced: k.Namespaced, Status: k.StatusSubresource,
	}, fields)
	if err != nil {
		return nil
	}
	return schema
}

// served returns the custom resource as the API server would return it.
func (s *samples) served(written map[string]any) customResource {
	data, err := json.Marshal(written)
	id := string(data)
	if known, ok := s.known[id]; ok && err == nil {
		return known
	}
	one := customResource{id, written, s.place.served(s.schema.Defaulted(written), s.api.Namespaced)}
	s.known[id] = one
	return one
}

// bare returns the sample of a kind whose fields are unknown.
func (s *samples) bare() customResource {
	return customResource{served: s.place.served(map[string]any{"apiVersion": s.api.APIVersion(), "kind": s.api.Kind}, s.api.Namespaced)}
}

// bares returns samples of a kind whose fields are unknown: with the labels and annotations that the selectors require, each
// with a text and empty, and with all that are read.
func (s *samples) bares(of *v1alpha1.Existing, read [][]string) []customResource {
	var out []customResource
	for _, text := range []string{"a", ""} {
		cr := s.bare()
		metadata, _ := cr.served["metadata"].(map[string]any)
		for field, selector := range map[string]*v1alpha1.Selector{"labels": of.LabelSelector, "annotations": of.AnnotationSelector} {
			if values := selected(selector, text); len(values) > 0 {
				metadata[field] = values
			}
		}
		out = append(out, cr)
	}
	for _, path := range read {
		if labelOrAnnotation(path) {
			if changed, ok := insert(out[0].served, path, "a"); ok {
				full, _ := changed.(map[string]any)
				out = append(out, customResource{served: full})
			}
		}
	}
	return out
}

// selected returns the keys that a selector requires.
func selected(by *v1alpha1.Selector, text string) map[string]any {
	out := map[string]any{}
	if by == nil {
		return out
	}
	for key, value := range by.MatchLabels {
		out[key] = value
	}
	for _, r := range by.MatchExpressions {
		switch {
		case r.Operator == "Exists":
			out[r.Key] = text
		case r.Operator == "In" && len(r.Values) > 0:
			out[r.Key] = r.Values[0]
		}
	}
	return out
}

// withChild searches for a sample that has the child with as few changes as possible.
func (t *run) withChild(from customResource) (wanting customResource, found bool) {
	level, asked := []customResource{from}, map[string]bool{from.id: true}
	for len(level) > 0 {
		var next []customResource
		for _, cr := range level {
			for _, near := range t.samples.conditionSteps(t, cr) {
				if asked[near.id] {
					continue
				}
				if t.has(near) {
					return near, true
				}
				if asked[near.id] = true; len(asked) > maxSearch {
					return customResource{}, false
				}
				next = append(next, near)
			}
		}
		level = next
	}
	return customResource{}, false
}

// conditionSteps returns the samples that differ in one field that when or forEach
// reads.
func (s *samples) conditionSteps(t *run, from customResource) []customResource {
	return s.steps(s.schema, from, s.full(), t.child.When, t.child.ForEach)
}

// full returns the plausible sample with the most fields; the bare one if none is known.
func (s *samples) full() customResource {
	if len(s.plausible) == 0 {
		return s.bare()
	}
	return s.plausible[len(s.plausible)-1]
}

// steps returns the samples that differ in one field that the programs read. The
// schema decides which values texts may have.
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
	for _, object := range append(s.relabelled(from, about, words), schema.Variants(from.written, full.written, about, words)...) {
		out = append(out, s.served(object))
	}
	return out
}

// relabelled returns the samples with another of the words as a label or annotation that is
// read, or without it.
func (s *samples) relabelled(from customResource, about [][]string, words []any) []map[string]any {
	var out []map[string]any
	for _, path := range about {
		if !labelOrAnnotation(path) {
			continue
		}
		without := runtime.DeepCopyJSON(from.written)
		unstructured.RemoveNestedField(without, path...)
		out = append(out, without)
		for _, word := range words {
			text, is := word.(string)
			if !is || path[1] == "labels" && len(validation.IsValidLabelValue(text)) > 0 {
				continue
			}
			with := runtime.DeepCopyJSON(from.written)
			if unstructured.SetNestedField(with, text, path...) == nil && s.admits(with) {
				out = append(out, with)
			}
		}
	}
	return out
}

// place is the name and the namespace of the sample custom resources.
type place struct{ name, namespace string }

// served adds the metadata that the API server sets.
func (p place) served(object map[string]any, namespaced bool) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	metadata["name"] = p.name
	metadata["uid"] = "00000000-0000-4000-8000-000000000000"
	metadata["generation"] = 1
	metadata["creationTimestamp"] = "2000-01-01T00:00:00Z"
	if namespaced {
		metadata["namespace"] = p.namespace
	}
	return object
}
