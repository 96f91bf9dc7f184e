package jqfile

import (
	"strconv"

	"github.com/itchyny/gojq"
)

// Value fills a hole.
type Value struct{ query *gojq.Query }

// Holes are the values of a program by the full name of the hole, as in
// hole::child or option::adopt.
type Holes map[string]Value

// String is a constant.
func String(s string) Value {
	return Value{lone(gojq.Term{Type: gojq.TermTypeString, Str: &gojq.String{Str: s}})}
}

// Number is a constant.
func Number(n int) Value {
	return Value{lone(gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(n)})}
}

// Bool is a constant. A branch that it rules out is not emitted.
func Bool(b bool) Value { return Value{boolean(b)} }

// Input is the expression `.`.
func Input() Value { return Value{lone(gojq.Term{Type: gojq.TermTypeIdentity})} }

// Raw is jq that is emitted as it is. It must be a term of jq's grammar, and may
// not call definitions of the files. The programs of a user's expressions are.
func Raw(source string) Value { return Value{raw(source, precTerm)} }

// RawList is Raw for terms that are separated by commas.
func RawList(source string) Value { return Value{raw(source, precComma)} }

// Call is a call of a definition with one constant.
func Call(name, argument string) Value {
	return Value{lone(gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: []*gojq.Query{String(argument).query}}})}
}

// Field is a field of an object.
type Field struct {
	Name  string
	Value Value
}

// Object is an object of fields.
func Object(fields ...Field) Value {
	object := &gojq.Object{}
	for _, f := range fields {
		object.KeyVals = append(object.KeyVals, &gojq.ObjectKeyVal{KeyString: &gojq.String{Str: f.Name}, Val: f.Value.query})
	}
	return Value{lone(gojq.Term{Type: gojq.TermTypeObject, Object: object})}
}

// List yields the values one after the other; without any it is `empty`.
func List(values ...Value) Value {
	return joined(gojq.OpComma, values, lone(gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: "empty"}}))
}

// All is whether all conditions hold.
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

// raw keeps source in a node that nothing else uses this way: a format with a
// number, which is its precedence.
func raw(source string, p precedence) *gojq.Query {
	return lone(gojq.Term{Type: gojq.TermTypeFormat, Format: source, Number: strconv.Itoa(int(p))})
}

func isRaw(t *gojq.Term) bool { return t.Type == gojq.TermTypeFormat && t.Number != "" }
