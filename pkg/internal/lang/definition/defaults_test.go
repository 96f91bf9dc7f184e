package definition

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Definitions that have every mapping, and no key with a default.
const (
	withoutDefaults = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: shop}
spec:
  api:
    group: example.com
    kind: Shop
    versions:
    - {name: v1, schema: {spec: {name: string}}, columns: [{name: Name, path: .spec.name}]}
  children:
  - {name: config, apiVersion: v1, kind: ConfigMap}
  - {name: login, generate: {password: {}}, template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name }"}}}
  related:
  - {name: settings, apiVersion: v1, kind: ConfigMap, names: [a]}
  logic: {image: "a:1", command: [a], files: [], hook: {port: 1}}
  finalizer: {}
  install:
    eventBus: {}
    monitoring: {}
`
	existingWithoutDefaults = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: shop}
spec:
  api: {existing: {version: v1, kind: Namespace}}
  logic: {image: "a:1", command: [a], files: [], hook: {port: 1}}
`
)

// documented has the default of each key in the JSON Schema, by mapping and key.
func documented(t *testing.T) map[string]map[string]any {
	t.Helper()
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct{ Default any }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(v1alpha1.JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for mapping, def := range schema.Defs {
		out[mapping] = map[string]any{}
		for key, property := range def.Properties {
			if property.Default != nil {
				out[mapping][key] = property.Default
			}
		}
	}
	return out
}

// TestDocumentedDefaults compares the defaults in the comments of the types, which the
// JSON Schema and the reference have, with those that Parse sets.
func TestDocumentedDefaults(t *testing.T) {
	want := documented(t)
	for _, text := range []string{withoutDefaults, existingWithoutDefaults} {
		defs, list := Parse(source.Input{Name: "x", Data: []byte(text)})
		if len(defs) != 1 {
			t.Fatal(list)
		}
		compareDefaults(t, reflect.ValueOf(defs[0].Operator), want)
	}
	for mapping, keys := range want {
		for key := range keys {
			t.Errorf("%s.%s has a documented default, and no definition here has %s", mapping, key, mapping)
		}
	}
}

// compareDefaults compares the values in a mapping and those inside of it, and removes
// the mapping from what is left to compare.
func compareDefaults(t *testing.T, value reflect.Value, want map[string]map[string]any) {
	t.Helper()
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			compareDefaults(t, value.Elem(), want)
		}
	case reflect.Slice:
		for i := range value.Len() {
			compareDefaults(t, value.Index(i), want)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			compareDefaults(t, value.MapIndex(key), want)
		}
	case reflect.Struct:
		mapping := value.Type().Name()
		for i := range value.NumField() {
			key, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			if want, ok := want[mapping][key]; ok {
				if diff := cmp.Diff(want, plainValue(t, value.Field(i).Interface())); diff != "" {
					t.Errorf("%s.%s (-documented +set):\n%s", mapping, key, diff)
				}
			}
			compareDefaults(t, value.Field(i), want)
		}
		delete(want, mapping)
	}
}

func plainValue(t *testing.T, value any) any {
	t.Helper()
	var out any
	if err := json.Unmarshal([]byte(marshal(t, value)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestComputedDefaults compares the defaults that depend on other keys.
func TestComputedDefaults(t *testing.T) {
	const managed = "  install: {eventBus: {mode: managed}, tokenRotation: 8h}\n"
	base, _, _ := strings.Cut(withoutDefaults, "  logic:")
	base = strings.Replace(base, "{name: config, apiVersion: v1, kind: ConfigMap}", "{name: config, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }\"}}}", 1)
	get := func(text string) v1alpha1.Spec {
		t.Helper()
		defs, list := Parse(source.Input{Name: "x", Data: []byte(text)})
		if len(defs) != 1 {
			t.Fatal(list)
		}
		return defs[0].Operator.Spec
	}
	own, bus, existing := get(withoutDefaults), get(base+managed), get(existingWithoutDefaults)
	watching := get(withoutDefaults + "    watchNamespaces: [a]\n")
	python := get(strings.Replace(withoutDefaults, `image: "a:1", command: [a]`, `image: "python:3.12", command: [python3]`, 1))
	for _, tt := range []struct {
		key       string
		got, want any
	}{
		{"api.plural", own.API.Plural, "shops"},
		{"versions.storage", *own.API.Versions[0].Storage, true},
		{"columns.type", own.API.Versions[0].Columns[0].Type, "string"},
		{"existing.plural", existing.API.Existing.Plural, "namespaces"},
		{"existing.scope", existing.API.Existing.Scope, "Cluster"},
		{"children.plural", own.Children[0].Plural, "configmaps"},
		{"finalizer.name", own.Finalizer.Name, "example.com/shop-cleanup"},
		{"install.runtimeImage", own.Install.RuntimeImage, "python:3.13-slim"},
		{"install.runtimeImage of Python", python.Install.RuntimeImage, "python:3.12"},
		{"install.userRoles", *own.Install.UserRoles, true},
		{"install.userRoles of an existing kind", *existing.Install.UserRoles, false},
		{"install.userRoles with watchNamespaces", *watching.Install.UserRoles, false},
		{"eventBus.replicas", *bus.Install.EventBus.Replicas, int32(3)},
		{"eventBus.storage", bus.Install.EventBus.Storage, "1Gi"},
		{"names.tokenSecret", own.Install.Names.TokenSecret, "shop-sensor-token"},
		{"names.tokenSecret with tokenRotation", bus.Install.Names.TokenSecret, "shop-rotated-token"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %v, want %v", tt.key, tt.got, tt.want)
		}
	}
}
