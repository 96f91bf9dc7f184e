package check

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
)

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// shape holds a JSON value to a Go type and reports every field that the type
// does not know and every value of a wrong type: decoding would stop at the
// first of them.
func shape(r *report, at *field.Path, t reflect.Type, value any) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case value == nil:
		return // the API server reads null as absent
	case reflect.PointerTo(t).Implements(decodesItself):
		shapeItself(r, at, t, value)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		shapeStruct(r, at, t, value)
	case reflect.Map:
		entries, ok := value.(map[string]any)
		if !ok {
			mistyped(r, at, "a map", value)
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			shape(r, at.Key(key), t.Elem(), entries[key])
		}
	case reflect.Slice:
		shapeList(r, at, t, value)
	case reflect.String:
		if _, ok := value.(string); !ok {
			mistyped(r, at, "a string", value)
		}
	case reflect.Bool:
		if _, ok := value.(bool); !ok {
			mistyped(r, at, "a boolean", value)
		}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		shapeNumber(r, at, t, value)
	}
}

func shapeStruct(r *report, at *field.Path, t reflect.Type, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		mistyped(r, at, "an object", value)
		return
	}
	fields := fieldsOfType(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		inner := field.NewPath(key)
		if at != nil {
			inner = at.Child(key)
		}
		if known, ok := fields[key]; ok {
			shape(r, inner, known, object[key])
			continue
		}
		hint := diag.DidYouMean(key, slices.Sorted(maps.Keys(fields)), strings.ToLower)
		r.add(inner, CodeChild, hint, "unknown field %q of %s", key, t.Name())
	}
}

// knownFields are those of the types that were asked for.
var knownFields sync.Map // reflect.Type to map[string]reflect.Type

func fieldsOfType(t reflect.Type) map[string]reflect.Type {
	if known, ok := knownFields.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	jsonFields(t, fields)
	knownFields.Store(t, fields)
	return fields
}

// jsonFields gathers the fields of a type by their names in JSON.
func jsonFields(t reflect.Type, out map[string]reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && (name == "" || strings.Contains(options, "inline")):
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			jsonFields(embedded, out)
		case name != "":
			out[name] = f.Type
		}
	}
}

func shapeList(r *report, at *field.Path, t reflect.Type, value any) {
	if t.Elem().Kind() == reflect.Uint8 {
		text, ok := value.(string)
		if !ok {
			mistyped(r, at, "a base64 string", value)
		} else if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			hint := ""
			if r.object.GetObjectKind().GroupVersionKind().Kind == "Secret" {
				hint = "stringData takes plain text"
			}
			r.add(at, CodeChild, hint, "not base64: %v", err)
		}
		return
	}
	list, ok := value.([]any)
	if !ok {
		mistyped(r, at, "a list", value)
	}
	for i, item := range list {
		shape(r, at.Index(i), t.Elem(), item)
	}
}

func shapeNumber(r *report, at *field.Path, t reflect.Type, value any) {
	switch v := value.(type) {
	case int64:
		if fits := reflect.New(t).Elem(); fits.CanInt() && fits.OverflowInt(v) || fits.CanUint() && v < 0 {
			r.add(at, CodeChild, "", "%d does not fit %s", v, t.Kind())
		}
	case float64:
		if t.Kind() != reflect.Float64 && t.Kind() != reflect.Float32 && v != math.Trunc(v) {
			mistyped(r, at, "an integer", value)
		}
	default:
		mistyped(r, at, "a number", value)
	}
}

// shapeItself asks a type that reads JSON its own way: a quantity, a time.
func shapeItself(r *report, at *field.Path, t reflect.Type, value any) {
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, reflect.New(t).Interface())
	}
	if err != nil {
		r.add(at, CodeChild, "", "%s is no %s: %v", data, t.Name(), err)
	}
}

func mistyped(r *report, at *field.Path, want string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		data = []byte(fmt.Sprint(value))
	}
	if len(data) > 60 {
		data = append(data[:60], "…"...)
	}
	r.add(at, CodeChild, "", "must be %s, is %s", want, data)
}
