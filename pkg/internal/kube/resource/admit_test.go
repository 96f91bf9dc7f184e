package resource

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const judged = `
type: object
required: [size]
properties:
  size: {type: integer, minimum: 1, maximum: 5}
  mode: {type: string, enum: [Fast, Safe], default: Safe}
  name: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]}
  when: {type: string, format: date-time}
  code: {type: string, pattern: '^[a-z]+$', maxLength: 8}
  port: {x-kubernetes-int-or-string: true}
  tags: {type: array, maxItems: 3, x-kubernetes-list-type: set, items: {type: string}}
  ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer, default: 80}}}}
  rate: {type: number, multipleOf: 0.5}
  free: {type: object, x-kubernetes-preserve-unknown-fields: true}
  note: {type: string, nullable: true}
  pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
x-kubernetes-validations:
- {rule: "!(self.size > 3 && self.mode == 'Safe')", message: "more than three must be fast"}
`

func objectOf(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// full completes an object that is given as its spec, or as a whole.
func full(t *testing.T, text string) map[string]any {
	t.Helper()
	object := objectOf(t, text)
	if _, whole := object["apiVersion"]; whole {
		return object
	}
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Sample", "metadata": map[string]any{"name": "a"}, "spec": object}
}

func TestValidate(t *testing.T) {
	s := schemaOf(t, judged)
	for _, test := range []struct {
		name, object, old string
		want              []string
	}{
		{name: "legal", object: `{size: 3}`},
		{name: "whole floats are integers", object: `{size: 3.0}`},
		{name: "required", object: `{}`, want: []string{"spec.size: Required value"}},
		{name: "maximum", object: `{size: 6, mode: Fast}`, want: []string{"spec.size: Invalid value: 6: spec.size in body should be less than or equal to 5"}},
		{name: "type", object: `{size: three}`, want: []string{`spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`}},
		{name: "enum", object: `{size: 1, mode: Slow}`, want: []string{`spec.mode: Unsupported value: "Slow": supported values: "Fast", "Safe"`}},
		{name: "format", object: `{size: 1, when: today}`, want: []string{`spec.when: Invalid value: "today": spec.when in body must be of type date-time: "today"`}},
		{name: "pattern", object: `{size: 1, code: A}`, want: []string{`spec.code: Invalid value: "A": spec.code in body should match '^[a-z]+$'`}},
		{name: "length", object: `{size: 1, code: aaaaaaaaa}`, want: []string{"spec.code: Too long: may not be more than 8 bytes"}},
		{name: "int or string", object: `{size: 1, port: 80}`},
		{name: "neither int nor string", object: `{size: 1, port: true}`, want: []string{`spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"`}},
		{name: "set", object: `{size: 1, tags: [a, a]}`, want: []string{`spec.tags[1]: Duplicate value: "a"`}},
		{name: "items", object: `{size: 1, tags: [a, b, c, d]}`, want: []string{"spec.tags: Too many: 4: must have at most 3 items"}},
		{name: "map keys", object: `{size: 1, ports: [{name: a}, {name: a}]}`, want: []string{`spec.ports[1]: Duplicate value: map[string]interface {}{"name":"a"}`}},
		{name: "multiple", object: `{size: 1, rate: 0.75}`, want: []string{"spec.rate: Invalid value: 0.75: spec.rate in body should be a multiple of 0.5"}},
		{name: "rule", object: `{size: 4, mode: Safe}`, want: []string{`spec: Invalid value: "object": more than three must be fast`}},
		{name: "null", object: `{size: 1, note: null}`},
		{name: "null that is not allowed", object: `{size: 1, code: null}`, want: []string{`spec.code: Invalid value: "null": spec.code in body must be of type string: "null"`}},
		{name: "embedded", object: `{size: 1, pod: {kind: Pod}}`, want: []string{"spec.pod.apiVersion: Required value: must not be empty"}},
		{name: "kind", object: `{apiVersion: example.com/v2, kind: Simple, spec: {size: 1}}`, want: []string{`apiVersion: Invalid value: "example.com/v2": must be example.com/v1`, `kind: Invalid value: "Simple": must be Sample`}},
		{name: "name", object: `{apiVersion: example.com/v1, kind: Sample, metadata: {name: A_b}, spec: {size: 1}}`, want: []string{"metadata.name: Invalid value: \"A_b\": " + subdomain}},
		{name: "no name", object: `{apiVersion: example.com/v1, kind: Sample, spec: {size: 1}}`, want: []string{"metadata.name: Required value: name or generateName is required"}},
		{name: "metadata of a wrong type", object: `{apiVersion: example.com/v1, kind: Sample, metadata: {name: a, labels: [x]}, spec: {size: 1}}`, want: []string{`metadata: Invalid value: map[string]interface {}{"labels":[]interface {}{"x"}, "name":"a"}: json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string`}},
		{name: "created with an immutable field", object: `{size: 1, name: b}`},
		{name: "changed", object: `{size: 2, name: a}`, old: `{size: 1, name: a}`},
		{name: "immutable", object: `{size: 1, name: b}`, old: `{size: 1, name: a}`, want: []string{`spec.name: Invalid value: "string": is immutable`}},
		{name: "an unchanged invalid value", object: `{size: 2, code: A}`, old: `{size: 1, code: A}`},
		{name: "a changed invalid value", object: `{size: 1, code: B}`, old: `{size: 1, code: A}`, want: []string{`spec.code: Invalid value: "B": spec.code in body should match '^[a-z]+$'`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var old map[string]any
			if test.old != "" {
				old = full(t, test.old)
			}
			var got []string
			for _, err := range s.Validate(full(t, test.object), old) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

const subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

func TestDefaultAndPrune(t *testing.T) {
	s := schemaOf(t, judged)
	object := full(t, `{size: 1, sizee: 2, code: null, note: null, mode: null, ports: [{name: a, extra: 1}, {name: b, port: 8080}], free: {any: 1}}`)
	object["metadata"].(map[string]any)["labelz"] = "x"
	unknown := s.Prune(object)
	if diff := cmp.Diff([]string{"metadata.labelz", "spec.ports[0].extra", "spec.sizee"}, unknown); diff != "" {
		t.Errorf("pruned (-want +got):\n%s", diff)
	}
	s.Default(object)
	want := full(t, `{size: 1, mode: Safe, note: null, ports: [{name: a, port: 80}, {name: b, port: 8080}], free: {any: 1}}`)
	if diff := cmp.Diff(asJSON(t, want), asJSON(t, object)); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func asJSON(t *testing.T, object any) string {
	t.Helper()
	data, err := json.MarshalIndent(object, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestValidateDoesNotChangeItsInput(t *testing.T) {
	s := schemaOf(t, judged)
	object := full(t, `{size: 1}`)
	object["spec"].(map[string]any)["rate"] = 1 // an int, as Go code has it
	before := asJSON(t, object)
	if errs := s.Validate(object, object); len(errs) > 0 {
		t.Error(errs)
	}
	if diff := cmp.Diff(before, asJSON(t, object)); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
}

func TestScopeIsNotValidated(t *testing.T) {
	wide := kind
	wide.Namespaced = false
	s, err := New(wide, propsOf(t, judged))
	if err != nil {
		t.Fatal(err)
	}
	object := full(t, `{size: 1}`)
	object["metadata"].(map[string]any)["namespace"] = "lost"
	if errs := s.Validate(object, nil); len(errs) > 0 {
		t.Error("the server drops the namespace of a cluster-scoped object, it does not refuse it: ", errs)
	}
	sample, err := s.Minimal()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"name": "sample"}, sample["metadata"]); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func TestNewRejectsWhatTheServerRejects(t *testing.T) {
	for _, test := range []struct{ name, spec string }{
		{"no type", `{properties: {a: {type: string}}}`},
		{"a list without items", `{type: array}`},
		{"fields in a branch only", `{type: object, anyOf: [{properties: {a: {type: string}}}]}`},
	} {
		if _, err := New(kind, propsOf(t, test.spec)); err == nil {
			t.Errorf("%s: no error", test.name)
		}
	}
	if _, err := New(kind, nil); err == nil {
		t.Error("no schema: no error")
	}
}
