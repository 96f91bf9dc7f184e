package resource

import (
	"math"
	"slices"
)

// The boundary values of a field. Each function changes one value, if possible.

func lowest(m *maker, n *node, d *demand, value any) (any, bool) {
	return m.extreme(n, d, value, func(low, _ float64) float64 { return low })
}

func highest(m *maker, n *node, d *demand, value any) (any, bool) {
	return m.extreme(n, d, value, func(_, high float64) float64 { return high })
}

// extreme returns the smallest or largest valid number, or that of its type.
func (m *maker) extreme(n *node, d *demand, value any, end func(low, high float64) float64) (any, bool) {
	switch value.(type) {
	case int64, float64:
	default:
		return nil, false
	}
	if slices.ContainsFunc(d.patterns, isRealistic) {
		return nil, false
	}
	wide := *d
	// JSON numbers beyond this are not exact.
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

func shortest(m *maker, n *node, d *demand, value any) (any, bool) {
	if _, ok := value.(string); !ok || m.chosen(n, d) {
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

// maxPatternText limits the bytes of a text that matches a pattern with nested repetitions.
const maxPatternText = 4096

func longest(m *maker, n *node, d *demand, value any) (any, bool) {
	if _, ok := value.(string); !ok || m.chosen(n, d) {
		return nil, false
	}
	// Without a limit: longer than any name or label.
	length := min(d.long, 300)
	tries := []string{sized("long-text-", length, length)}
	for _, p := range d.patterns {
		if compiled := m.pattern(p); compiled != nil {
			for more := length; more > 0; more -= 1 + more/8 {
				tries = append(tries, compiled.textUpTo(m.r, more, min(d.long, maxPatternText)))
			}
		}
	}
	slices.SortStableFunc(tries, func(a, b string) int { return len(b) - len(a) })
	return m.firstFit(d, tries)
}

// chosen reports whether no other text may replace a text.
func (m *maker) chosen(n *node, d *demand) bool {
	return d.limited || m.settled(n) || slices.ContainsFunc(d.patterns, isRealistic)
}

func (m *maker) firstFit(d *demand, tries []string) (any, bool) {
	for _, text := range tries {
		if m.fits(d, text) {
			return text, true
		}
	}
	return nil, false
}

// odd cuts or repeats an odd text to a valid length.
func odd(text string) func(m *maker, n *node, d *demand, value any) (any, bool) {
	return func(m *maker, n *node, d *demand, value any) (any, bool) {
		if _, ok := value.(string); !ok || m.chosen(n, d) {
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

// long makes lists as long as allowed, up to a limit.
func long(m *maker, n *node, d *demand, value any) (any, bool) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 || n.items == nil || n.items.fixed {
		return nil, false
	}
	wide := *d
	wide.few = min(d.many, 8)
	maker := newMaker(fixed(), random)
	maker.optional, maker.depth, maker.sensible = m.optional, deep, m.sensible
	longer, err := maker.array(n, &wide, "item")
	return longer, err == nil
}

func nulls(_ *maker, n *node, _ *demand, value any) (any, bool) {
	return nil, n.Nullable && value != nil
}

// enumerated takes the i-th value of every enum that has one.
func enumerated(i int) func(m *maker, _ *node, d *demand, value any) (any, bool) {
	return func(m *maker, _ *node, d *demand, _ any) (any, bool) {
		if i >= len(d.enum) {
			return nil, false
		}
		value := plain(d.enum[i])
		return value, m.fits(d, value)
	}
}
