package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const memcached = `
type: object
required: [spec]
properties:
  spec:
    type: object
    required: [size, tls]
    properties:
      size: {type: integer}
      image: {type: string, default: memcached}
      port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
      note: {type: string, nullable: true}
      labels: {type: object, additionalProperties: {type: string}}
      extra: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: boolean}}}
      shards: {type: array, items: {type: object, required: [name], properties: {name: {type: string}}}}
      odd: {allOf: [{type: string}]}
      empty: {type: object}
      tls: {type: object, properties: {secret: {type: string}}}
  status: {type: object, properties: {phase: {type: string}}}
`

func parse(t *testing.T, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	s := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// at follows a path: a name is a field, "-" an item.
func at(t Type, path ...string) (found Type, known bool) {
	known = true
	for _, name := range path {
		if name == "-" {
			t = t.Item()
			continue
		}
		if t, known = t.Field(name); !known {
			return t, false
		}
	}
	return t, known
}

func TestResource(t *testing.T) {
	root := Resource(parse(t, memcached))
	tests := []struct {
		path  []string
		kind  Kind
		known bool
	}{
		{[]string{"apiVersion"}, String, true},
		{[]string{"metadata", "name"}, String, true},
		{[]string{"metadata", "labels", "app"}, String, true},
		{[]string{"metadata", "generation"}, Integer, true},
		{[]string{"metadata", "creationTimestamp"}, String, true},
		{[]string{"metadata", "managedFields", "-", "fieldsV1"}, Unknown, true},
		{[]string{"metadata", "nam"}, Unknown, false},
		{[]string{"spec"}, Object, true},
		{[]string{"spec", "size"}, Integer, true},
		{[]string{"spec", "sizee"}, Unknown, false},
		{[]string{"spec", "port"}, IntOrString, true},
		{[]string{"spec", "labels", "any"}, String, true},
		{[]string{"spec", "extra", "known"}, Boolean, true},
		{[]string{"spec", "extra", "other", "deep"}, Unknown, true},
		{[]string{"spec", "shards", "-", "name"}, String, true},
		{[]string{"spec", "shards", "-", "nome"}, Unknown, false},
		{[]string{"spec", "odd", "x"}, Unknown, true},
		{[]string{"spec", "empty", "x"}, Unknown, true},
		{[]string{"spec", "tls", "x"}, Unknown, false},
		{[]string{"spec", "size", "x"}, Unknown, false},
		{[]string{"other"}, Unknown, false},
	}
	for _, tt := range tests {
		got, known := at(root, tt.path...)
		if got.Kind() != tt.kind || known != tt.known {
			t.Errorf("%v: got %q, known %v; want %q, %v", tt.path, got.Kind(), known, tt.kind, tt.known)
		}
	}
}

func TestRequired(t *testing.T) {
	root := Resource(parse(t, memcached))
	spec, _ := root.Field("spec")
	deployment, _ := Builtin("apps/v1", "Deployment")
	tests := []struct {
		t                Type
		path             []string
		name             string
		required, needed bool
	}{
		{root, nil, "spec", true, true},
		{root, nil, "metadata", true, false},
		{root, nil, "status", false, false},
		{spec, nil, "size", true, true},
		{spec, nil, "image", true, false},
		{spec, nil, "note", false, false},
		{spec, nil, "nope", false, false},
		{root, []string{"metadata"}, "name", true, false},
		{root, []string{"metadata"}, "labels", false, false},
		{deployment, nil, "status", true, false},
		{deployment, []string{"spec"}, "replicas", true, false},
		{deployment, []string{"spec"}, "selector", true, true},
		{deployment, []string{"spec"}, "paused", false, false},
		{deployment, []string{"spec", "template", "spec", "containers", "-"}, "name", true, true},
		{deployment, []string{"status"}, "readyReplicas", false, false},
	}
	for _, tt := range tests {
		in, known := at(tt.t, tt.path...)
		if !known {
			t.Errorf("%v is not known", tt.path)
		}
		if r, n := in.Required(tt.name), in.Needed(tt.name); r != tt.required || n != tt.needed {
			t.Errorf("%v %s: required %v, needed %v; want %v, %v", tt.path, tt.name, r, n, tt.required, tt.needed)
		}
	}
}

func TestBuiltin(t *testing.T) {
	tests := []struct {
		apiVersion, kind string
		path             []string
		want             Kind
		known            bool
	}{
		{"apps/v1", "Deployment", []string{"kind"}, String, true},
		{"apps/v1", "Deployment", []string{"spec", "replicas"}, Integer, true},
		{"apps/v1", "Deployment", []string{"spec", "strategy", "rollingUpdate", "maxSurge"}, IntOrString, true},
		{"apps/v1", "Deployment", []string{"spec", "template", "spec", "containers", "-", "resources", "limits", "cpu"}, Quantity, true},
		{"apps/v1", "Deployment", []string{"spec", "replica"}, Unknown, false},
		{"apps/v1", "Deployment", []string{"spec", "template", "spec", "volumes", "-", "configMap", "name"}, String, true},
		{"v1", "Secret", []string{"data", "password"}, String, true},
		{"v1", "Service", []string{"spec", "ports", "-", "targetPort"}, IntOrString, true},
		{"v1", "ConfigMap", []string{"data", "x"}, String, true},
		{"v1", "ConfigMap", []string{"immutable"}, Boolean, true},
		{"batch/v1", "CronJob", []string{"status", "lastScheduleTime"}, String, true},
		{"apps/v1", "ControllerRevision", []string{"data", "x"}, Unknown, true},
		{"networking.k8s.io/v1", "Ingress", []string{"spec", "rules", "-", "http", "paths", "-", "backend", "service", "port", "number"}, Integer, true},
	}
	for _, tt := range tests {
		root, ok := Builtin(tt.apiVersion, tt.kind)
		if !ok {
			t.Errorf("%s %s is not known", tt.apiVersion, tt.kind)
			continue
		}
		if got, known := at(root, tt.path...); got.Kind() != tt.want || known != tt.known {
			t.Errorf("%s %v: got %q, known %v; want %q, %v", tt.kind, tt.path, got.Kind(), known, tt.want, tt.known)
		}
	}
	for _, kind := range [][2]string{{"apps/v1", "Deploymint"}, {"apps/v9", "Deployment"}, {"v1", "ListOptions"}, {"a/b/c", "X"}} {
		if _, ok := Builtin(kind[0], kind[1]); ok {
			t.Errorf("%v is known", kind)
		}
	}
}

func TestFields(t *testing.T) {
	s := Resource(parse(t, `{type: object, properties: {spec: {type: object}}}`))
	if diff := cmp.Diff([]string{"apiVersion", "kind", "metadata", "spec"}, s.Fields()); diff != "" {
		t.Error(diff)
	}
	configMap, _ := Builtin("v1", "ConfigMap")
	if diff := cmp.Diff([]string{"apiVersion", "binaryData", "data", "immutable", "kind", "metadata"}, configMap.Fields()); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownType(t *testing.T) {
	for _, s := range []Type{OpenAPI(nil), Any(), OpenAPI(&apiextensionsv1.JSONSchemaProps{})} {
		f, known := s.Field("x")
		if s.Kind() != Unknown || !s.Open() || !known || f.Kind() != Unknown || s.Item().Kind() != Unknown || s.Required("x") {
			t.Errorf("%#v claims something", s)
		}
	}
	if f, known := Resource(nil).Field("spec"); !known || f.Kind() != Unknown {
		t.Error("a resource without schema has any field")
	}
}
