package source

import (
	"reflect"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
)

var definitionTypes = map[string]reflect.Type{
	"Operator": reflect.TypeFor[v1alpha1.Operator](), "Metadata": reflect.TypeFor[v1alpha1.Metadata](), "Spec": reflect.TypeFor[v1alpha1.Spec](),
	"API": reflect.TypeFor[v1alpha1.API](), "Version": reflect.TypeFor[v1alpha1.Version](), "Schema": reflect.TypeFor[v1alpha1.Schema](),
	"Column": reflect.TypeFor[v1alpha1.Column](), "Scale": reflect.TypeFor[v1alpha1.Scale](), "Child": reflect.TypeFor[v1alpha1.Child](),
	"Patch": reflect.TypeFor[v1alpha1.Patch](), "Logic": reflect.TypeFor[v1alpha1.Logic](), "EnvVar": reflect.TypeFor[v1alpha1.EnvVar](),
	"Reconcile": reflect.TypeFor[v1alpha1.Reconcile](), "Install": reflect.TypeFor[v1alpha1.Install](),
	"TestStep": reflect.TypeFor[v1alpha1.TestStep](), "Expect": reflect.TypeFor[v1alpha1.Expect](),
}

// TestForeignKeys covers that no key of the table is one of ours, that the key that is
// meant is, and that the examples in the hints can be written there.
func TestForeignKeys(t *testing.T) {
	tried := 0
	for _, f := range foreignKeys {
		in, ok := definitionTypes[f.in]
		if !ok {
			t.Errorf("%s is no type of a definition", f.in)
			continue
		}
		var list diag.List
		fields := NewDecoder("x", &list).FieldsOf(in)
		for _, key := range f.keys {
			if _, ours := fields[key]; ours {
				t.Errorf("%s has %s itself", f.in, key)
			}
			if hint, ours, _ := foreign(f.in, key); hint == "" || ours != f.ours {
				t.Errorf("%s of %s: %q, %q", key, f.in, hint, ours)
			}
		}
		if _, ours := fields[f.ours]; !ours && f.ours != "" {
			t.Errorf("%s has no key %s", f.in, f.ours)
		}
		f = f.withExample()
		if f.example == "" {
			continue
		}
		tried++
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(f.example), &doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
			t.Errorf("%s: %q is not a mapping of YAML: %v", f.in, f.example, err)
			continue
		}
		var found diag.List
		NewDecoder("x", &found).Value(doc.Content[0], reflect.New(in).Elem(), nil)
		for _, problem := range found {
			if problem.Code != diag.MissingKey {
				t.Errorf("%s: %q: %s", f.in, f.example, problem.Message)
			}
		}
		if _, value := LookupNode(doc.Content[0], f.ours); value == nil && f.ours != "" {
			t.Errorf("%s: %q has no %s", f.in, f.example, f.ours)
		}
	}
	if tried < 30 {
		t.Errorf("only %d examples tried", tried)
	}
}

// TestExamples covers that every required key has an example for the hint, and that each
// example can be written.
func TestExamples(t *testing.T) {
	used, seen := map[string]bool{}, map[reflect.Type]bool{}
	var list diag.List
	d := NewDecoder("x", &list)
	var walk func(reflect.Type)
	walk = func(in reflect.Type) {
		for in.Kind() == reflect.Pointer || in.Kind() == reflect.Slice || in.Kind() == reflect.Map {
			in = in.Elem()
		}
		if in.Kind() != reflect.Struct || seen[in] {
			return
		}
		seen[in] = true
		for key, f := range d.FieldsOf(in) {
			walk(in.FieldByIndex(f.index).Type)
			text := example(in.Name(), key)
			if text == "" {
				if f.required {
					t.Errorf("%s.%s is required and has no example", in.Name(), key)
				}
				continue
			}
			used[key], used[in.Name()+"."+key] = true, true
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			var found diag.List
			NewDecoder("x", &found).Value(doc.Content[0].Content[1], reflect.New(in).Elem().FieldByIndex(f.index), nil)
			for _, problem := range found {
				t.Errorf("%s in %s: %s", text, in, problem.Message)
			}
		}
	}
	walk(reflect.TypeFor[v1alpha1.Operator]())
	walk(reflect.TypeFor[v1alpha1.OperatorTest]())
	for key := range examples {
		if !used[key] {
			t.Errorf("no type has the key %s", key)
		}
	}
}
