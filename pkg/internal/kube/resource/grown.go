package resource

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// closedSize is the size up to which a limit keeps a value small.
const closedSize = 1000

// Grown returns an object whose lists, maps, texts and numbers at the places that are to grow have
// size n, or the largest that the schema allows if that is at most 1,000, and the places
// that have size n and could have more. Names of places are like spec.rules[0].paths.
func (s *Schema) Grown(base map[string]any, n int, grows func(place string) bool) (object map[string]any, open []string) {
	m := s.maker(fixed(), random)
	values, larger := map[string]any{}, map[string]bool{}
	var places []string
	object = s.visit(base, func(at string, node *node, d *demand, value any) (any, bool) {
		if !grows(at) {
			return nil, false
		}
		grown, limit := m.grown(node, d, value, n)
		if grown == nil {
			return nil, false
		}
		places = append(places, at)
		values[at], larger[at] = grown, limit > closedSize
		return grown, true
	})
	if len(places) == 0 {
		return base, nil
	}
	if len(s.violations(object)) > 0 {
		left := maxTries
		object = s.applyAt(base, values, places, &left)
	}
	s.visit(object, func(at string, _ *node, _ *demand, value any) (any, bool) {
		if larger[at] && sizeOf(value) == sizeOf(values[at]) {
			open = append(open, at)
		}
		return value, values[at] != nil
	})
	return object, open
}

// Unlimited reports whether one of these places may have a size of more than 1,000.
func (s *Schema) Unlimited(base map[string]any, places func(place string) bool) bool {
	m, unlimited := s.maker(fixed(), random), false
	s.visit(base, func(at string, node *node, d *demand, value any) (any, bool) {
		if places(at) && !unlimited {
			grown, limit := m.grown(node, d, value, 1)
			unlimited = grown != nil && limit > closedSize
		}
		return nil, false
	})
	return unlimited
}

// grown returns a value of the same type of size n, and the largest size that its own schema allows; nil
// if it has no other size.
func (m *maker) grown(n *node, d *demand, value any, size int) (grown any, limit int) {
	within := func(limit int) int {
		if limit <= closedSize {
			return limit
		}
		return size
	}
	switch value := value.(type) {
	case []any:
		if len(value) == 0 || n.items == nil {
			return nil, 0
		}
		list := make([]any, within(d.many))
		for i := range list {
			list[i] = m.distinct(n.items, value[0], i)
		}
		return list, d.many
	case map[string]any:
		if n.values == nil || len(n.names) > 0 || len(value) == 0 {
			return nil, 0
		}
		fields, first := map[string]any{}, value[slices.Min(slices.Collect(maps.Keys(value)))]
		for i := range within(d.maxProperties) {
			fields[fmt.Sprintf("key-%04d", i)] = runtime.DeepCopyJSONValue(first)
		}
		return fields, d.maxProperties
	case string:
		return m.grownText(n, d, within(d.long)), d.long
	case int64, float64:
		limit := int(min(d.max, 1<<53-1))
		if number := plainNumber(float64(within(limit))); m.fits(d, number) && len(d.enum) == 0 {
			return number, limit
		}
	}
	return nil, 0
}

func (m *maker) grownText(n *node, d *demand, size int) any {
	if m.chosen(n, d) || len(d.formats) > 0 {
		return nil
	}
	tries := []string{sized("a,", size, size), sized("a", size, size)}
	if i := slices.IndexFunc(tries, func(text string) bool { return m.fits(d, text) }); i >= 0 {
		return tries[i]
	}
	return nil
}

// distinct returns a copy of an item whose texts and numbers differ from those of the others, but
// not in length.
func (m *maker) distinct(n *node, item any, i int) any {
	d := m.demandOf(n, nil)
	switch item := item.(type) {
	case string:
		for _, text := range []string{fmt.Sprintf("%s-%04d", item, i), fmt.Sprintf("a%04d", i)} {
			if !m.chosen(n, &d) && m.fits(&d, text) {
				return text
			}
		}
	case int64, float64:
		for _, start := range []int{closedSize, 0} {
			if number := plainNumber(float64(start + i)); m.fits(&d, number) {
				return number
			}
		}
	case map[string]any:
		out := runtime.DeepCopyJSON(item)
		for name, field := range n.fields {
			if value, has := out[name]; has {
				out[name] = m.distinct(field, value, i)
			}
		}
		return out
	}
	return runtime.DeepCopyJSONValue(item)
}

func sizeOf(value any) int {
	switch value := value.(type) {
	case []any:
		return len(value)
	case map[string]any:
		return len(value)
	case string:
		return len(value)
	case int64:
		return int(value)
	case float64:
		return int(value)
	}
	return 0
}

// Largest returns an object with the highest numbers and with lists and texts as long as
// allowed, each up to a limit.
func (s *Schema) Largest(base map[string]any) map[string]any {
	for _, e := range []edge{{"highest numbers", highest}, {"longest texts", longest}, {"long lists", long}} {
		base = s.apply(base, e)
	}
	return base
}

// OuterPlace reports whether a place is not inside of a list.
func OuterPlace(place string) bool { return !strings.Contains(place, "[") }
