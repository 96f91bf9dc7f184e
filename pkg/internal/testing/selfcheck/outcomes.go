package selfcheck

import (
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// Outcome is an object that a program may return: the query of each value by key.
type Outcome map[string]*gojq.Query

// outcomes returns the objects that a query may return, from static analysis: the
// last step of a pipe, every branch of a condition, the operands of a sum. It
// returns false if a value is computed otherwise.
func outcomes(q *gojq.Query) ([]Outcome, bool) {
	if q == nil {
		return nil, false
	}
	if q.Term != nil {
		return termOutcomes(q.Term)
	}
	switch q.Op {
	case gojq.OpPipe:
		return outcomes(q.Right)
	case gojq.OpComma, gojq.OpAlt:
		return either(q.Left, q.Right)
	case gojq.OpAdd:
		left, ok1 := outcomes(q.Left)
		right, ok2 := outcomes(q.Right)
		return sums(left, right), ok1 && ok2
	}
	return nil, false
}

func termOutcomes(t *gojq.Term) ([]Outcome, bool) {
	if len(t.SuffixList) > 0 {
		return nil, false
	}
	switch t.Type {
	case gojq.TermTypeQuery:
		return outcomes(t.Query)
	case gojq.TermTypeObject:
		one, ok := Keys(t.Object)
		return []Outcome{one}, ok
	case gojq.TermTypeIf:
		branches := []*gojq.Query{t.If.Then, t.If.Else}
		for _, e := range t.If.Elif {
			branches = append(branches, e.Then)
		}
		return either(branches...)
	case gojq.TermTypeTry:
		return either(t.Try.Body, t.Try.Catch)
	}
	return nil, false
}

func either(queries ...*gojq.Query) ([]Outcome, bool) {
	var all []Outcome
	for _, q := range queries {
		found, ok := outcomes(q)
		if !ok {
			return nil, false
		}
		all = append(all, found...)
	}
	return all, true
}

// sums returns all sums of two lists of objects.
func sums(left, right []Outcome) []Outcome {
	var all []Outcome
	for _, l := range left {
		for _, r := range right {
			sum := Outcome{}
			for _, part := range []Outcome{l, r} {
				for key, value := range part {
					sum[key] = value
				}
			}
			all = append(all, sum)
		}
	}
	return all
}

// Keys returns the keys of an object literal; false if one of them is computed.
func Keys(object *gojq.Object) (Outcome, bool) {
	out := Outcome{}
	for _, kv := range object.KeyVals {
		name, ok := kv.Key, kv.Key != ""
		if kv.KeyString != nil {
			name, ok = kv.KeyString.Str, kv.KeyString.Queries == nil
		}
		if !ok {
			return nil, false
		}
		out[strings.TrimPrefix(name, "$")] = kv.Val
	}
	return out, true
}

// Literal returns the text of a query that is a string literal.
func Literal(q *gojq.Query) (string, bool) {
	q = jq.Unwrap(q)
	if q == nil || q.Term == nil || q.Term.Str == nil || q.Term.Str.Queries != nil || q.Term.Format != "" || len(q.Term.SuffixList) > 0 {
		return "", false
	}
	return q.Term.Str.Str, true
}

// isFalse reports whether a query is the literal false.
func isFalse(q *gojq.Query) bool {
	q = jq.Unwrap(q)
	return q != nil && q.Term != nil && q.Term.Type == gojq.TermTypeFalse
}

// Placeholders for values in a text: a value escaped by @uri, and a boolean.
const (
	Escaped = "\x00"
	Boolean = "\x01"
)

// text returns a string expression with placeholders for the values in it. It
// returns false if the query is not a sum of string literals, or if a value could
// be anything.
func text(q *gojq.Query) (string, bool) {
	q = jq.Unwrap(q)
	if mark := markOf(q); mark != "" {
		return mark, true
	}
	switch {
	case q == nil:
		return "", false
	case q.Term == nil && q.Op == gojq.OpAdd:
		left, ok1 := text(q.Left)
		right, ok2 := text(q.Right)
		return left + right, ok1 && ok2
	case q.Term == nil || q.Term.Str == nil || q.Term.Format != "" || len(q.Term.SuffixList) > 0:
		return "", false
	}
	if q.Term.Str.Queries == nil {
		return q.Term.Str.Str, !strings.ContainsAny(q.Term.Str.Str, Escaped+Boolean)
	}
	var b strings.Builder
	for _, part := range q.Term.Str.Queries {
		if words, ok := Literal(part); ok {
			b.WriteString(words)
			continue
		}
		mark := markOf(part)
		if mark == "" {
			return "", false
		}
		b.WriteString(mark)
	}
	return b.String(), true
}

func markOf(q *gojq.Query) string {
	q = jq.Unwrap(q)
	for q != nil && q.Term == nil && q.Op == gojq.OpPipe {
		last := jq.Unwrap(q.Right)
		if last.Term != nil && last.Term.Func != nil && last.Term.Func.Name == "tostring" {
			last = jq.Unwrap(q.Left)
		}
		q = last
	}
	switch {
	case q == nil:
	case q.Term != nil && q.Term.Type == gojq.TermTypeFormat && q.Term.Format == "@uri" && q.Term.Str == nil:
		return Escaped
	case q.Term == nil && (q.Op == gojq.OpEq || q.Op == gojq.OpNe):
		return Boolean
	}
	return ""
}
