package output

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Fields returns the object in the form that Marshal encodes: maps, lists, strings,
// booleans, int64, uint64 and float64.
//
// The result is what encoding/json would write and read again. That package first learns
// every type that an object could contain, thousands for a Sensor or a WorkflowTemplate.
// This one walks the values, and learns only the types that it meets.
func Fields(o manifest.Object) (map[string]any, error) {
	value, err := valueOf(reflect.ValueOf(o))
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", o, err)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("encoding %T: not an object", o)
	}
	delete(fields, "status")
	pruneUnder("", fields)
	if fields["kind"] == "CustomResourceDefinition" {
		coretypes.Public(fields["spec"])
	}
	return fields, nil
}

// valueOf returns a value as JSON has it.
func valueOf(v reflect.Value) (any, error) {
	if !v.IsValid() {
		return nil, nil
	}
	if m := marshaler(v); m != nil {
		return encodedByItself(m)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return valueOf(v.Elem())
	case reflect.Struct:
		return structOf(v)
	case reflect.Map:
		return mapOf(v)
	case reflect.Slice, reflect.Array:
		return listOf(v)
	case reflect.String:
		if text := v.String(); utf8.ValidString(text) {
			return text, nil
		}
		return viaJSON(v.String())
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if u := v.Uint(); u > math.MaxInt64 {
			return u, nil
		}
		return int64(v.Uint()), nil
	case reflect.Float64:
		if f := v.Float(); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		}
		return viaJSON(v.Float())
	default:
		return viaJSON(v.Interface())
	}
}

// encodedByItself returns the value of a type that has its own JSON encoding. Those that
// encode their fields with encoding/json are walked instead.
func encodedByItself(value any) (any, error) {
	switch v := value.(type) {
	case *wfv1.ParallelSteps:
		return valueOf(reflect.ValueOf(v.Steps))
	case wfv1.ParallelSteps:
		return valueOf(reflect.ValueOf(v.Steps))
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		if v.Schema != nil {
			return valueOf(reflect.ValueOf(v.Schema))
		}
		return v.Allows, nil
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		if len(v.JSONSchemas) > 0 {
			return valueOf(reflect.ValueOf(v.JSONSchemas))
		}
		return valueOf(reflect.ValueOf(v.Schema))
	case *metav1.Time:
		if v.IsZero() {
			return nil, nil
		}
	}
	return viaJSON(value)
}

// structType is what encoding/json knows of a struct type.
type structType struct {
	fields     []structField
	marshals   bool // implements json.Marshaler or encoding.TextMarshaler
	byPointer  bool // its pointer does
	unreadable bool // has an option that only encoding/json supports
}

type structField struct {
	name                string
	index               []int
	omitEmpty, omitZero bool
}

var (
	types      sync.Map // reflect.Type to *structType
	jsonMethod = reflect.TypeFor[json.Marshaler]()
	textMethod = reflect.TypeFor[encoding.TextMarshaler]()
	zeroMethod = reflect.TypeFor[interface{ IsZero() bool }]()
)

// learn returns the description of a type. For types other than structs, it only says
// which code encodes their values.
func learn(t reflect.Type) *structType {
	if known, ok := types.Load(t); ok {
		return known.(*structType)
	}
	out := &structType{marshals: t.Implements(jsonMethod) || t.Implements(textMethod)}
	if !out.marshals && t.Kind() != reflect.Pointer && t.Name() != "" {
		pointer := reflect.PointerTo(t)
		out.byPointer = pointer.Implements(jsonMethod) || pointer.Implements(textMethod)
	}
	if t.Kind() == reflect.Struct {
		out.collect(t, nil)
	}
	types.Store(t, out)
	return out
}

// collect adds the fields of a struct. Those of embedded structs come after its own, which
// hide them.
func (s *structType) collect(t reflect.Type, index []int) {
	var embedded []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			embedded = append(embedded, f)
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer:
			s.unreadable = true
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		field := structField{name: name, index: append(append([]int(nil), index...), i)}
		for option := range strings.SplitSeq(options, ",") {
			field.omitEmpty = field.omitEmpty || option == "omitempty"
			field.omitZero = field.omitZero || option == "omitzero"
			s.unreadable = s.unreadable || option == "string"
		}
		if !s.has(name) {
			s.fields = append(s.fields, field)
		}
	}
	for _, f := range embedded {
		s.collect(f.Type, append(append([]int(nil), index...), f.Index...))
	}
}

func (s *structType) has(name string) bool {
	for _, f := range s.fields {
		if f.name == name {
			return true
		}
	}
	return false
}

// marshaler returns the value or its pointer if its type encodes itself.
func marshaler(v reflect.Value) any {
	t := v.Type()
	if t.PkgPath() == "" && t.Kind() != reflect.Pointer { // a built-in type
		return nil
	}
	if v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	known := learn(t)
	switch {
	case known.marshals && v.CanInterface():
		return v.Interface()
	case known.byPointer && v.CanAddr() && v.Addr().CanInterface():
		return v.Addr().Interface()
	}
	return nil
}

func structOf(v reflect.Value) (any, error) {
	known := learn(v.Type())
	if known.unreadable {
		return viaJSON(v.Interface())
	}
	out := make(map[string]any, len(known.fields))
	for _, f := range known.fields {
		inner := v.FieldByIndex(f.index)
		if f.omitEmpty && isEmpty(inner) || f.omitZero && isZero(inner) {
			continue
		}
		value, err := valueOf(inner)
		if err != nil {
			return nil, err
		}
		out[f.name] = value
	}
	return out, nil
}

// isEmpty reports whether omitempty omits a value.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// isZero reports whether omitzero omits a value.
func isZero(v reflect.Value) bool {
	switch {
	case v.Type().Implements(zeroMethod) && (v.Kind() != reflect.Pointer || !v.IsNil()):
		return v.Interface().(interface{ IsZero() bool }).IsZero()
	case v.CanAddr() && reflect.PointerTo(v.Type()).Implements(zeroMethod):
		return v.Addr().Interface().(interface{ IsZero() bool }).IsZero()
	}
	return v.IsZero()
}

func mapOf(v reflect.Value) (any, error) {
	if v.IsNil() {
		return nil, nil
	}
	if v.Type().Key().Kind() != reflect.String {
		return viaJSON(v.Interface())
	}
	out := make(map[string]any, v.Len())
	for entries := v.MapRange(); entries.Next(); {
		if !utf8.ValidString(entries.Key().String()) {
			return viaJSON(v.Interface())
		}
		value, err := valueOf(entries.Value())
		if err != nil {
			return nil, err
		}
		out[entries.Key().String()] = value
	}
	return out, nil
}

func listOf(v reflect.Value) (any, error) {
	if v.Kind() == reflect.Slice {
		if v.IsNil() {
			return nil, nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return base64.StdEncoding.EncodeToString(v.Bytes()), nil
		}
	}
	out := make([]any, v.Len())
	for i := range out {
		value, err := valueOf(v.Index(i))
		if err != nil {
			return nil, err
		}
		out[i] = value
	}
	return out, nil
}

// viaJSON encodes and decodes a value, and distinguishes integers from other numbers.
func viaJSON(value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		return nil, err
	}
	return withNumbers(out)
}

// withNumbers converts numbers that are still text.
func withNumbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		return number(v)
	case map[string]any:
		for key, inner := range v {
			if v[key], err = withNumbers(inner); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, inner := range v {
			if v[i], err = withNumbers(inner); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// number returns an integer if the value is one: to an API server, 1e7 in JSON is an
// integer.
func number(n json.Number) (any, error) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i, nil
	}
	if u, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return u, nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, err
	}
	if i := int64(f); math.Abs(f) < 1<<63 && f == float64(i) {
		return i, nil
	}
	if u := uint64(f); f >= 0 && f < 1<<64 && f == float64(u) {
		return u, nil
	}
	return f, nil
}
