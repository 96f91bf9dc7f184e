package krm

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

const definitionText = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata:
  name: web
spec:
  api: {group: example.com, kind: Web, versions: [{name: v1, schema: {spec: {text: string}}}]}
  children:
  - name: config
    file: config.yaml
`

var dir = fstest.MapFS{
	"config.yaml":     {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${ .metadata.name }\"}\ndata: {text: \"${ .spec.text }\"}\n")},
	"sub/config.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${ .metadata.name }-sub\"}\n")},
}

// listOf is a ResourceList of items, each a YAML text.
func listOf(head string, items ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n" + head + "items:\n")
	for _, item := range items {
		b.WriteString("- " + strings.TrimSpace(strings.ReplaceAll(item, "\n", "\n  ")) + "\n")
	}
	if len(items) == 0 {
		return strings.TrimSuffix(b.String(), "items:\n") + "items: []\n"
	}
	return b.String()
}

// noted is the definition with a path noted on it, as kpt does.
func noted(file string) string {
	return strings.Replace(definitionText, "metadata:\n", "metadata:\n  annotations: {internal.config.kubernetes.io/path: "+file+"}\n", 1)
}

type list struct {
	Items   []map[string]any
	Results []result
}

func do(t *testing.T, in string) (list, string, bool) {
	t.Helper()
	out, failed, err := Run([]byte(in), dir)
	if err != nil {
		t.Fatal(err)
	}
	var l list
	if err := yaml.Unmarshal(out, &l); err != nil {
		t.Fatal(err)
	}
	return l, string(out), failed
}

func kinds(l list) map[string]int {
	out := map[string]int{}
	for _, item := range l.Items {
		out[item["kind"].(string)]++
	}
	return out
}

const other = "# mine\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine} # here\n"

// TestConfiguration: the definition is the function's, and what is there stays.
func TestConfiguration(t *testing.T) {
	head := "functionConfig:\n  " + strings.TrimSpace(strings.ReplaceAll(definitionText, "\n", "\n  ")) + "\n"
	l, out, failed := do(t, listOf(head, other))
	if failed || len(l.Results) > 0 {
		t.Fatalf("results: %+v", l.Results)
	}
	if !strings.Contains(out, "metadata: {name: mine} # here") {
		t.Errorf("the item is not as it was:\n%.300s", out)
	}
	if k := kinds(l); k["CustomResourceDefinition"] != 1 || k["Sensor"] != 1 || k["Operator"] != 0 {
		t.Errorf("items: %v", k)
	}
}

// TestItems: definitions among the items are not to be applied; their files are
// beside them, and a second run changes nothing.
func TestItems(t *testing.T) {
	first, out, failed := do(t, listOf("", other, noted("sub/operator.yaml")))
	if failed {
		t.Fatalf("results: %+v", first.Results)
	}
	if !strings.Contains(out, "-sub") {
		t.Error("the template is not the one beside the definition")
	}
	for _, item := range first.Items {
		annotations, _ := item["metadata"].(map[string]any)["annotations"].(map[string]any)
		if local := annotations[localAnnotation] == "true"; local != (item["kind"] == "Operator") {
			t.Errorf("%s: local is %v", item["kind"], local)
		}
	}
	_, again, _ := do(t, out)
	if diff := cmp.Diff(out, again); diff != "" {
		t.Errorf("the second run (-first +second):\n%s", diff)
	}
	t.Run("vanished", func(t *testing.T) {
		renamed := strings.ReplaceAll(out, "kind: Web", "kind: Net")
		second, _, _ := do(t, renamed)
		if len(second.Items) != len(first.Items) {
			t.Errorf("%d items, want %d", len(second.Items), len(first.Items))
		}
		for _, item := range second.Items {
			if name, _ := item["metadata"].(map[string]any)["name"].(string); strings.HasPrefix(name, "webs.") {
				t.Errorf("%s %s is there still", item["kind"], name)
			}
		}
	})
}

// TestFindings: they say where, and nothing else changes.
func TestFindings(t *testing.T) {
	broken := strings.Replace(noted("operator.yaml"), ".metadata.name", ".metadata.name", 1)
	broken = strings.Replace(broken, "{text: string}", "{text: strin}", 1)
	in := listOf("", other, broken)
	l, _, failed := do(t, in)
	if !failed || len(l.Items) != 2 {
		t.Fatalf("failed: %v, %d items", failed, len(l.Items))
	}
	if len(l.Results) == 0 {
		t.Fatal("no results")
	}
	r := l.Results[0]
	want := result{
		Message: r.Message, Severity: "error",
		ResourceRef: &resourceRef{APIVersion: "argoperator.dev/v1alpha1", Kind: "Operator", Name: "web"},
		Field:       &fieldRef{Path: "spec.api.versions[0].schema.spec.text"}, File: &fileRef{Path: "operator.yaml"},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if !strings.Contains(r.Message, "strin") {
		t.Errorf("message: %s", r.Message)
	}
}

func TestNoList(t *testing.T) {
	for _, in := range []string{"", "a: b", "kind: ResourceList", "\t", "[]", definitionText} {
		if _, _, err := Run([]byte(in), dir); !errors.Is(err, ErrNoList) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestNothing: a list without definitions says so.
func TestNothing(t *testing.T) {
	l, _, failed := do(t, listOf(""))
	if !failed || len(l.Results) != 1 || !strings.Contains(l.Results[0].Message, "no definition found") {
		t.Errorf("failed: %v, results: %+v", failed, l.Results)
	}
}
