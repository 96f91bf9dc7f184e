package expression

import "slices"

// parts returns the subexpressions of an operation.
func parts(e []any) []any {
	switch e[0] {
	case "lit", "var":
		return nil
	case "text":
		return values(e[2:])
	case "make":
		return slices.Concat(values(e[1].([]any)), keys(e[1].([]any)))
	}
	var found []any
	for _, part := range e[1:] {
		if inner, ok := part.([]any); ok {
			found = append(found, inner)
		}
	}
	return found
}

// values returns the second element of each pair that is an expression.
func values(pairs []any) []any { return ofPairs(pairs, 1) }

func keys(pairs []any) []any { return ofPairs(pairs, 0) }

func ofPairs(pairs []any, at int) []any {
	var found []any
	for _, pair := range pairs {
		if e, ok := pair.([]any)[at].([]any); ok {
			found = append(found, e)
		}
	}
	return found
}

// depth returns the nesting depth of operations.
func depth(e any) int {
	deepest := 0
	for _, part := range parts(e.([]any)) {
		deepest = max(deepest, depth(part))
	}
	return deepest + 1
}

// refused is an expression that a pod cannot evaluate, with a hint of its own.
type refused struct{ message, hint string }

func (r *refused) Error() string { return r.message }

// untranslatableIn returns the function of an expression whose error message would be part of its value, or "".
// The message comes from a Go library: the pod fails where the Sensor fails, but with another message.
func untranslatableIn(e any) string {
	form := e.([]any)
	switch form[0] {
	case "call":
		switch form[1] {
		case "fromjson/0":
			return "fromjson"
		case "fromdateiso8601/0":
			return "fromdate"
		}
	case "try":
		if form[2] == nil {
			return ""
		}
		return untranslatableIn(form[2])
	}
	for _, part := range parts(form) {
		if name := untranslatableIn(part); name != "" {
			return name
		}
	}
	return ""
}

// readsInput reports whether the value of an expression may depend on its input.
func readsInput(e any) bool {
	form := e.([]any)
	switch form[0] {
	case "in", "values", searchForm, replaceForm:
		return true
	case "call":
		if len(form) == 2 || form[1] != "error/1" {
			return true
		}
	case "pipe", "try":
		return readsInput(form[1])
	case "reduce":
		return readsInput(form[1]) || readsInput(form[2])
	case "make":
		for _, pair := range form[1].([]any) {
			if pair.([]any)[1] == nil {
				return true
			}
		}
	}
	return slices.ContainsFunc(parts(form), readsInput)
}
