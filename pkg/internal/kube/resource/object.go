package resource

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// object generates a map: the required fields, and optional fields by the taste.
func (m *maker) object(n *node, d *demand) (any, error) {
	out := map[string]any{}
	if n.XEmbeddedResource {
		d.required["apiVersion"], d.required["kind"] = true, true
	}
	for _, name := range slices.Sorted(maps.Keys(d.required)) {
		value, err := m.field(n, d, name)
		if err != nil {
			return nil, fmt.Errorf(".%s%s", name, below(err))
		}
		out[name] = value
	}
	for _, name := range n.names {
		if _, has := out[name]; has || len(out) >= d.maxProperties || !m.wants(d, name, len(out)) {
			continue
		}
		// An optional field that cannot be generated is left out.
		if value, err := m.field(n, d, name); err == nil {
			out[name] = value
		}
	}
	m.extra(n, d, out)
	if len(out) < d.minProperties {
		return nil, fmt.Errorf(": %d properties are too few", len(out))
	}
	return out, nil
}

// wants reports whether to generate an optional field.
func (m *maker) wants(d *demand, name string, have int) bool {
	switch {
	case d.avoid[name] && (m.taste != random || m.r.IntN(4) > 0):
		return false
	case have < d.minProperties || m.optional >= 1:
		return true
	case m.taste == random && m.depth > deep:
		return false
	}
	// Deeper objects have fewer fields, because a pod's schema is huge.
	return m.optional > 0 && m.r.Float64() < m.optional*2/float64(1+max(1, m.depth-1))
}

// field generates the value of a field, which need not be in the schema.
func (m *maker) field(n *node, d *demand, name string) (any, error) {
	switch known := n.fields[name]; {
	case known != nil:
		if name == "apiVersion" && n.XEmbeddedResource {
			return m.embedded(known, d, name, "v1")
		}
		if name == "kind" && n.XEmbeddedResource {
			return m.embedded(known, d, name, "ConfigMap")
		}
		return m.make(known, d.under(name), name)
	case n.XEmbeddedResource && name == "apiVersion":
		return "v1", nil
	case n.XEmbeddedResource && name == "kind":
		return "ConfigMap", nil
	case n.values != nil && name == "key":
		return m.make(n.values, d.under(name), "value")
	case n.values != nil:
		return m.make(n.values, d.under(name), name)
	case n.free():
		return m.anything(), nil
	}
	return nil, errors.New(": required, but not in the schema")
}

// embedded returns apiVersion or kind of an embedded resource: the usual value, if it
// is valid.
func (m *maker) embedded(n *node, d *demand, name, usual string) (any, error) {
	of := m.demandOf(n, d.under(name))
	if m.fits(&of, usual) && len(n.check(usual)) == 0 {
		return usual, nil
	}
	return m.make(n, d.under(name), name)
}

// extra adds entries with other keys to a map.
func (m *maker) extra(n *node, d *demand, out map[string]any) {
	if n.values == nil && !n.free() {
		return
	}
	want := d.minProperties
	switch {
	case m.taste == typical && len(n.names) == 0:
		want = max(want, 1)
	case m.taste == random && (n.values != nil || len(n.names) == 0) && m.depth <= deep:
		want = max(want, len(out)+m.r.IntN(3))
	}
	for i := 0; len(out) < min(want, d.maxProperties) && i < 4096; i++ {
		key := m.key(i)
		if _, has := out[key]; has || n.fields[key] != nil || d.avoid[key] {
			continue
		}
		value, err := m.field(n, d, key)
		if err != nil {
			return
		}
		if n.values == nil {
			value = "value"
		}
		out[key] = value
	}
}

// key returns the i-th key to try for a map entry.
func (m *maker) key(i int) string {
	if m.taste == random {
		switch h := m.hint().(type) {
		case string:
			return h
		case hint:
			if p := m.pattern(h.pattern); p != nil && m.r.IntN(2) == 0 {
				return p.text(m.r, m.r.IntN(4))
			}
		}
	}
	if i == 0 {
		return "key"
	}
	return fmt.Sprintf("key%d", i+1)
}

func requiring(names []string) schema.ValueValidation {
	return schema.ValueValidation{Required: names}
}

// below joins a path and an error whose field is relative to it.
func below(err error) string {
	text := err.Error()
	if text != "" && (text[0] == '.' || text[0] == '[' || text[0] == ':') {
		return text
	}
	return ": " + text
}
