package diff

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestObjects(t *testing.T) {
	config := func(name, text string) map[string]any {
		return object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", namespace: a}, data: {text: \""+text+"\"}}")
	}
	role := object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}")
	for _, tt := range []struct {
		reason   string
		old, now []map[string]any
		want     string
	}{
		{"nothing at all", nil, nil, ""},
		{"the same in another order", []map[string]any{config("x", "1"), role}, []map[string]any{role, config("x", "1")}, ""},
		{"all new", nil, []map[string]any{role, config("x", "1")}, "ClusterRole r created, ConfigMap a/x created"},
		{"all gone, backwards", []map[string]any{role, config("x", "1")}, nil, "ConfigMap a/x deleted, ClusterRole r deleted"},
		{"one changed", []map[string]any{config("x", "1"), config("z", "1")}, []map[string]any{config("x", "1"), config("z", "2")}, "ConfigMap a/z configured"},
		{
			"another version of the API is the same object",
			[]map[string]any{object(t, "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: d}}")},
			[]map[string]any{object(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}")},
			"Deployment d configured",
		},
		{
			"another namespace is another object",
			[]map[string]any{config("x", "1")},
			[]map[string]any{object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: b}}")},
			"ConfigMap b/x created, ConfigMap a/x deleted",
		},
	} {
		changes, err := Objects(tt.old, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			got = append(got, c.String())
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, text, tt.want)
		}
	}
}

// TestPrint: a line of text that looks like the head of a diff is text.
func TestPrint(t *testing.T) {
	changes, err := Objects(
		[]map[string]any{object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {text: \"-- one\\n++ two\\n\"}}")},
		[]map[string]any{object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {text: \"++ two\\n\"}}")},
	)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (Printer{}).Print(&out, changes); err != nil {
		t.Fatal(err)
	}
	want := `ConfigMap x configured
  @@ -1,7 +1,6 @@
   apiVersion: v1
   data:
     text: |
  -    -- one
       ++ two
   kind: ConfigMap
   metadata:
0 created, 1 configured, 0 deleted
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	if err := (Printer{Colour: true}).Print(&out, changes); err != nil || !strings.Contains(out.String(), "\x1b[31m-    -- one\x1b[0m") {
		t.Errorf("without colour: %q %v", out.String(), err)
	}
}

func kind(t *testing.T, versions string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	text := "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {group: example.com, scope: Namespaced, " +
		"names: {kind: Thing, plural: things}, versions: [" + versions + "]}}"
	if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
		t.Fatal(err)
	}
	return &crd
}

func TestBreaks(t *testing.T) {
	v1 := func(spec, more string) string {
		return "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, " + spec + "}}}}" + more + "}"
	}
	for _, tt := range []struct{ reason, old, now, want string }{
		{"the same", v1("properties: {a: {type: string}}", ""), v1("properties: {a: {type: string}}", ""), ""},
		{"a field more", v1("properties: {}", ""), v1("properties: {a: {type: string}}", ""), ""},
		{"another description", v1("description: old", ""), v1("description: new", ""), ""},
		{"another title and example", v1("properties: {a: {type: object, additionalProperties: {type: string, title: a, example: b}}}", ""), v1("properties: {a: {type: object, additionalProperties: {type: string}}}", ""), ""},
		{"another pattern and a format", v1("properties: {a: {type: string, pattern: a}}", ""), v1("properties: {a: {type: string, pattern: b, format: date}}", ""), `v1 ^.spec.a format changed: none -> "date"; pattern changed: "a" -> "b"`},
		{"a field that is gone", v1("properties: {a: {type: string}}", ""), v1("properties: {}", ""), "v1 ^.spec.a the field was removed"},
		{"another type", v1("properties: {a: {type: string}}", ""), v1("properties: {a: {type: integer}}", ""), `v1 ^.spec.a type changed: "string" -> "integer"`},
		{"a required field", v1("properties: {a: {type: string}}", ""), v1("required: [a], properties: {a: {type: string}}", ""), "v1 ^.spec new required fields: [a]"},
		{"one value less", v1("properties: {a: {type: string, enum: [x, z]}}", ""), v1("properties: {a: {type: string, enum: [x]}}", ""), `v1 ^.spec.a allowed enum values removed: ["z"]`},
		{"one value more", v1("properties: {a: {type: string, enum: [x]}}", ""), v1("properties: {a: {type: string, enum: [x, z]}}", ""), ""},
		{"a smaller maximum", v1("properties: {a: {type: integer, maximum: 9}}", ""), v1("properties: {a: {type: integer, maximum: 5}}", ""), "v1 ^.spec.a maximum decreased: 9 -> 5"},
		{"no status subresource", v1("properties: {}", ", subresources: {status: {}}"), v1("properties: {}", ""), "v1  the status subresource was removed"},
		{
			"no scale subresource", v1("properties: {}", ", subresources: {scale: {specReplicasPath: .spec.a, statusReplicasPath: .status.a}}"), v1("properties: {}", ""),
			"v1  the scale subresource was removed: kubectl scale and autoscalers fail",
		},
		{"a version that is gone", v1("properties: {}", ""), strings.ReplaceAll(v1("properties: {}", ""), "v1", "v2"), "v1  the version was removed: its clients get 404"},
		{
			"a version without a field", v1("properties: {a: {type: string, default: x, enum: [x]}}", ""),
			v1("properties: {a: {type: string, default: x, enum: [x]}}", "") + ", " +
				strings.NewReplacer("v1", "v2", "storage: true", "storage: false").Replace(v1("properties: {b: {type: string}}", "")),
			"v1 -> v2 ^.spec.a v2 has no such field",
		},
		{"one that is not served", v1("properties: {}", ""), strings.Replace(v1("properties: {}", ""), "served: true", "served: false", 1), "v1  the version is no longer served: its clients get 404"},
	} {
		breaks, err := Breaks(kind(t, tt.old), kind(t, tt.now))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range breaks {
			got = append(got, b.Version+" "+b.Path+" "+b.Message)
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, text, tt.want)
		}
	}
}

// TestOther: what no rule knows is a warning, as a pattern that may be narrower.
func TestOther(t *testing.T) {
	schema := func(pattern string) string {
		return "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, pattern: " + pattern + "}}}}}"
	}
	breaks, err := Breaks(kind(t, schema("x")), kind(t, schema("xy")))
	if err != nil || len(breaks) != 1 || !breaks[0].Warning || breaks[0].Path != "^.a" {
		t.Errorf("%+v %v", breaks, err)
	}
}
