package sample

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

func schemaOf(t *testing.T, spec string) *resource.Schema {
	t.Helper()
	props := apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(spec), &props); err != nil {
		t.Fatal(err)
	}
	s, err := resource.New(resource.Kind{Group: "example.com", Version: "v1", Kind: "Sample", Namespaced: true}, &apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": props}, Required: []string{"spec"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestYAML(t *testing.T) {
	s := schemaOf(t, `
type: object
description: What is wanted
required: [zone, name]
properties:
  about: {type: string, description: "Whatever there is to say of it: a text that is much longer than one line of a comment can be, so that it has to be broken"}
  name: {type: string, description: The name.}
  zone: {type: string, enum: [east, west], description: "Where it is\nand stays\n\nThis paragraph is not shown."}
  size: {type: integer, minimum: 1, maximum: 9, default: 3}
  doors: {type: array, items: {type: object, required: [port], properties: {port: {type: integer, description: Of the door}, open: {type: boolean}}}}
  hostile: {type: string, description: "\n---\nkind: Evil\u2028kind: Evil\u0085x\ufeff"}
  empty: {type: object, x-kubernetes-preserve-unknown-fields: true}
`)
	got, err := YAML(s, map[string]any{
		"apiVersion": "example.com/v1", "kind": "Sample", "metadata": map[string]any{"name": "a", "namespace": "default"},
		"spec": map[string]any{
			"about": "yes", "name": "0644", "zone": "east", "size": 3, "hostile": "two\nlines\n", "empty": map[string]any{},
			"doors": []any{map[string]any{"port": 80, "open": true}, map[string]any{"port": 443}},
		},
	}, "longest texts")
	if err != nil {
		t.Fatal(err)
	}
	want := `# longest texts
apiVersion: example.com/v1
kind: Sample
metadata:
  name: a
  namespace: default
# What is wanted.
spec:
  # The name. Required.
  name: "0644"
  # Where it is and stays. One of east, west. Required.
  zone: east
  # Whatever there is to say of it: a text that is much longer than one line of a comment can be, so
  # that it has to be broken.
  about: "yes"
  doors:
  - # Of the door. Required.
    port: 80
    open: true
  - port: 443
  empty: {}
  # --- kind: Evil kind: Evil x.
  hostile: |
    two
    lines
  # From 1 to 9. Default: 3.
  size: 3
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// TestTextIsTheObject covers that kubectl reads the same object from the text, for any
// object and schema.
func TestTextIsTheObject(t *testing.T) {
	hostile := []string{"---", "# x", "a: b\n- c", "\u2028kind: Evil", "\u0085kind: Evil", "\ufeff", "{{ x }}", "\t", "\r\nkind: Evil", "%YAML 1.1", "...", "'\"", "\x00\x1b[31m"}
	var properties []string
	for i, text := range hostile {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		properties = append(properties, fmt.Sprintf(`f%d: {type: string, description: %s, default: %s}`, i, data, data))
	}
	s := schemaOf(t, `{type: object, properties: {`+strings.Join(properties, ", ")+`,
  free: {type: object, x-kubernetes-preserve-unknown-fields: true},
  text: {type: string}, any: {x-kubernetes-int-or-string: true}, number: {type: number}, list: {type: array, items: {type: string}},
  map: {type: object, additionalProperties: {type: array, items: {type: object, properties: {yes: {type: string}, "0x1": {type: integer}, "~": {type: boolean}}}}}}}`)
	r := rand.New(rand.NewPCG(5, 6))
	objects := []map[string]any{{"spec": map[string]any{"text": "1e3", "free": map[string]any{"on": "on", "12:30": "12:30", "": "", "<<": "<<", "=": "=", "a\nb": "0o14"}}}}
	for range 200 {
		object, err := s.Random(r)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	cases, err := s.Edges()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		objects = append(objects, c.Object)
	}
	for i, object := range objects {
		text, err := YAML(s, object, hostile[i%len(hostile)])
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := yaml.UnmarshalStrict(text, &got); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(jsonOf(t, object), jsonOf(t, got)); diff != "" {
			t.Fatalf("read (-object +text):\n%s\n%s", diff, text)
		}
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	data, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
