package definition

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
)

// field is what the tags of a struct field say.
type field struct {
	index    []int
	required bool
	opaque   bool // written by the API server; not read
	enum     []string
}

// fieldsOf returns the fields of a struct by their names in JSON.
func (d *decoder) fieldsOf(t reflect.Type) map[string]field {
	if known, ok := d.fields[t]; ok {
		return known
	}
	out := map[string]field{}
	for _, f := range reflect.VisibleFields(t) {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" || !f.IsExported() || len(f.Index) > 1 && !inlined(t, f.Index[0]) {
			continue
		}
		optional := strings.Contains(rest, "omitempty")
		out[name] = field{
			index:    f.Index,
			required: !optional,
			opaque:   f.Type == reflect.TypeFor[apiextensionsv1.CustomResourceDefinitionStatus]() || name == "managedFields",
			enum:     enumOf(f.Tag.Get("jsonschema")),
		}
	}
	d.fields[t] = out
	return out
}

// inlined tells whether an embedded struct's fields stand in the mapping of t itself.
func inlined(t reflect.Type, index int) bool {
	name, _, _ := strings.Cut(t.Field(index).Tag.Get("json"), ",")
	return name == ""
}

func enumOf(tag string) []string {
	var out []string
	for part := range strings.SplitSeq(tag, ",") {
		if value, ok := strings.CutPrefix(part, "enum="); ok {
			out = append(out, value)
		}
	}
	return out
}

// enum reports a value that is none of the field's values.
func (d *decoder) enum(n *yaml.Node, v reflect.Value, f field, p steps) {
	if len(f.enum) == 0 || d.bad[p.id()] || slices.Contains(f.enum, v.String()) {
		return
	}
	d.refuse(n, p, diag.BadValue, fmt.Sprintf("%s is %q, want %s", subject(p), v.String(), either(f.enum)),
		spelling(v.String(), f.enum))
}

func spelling(word string, candidates []string) string {
	if best := nearest(word, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// either joins words as "a, b or c".
func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// unknownKey reports a key and returns the one that is probably meant, "" if there is none.
func (d *decoder) unknownKey(key *yaml.Node, fields map[string]field, p steps) string {
	candidates := sortedKeys(fields)
	hint, meant := "", nearest(key.Value, candidates)
	if len(p) > 0 && p[len(p)-1] == "schema" && (key.Value == "type" || key.Value == "properties" || key.Value == "required") {
		hint = "put an OpenAPI schema under openAPIV3Schema, in place of schema"
	} else if meant == "" && !d.kubernetes {
		hint = belongsTo(d.kind, key.Value)
	}
	if hint == "" {
		hint = didYouMean(key.Value, candidates, "keys here")
	}
	d.list.Add(d.pos(key), diag.UnknownKey, fmt.Sprintf("unknown key %q%s", key.Value, inside(p)), hint)
	return meant
}

// belongsTo says where in a document a key may be written instead.
func belongsTo(kind reflect.Type, key string) string {
	var places []string
	var walk func(t reflect.Type, p string)
	walk = func(t reflect.Type, p string) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == key {
				places = append(places, p)
			}
			walk(f.Type, strings.TrimPrefix(p+"."+name, "."))
		}
	}
	walk(kind, "")
	if len(places) == 0 || len(places) > 2 || places[0] == "" {
		return ""
	}
	return fmt.Sprintf("%s belongs in %s", key, either(places))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
