package jq

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// PathTree is a tree of fields. An empty tree stands for the whole field.
type PathTree map[string]PathTree

// Add adds a field by its path.
func (t PathTree) Add(path []string) {
	if len(path) == 0 {
		clear(t)
		return
	}
	next, ok := t[path[0]]
	if ok && len(next) == 0 {
		return // the whole field is included already
	}
	if !ok {
		next = PathTree{}
		t[path[0]] = next
		if len(path) == 1 {
			return
		}
	}
	next.Add(path[1:])
}

// JQ returns the jq of each leaf. It yields nothing for a missing field.
func (t PathTree) JQ(of string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(t)) {
		field := fmt.Sprintf("%s[%s]?", of, Quote(key))
		if inner := t[key]; len(inner) > 0 {
			out = append(out, inner.JQ(field)...)
		} else {
			out = append(out, field)
		}
	}
	return out
}

// Object returns the jq of an object with the fields.
func (t PathTree) Object(of string) string {
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(t)) {
		field := fmt.Sprintf("%s[%s]", of, Quote(key))
		if inner := t[key]; len(inner) > 0 {
			field = inner.Object(field)
		}
		fields = append(fields, fmt.Sprintf("%s: %s", Quote(key), field))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
