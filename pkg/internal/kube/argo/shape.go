package argo

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// DecodesItself is the interface of types with their own JSON decoding.
var DecodesItself = reflect.TypeFor[json.Unmarshaler]()

// Shape compares a JSON value with a Go type and reports all unknown fields and
// values of a wrong type, because decoding stops at the first one. code overrides
// the code of each problem if it is not empty.
func Shape(r *problem.Report, code string, at *field.Path, t reflect.Type, value any) {
	before := len(r.Problems)
	for _, f := range (shaper{kind: r.Object.GetObjectKind().GroupVersionKind().Kind}).value(t, value) {
		r.Add(f.path(at), cmp.Or(code, f.code), f.hint, "%s", f.message)
		last := &r.Problems[len(r.Problems)-1]
		last.Type, last.Almost = f.decoder, f.almost
	}
	slices.SortStableFunc(r.Problems[before:], func(a, b problem.Problem) int { return cmp.Compare(a.Path, b.Path) })
}

// shaper checks the fields of a kind.
type shaper struct{ kind string }

// flaw is an error in a value. Its steps are stored from the inside out, so that
// valid values need no path.
type flaw struct {
	steps               []step
	code, message, hint string
	decoder             string // the name of the type that has no such field, or its own decoding
	almost              string // the field that an unknown one probably misspells
}

func newFlaw(code, format string, args ...any) []flaw {
	return []flaw{{code: code, message: fmt.Sprintf(format, args...)}}
}

func (f flaw) path(at *field.Path) *field.Path {
	for _, s := range slices.Backward(f.steps) {
		at = s.from(at)
	}
	return at
}

// step leads to a field, a map key or a list index.
type step struct {
	to    int
	name  string
	index int
}

const (
	toField = iota
	toKey
	toIndex
)

func (s step) from(at *field.Path) *field.Path {
	switch s.to {
	case toKey:
		return at.Key(s.name)
	case toIndex:
		return at.Index(s.index)
	}
	return at.Child(s.name)
}

// further adds an outer step to the paths of flaws.
func further(flaws []flaw, s step) []flaw {
	for i := range flaws {
		flaws[i].steps = append(flaws[i].steps, s)
	}
	return flaws
}

func (s shaper) value(t reflect.Type, value any) []flaw {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case value == nil:
		return nil // the API server reads null as absent
	case t == reflect.TypeFor[wfv1.ParallelSteps]():
		return s.list(reflect.TypeFor[[]wfv1.WorkflowStep](), value)
	case known(t).itself:
		return decodeItself(t, value)
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.object(t, value)
	case reflect.Map:
		return s.mapping(t, value)
	case reflect.Slice:
		return s.list(t, value)
	case reflect.String:
		if _, ok := value.(string); !ok {
			return mistyped("a string", value)
		}
	case reflect.Bool:
		if _, ok := value.(bool); !ok {
			return mistyped("a boolean", value)
		}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return number(t, value)
	}
	return nil
}

func (s shaper) object(t reflect.Type, value any) []flaw {
	object, ok := value.(map[string]any)
	if !ok {
		return mistyped("an object", value)
	}
	fields := known(t).fields
	var flaws []flaw
	for key, inner := range object {
		var found []flaw
		if of, ok := fields[key]; ok {
			found = s.value(of.Type, inner)
		} else {
			found = unknown(t, key, object)
		}
		flaws = append(flaws, further(found, step{to: toField, name: key})...)
	}
	return flaws
}

// unknown reports a key of an object that is no field. It suggests one that the object does not have
// and that can hold the value.
func unknown(t reflect.Type, key string, object map[string]any) []flaw {
	flaws := newFlaw(diag.UnknownField, "unknown field %q of %s", key, t.Name())
	flaws[0].decoder = t.Name()
	var names []string
	for name, of := range known(t).fields {
		if _, has := object[name]; !has && len(shaper{}.value(of.Type, object[key])) == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	flaws[0].hint, flaws[0].almost = diag.DidYouMean(key, names, strings.ToLower), diag.Nearest(key, names, strings.ToLower)
	return flaws
}

func (s shaper) mapping(t reflect.Type, value any) []flaw {
	entries, ok := value.(map[string]any)
	if !ok {
		return mistyped("a map", value)
	}
	var flaws []flaw
	for key, entry := range entries {
		flaws = append(flaws, further(s.value(t.Elem(), entry), step{to: toKey, name: key})...)
	}
	return flaws
}

// jsonType describes how a Go type is decoded.
type jsonType struct {
	itself bool             // has its own JSON decoding
	fields map[string]Field // of a struct, by JSON name
}

// Field is a field of a struct, also of one that is embedded in it.
type Field struct {
	Type  reflect.Type
	index []int
}

// knownTypes caches types by reflection.
var knownTypes sync.Map // reflect.Type to jsonType

func known(t reflect.Type) jsonType {
	if t.PkgPath() == "" { // unnamed types have no methods or fields
		return jsonType{}
	}
	if k, ok := knownTypes.Load(t); ok {
		return k.(jsonType)
	}
	k := jsonType{itself: reflect.PointerTo(t).Implements(DecodesItself)}
	if t.Kind() == reflect.Struct && !k.itself {
		k.fields = JSONFields(t)
	}
	knownTypes.Store(t, k)
	return k
}

// JSONFields returns the fields of a struct by JSON name.
func JSONFields(t reflect.Type) map[string]Field {
	out := map[string]Field{}
	collectFields(t, nil, out)
	return out
}

func collectFields(t reflect.Type, prefix []int, out map[string]Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		index := append(slices.Clone(prefix), i)
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && (name == "" || strings.Contains(options, "inline")):
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			collectFields(embedded, index, out)
		case name != "":
			out[name] = Field{f.Type, index}
		}
	}
}

func (s shaper) list(t reflect.Type, value any) []flaw {
	if t.Elem().Kind() == reflect.Uint8 {
		return s.binary(value)
	}
	list, ok := value.([]any)
	if !ok {
		return mistyped("a list", value)
	}
	var flaws []flaw
	for i, item := range list {
		flaws = append(flaws, further(s.value(t.Elem(), item), step{to: toIndex, index: i})...)
	}
	return flaws
}

func (s shaper) binary(value any) []flaw {
	text, ok := value.(string)
	if !ok {
		return mistyped("a base64 string", value)
	}
	_, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		return nil
	}
	flaws := newFlaw(diag.BadValue, "not base64: %v", err)
	if s.kind == "Secret" {
		flaws[0].hint = "stringData takes plain text"
	}
	return flaws
}

func number(t reflect.Type, value any) []flaw {
	fits := true
	if whole, ok := value.(float64); ok && whole == math.Trunc(whole) && math.Abs(whole) < 1<<63 {
		value = int64(whole)
	}
	switch v := value.(type) {
	case int64:
		switch kind := t.Kind(); {
		case kind <= reflect.Int64:
			fits = !t.OverflowInt(v)
		case kind <= reflect.Uint64:
			fits = v >= 0 && !t.OverflowUint(uint64(v))
		}
	case uint64: // larger than an int64
		fits = t.Kind() > reflect.Int64
	case float64:
		if t.Kind() != reflect.Float64 && t.Kind() != reflect.Float32 && v != math.Trunc(v) {
			return mistyped("an integer", value)
		}
	default:
		return mistyped("a number", value)
	}
	if !fits {
		return newFlaw(diag.BadValue, "%d does not fit %s", value, t.Kind())
	}
	return nil
}

// decodeItself decodes into a type with its own JSON decoding, such as a quantity
// or a time.
func decodeItself(t reflect.Type, value any) []flaw {
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, reflect.New(t).Interface())
	}
	if err != nil {
		flaws := newFlaw(diag.BadValue, "invalid %s %s: %v", t.Name(), data, err)
		flaws[0].decoder = t.Name()
		return flaws
	}
	return nil
}

func mistyped(want string, value any) []flaw {
	data, err := json.Marshal(value)
	if err != nil {
		data = []byte(fmt.Sprint(value))
	}
	if len(data) > 60 {
		data = append(data[:60], "…"...)
	}
	return newFlaw(diag.WrongType, "must be %s, is %s", want, data)
}
