package source

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

// Field has the tags of a struct field.
type Field struct {
	index    []int
	required bool
	opaque   bool // set by the API server; not decoded
	enum     []string
}

// FieldsOf returns the fields of a struct by their JSON names.
func (d *Decoder) FieldsOf(t reflect.Type) map[string]Field {
	if known, ok := d.fields[t]; ok {
		return known
	}
	out := map[string]Field{}
	for _, f := range reflect.VisibleFields(t) {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" || !f.IsExported() || len(f.Index) > 1 && !inlined(t, f.Index[0]) {
			continue
		}
		optional := strings.Contains(rest, "omitempty")
		out[name] = Field{
			index:    f.Index,
			required: !optional,
			opaque:   f.Type == reflect.TypeFor[apiextensionsv1.CustomResourceDefinitionStatus]() || name == "managedFields",
			enum:     enumOf(f.Tag.Get("jsonschema")),
		}
	}
	d.fields[t] = out
	return out
}

// inlined reports whether the fields of an embedded struct are in the mapping of t
// itself.
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

// enum reports a value that is not one of the field's values.
func (d *Decoder) enum(n *yaml.Node, v reflect.Value, f Field, p Path) {
	if len(f.enum) == 0 || d.Rejected[p.ID()] || slices.Contains(f.enum, v.String()) {
		return
	}
	hint := Spelling(v.String(), f.enum)
	if strings.Contains(v.String(), "${") {
		hint = constantHint(f.enum)
	}
	d.Reject(n, p, diag.BadValue, fmt.Sprintf("%s is %q, want %s", subject(p), v.String(), Either(f.enum)), hint)
}

// constantHint explains that an expression cannot compute the value of a key.
func constantHint(values []string) string {
	return "write " + Either(values) + ": the value is the same for all custom resources"
}

// Spelling returns a hint with the candidate nearest to a word, or with all candidates.
func Spelling(word string, candidates []string) string {
	if best := Nearest(word, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// Either joins words as "a, b or c".
func Either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// unknownKey reports a key of a type and returns the key that is probably meant, or "", and
// whether its value may have the form of ours.
func (d *Decoder) unknownKey(key *yaml.Node, t reflect.Type, p Path) (meant string, alike bool) {
	candidates := SortedKeys(d.FieldsOf(t))
	hint, meant := "", Nearest(key.Value, candidates)
	alike = true
	if !d.Kubernetes {
		if foreign, ours, same := foreign(t.Name(), key.Value); foreign != "" && !strings.EqualFold(meant, key.Value) {
			hint, meant, alike = foreign, ours, same
		} else if meant == "" {
			hint = belongsTo(d.Kind, key.Value)
		}
	}
	if hint == "" {
		hint = DidYouMean(key.Value, candidates, "keys here")
	}
	d.Unknown[p.ID()] = true
	d.list.Add(d.pos(key), diag.UnknownKey, fmt.Sprintf("unknown key %q%s", key.Value, Inside(p)), hint)
	return meant, alike
}

// fits reports whether a node has the form that a type wants.
func fits(n *yaml.Node, t reflect.Type, p Path) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return n.Kind == yaml.MappingNode
	case reflect.Slice:
		return n.Kind == yaml.SequenceNode
	}
	return n.Kind == yaml.ScalarNode && !isNull(n) || joined(n, p) != ""
}

// belongsTo returns where else in a document a key is valid.
func belongsTo(kind reflect.Type, key string) string {
	var places []string
	var walk func(t reflect.Type, p string)
	walk = func(t reflect.Type, p string) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			if t.Kind() == reflect.Slice {
				p += "[]"
			}
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
	return fmt.Sprintf("%s is a key of %s", key, Either(places))
}

// SortedKeys returns the sorted keys of a map.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
