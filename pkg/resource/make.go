package resource

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

// search draws until a value passes, and says at which try. Most tries change a
// little of the value that had the fewest errors so far.
func (m *maker) search(n *node, parts []*nested, judge func(any) field.ErrorList, draw func(*maker) (any, error)) (any, int, error) {
	limit := 4
	if n.judged() || n.whole {
		limit = tries
	}
	var last error
	var best any
	fewest := math.MaxInt
	for try := range limit {
		late := m.at(n, try, limit)
		value, err := late.drawOrChange(n, parts, best, draw)
		if err == nil {
			errs := judge(value)
			if len(errs) == 0 {
				return value, try, nil
			}
			if len(errs) <= fewest {
				best, fewest, last = value, len(errs), complaint(errs)
			}
		} else if best == nil || errors.Is(err, errBudget) {
			last = err
		}
		if *m.left <= 0 {
			break
		}
	}
	return nil, 0, last
}

func (m *maker) drawOrChange(n *node, parts []*nested, best any, draw func(*maker) (any, error)) (any, error) {
	if best == nil || m.r.IntN(8) == 0 {
		return draw(m)
	}
	return m.change(n, parts, runtime.DeepCopyJSONValue(best))
}

// change draws one of the fields or items inside a value anew.
func (m *maker) change(n *node, parts []*nested, value any) (any, error) {
	d := m.demandOf(n, parts)
	switch value := value.(type) {
	case map[string]any:
		if len(n.names) == 0 {
			break
		}
		name := n.names[m.r.IntN(len(n.names))]
		inner, has := value[name]
		if has && !d.required[name] && m.r.Float64() >= m.optional {
			delete(value, name)
			return value, nil
		}
		fresh, err := m.changeInner(n.fields[name], d.under(name), name, inner)
		if err == nil {
			value[name] = fresh
		}
		return value, err
	case []any:
		if len(value) == 0 || n.items == nil || m.r.IntN(2) == 0 {
			break
		}
		i := m.r.IntN(len(value))
		fresh, err := m.changeInner(n.items, d.underItems(), "item", value[i])
		if err == nil {
			value[i] = fresh
		}
		return value, err
	}
	return m.draw(n, parts, "")
}

func (m *maker) changeInner(n *node, parts []*nested, name string, inner any) (any, error) {
	if inner == nil || m.r.IntN(2) == 0 {
		return m.make(n, parts, name)
	}
	return m.change(n, parts, inner)
}

// complaint is what the API server said, with paths where it gave some.
func complaint(errs field.ErrorList) error {
	var texts []string
	for _, err := range errs {
		text := err.ErrorBody()
		if err.Field != "" && err.Field != "<nil>" {
			text = err.Field + ": " + text
		}
		texts = append(texts, text)
	}
	return errors.New(strings.Join(texts, "; "))
}

// at is the maker of a later try: more daring the longer it takes.
func (m *maker) at(n *node, try, limit int) *maker {
	if try == 0 {
		return m
	}
	late := *m
	late.taste = random
	late.hints = append(append([]any{}, m.hints...), n.hints...)
	far := float64(try) / float64(limit)
	switch {
	case m.taste == random:
		late.optional = m.r.Float64()
	case far < 0.2: // the same fields, other values
	case m.taste == smallest:
		late.optional = far
	default:
		late.optional = 1.1 - far
	}
	return &late
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
		if has && m.taste == smallest && !d.required[name] {
			delete(object, name)
			if legal(object) {
				continue
			}
			object[name] = before
		}
		if !has && m.taste == smallest {
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
