package jq

import (
	"reflect"

	"github.com/itchyny/gojq"
)

// Walk visits the nodes below a node of gojq's syntax tree and the node itself,
// each a pointer, from the outside in; visit says whether to go below a node. It
// is for checks that treat a construct alike wherever it is. A check for which it
// matters in which part of a program a node is has to switch on the nodes.
func Walk(node any, visit func(node any) bool) { walk(reflect.ValueOf(node), visit) }

func walk(node reflect.Value, visit func(any) bool) {
	switch node.Kind() {
	case reflect.Pointer:
		if !node.IsNil() && visit(node.Interface()) {
			walk(node.Elem(), visit)
		}
	case reflect.Slice:
		for i := range node.Len() {
			walk(node.Index(i), visit)
		}
	case reflect.Struct:
		for i := range node.NumField() {
			switch field := node.Field(i); field.Kind() {
			case reflect.Pointer, reflect.Slice, reflect.Struct:
				if field.CanInterface() {
					walk(field, visit)
				}
			}
		}
	}
}

// Unwrap returns a query without the parentheses around it.
func Unwrap(q *gojq.Query) *gojq.Query {
	for q != nil && q.Term != nil && q.Term.Type == gojq.TermTypeQuery && len(q.Term.SuffixList) == 0 && len(q.FuncDefs) == 0 {
		q = q.Term.Query
	}
	return q
}
