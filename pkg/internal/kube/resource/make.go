package resource

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// taste decides which of the valid values are preferred.
type taste int

const (
	smallest taste = iota
	typical
	random
)

const (
	// tries limits how often a value with rules is drawn.
	tries = 600
	// draws limits the number of values drawn for one sample.
	draws = 200_000
	// deep is the depth from which random objects have no optional fields.
	deep = 7
)

// errBudget ends a search that takes too long.
var errBudget = errors.New("gave up after too many attempts")

// maker draws values until one is valid. It generates values from the leaves up, so
// that the rules of an object are evaluated on valid fields.
type maker struct {
	r        *rand.Rand
	taste    taste
	sensible bool    // texts with a default keep it
	optional float64 // probability of an optional field: 0 is never, 1 always
	hints    []any   // from the rules of parents that failed
	depth    int
	left     *int // draws, shared by all attempts
	hopeless map[*node]error
	patterns map[string]*pattern
}

func newMaker(r *rand.Rand, taste taste) *maker {
	left := draws
	m := &maker{r: r, taste: taste, left: &left, hopeless: map[*node]error{}, patterns: map[string]*pattern{}}
	switch taste {
	case typical:
		m.optional = 1
	case random:
		m.optional = 0.6
	}
	return m
}

// choose returns one of several branches: the first, unless the sample is random.
func (m *maker) choose(count int) int {
	if m.taste != random {
		return 0
	}
	return m.r.IntN(count)
}

// hint returns a constant of a failed rule, or nil.
func (m *maker) hint() any {
	if len(m.hints) == 0 {
		return nil
	}
	return m.hints[m.r.IntN(len(m.hints))]
}

func (m *maker) pattern(text string) *pattern {
	p, ok := m.patterns[text]
	if !ok {
		p = newPattern(text)
		m.patterns[text] = p
	}
	return p
}

// make generates a valid value. The first attempt is the preferred value; after it,
// values are random, guided by the constants of the rules.
func (m *maker) make(n *node, parts []*nested, name string) (any, error) {
	if err := m.hopeless[n]; err != nil {
		return nil, err
	}
	m.depth++
	defer func() { m.depth-- }()
	value, try, err := m.search(n, parts, n.check, func(m *maker) (any, error) {
		return m.draw(n, parts, name)
	})
	switch {
	case err == nil && try > 0:
		return m.settle(n, parts, value, func(v any) bool { return len(n.check(v)) == 0 }), nil
	case err != nil && len(n.XValidations) > 0:
		err = fmt.Errorf("%w (%s)", err, rulesOf(n))
	}
	if err != nil && len(parts) == 0 && !errors.Is(err, errBudget) {
		m.hopeless[n] = err
	}
	return value, err
}

// rulesOf returns the rules that a value must satisfy, for messages.
func rulesOf(n *node) string {
	var rules []string
	for _, rule := range n.XValidations {
		rules = append(rules, rule.Rule)
	}
	return "no value was found for: " + strings.Join(rules, "; ")
}

// settle brings a random value closer to the taste: it removes and replaces what it
// can.
func (m *maker) settle(n *node, parts []*nested, value any, legal func(any) bool) any {
	object, ok := value.(map[string]any)
	if m.taste == random || !ok {
		return value
	}
	d := m.demandOf(n, parts)
	for _, name := range n.names {
		before, has := object[name]
		if has && m.least() && !d.required[name] {
			delete(object, name)
			if legal(object) {
				continue
			}
			object[name] = before
		}
		if !has && m.least() {
			continue
		}
		object[name] = m.nicer(n.fields[name], d.under(name), name, before, has, func(v any) bool {
			whole := runtime.DeepCopyJSON(object)
			whole[name] = v
			return legal(whole)
		})
		if object[name] == nil && !has {
			delete(object, name)
		}
	}
	return object
}

// least reports whether optional fields are left out.
func (m *maker) least() bool { return m.optional == 0 }

// nicer returns the most preferred value of a field for which the whole object is
// valid.
func (m *maker) nicer(n *node, parts []*nested, name string, before any, has bool, legal func(any) bool) any {
	if value, err := m.make(n, parts, name); err == nil && legal(value) {
		return value
	}
	if has {
		return m.settle(n, parts, before, legal)
	}
	return nil
}
