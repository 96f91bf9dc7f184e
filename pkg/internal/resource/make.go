package resource

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// taste is which of the legal values are liked.
type taste int

const (
	smallest taste = iota
	typical
	random
)

const (
	// tries is how often a value with rules is drawn before it is given up.
	tries = 600
	// draws is how many values one sample may cost in all.
	draws = 200_000
	// deep is where random objects stop to have optional fields.
	deep = 7
)

// errBudget ends a search that has become too long.
var errBudget = errors.New("too many values were tried")

// maker draws values until one is legal. Values are made from the leaves up:
// what a rule of an object judges are fields that are legal by themselves.
type maker struct {
	r        *rand.Rand
	taste    taste
	sensible bool    // texts with a default are left at it
	optional float64 // how likely an optional field is there: 0 is never, 1 always
	hints    []any   // of the rules above that have failed
	depth    int
	left     *int // draws, shared by all tries
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

// choose takes one of several branches: the first, if nothing asks for luck.
func (m *maker) choose(count int) int {
	if m.taste != random {
		return 0
	}
	return m.r.IntN(count)
}

// hint is something that a failed rule speaks of; nil when there is none.
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

// make makes a legal value. The first try is the one that is liked best; after
// it values are drawn at random, guided by what the rules speak of.
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

// rulesOf names what a value was held to.
func rulesOf(n *node) string {
	var rules []string
	for _, rule := range n.XValidations {
		rules = append(rules, rule.Rule)
	}
	return "no value was found for: " + strings.Join(rules, "; ")
}

// settle brings a value that was found by luck nearer to the taste: it leaves
// out and replaces what can be.
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

// least says that what need not be there is not wanted.
func (m *maker) least() bool { return m.optional == 0 }

// nicer is the best-liked value of a field that leaves the whole legal.
func (m *maker) nicer(n *node, parts []*nested, name string, before any, has bool, legal func(any) bool) any {
	if value, err := m.make(n, parts, name); err == nil && legal(value) {
		return value
	}
	if has {
		return m.settle(n, parts, before, legal)
	}
	return nil
}
