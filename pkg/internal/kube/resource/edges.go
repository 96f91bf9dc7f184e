package resource

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Case is a sample with its purpose.
type Case struct {
	Name   string // stable; "longest texts"
	Object map[string]any
}

// maxTries limits the attempts for one edge, if not all values can have it.
const maxTries = 60

// edge changes one value; false keeps it.
type edge struct {
	name   string
	change func(m *maker, n *node, d *demand, value any) (any, bool)
}

// Edges returns the samples that reveal mistakes: the minimal and the full one, and the
// full one with all values at their limits, with odd texts, with empty lists, and with
// every value of its enums.
func (s *Schema) Edges() ([]Case, error) {
	var cases []Case
	if object, err := s.Minimal(); err == nil {
		cases = append(cases, Case{"minimal", object})
	}
	base, err := s.Full()
	if err != nil {
		return nil, err
	}
	cases = append(cases, Case{"full", base})
	return append(cases, s.edgesOf(base, cases...)...), nil
}

// EdgesOf returns the edges of a sample, without the sample itself.
func (s *Schema) EdgesOf(base map[string]any) []Case { return s.edgesOf(base, Case{Object: base}) }

func (s *Schema) edgesOf(base map[string]any, known ...Case) []Case {
	var cases []Case
	seen := map[string]bool{}
	for _, c := range known {
		seen[jsonText(c.Object)] = true
	}
	for _, e := range s.edges(base) {
		object := s.apply(base, e)
		if text := jsonText(object); !seen[text] {
			seen[text] = true
			cases = append(cases, Case{e.name, object})
		}
	}
	return cases
}

func (s *Schema) edges(base map[string]any) []edge {
	out := []edge{
		{"lowest numbers", lowest},
		{"highest numbers", highest},
		{"shortest texts", shortest},
		{"longest texts", longest},
		{"falses", falses},
		{"empty lists and maps", empty},
		{"long lists", long},
		{"nulls", nulls},
	}
	for i, text := range oddTexts {
		out = append(out, edge{fmt.Sprintf("odd texts %d", i+1), odd(text)})
	}
	for i := range s.enumSize(base) {
		out = append(out, edge{fmt.Sprintf("enum values %d", i+1), enumerated(i)})
	}
	return out
}

// enumSize returns the size of the largest enum, up to a limit.
func (s *Schema) enumSize(base map[string]any) int {
	size := 0
	s.visit(base, func(_ string, _ *node, d *demand, _ any) (any, bool) {
		size = max(size, len(d.enum))
		return nil, false
	})
	return min(size, 32)
}

// apply changes every value unless the object becomes invalid.
func (s *Schema) apply(base map[string]any, e edge) map[string]any {
	m := s.maker(fixed(), random)
	var places []string
	values := map[string]any{}
	changed := s.visit(base, func(at string, n *node, d *demand, value any) (any, bool) {
		changed, ok := e.change(m, n, d, value)
		if ok {
			places = append(places, at)
			values[at] = changed
		}
		return changed, ok
	})
	if len(places) == 0 || len(s.violations(changed)) == 0 {
		return changed
	}
	left := maxTries
	return s.applyAt(base, values, places, &left)
}

// applyAt changes several values at once or, if the object becomes invalid, half of
// them and then the other half.
func (s *Schema) applyAt(base map[string]any, values map[string]any, places []string, left *int) map[string]any {
	if *left--; *left < 0 || len(places) == 0 {
		return base
	}
	here := map[string]bool{}
	for _, place := range places {
		here[place] = true
	}
	changed := s.visit(base, func(at string, _ *node, _ *demand, _ any) (any, bool) { return values[at], here[at] })
	switch {
	case len(s.violations(changed)) == 0:
		return changed
	case len(places) == 1:
		return base
	}
	half := len(places) / 2
	return s.applyAt(s.applyAt(base, values, places[:half], left), values, places[half:], left)
}

// visit copies an object and calls a function that may replace each value. It does not
// enter replaced values.
func (s *Schema) visit(object map[string]any, replace replacer) map[string]any {
	v := visitor{m: newMaker(fixed(), smallest), replace: replace}
	out := runtime.DeepCopyJSON(object)
	for _, name := range s.root.names {
		if value, has := out[name]; has {
			out[name] = v.walk(s.root.fields[name], name, value)
		}
	}
	return out
}

// replacer returns the replacement of a value, and whether there is one.
type replacer func(at string, n *node, d *demand, value any) (any, bool)

type visitor struct {
	m       *maker
	replace replacer
}

func (v visitor) walk(n *node, at string, value any) any {
	if n.fixed {
		return value
	}
	d := v.m.demandOf(n, nil)
	if changed, ok := v.replace(at, n, &d, value); ok {
		return changed
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if known := n.fields[key]; known != nil {
				value[key] = v.walk(known, at+"."+key, value[key])
			} else if n.values != nil {
				value[key] = v.walk(n.values, at+"."+key, value[key])
			}
		}
	case []any:
		for i := range value {
			if n.items != nil {
				value[i] = v.walk(n.items, fmt.Sprintf("%s[%d]", at, i), value[i])
			}
		}
	}
	return value
}
