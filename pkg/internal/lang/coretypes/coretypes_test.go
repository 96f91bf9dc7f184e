package coretypes

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestSchemas checks that an API server takes each of the schemas.
func TestSchemas(t *testing.T) {
	if len(Names()) < 80 {
		t.Errorf("there are %d types", len(Names()))
	}
	for _, name := range Names() {
		root := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": *Schema(name)}}
		var internal apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(root, &internal, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		structural, err := structuralschema.NewStructural(&internal)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if errs := structuralschema.ValidateStructural(field.NewPath("schema"), structural); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}
}

// TestPodTemplate checks that the labels of a template are kept, which a metadata
// without properties would lose, and that what Kubernetes requires is required.
func TestPodTemplate(t *testing.T) {
	pod := Schema("core/v1.PodTemplateSpec")
	if _, ok := pod.Properties["metadata"].Properties["labels"]; !ok {
		t.Errorf("metadata: %v", pod.Properties["metadata"])
	}
	containers := pod.Properties["spec"].Properties["containers"].Items.Schema
	if got := strings.Join(containers.Required, " "); got != "name" {
		t.Errorf("a container requires %q", got)
	}
	if Schema("core/v1.Nothing") != nil {
		t.Error("there is a schema of a type that does not exist")
	}
}

// TestExamples checks that each example is valid.
func TestExamples(t *testing.T) {
	for _, name := range Names() {
		schema := Schema(name)
		if schema.Title != name {
			t.Errorf("%s has the title %q", name, schema.Title)
		}
		var internal apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &internal, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		validator, _, err := validation.NewSchemaValidator(&internal)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if internal.Example == nil {
			t.Errorf("%s has no example", name)
			continue
		}
		if errs := validation.ValidateCustomResource(field.NewPath(name), any(*internal.Example), validator); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}
}

func TestPublic(t *testing.T) {
	schema := map[string]any{"properties": map[string]any{
		"named":  map[string]any{"title": "core/v1.LocalObjectReference", "example": map[string]any{"name": "other"}, "type": "object"},
		"own":    map[string]any{"title": "core/v1.LocalObjectReference", "example": map[string]any{"name": "mine"}},
		"titled": map[string]any{"title": "A title", "example": "x"},
		"list":   []any{map[string]any{"title": "core/v1.EnvVar"}},
	}}
	Public(schema)
	got, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"properties":{"list":[{}],"named":{"type":"object"},"own":{"example":{"name":"mine"}},"titled":{"example":"x","title":"A title"}}}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}
