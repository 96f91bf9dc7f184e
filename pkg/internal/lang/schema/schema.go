// Package schema describes the types of objects: of a custom resource by its OpenAPI
// schema, of a built-in kind by its Go type.
//
// It answers questions about types and validates nothing. A type that is not certain is
// unknown.
package schema

import (
	"maps"
	"slices"
)

// Kind is the kind of a value.
type Kind string

// The kinds of values. An Unknown value may be anything.
const (
	Unknown     Kind = ""
	Object      Kind = "object"
	Array       Kind = "array"
	String      Kind = "string"
	Integer     Kind = "integer"
	Number      Kind = "number"
	Boolean     Kind = "boolean"
	IntOrString Kind = "int-or-string"
	Quantity    Kind = "quantity" // a string or a number
)

// Type is the type of a value. No method returns a nil Type: an unknown type has the
// kind Unknown.
type Type interface {
	Kind() Kind
	Nullable() bool // null is allowed, too

	// Field returns the type of a field; known is false if the object has no such
	// field. An open object and an unknown value have every field.
	Field(name string) (t Type, known bool)
	Fields() []string // the sorted names of the declared fields
	Open() bool       // undeclared fields are allowed

	// Required reports whether the field exists whenever its object is read: it is
	// required, has a default, or the API server sets it.
	Required(name string) bool
	// Needed reports whether a client must set the field.
	Needed(name string) bool

	Item() Type // of an array
}

// At returns the type at a path of fields and indexes; it is unknown where the type has none.
func At(t Type, path ...string) Type {
	for _, step := range path {
		if t.Kind() == Array {
			t = t.Item()
		} else {
			t, _ = t.Field(step)
		}
	}
	return t
}

// Any returns the unknown type.
func Any() Type { return shape{} }

// Of returns the type of a scalar, or of an object or an array of anything.
func Of(kind Kind) Type { return shape{kind: kind, open: kind == Object} }

// ListOf returns the type of an array.
func ListOf(item Type) Type { return shape{kind: Array, item: item} }

// Record returns the type of an object with exactly these fields. All of them exist
// except those in sometimes.
func Record(fields map[string]Type, sometimes ...string) Type {
	s := shape{kind: Object, fields: map[string]field{}}
	for name, t := range fields {
		s.fields[name] = field{t: t, always: !slices.Contains(sometimes, name)}
	}
	return s
}

// shape is a type with explicit parts.
type shape struct {
	kind     Kind
	nullable bool
	fields   map[string]field
	open     bool // also without value
	value    Type // of undeclared fields; nil is unknown
	item     Type // nil is unknown
}

type field struct {
	t      Type
	always bool
	needed bool
}

func (s shape) Kind() Kind     { return s.kind }
func (s shape) Nullable() bool { return s.nullable }
func (s shape) Open() bool     { return s.open || s.kind == Unknown }

func (s shape) Field(name string) (Type, bool) {
	if f, ok := s.fields[name]; ok {
		return f.t, true
	}
	if s.value != nil {
		return s.value, true
	}
	return Any(), s.Open()
}

func (s shape) Fields() []string {
	return slices.Sorted(maps.Keys(s.fields))
}

func (s shape) Required(name string) bool { return s.fields[name].always }
func (s shape) Needed(name string) bool   { return s.fields[name].needed }

func (s shape) Item() Type {
	if s.item == nil {
		return Any()
	}
	return s.item
}
