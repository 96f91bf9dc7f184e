package testsuite

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// mismatch is a difference between an actual and an expected value.
type mismatch struct {
	path    []string // in the expected value
	place   string   // in the actual value, for messages
	message string
	hint    string
}

// match compares a value with an expected one. Fields that are not expected may
// have any value.
func match(want, got any) []mismatch {
	m := &matcher{object: typeOf(got)}
	m.value(want, got, true, nil, "")
	return m.found
}

type matcher struct {
	object schema.Type // of the actual value
	found  []mismatch
}

func (m *matcher) add(path []string, place, format string, args ...any) {
	m.found = append(
		m.found,
		mismatch{path: slices.Clone(path), place: strings.TrimPrefix(place, "."), message: fmt.Sprintf(format, args...)},
	)
}

func (m *matcher) value(want, got any, there bool, path []string, place string) {
	if want == nil {
		if got != nil {
			m.add(path, place, "is %s, expected no value", shown(got))
		}
		return
	}
	if condition, ok := conditionOf(want); ok {
		m.condition(condition, got, path, place)
		return
	}
	if !there || got == nil {
		if empty(want) { // the API server omits empty lists and mappings
			return
		}
		m.add(path, place, "is missing, expected %s", shown(want))
		return
	}
	switch want := want.(type) {
	case map[string]any:
		m.mapping(want, got, path, place)
	case []any:
		m.list(want, got, path, place)
	default:
		m.scalar(want, got, path, place)
	}
}

// empty reports whether an expected value is met where there is none.
func empty(want any) bool {
	switch want := want.(type) {
	case nil:
		return true
	case map[string]any:
		for _, value := range want {
			if !empty(value) {
				return false
			}
		}
		return true
	case []any:
		return len(want) == 0
	}
	return false
}

func (m *matcher) mapping(want map[string]any, got any, path []string, place string) {
	fields, ok := got.(map[string]any)
	if !ok {
		m.add(path, place, "is %s, want %s", shown(got), shown(want))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, there := fields[key]
		m.value(want[key], value, there, append(path, key), place+step(key))
	}
}

// step formats a key as a path segment.
func step(key string) string {
	if strings.ContainsAny(key, "./ ") {
		return "[" + strconv.Quote(key) + "]"
	}
	return "." + key
}

// list matches entries by name or type if all expected entries have one, and
// otherwise by index.
func (m *matcher) list(want []any, got any, path []string, place string) {
	entries, ok := got.([]any)
	if !ok {
		m.add(path, place, "is %s, expected a list", shown(got))
		return
	}
	if key := listKey(want, entries); key != "" && len(want) > 0 {
		for i, one := range want {
			m.named(one, entries, key, append(path, strconv.Itoa(i)), place)
		}
		return
	}
	if len(entries) != len(want) {
		m.add(path, place, "is %s, want %s", shown(got), shown(want))
		return
	}
	for i := range want {
		m.value(want[i], entries[i], true, append(path, strconv.Itoa(i)), fmt.Sprintf("%s[%d]", place, i))
	}
}

// listKey returns the key that identifies the entries of a list, as in most lists
// of Kubernetes; empty if there is none.
func listKey(want, got []any) string {
	for _, key := range []string{"name", "type"} {
		if distinct(want, key) && distinct(got, key) {
			return key
		}
	}
	return ""
}

// distinct reports whether all entries have different texts under a key.
func distinct(list []any, key string) bool {
	seen := map[string]bool{}
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		text := textOf(fields, key)
		if text == "" || seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

func (m *matcher) named(want any, entries []any, key string, path []string, place string) {
	fields, _ := want.(map[string]any)
	name := textOf(fields, key)
	var others []string
	for _, entry := range entries {
		found, _ := entry.(map[string]any)
		if textOf(found, key) == name {
			m.value(want, entry, true, path, fmt.Sprintf("%s[%s]", place, name))
			return
		}
		others = append(others, textOf(found, key))
	}
	m.add(path, fmt.Sprintf("%s[%s]", place, name), "is missing; the list has %s", orNone(others))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "no entry"
	}
	return strings.Join(names, ", ")
}

func (m *matcher) scalar(want, got any, path []string, place string) {
	if text, ok := want.(string); ok {
		want = strings.Replace(text, "$${", "${", 1)
	}
	if sameScalar(want, got) || sameQuantity(m.object, path, want, got) {
		return
	}
	m.add(path, place, "is %s, want %s", shown(got), shown(want))
	a, manyLines := want.(string)
	if b, ok := got.(string); ok && manyLines && strings.Contains(a+b, "\n") {
		m.found[len(m.found)-1].hint = diff(a, b)
	}
}

// sameScalar compares numbers by value, independently of their Go type.
func sameScalar(a, b any) bool {
	if a == b {
		return true
	}
	x, ok := number(a)
	y, both := number(b)
	return ok && both && x == y
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// conditionOf returns the jq of a value of the form ${ }.
func conditionOf(want any) (string, bool) {
	text, ok := want.(string)
	text = strings.TrimSpace(text)
	return text, ok && strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}")
}

func (m *matcher) condition(source string, got any, path []string, place string) {
	program, err := compiled(source)
	if err == nil {
		var holds any
		if holds, err = program.Run(got, expression.Vars{}); err == nil && holds == true {
			return
		}
	}
	if err != nil {
		m.add(path, place, "is %s, and %s fails: %v", shown(got), source, err)
		var limit *jq.LimitError
		if errors.As(err, &limit) {
			m.found[len(m.found)-1].hint = limit.Hint
		}
		return
	}
	m.add(path, place, "is %s, want %s", shown(got), source)
}

// compiled compiles a condition.
func compiled(source string) (*expression.Program, error) {
	program, problems := expression.Expression(source, expression.Scope{Name: "the actual value"}, "boolean")
	for _, p := range problems {
		if !p.Warning {
			return nil, errors.New(p.Message)
		}
	}
	return program, nil
}
