package resource

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Case is a sample with the reason why it is one.
type Case struct {
	Name   string // stable; "longest texts"
	Object map[string]any
}

// judgements is how often one edge is tried, where not all places can have it.
const judgements = 200

// edge changes a value at one place; false leaves the place alone.
type edge struct {
	name   string
	change func(m *maker, n *node, d *demand, value any) (any, bool)
}

// Edges are the samples in which mistakes show: the minimal and the full one,
// and the full one with all values at their borders, with odd texts, with
// nothing in its lists, and with every value of its enums.
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
	seen := map[string]bool{}
	for _, c := range cases {
		seen[jsonText(c.Object)] = true
	}
	for _, e := range s.edges(base) {
		object := s.apply(base, e)
		if text := jsonText(object); !seen[text] {
			seen[text] = true
			cases = append(cases, Case{e.name, object})
		}
	}
	return cases, nil
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

// enumSize is the size of the largest enum in sight, within reason.
func (s *Schema) enumSize(base map[string]any) int {
	size := 0
	s.visit(base, func(_ string, _ *node, d *demand, _ any) (any, bool) {
		size = max(size, len(d.enum))
		return nil, false
	})
	return min(size, 32)
}

// apply changes every place, except those where the whole would not be legal
// then.
func (s *Schema) apply(base map[string]any, e edge) map[string]any {
	m := newMaker(fixed(), random)
	var places []string
	s.visit(base, func(at string, n *node, d *demand, value any) (any, bool) {
		changed, ok := e.change(m, n, d, value)
		if ok {
			places = append(places, at)
		}
		return changed, ok
	})
	left := judgements
	return s.applyAt(base, e, places, &left)
}

// applyAt changes some places at once or, where that is not legal, half of them
// and then the other half.
func (s *Schema) applyAt(base map[string]any, e edge, places []string, left *int) map[string]any {
	if *left--; *left < 0 || len(places) == 0 {
		return base
	}
	m, here := newMaker(fixed(), random), map[string]bool{}
	for _, place := range places {
		here[place] = true
	}
	changed := s.visit(base, func(at string, n *node, d *demand, value any) (any, bool) {
		if !here[at] {
			return nil, false
		}
		return e.change(m, n, d, value)
	})
	switch {
	case len(s.judge(changed)) == 0:
		return changed
	case len(places) == 1:
		return base
	}
	half := len(places) / 2
	return s.applyAt(s.applyAt(base, e, places[:half], left), e, places[half:], left)
}

// visit copies an object and lets a function replace each of its values, given
// by their paths; what was replaced is not entered.
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

// replacer returns what comes to a place, and whether anything does.
type replacer func(at string, n *node, d *demand, value any) (any, bool)

type visitor struct {
	m       *maker
	replace replacer
}

func (v visitor) walk(n *node, at string, value any) any {
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

func lowest(m *maker, n *node, d *demand, value any) (any, bool) {
	return m.extreme(n, d, value, func(low, _ float64) float64 { return low })
}

func highest(m *maker, n *node, d *demand, value any) (any, bool) {
	return m.extreme(n, d, value, func(_, high float64) float64 { return high })
}

// extreme is the number at an end of what is legal, or of its type.
func (m *maker) extreme(n *node, d *demand, value any, end func(low, high float64) float64) (any, bool) {
	switch value.(type) {
	case int64, float64:
	default:
		return nil, false
	}
	wide := *d
	// Beyond this JSON numbers are not exact.
	limit := float64(1<<53 - 1)
	if slices.Contains(d.formats, "int32") {
		limit = math.MaxInt32
	}
	wide.min, wide.max = max(wide.min, -limit), min(wide.max, limit)
	low, high := wide.window(n.Type != "number")
	for _, v := range append([]float64{end(low, high)}, d.onMultiples(low, high)...) {
		if number := plainNumber(v); m.fits(d, number) {
			return number, true
		}
	}
	return nil, false
}

func shortest(m *maker, _ *node, d *demand, value any) (any, bool) {
	if _, ok := value.(string); !ok || d.limited {
		return nil, false
	}
	tries := []string{"", sized("a", d.short, d.long)}
	for _, p := range d.patterns {
		if compiled := m.pattern(p); compiled != nil {
			tries = append(tries, compiled.text(m.r, 0))
		}
	}
	return m.firstFit(d, tries)
}

func longest(m *maker, _ *node, d *demand, value any) (any, bool) {
	if _, ok := value.(string); !ok || d.limited {
		return nil, false
	}
	// Without a limit: longer than any name or label may be.
	length := min(d.long, 300)
	tries := []string{sized("long-text-", length, length)}
	for _, p := range d.patterns {
		if compiled := m.pattern(p); compiled != nil {
			for more := length; more > 0; more -= 1 + more/8 {
				tries = append(tries, compiled.text(m.r, more))
			}
		}
	}
	slices.SortStableFunc(tries, func(a, b string) int { return len(b) - len(a) })
	return m.firstFit(d, tries)
}

func (m *maker) firstFit(d *demand, tries []string) (any, bool) {
	for _, text := range tries {
		if m.fits(d, text) {
			return text, true
		}
	}
	return nil, false
}

// odd cuts and repeats an odd text to the length that is legal.
func odd(text string) func(m *maker, _ *node, d *demand, value any) (any, bool) {
	return func(m *maker, _ *node, d *demand, value any) (any, bool) {
		if _, ok := value.(string); !ok || d.limited {
			return nil, false
		}
		return m.firstFit(d, []string{text, sized(text, d.short, d.long)})
	}
}

func falses(m *maker, _ *node, d *demand, value any) (any, bool) {
	_, ok := value.(bool)
	return false, ok && m.fits(d, false)
}

func empty(_ *maker, n *node, d *demand, value any) (any, bool) {
	switch value := value.(type) {
	case []any:
		return []any{}, len(value) > 0 && d.few == 0
	case map[string]any:
		return map[string]any{}, len(value) > 0 && d.minProperties == 0 && len(n.names) == 0
	}
	return nil, false
}

// long makes lists as long as they may be, within reason.
func long(m *maker, n *node, d *demand, value any) (any, bool) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 || n.items == nil {
		return nil, false
	}
	wide := *d
	wide.few = min(d.many, 8)
	maker := newMaker(fixed(), random)
	maker.optional, maker.depth = m.optional, deep
	longer, err := maker.array(n, &wide, "item")
	return longer, err == nil
}

func nulls(_ *maker, n *node, _ *demand, value any) (any, bool) {
	return nil, n.Nullable && value != nil
}

// enumerated takes the i-th value of every enum that has so many.
func enumerated(i int) func(m *maker, _ *node, d *demand, value any) (any, bool) {
	return func(m *maker, _ *node, d *demand, _ any) (any, bool) {
		if i >= len(d.enum) {
			return nil, false
		}
		value := plain(d.enum[i])
		return value, m.fits(d, value)
	}
}
