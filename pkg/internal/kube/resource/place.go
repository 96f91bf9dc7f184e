package resource

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Place is the part of a schema for one value.
type Place struct {
	structural *schema.Structural
}

// At returns the place at a path of keys and indexes, false if the schema has none. It
// has none for metadata, apiVersion and kind.
func (s *Schema) At(path ...string) (Place, bool) {
	p := Place{structural: s.structural}
	for _, step := range path {
		var ok bool
		if p, ok = p.Under(step); !ok {
			return Place{}, false
		}
	}
	return p, true
}

// Under returns the place of a field, or of an item by its index.
func (p Place) Under(step string) (Place, bool) {
	var inner Place
	if property, ok := p.structural.Properties[step]; ok {
		inner.structural = &property
		return inner, true
	}
	if _, err := strconv.Atoi(step); err == nil && p.structural.Items != nil {
		inner.structural = p.structural.Items
		return inner, true
	}
	if a := p.structural.AdditionalProperties; a != nil && a.Structural != nil {
		inner.structural = a.Structural
		return inner, true
	}
	return Place{}, false
}

// Fields returns the sorted names of the declared fields.
func (p Place) Fields() []string { return slices.Sorted(maps.Keys(p.structural.Properties)) }

// Required returns the names of the required fields.
func (p Place) Required() []string {
	if p.structural.ValueValidation == nil {
		return nil
	}
	return slices.Clone(p.structural.ValueValidation.Required)
}

// Description returns the description of the schema.
func (p Place) Description() string { return p.structural.Description }

// Default returns the default, or nil.
func (p Place) Default() any { return p.structural.Default.Object }

// Enum returns the allowed values; none means any.
func (p Place) Enum() []any {
	if p.structural.ValueValidation == nil {
		return nil
	}
	var out []any
	for _, value := range p.structural.ValueValidation.Enum {
		out = append(out, value.Object)
	}
	return out
}

// Limits returns the minimum and maximum of a number; nil means none.
func (p Place) Limits() (low, high *float64) {
	if v := p.structural.ValueValidation; v != nil && !v.ExclusiveMinimum && !v.ExclusiveMaximum {
		return v.Minimum, v.Maximum
	}
	return nil, nil
}

// deepest limits the depth of PathsWith.
const deepest = 4

// PathsWith returns the paths of the objects that have a field of this name, those
// nearest to the root first.
func (s *Schema) PathsWith(name string) []string {
	type open struct {
		path string
		*schema.Structural
	}
	var out []string
	level := []open{{"", s.structural}}
	for range deepest {
		var next []open
		for _, o := range level {
			for _, field := range slices.Sorted(maps.Keys(o.Properties)) {
				if o.path == "" && (field == "metadata" || field == "status") {
					continue
				}
				property := o.Properties[field]
				if field == name {
					out = append(out, o.path)
				}
				path := field
				if o.path != "" {
					path = o.path + "." + field
				}
				next = append(next, open{path, &property})
			}
		}
		level = next
	}
	return out
}
