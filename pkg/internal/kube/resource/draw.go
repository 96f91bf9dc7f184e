package resource

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// draw generates a value of the node's type. Each of its fields is valid; make checks
// whether they are valid together.
func (m *maker) draw(n *node, parts []*nested, name string) (any, error) {
	if *m.left--; *m.left < 0 {
		return nil, errBudget
	}
	if n.fixed {
		return runtime.DeepCopyJSONValue(n.example), nil
	}
	d := m.demandOf(n, parts)
	if m.taste == random && n.Nullable && m.r.IntN(10) == 0 && m.fits(&d, nil) {
		return nil, nil
	}
	if value, ok := m.given(n, &d); ok {
		return value, nil
	}
	if d.limited {
		return m.fromEnum(&d)
	}
	if value, ok := m.realistic(n, &d); ok {
		return value, nil
	}
	switch kind := m.kindOf(n, &d); kind {
	case "object":
		return m.object(n, &d)
	case "array":
		return m.array(n, &d, name)
	case "string":
		return m.text(&d, name)
	case "integer", "number":
		return m.number(&d, kind == "integer", name)
	case "boolean":
		return m.boolean(&d)
	}
	return m.anything(), nil
}

// kindOf returns the type to generate, "" for any.
func (m *maker) kindOf(n *node, d *demand) string {
	switch {
	case d.kind != "":
		return d.kind
	case n.XIntOrString:
		return []string{"integer", "string"}[m.choose(2)]
	}
	return n.Type
}

// realistic has the values of types of which a pattern matches others that no user writes,
// such as the quantity 0.3E-17, or that are invalid, such as the minutes 51-47 of a schedule.
var realistic = []struct {
	mark   string // a part of the pattern
	values []any
}{
	{"KMGTPE", []any{"1Gi", "500m", "64Mi", "1", "2k", "0.5", "1.5Gi", "1e3", "100G", "250Ki", int64(1), int64(2), int64(64)}},
	{"@(yearly|annually|", []any{"0 3 * * *", "*/5 8-18 * * 1-5", "@daily", "@every 1h30m", "0,30 0 1,15 jan-jun ?", "59 23 31 12 *"}},
}

// realisticValues returns the values of a type of a pattern, or nil.
func realisticValues(pattern string) []any {
	for _, r := range realistic {
		if strings.Contains(pattern, r.mark) {
			return r.values
		}
	}
	return nil
}

// isRealistic reports whether a pattern is that of a type with realistic values.
func isRealistic(pattern string) bool { return realisticValues(pattern) != nil }

// realistic returns one of the realistic values of a field; false if the field has another type.
func (m *maker) realistic(n *node, d *demand) (any, bool) {
	at := slices.IndexFunc(d.patterns, isRealistic)
	if at < 0 {
		return nil, false
	}
	values := realisticValues(d.patterns[at])
	first := m.choose(len(values))
	for i := range values {
		value := values[(first+i)%len(values)]
		if _, number := value.(int64); number && !n.XIntOrString || !m.fits(d, value) {
			continue
		}
		return value, true
	}
	return nil, false
}

// given returns the default or the example of a schema. Objects are generated anyway,
// so that they have every field.
func (m *maker) given(n *node, d *demand) (any, bool) {
	if m.taste == random && m.r.IntN(3) > 0 && !m.settled(n) {
		return nil, false
	}
	values := []any{n.Default.Object}
	if m.taste != smallest {
		values = append(values, n.example)
	}
	for _, value := range values {
		switch value := value.(type) {
		case nil, map[string]any:
		case []any:
			if m.taste == typical && n.items != nil && n.items.Type == "object" {
				continue
			}
			if len(value) >= max(d.few, 1) && len(value) <= d.many {
				return runtime.DeepCopyJSONValue(value), true
			}
		default:
			if value = plain(value); m.fits(d, value) {
				return value, true
			}
		}
	}
	return nil, false
}

// settled reports whether a text keeps its default, which shows the format that the
// author expects.
func (m *maker) settled(n *node) bool {
	_, text := n.Default.Object.(string)
	return m.sensible && text
}

// plain returns a number as JSON decodes it, and other values unchanged.
func plain(value any) any {
	if number, ok := value.(float64); ok {
		return plainNumber(number)
	}
	return value
}

func (m *maker) fromEnum(d *demand) (any, error) {
	if len(d.enum) == 0 {
		return nil, errors.New("the enums have no value in common")
	}
	first := m.choose(len(d.enum))
	for i := range d.enum {
		if value := plain(d.enum[(first+i)%len(d.enum)]); m.fits(d, value) {
			return runtime.DeepCopyJSONValue(value), nil
		}
	}
	return nil, errors.New("no value of the enum meets the other constraints")
}

func (m *maker) boolean(d *demand) (any, error) {
	value := m.taste == typical || m.taste == random && m.r.IntN(2) == 0
	for _, v := range []any{value, !value} {
		if m.fits(d, v) {
			return v, nil
		}
	}
	return nil, errors.New("neither true nor false meets the constraints")
}

// anything returns a value for a field without a type.
func (m *maker) anything() any {
	if m.taste != random {
		return map[string]any{}
	}
	values := []any{map[string]any{}, "text", int64(1), true, []any{"item"}, map[string]any{"key": "value"}}
	return values[m.r.IntN(len(values))]
}

// array generates a list. If items must be unique, it draws more of them.
func (m *maker) array(n *node, d *demand, name string) (any, error) {
	count := d.few
	switch {
	case m.taste == typical:
		count = max(count, min(1, d.many))
	case n.items != nil && n.items.fixed: // all of them would be equal
	case m.taste == random && m.depth < deep:
		count += m.r.IntN(max(1, min(d.many-d.few, 3)+1))
	}
	if count > 4096 {
		return nil, fmt.Errorf("%d items are too many for a sample", count)
	}
	parts := d.underItems()
	key := func(any) string { return "" }
	switch {
	case n.XListType != nil && *n.XListType == "map":
		parts = append(parts, &nested{ValueValidation: requiring(n.XListMapKeys)})
		key = func(item any) string { return keyOf(item, n.XListMapKeys) }
	case n.XListType != nil && *n.XListType == "set":
		key = jsonText
	}
	out, seen := []any{}, map[string]bool{"": false}
	for len(out) < count {
		item, err := m.item(n, parts, singular(name), seen, key)
		if err != nil && len(out) >= d.few {
			break
		} else if err != nil {
			return nil, fmt.Errorf("[%d]%s", len(out), below(err))
		}
		out = append(out, item)
	}
	return out, nil
}

// item generates an item that is not in the list yet, and records it.
func (m *maker) item(n *node, parts []*nested, name string, seen map[string]bool, key func(any) string) (any, error) {
	if n.items == nil {
		return m.anything(), nil
	}
	for try := range 60 {
		drawer := m
		if try > 0 {
			drawer = m.at(n.items, try, 60)
		}
		item, err := drawer.make(n.items, parts, name)
		if err != nil {
			return nil, err
		}
		if k := key(item); !seen[k] {
			seen[k] = k != ""
			return item, nil
		}
	}
	return nil, errors.New(": the items would not all be different")
}

// keyOf returns the key of an item in a list of the type map.
func keyOf(item any, keys []string) string {
	object, _ := item.(map[string]any)
	var values []any
	for _, key := range keys {
		values = append(values, object[key])
	}
	return jsonText(values)
}

// singular returns the name of a list's item.
func singular(name string) string {
	if len(name) > 3 && name[len(name)-1] == 's' && name[len(name)-2] != 's' {
		return name[:len(name)-1]
	}
	return name
}
