package resource

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// schemaOf returns a schema whose spec is given as YAML.
func schemaOf(t testing.TB, spec string) *Schema {
	t.Helper()
	s, err := New(kind, propsOf(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var kind = Kind{Group: "example.com", Version: "v1", Kind: "Sample", Namespaced: true, Status: true}

func propsOf(t testing.TB, spec string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(spec), props); err != nil {
		t.Fatalf("%v\n%s", err, spec)
	}
	return &apiextensionsv1.JSONSchemaProps{
		Type: "object", Required: []string{"spec"},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec":   *props,
			"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"ready": {Type: "boolean"}}},
		},
	}
}

// All samples of each schema must be valid.
var schemas = []struct {
	name, spec    string
	minimal, full string // of the spec, as JSON; "" is not compared
}{
	{
		name:    "memcached",
		spec:    `{type: object, required: [size], properties: {size: {type: integer, minimum: 1, maximum: 5}, image: {type: string, default: "memcached:1.6"}, verbose: {type: boolean}}}`,
		minimal: `{"size":1}`, full: `{"image":"memcached:1.6","size":1,"verbose":true}`,
	},
	{
		name:    "an example is used, a required default is kept",
		spec:    `{type: object, required: [a], properties: {a: {type: string, default: x}, b: {type: string, example: see}, c: {type: number, example: 1.5}}}`,
		minimal: `{"a":"x"}`, full: `{"a":"x","b":"see","c":1.5}`,
	},
	{
		name:    "numbers with limits",
		spec:    `{type: object, required: [a, b, c, d], properties: {a: {type: integer, minimum: 3, exclusiveMinimum: true}, b: {type: integer, multipleOf: 7, minimum: 15}, c: {type: number, minimum: 0.25, maximum: 0.75, exclusiveMinimum: true, exclusiveMaximum: true}, d: {type: integer, maximum: -4}}}`,
		minimal: `{"a":4,"b":21,"c":0.5,"d":-4}`,
	},
	{
		name: "texts with limits",
		spec: `{type: object, required: [a, b, c], properties: {a: {type: string, minLength: 3, maxLength: 4}, b: {type: string, maxLength: 0}, c: {type: string, minLength: 70}}}`,
	},
	{
		name:    "enums of every type",
		spec:    `{type: object, required: [a, b], properties: {a: {type: string, enum: [Big, Small]}, b: {type: integer, enum: [3, 5]}, c: {type: boolean, enum: [false]}, d: {type: object, x-kubernetes-preserve-unknown-fields: true, enum: [{x: 1}]}}}`,
		minimal: `{"a":"Big","b":3}`,
	},
	{
		name: "patterns",
		spec: `{type: object, required: [a, b, c, d, e], properties: {a: {type: string, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63}, b: {type: string, pattern: '^v\d+(\.\d+){2}$'}, c: {type: string, pattern: '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'}, d: {type: string, pattern: '^(?i)yes|no$'}, e: {type: string, pattern: '^.{10,12}$'}}}`,
	},
	{
		name: "a pattern with a minimum length",
		spec: `{type: object, required: [a], properties: {a: {type: string, pattern: '^[a-z]+$', minLength: 20, maxLength: 25}}}`,
	},
	{
		name: "every format",
		spec: `{type: object, properties: {` + everyFormat() + `}}`,
	},
	{
		name: "lists",
		spec: `{type: object, required: [a], properties: {a: {type: array, minItems: 2, maxItems: 3, items: {type: integer}}, b: {type: array, maxItems: 0, items: {type: string}}, c: {type: array, items: {type: array, items: {type: string, minLength: 1}}}}}`,
	},
	{
		name: "sets and maps",
		spec: `{type: object, required: [a, b], properties: {a: {type: array, minItems: 3, x-kubernetes-list-type: set, items: {type: string}}, b: {type: array, minItems: 4, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name, port], items: {type: object, required: [name], properties: {name: {type: string, enum: [a, b]}, port: {type: integer, default: 80, maximum: 90}}}}}}`,
	},
	{
		name: "maps with counted entries",
		spec: `{type: object, required: [a, b], properties: {a: {type: object, minProperties: 2, maxProperties: 3, additionalProperties: {type: integer, minimum: 5}}, b: {type: object, minProperties: 1, properties: {x: {type: string}, y: {type: string}}}, c: {type: object, additionalProperties: true}}}`,
	},
	{
		name:    "int or string",
		spec:    `{type: object, required: [a], properties: {a: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}, b: {x-kubernetes-int-or-string: true, pattern: '^[0-9]+%$'}, c: {x-kubernetes-int-or-string: true}}}`,
		minimal: `{"a":0}`,
	},
	{
		name: "unknown fields and nulls",
		spec: `{type: object, required: [a, b], properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true}, b: {type: string, nullable: true}, c: {x-kubernetes-preserve-unknown-fields: true}, d: {type: array, nullable: true, items: {type: string, nullable: true}}}}`,
	},
	{
		name: "an embedded resource",
		spec: `{type: object, required: [a], properties: {a: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {kind: {type: string, enum: [Pod, Job]}, spec: {type: object, required: [x], properties: {x: {type: integer}}}}, required: [spec]}}}`,
	},
	{
		name: "one of two",
		spec: `{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}`,
	},
	{
		name: "branches with values",
		spec: `{type: object, required: [type], properties: {type: {type: string}, size: {type: integer}}, oneOf: [{properties: {type: {enum: [Big]}, size: {minimum: 100}}, required: [size]}, {properties: {type: {enum: [Small]}, size: {maximum: 9}}}]}`,
	},
	{
		name: "any, all and not",
		spec: `{type: object, properties: {a: {type: integer, anyOf: [{minimum: 10}, {maximum: -10}], not: {enum: [10, -10]}}, b: {type: string, allOf: [{minLength: 2}, {pattern: '^x'}]}, c: {type: string}, d: {type: string}}, anyOf: [{required: [a]}, {required: [b]}], not: {required: [c, d]}}`,
	},
	{
		name:    "a rule between fields",
		spec:    `{type: object, required: [min, max], properties: {min: {type: integer, minimum: 2}, max: {type: integer, minimum: 0}}, x-kubernetes-validations: [{rule: 'self.min < self.max'}]}`,
		minimal: "",
	},
	{
		name: "rules with constants",
		spec: `{type: object, required: [a, b, c, d], properties: {a: {type: string}, b: {type: integer}, c: {type: string, maxLength: 100}, d: {type: array, maxItems: 5, items: {type: string, maxLength: 20}}}, x-kubernetes-validations: [{rule: "self.a == 'quite special'"}, {rule: 'self.b % 13 == 5'}, {rule: "self.c.matches('^[A-Z]{3}-[0-9]{4}$')"}, {rule: "self.d.exists(x, x.startsWith('need-'))"}]}`,
	},
	{
		name:    "rules about presence",
		spec:    `{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: boolean}}, x-kubernetes-validations: [{rule: 'has(self.a) != has(self.b)'}, {rule: '!has(self.c) || has(self.b)'}]}`,
		minimal: "",
	},
	{
		name: "rules with libraries",
		spec: `{type: object, required: [a, b, c, d, e], properties: {a: {type: string, maxLength: 50}, b: {type: string, maxLength: 50}, c: {type: string, maxLength: 40}, d: {type: string, format: duration}, e: {type: string, format: date-time}}, x-kubernetes-validations: [{rule: "isQuantity(self.a) && quantity(self.a).isGreaterThan(quantity('0'))"}, {rule: "isURL(self.b) && url(self.b).getScheme() == 'https'"}, {rule: "isIP(self.c)"}, {rule: "self.d > duration('1m')"}, {rule: "self.e > timestamp('2000-01-01T00:00:00Z')"}]}`,
	},
	{
		name: "a nested rule",
		spec: `{type: object, required: [items], properties: {items: {type: array, minItems: 1, maxItems: 4, items: {type: object, required: [kind], properties: {kind: {type: string, maxLength: 10}, size: {type: integer}}, x-kubernetes-validations: [{rule: "self.kind in ['disk', 'tape'] && (self.kind != 'disk' || has(self.size))"}]}}}, x-kubernetes-validations: [{rule: "self.items.all(i, i.kind == 'disk')"}]}`,
	},
	{
		name:    "transition rules do not apply to new objects",
		spec:    `{type: object, required: [a], properties: {a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: immutable}]}}}`,
		minimal: `{"a":"a"}`,
	},
}

func everyFormat() string {
	var out []string
	for name := range formatTexts {
		out = append(out, name+": {type: string, format: "+name+"}")
	}
	return strings.Join(append(out, "i: {type: integer, format: int32}", "l: {type: integer, format: int64}", "f: {type: number, format: float}",
		"t: {type: string, format: date-time}", "o: {type: string, format: own}"), ", ")
}

func TestSamples(t *testing.T) {
	for _, test := range schemas {
		t.Run(test.name, func(t *testing.T) {
			s := schemaOf(t, test.spec)
			checkSamples(t, s, 30)
			compare(t, test.minimal, s.Minimal)
			compare(t, test.full, s.Full)
		})
	}
}

func compare(t *testing.T, want string, make func() (map[string]any, error)) {
	t.Helper()
	object, err := make()
	if err != nil {
		t.Fatal(err)
	}
	if got := jsonText(object["spec"]); want != "" && got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSamplesAreComplete(t *testing.T) {
	s := schemaOf(t, schemas[0].spec)
	object, err := s.Full()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Sample", "metadata": map[string]any{"name": "sample", "namespace": "default"},
		"spec": map[string]any{"size": int64(1), "image": "memcached:1.6", "verbose": true},
	}
	if diff := cmp.Diff(want, object); diff != "" {
		t.Errorf("full (-want +got):\n%s", diff)
	}
}

func TestEdgesReachTheLimits(t *testing.T) {
	s := schemaOf(t, `{type: object, properties: {size: {type: integer, minimum: 1, maximum: 5}, port: {type: integer, format: int32}, text: {type: string, maxLength: 12}, mode: {type: string, enum: [A, B]}, list: {type: array, items: {type: string}}, none: {type: string, nullable: true}}}`)
	cases, err := s.Edges()
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]map[string]any{}
	for _, c := range cases {
		if spec, ok := c.Object["spec"].(map[string]any); ok {
			specs[c.Name] = spec
		}
	}
	for _, want := range []struct {
		edge, field string
		value       any
	}{
		{"lowest numbers", "size", int64(1)},
		{"highest numbers", "size", int64(5)},
		{"highest numbers", "port", int64(1<<31 - 1)},
		{"shortest texts", "text", ""},
		{"longest texts", "text", "long-text-lo"},
		{"odd texts 1", "text", "Ünïcödé ☃ 漢字"},
		{"odd texts 3", "none", oddTexts[2]},
		{"empty lists and maps", "list", []any{}},
		{"nulls", "none", nil},
		{"enum values 2", "mode", "B"},
	} {
		if diff := cmp.Diff(want.value, specs[want.edge][want.field]); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", want.edge, want.field, diff)
		}
	}
}

func TestMinimalOmitsFieldsThatNoRuleNeeds(t *testing.T) {
	s := schemaOf(t, `{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}, x-kubernetes-validations: [{rule: has(self.b)}]}`)
	compare(t, `{"b":"a"}`, s.Minimal)
	s = schemaOf(t, `{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}, x-kubernetes-validations: [{rule: '!has(self.b)'}]}`)
	compare(t, `{"a":"a","c":"c"}`, s.Full)
}

func TestImpossibleSchemasNameTheRule(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{"a rule that is never true", `{type: object, required: [a], properties: {a: {type: object, properties: {b: {type: integer}}, x-kubernetes-validations: [{rule: 'has(self.b) && self.b == self.b + 1', message: no way}]}}}`, "has(self.b) && self.b == self.b + 1"},
		{"limits that exclude each other", `{type: object, required: [a], properties: {a: {type: integer, minimum: 3, maximum: 2}}}`, ".spec.a: "},
		{"a pattern that never matches", `{type: object, required: [a], properties: {a: {type: string, pattern: 'a^b'}}}`, "a^b"},
		{"a set of too few values", `{type: object, required: [a], properties: {a: {type: array, minItems: 3, x-kubernetes-list-type: set, items: {type: boolean}}}}`, "different"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := schemaOf(t, test.spec).Minimal()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to say %q", err, test.want)
			}
		})
	}
}

func TestSamplesAreDeterministic(t *testing.T) {
	for _, test := range schemas {
		first, second := draw(t, test.spec), draw(t, test.spec)
		if first != second {
			t.Errorf("%s: not the same:\n%s\n%s", test.name, first, second)
		}
	}
}

func draw(t *testing.T, spec string) string {
	t.Helper()
	s := schemaOf(t, spec)
	full, err := s.Full()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	var out []any
	for range 5 {
		object, err := s.Random(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, object)
	}
	cases, err := s.Edges()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(jsonText(full), jsonText(out), jsonText(cases))
}

// TestFixedSamples checks that samples have the example of a type of Kubernetes.
func TestFixedSamples(t *testing.T) {
	s := schemaOf(t, `{type: object, properties: {env: {type: array, items: {type: object, title: core/v1.EnvVar, required: [name], example: {name: NAME}, properties: {name: {type: string}, value: {type: string}}}}}}`)
	full, err := s.Full()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"env": []any{map[string]any{"name": "NAME"}}}, full["spec"]); diff != "" {
		t.Error(diff)
	}
	for seed := range uint64(50) {
		sample, err := s.Random(rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range listOf(sample, "env") {
			if item.(map[string]any)["name"] != "NAME" {
				t.Errorf("%v", sample)
			}
		}
	}
}

func listOf(sample map[string]any, name string) []any {
	spec, _ := sample["spec"].(map[string]any)
	list, _ := spec[name].([]any)
	return list
}
