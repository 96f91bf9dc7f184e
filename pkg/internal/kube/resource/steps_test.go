package resource

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestVariantsOfRandomSchemas: each boolean is flipped alone, each value of an enum and
// each limit of a number occurs, and each optional field is absent in one variant, unless
// that is invalid. Every variant is valid.
func TestVariantsOfRandomSchemas(t *testing.T) {
	wanted := 0
	for seed := range uint64(150) {
		g := schemaMaker{rand.New(rand.NewPCG(seed, 2))}
		props := g.object(0)
		s, err := New(kind, &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": props}})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, jsonText(props))
		}
		full, err := s.Full()
		if err != nil {
			continue
		}
		variants := s.Variants(full, full, [][]string{{"spec"}}, nil)
		if len(variants) == maxVariants {
			continue
		}
		texts := map[string]bool{jsonText(full): true}
		for _, variant := range variants {
			texts[jsonText(variant)] = true
			if errs := s.violations(variant); len(errs) > 0 {
				t.Errorf("seed %d: %s is invalid: %v", seed, jsonText(variant), errs)
			}
		}
		places(s.root, nil, full, func(path []string, parent, n *node, value any) {
			for _, want := range alternatives(parent, n, path, full, value) {
				if len(s.violations(want)) > 0 {
					continue
				}
				wanted++
				if !texts[jsonText(want)] {
					t.Errorf("seed %d: no variant changes only %s: want %s\nof %s\n%s", seed, strings.Join(path, "."), jsonText(want), jsonText(full), jsonText(props))
				}
			}
		})
		if t.Failed() {
			return
		}
	}
	if wanted < 500 {
		t.Errorf("the schemas have only %d variants", wanted)
	}
}

// alternatives returns objects that differ in one value of a kind that Variants covers.
func alternatives(parent, n *node, path []string, full map[string]any, value any) []map[string]any {
	var out []map[string]any
	with := func(value any) { out = append(out, replaced(runtime.DeepCopyJSON(full), path, value)) }
	if len(path) > 1 && !parent.requires(path[len(path)-1]) {
		out = append(out, without(runtime.DeepCopyJSON(full), path))
	}
	v := n.ValueValidation
	switch value := value.(type) {
	case bool:
		with(!value)
	case int64:
		if n.Type == "integer" && v != nil && v.Minimum != nil && !v.ExclusiveMinimum {
			with(int64(*v.Minimum))
		}
		if n.Type == "integer" && v != nil && v.Maximum != nil && !v.ExclusiveMaximum {
			with(int64(*v.Maximum))
		}
	}
	if v != nil {
		for _, allowed := range v.Enum {
			with(plain(allowed.Object))
		}
	}
	return out
}

// places calls a function for each value below one that has a schema.
func places(n *node, path []string, value any, do func(path []string, parent, n *node, value any)) {
	for _, step := range stepsInto(value, nil) {
		at := append(slices.Clone(path), step)
		if inner := n.inner(step); inner != nil && (n != nil && (len(path) > 0 || slices.Contains(n.names, step))) {
			do(at, n, inner, valueAt(value, step))
			places(inner, at, valueAt(value, step), do)
		}
	}
}

func TestVariants(t *testing.T) {
	for _, test := range []struct {
		name, schema, from, full string
		words                    []any
		want                     []string
	}{
		{
			"boolean with a default", `{tls: {type: object, properties: {enabled: {type: boolean, default: false}}}}`,
			`{}`, `{tls: {enabled: false}}`, nil,
			[]string{`{"tls":{"enabled":false}}`, `{"tls":{"enabled":true}}`},
		},
		{
			"boolean that is written", `{tls: {type: object, properties: {enabled: {type: boolean, default: false}}}}`,
			`{tls: {enabled: false}}`, `{tls: {enabled: false}}`, nil,
			[]string{`{}`, `{"tls":{}}`, `{"tls":{"enabled":true}}`},
		},
		{
			"limits", `{size: {type: integer, minimum: 2, maximum: 9}}`,
			`{size: 5}`, `{size: 5}`, nil,
			[]string{`{}`, `{"size":2}`, `{"size":9}`},
		},
		{
			"exclusive limits", `{size: {type: integer, minimum: 2, exclusiveMinimum: true}}`,
			`{size: 5}`, `{size: 5}`, nil,
			[]string{`{}`, `{"size":3}`},
		},
		{
			"list with the length of a condition", `{hosts: {type: array, maxItems: 3, items: {type: string}}}`,
			`{hosts: [a.example.com]}`, `{hosts: [a.example.com]}`, ComparedValues(". > 2"),
			[]string{`{}`, `{"hosts":[]}`, `{"hosts":["example.com","example.com"]}`, `{"hosts":["example.com","example.com","example.com"]}`},
		},
		{
			"list that is absent", `{hosts: {type: array, items: {type: string}}}`,
			`{}`, `{hosts: [a.example.com]}`, ComparedValues(". == 2"),
			[]string{
				`{"hosts":[]}`, `{"hosts":["a.example.com"]}`, `{"hosts":["example.com","example.com"]}`, `{"hosts":["example.com","example.com","example.com"]}`,
			},
		},
		{
			"enum", `{mode: {type: string, enum: [a, b, c], default: a}}`,
			`{mode: a}`, `{mode: a}`, nil,
			[]string{`{}`, `{"mode":"b"}`, `{"mode":"c"}`},
		},
		{
			"text that a condition compares with", `{mode: {type: string, maxLength: 4, default: none}}`,
			`{mode: none}`, `{mode: none}`, ComparedValues(`. != "none"`),
			[]string{`{}`, `{"mode":"non"}`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := schemaOf(t, "{type: object, properties: "+test.schema+"}")

			var got []string
			for _, variant := range s.Variants(full(t, test.from), full(t, test.full), [][]string{{"spec"}}, test.words) {
				if spec := variant["spec"]; spec != nil {
					got = append(got, jsonText(spec))
				}
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
