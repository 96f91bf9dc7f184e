package resource

import (
	"errors"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// search draws until a value passes, and returns the number of attempts. Most attempts
// change a part of the value with the fewest errors so far.
func (m *maker) search(n *node, parts []*nested, judge func(any) field.ErrorList, draw func(*maker) (any, error)) (any, int, error) {
	limit := 4
	if n.validated() || n.whole {
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

// change redraws one of the fields or items inside a value.
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

// complaint returns the API server's errors, with their paths.
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

// at returns the maker for a later attempt, which varies more over time.
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
	case m.least():
		late.optional = far
	default:
		late.optional = 1.1 - far
	}
	return &late
}
