package main

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// mutation is an edit of one field of an object.
type mutation struct {
	path   []any // string keys and int indices
	what   string
	object map[string]any
}

// texts are tried as the value of every string, numbers of every number.
var (
	texts = []string{
		"", "a", "A B", "UPPER", "a.b", "a.b.c", "a/b", "a/b/c", "/a", "/a/../b", "../a", "a_b", "-a", "a-", "a..b", " a", "a:b", "a=b", "ü", "Unknown",
		strings.Repeat("a", 16), strings.Repeat("a", 53), strings.Repeat("a", 64), strings.Repeat("a", 254), strings.Repeat("a", 300),
		"0", "1", "80", "99999", "-5", "1.5", "50%", "101%", "-5%", "http", "10.0.0.1", "10.0.0.0/33", "10.0.0.0/8", "10.0.0.1/8", "::1", "010.0.0.1",
		"*/5 * * * *", "61 * * * *", "* * * *", "@every 5m", "TZ=UTC * * * * *", "100m", "-1Gi", "1 Gi", "Busy Box://", "busybox@sha256:1", "$(A)",
		"*.example.com", "example.com/a", "metadata.name", "metadata.labels['a']", "spec.bogus", "limits.cpu", "None", "true",
	}
	numbers = []any{int64(-5), int64(-1), int64(0), int64(1), int64(2), int64(100), int64(101), int64(65535), int64(65536), int64(99999), int64(1<<31 - 1), int64(1 << 31), int64(1<<63 - 1), 1.5}
	keys    = []string{"", "a", "a b", "UPPER", "a.b", "a/b", "/a", "a/", "a/b/c", "a_b", "-a", "a..b", "..", "ü", strings.Repeat("a", 64), strings.Repeat("a", 254), "kubernetes.io/a"}
	values  = []string{"", "a", "a b", "a/b", "-a", "ü", strings.Repeat("a", 64), "1", "-1", "1Gi", "5x"}
)

// unchecked are fields that the API server sets or that a URL contains.
var unchecked = []string{"apiVersion", "kind", "status"}

var uncheckedMeta = []string{"namespace", "generateName", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"}

// mutations calls use with every mutation of an object.
func mutations(object map[string]any, use func(mutation)) {
	kind := schema.FromAPIVersionAndKind(object["apiVersion"].(string), object["kind"].(string))
	typed, err := scheme.Scheme.New(kind)
	if err != nil {
		panic(err)
	}
	m := mutator{root: object, use: use}
	m.value(nil, reflect.TypeOf(typed).Elem(), object)
}

type mutator struct {
	root map[string]any
	use  func(mutation)
}

// set reports the object with another value at a path; absent removes it.
func (m *mutator) set(path []any, what string, value any) {
	m.use(mutation{path: path, what: what, object: edited(m.root, path, value).(map[string]any)})
}

type absent struct{}

// edited returns a copy of a value with another value at a path.
func edited(value any, path []any, to any) any {
	if len(path) == 0 {
		return to
	}
	switch v := value.(type) {
	case map[string]any:
		out := maps.Clone(v)
		key := path[0].(string)
		inner := edited(v[key], path[1:], to)
		if _, gone := inner.(absent); gone {
			delete(out, key)
		} else {
			out[key] = inner
		}
		return out
	case []any:
		out := slices.Clone(v)
		i := path[0].(int)
		inner := edited(v[i], path[1:], to)
		if _, gone := inner.(absent); gone {
			return slices.Delete(out, i, i+1)
		}
		out[i] = inner
		return out
	case nil:
		key := path[0].(string)
		return map[string]any{key: edited(nil, path[1:], to)}
	}
	return value
}

func join(path []any, step any) []any { return append(slices.Clone(path), step) }

var itself = reflect.TypeFor[interface{ UnmarshalJSON([]byte) error }]()

// value mutates a value that the object has.
func (m *mutator) value(path []any, t reflect.Type, value any) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(path) > 0 {
		m.set(path, "removed", absent{})
		m.set(path, "null", nil)
		m.foreign(path, value)
	}
	if t == reflect.TypeFor[intstr.IntOrString]() {
		m.scalars(path, "", value)
		m.scalars(path, int64(0), value)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		switch {
		case reflect.PointerTo(t).Implements(itself):
		case t.Kind() == reflect.Map:
			m.mapping(path, t, v)
		default:
			m.object(path, t, v)
		}
	case []any:
		m.list(path, t, v)
	default:
		m.scalars(path, value, value)
	}
}

// foreign sets values of other types.
func (m *mutator) foreign(path []any, value any) {
	for name, other := range map[string]any{"text": "text", "number": int64(7), "true": true, "list": []any{"a"}, "object": map[string]any{"a": "b"}, "empty list": []any{}, "empty object": map[string]any{}} {
		if reflect.TypeOf(other) != reflect.TypeOf(value) || strings.HasPrefix(name, "empty") {
			m.set(path, name, other)
		}
	}
}

// scalars sets other values of the type of like.
func (m *mutator) scalars(path []any, like, value any) {
	switch like.(type) {
	case string:
		for _, text := range texts {
			if text != value {
				m.set(path, short(text), text)
			}
		}
	case int64, float64:
		for _, number := range numbers {
			if number != value {
				m.set(path, short(number), number)
			}
		}
	case bool:
		m.set(path, "negated", value != true)
	}
}

func (m *mutator) mapping(path []any, t reflect.Type, entries map[string]any) {
	var example any
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		example = entries[key]
		m.value(join(path, key), t.Elem(), example)
	}
	if example == nil {
		return
	}
	for _, key := range keys {
		m.set(join(path, key), "with key "+short(key), example)
	}
	if _, ok := example.(string); !ok {
		return
	}
	for _, value := range values {
		m.set(join(path, "extra"), "with extra: "+short(value), value)
	}
}

func (m *mutator) list(path []any, t reflect.Type, entries []any) {
	for i, entry := range entries {
		m.value(join(path, i), t.Elem(), entry)
	}
	if len(entries) == 0 {
		return
	}
	last := entries[len(entries)-1]
	m.set(path, "last twice", append(slices.Clone(entries), last))
	m.set(path, "with null", append(slices.Clone(entries), nil))
	if _, ok := last.(map[string]any); ok {
		m.set(path, "with {}", append(slices.Clone(entries), map[string]any{}))
	}
}

func (m *mutator) object(path []any, t reflect.Type, fields map[string]any) {
	m.set(join(path, "bogus"), "unknown field", int64(1))
	for name, of := range fieldsOf(t) {
		if len(path) == 0 && slices.Contains(unchecked, name) || len(path) == 1 && path[0] == "metadata" && slices.Contains(uncheckedMeta, name) {
			continue
		}
		if name == "status" || name == "creationTimestamp" {
			continue
		}
		if value, there := fields[name]; there {
			m.value(join(path, name), of, value)
		} else {
			m.added(join(path, name), of, 2)
		}
	}
}

// added sets a field that the object does not have.
func (m *mutator) added(path []any, t reflect.Type, depth int) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[intstr.IntOrString]():
		m.scalars(path, "", nil)
		m.scalars(path, int64(0), nil)
		return
	case reflect.PointerTo(t).Implements(itself):
		for _, text := range []any{"1", "-1", "0", "text", "1Gi", "2024-01-01T00:00:00Z"} {
			m.set(path, short(text), text)
		}
		return
	}
	switch t.Kind() {
	case reflect.String:
		m.scalars(path, "", nil)
	case reflect.Bool:
		m.set(path, "true", true)
		m.set(path, "false", false)
	case reflect.Int, reflect.Int32, reflect.Int64:
		m.scalars(path, int64(0), nil)
	case reflect.Struct:
		m.set(path, "empty object", map[string]any{})
		if depth == 0 {
			return
		}
		for name, of := range fieldsOf(t) {
			m.added(join(path, name), of, depth-1)
		}
	case reflect.Slice:
		m.set(path, "empty list", []any{})
		switch {
		case t.Elem().Kind() == reflect.String:
			for _, text := range []string{"", "a", "A B", "a/b", "Unknown", "10.0.0.1"} {
				m.set(path, "with "+short(text), []any{text})
			}
			m.set(path, "with a twice", []any{"a", "a"})
		case t.Elem().Kind() == reflect.Struct:
			m.set(path, "with {}", []any{map[string]any{}})
		}
	case reflect.Map:
		m.set(path, "empty object", map[string]any{})
		for _, key := range keys {
			m.set(path, "with key "+short(key), map[string]any{key: "1"})
		}
		for _, value := range values {
			m.set(path, "with a: "+short(value), map[string]any{"a": value})
		}
	}
}

// fieldsOf returns the JSON fields of a struct.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(itself) {
		return out
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case name == "" && strings.Contains(options, "inline") || f.Anonymous && name == "":
			maps.Copy(out, fieldsOf(f.Type))
		case name != "":
			out[name] = f.Type
		}
	}
	return out
}
