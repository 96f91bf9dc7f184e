package resource

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Place is what the schema says of one value.
type Place struct {
	structural *schema.Structural
}

// At is the place at a path, given by keys and indexes; false where the schema
// says nothing. Metadata, apiVersion and kind are not the schema's.
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

// Under is the place of a field, or of an item by its index.
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

// Fields are the names of the fields that are listed, sorted.
func (p Place) Fields() []string { return slices.Sorted(maps.Keys(p.structural.Properties)) }

// Required are the names of the fields that must be there.
func (p Place) Required() []string {
	if p.structural.ValueValidation == nil {
		return nil
	}
	return slices.Clone(p.structural.ValueValidation.Required)
}

// Description is what the schema says to people.
func (p Place) Description() string { return p.structural.Description }

// Default is the value that the API server fills in; nil is none.
func (p Place) Default() any { return p.structural.Default.Object }

// Enum are the values that are legal; none is any.
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

// Limits are the numbers between which a number must be; nil is no limit.
func (p Place) Limits() (low, high *float64) {
	if v := p.structural.ValueValidation; v != nil && !v.ExclusiveMinimum && !v.ExclusiveMaximum {
		return v.Minimum, v.Maximum
	}
	return nil, nil
}

// deepest is how far Holding looks: what is deeper is not meant.
const deepest = 4

// Holding are the paths of the objects that have a field of this name, the
// nearest to the root first.
func (s *Schema) Holding(name string) []string {
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
