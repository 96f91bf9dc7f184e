// Package schema says what is known of the shape of an object: of a custom
// resource by its OpenAPI schema, of a built-in kind by its Go type.
//
// The rule of this package: it answers questions about shapes and validates
// nothing. What it does not know for certain it calls unknown.
package schema

import (
	"maps"
	"slices"
)

// Kind is what a value is.
type Kind string

// The kinds of values. Of an Unknown one nothing is claimed.
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

// Type is the shape of a value. No method returns a nil Type: where nothing is
// known it is of the Unknown kind.
type Type interface {
	Kind() Kind
	Nullable() bool // null is as good as a value of the kind

	// Field is the type of a field; known is false if the object has no such
	// field. An open object and an unknown value have every field.
	Field(name string) (t Type, known bool)
	Fields() []string // the names of the fields that are listed, sorted
	Open() bool       // fields that are not listed are allowed

	// Required says that the field is there whenever its object is read: it is
	// required, has a default, or the API server writes it.
	Required(name string) bool
	// Needed says that who writes the object must write the field.
	Needed(name string) bool

	Item() Type // of an array
}

// Any is the type of a value of which nothing is known.
func Any() Type { return shape{} }

// Of is the type of a scalar of a kind, and of objects and arrays of anything.
func Of(kind Kind) Type { return shape{kind: kind, open: kind == Object} }

// ListOf is the type of an array.
func ListOf(item Type) Type { return shape{kind: Array, item: item} }

// Record is the type of an object that has these fields and no other: each of
// them always, but for those that are said to be missing at times.
func Record(fields map[string]Type, sometimes ...string) Type {
	s := shape{kind: Object, fields: map[string]field{}}
	for name, t := range fields {
		s.fields[name] = field{t: t, always: !slices.Contains(sometimes, name)}
	}
	return s
}

// shape is a type whose parts are known.
type shape struct {
	kind     Kind
	nullable bool
	fields   map[string]field
	open     bool // also without value
	value    Type // of the fields that are not listed; nil is unknown
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
