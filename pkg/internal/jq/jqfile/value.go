package jqfile

import (
	"strconv"

	"github.com/itchyny/gojq"
)

// Value is the value of a hole.
type Value struct{ query *gojq.Query }

// Holes are the values of a program's holes by their full names, as in hole::child or
// option::adopt.
type Holes map[string]Value

// String returns a string constant.
func String(s string) Value {
	return Value{lone(gojq.Term{Type: gojq.TermTypeString, Str: &gojq.String{Str: s}})}
}

// Number returns a number constant.
func Number(n int) Value {
	return Value{lone(gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(n)})}
}

// Bool returns a boolean constant. Branches that it excludes are not generated.
func Bool(b bool) Value { return Value{boolean(b)} }

// Input returns the expression `.`.
func Input() Value { return Value{lone(gojq.Term{Type: gojq.TermTypeIdentity})} }

// Raw returns jq that is copied unchanged. It must be a term of jq's grammar, and must
// not call definitions of the files. Programs of users' expressions satisfy this.
func Raw(source string) Value { return Value{raw(source, precTerm)} }

// RawList is Raw for terms separated by commas.
func RawList(source string) Value { return Value{raw(source, precComma)} }

// Name returns a call of a definition without arguments.
func Name(name string) Value {
	return Value{lone(gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name}})}
}

// Field is a field of an object.
type Field struct {
	Name  string
	Value Value
}

// Object returns an object with fields.
func Object(fields ...Field) Value {
	object := &gojq.Object{}
	for _, f := range fields {
		object.KeyVals = append(object.KeyVals, &gojq.ObjectKeyVal{KeyString: &gojq.String{Str: f.Name}, Val: f.Value.query})
	}
	return Value{lone(gojq.Term{Type: gojq.TermTypeObject, Object: object})}
}

// List returns an expression that yields the values in order; without values it is
// `empty`.
func List(values ...Value) Value {
	return joined(gojq.OpComma, values, lone(gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: "empty"}}))
}

// All returns the conjunction of conditions.
func All(values ...Value) Value { return joined(gojq.OpAnd, values, boolean(true)) }

func joined(op gojq.Operator, values []Value, none *gojq.Query) Value {
	if len(values) == 0 {
		return Value{none}
	}
	out := values[0].query
	for _, v := range values[1:] {
		out = &gojq.Query{Left: out, Op: op, Right: v.query}
	}
	return Value{out}
}

func lone(t gojq.Term) *gojq.Query { return &gojq.Query{Term: &t} }

func boolean(b bool) *gojq.Query {
	if b {
		return lone(gojq.Term{Type: gojq.TermTypeTrue})
	}
	return lone(gojq.Term{Type: gojq.TermTypeFalse})
}

// raw stores source in a format node with a number, its precedence. The parser does not
// create such nodes.
func raw(source string, p precedence) *gojq.Query {
	return lone(gojq.Term{Type: gojq.TermTypeFormat, Format: source, Number: strconv.Itoa(int(p))})
}

func isRaw(t *gojq.Term) bool { return t.Type == gojq.TermTypeFormat && t.Number != "" }
