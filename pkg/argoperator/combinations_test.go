package argoperator_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
)

// choice is a part of a definition with several alternatives.
type choice struct {
	name     string
	variants []string // lines of a definition; empty omits the part
}

var choices = []choice{
	{"engine", []string{"  reconcile: {engine: workflow}", "  reconcile: {engine: steps}"}},
	{"api", []string{
		"  api: {group: example.com, kind: Thing, versions: [{name: v1, schema: {spec: {a: integer}, status: {n: integer}}}]}",
		"  api: {group: example.com, kind: Thing, scope: Cluster, versions: [{name: v1, schema: {spec: {a: integer}, status: {n: integer}}}]}",
		"  api: {existing: {group: apps, version: v1, kind: StatefulSet}}",
		"  api: {existing: {version: v1, kind: Namespace, status: true}}",
	}},
	{"children", []string{
		"  children: [{name: web, apiVersion: apps/v1, kind: Deployment}]",
		"  children: [{name: web, apiVersion: v1, kind: ConfigMap, onDelete: Orphan}]",
		"  children: [{name: role, apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}]",
		"  children: [{name: web, apiVersion: apps/v1, kind: StatefulSet}, {name: svc, apiVersion: v1, kind: Service}]",
	}},
	{"finalizer", []string{"", "  finalizer: {}"}},
	{"install", []string{
		"",
		"  install: {watchNamespaces: [blue, green]}",
		"  install: {replicas: 2, eventBus: {mode: managed}}",
		"  install: {names: {sensor: watcher, workflowTemplate: work, configMap: code}, userRoles: false, argoServerURL: https://argo.example.com}",
	}},
}

// refusals are the findings that a combination may cause, because two options
// exclude each other. Any other finding or a failed check is a defect.
var refusals = []string{diag.Unsupported, diag.ConflictingKeys, diag.UnknownField, diag.BadValue, diag.MissingKey}

// TestCombinations requires that every combination of choices either has an allowed
// finding, or generates an operator that passes all checks.
func TestCombinations(t *testing.T) {
	logic := choice{"logic", []string{"  logic: {image: 'python:3.13-slim', command: [python3, main.py], files: [main.py]}"}}
	combine(t, append(slices.Clone(choices), logic), 100)
}

// templated returns the choices for definitions without logic.
var templated = []choice{
	{"reconcile", []string{"", "  reconcile: {engine: workflow}", "  reconcile: {forceConflicts: false}"}},
	{"api", []string{
		"  api: {group: example.com, kind: Thing, versions: [{name: v1, schema: {spec: {a: integer | required=true minimum=0 maximum=9, b: boolean | default=false}, status: {n: integer}}}]}",
		"  api: {group: example.com, kind: Thing, scope: Cluster, versions: [{name: v1, schema: {spec: {a: integer | required=true minimum=0 maximum=9, b: boolean | default=false}, status: {n: integer}}}]}",
		"  api: {existing: {version: v1, kind: ServiceAccount}}",
	}},
	{"children", []string{
		"  children: [{name: c, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }', namespace: '${ .metadata.namespace // .metadata.name }'}}}]",
		"  children: [{name: c, onDelete: Orphan, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }'}}}, {name: s, when: .metadata.labels.s != null, template: {apiVersion: v1, kind: Secret, metadata: {name: '${ .metadata.name }'}}}]",
		"  children: [{name: c, forEach: '[range(3)]', template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }-${ $index }'}}}]",
		"  children: [{name: c, readyWhen: .data.a != null, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }'}}}, {name: s, when: $children.c.data.a == \"x\", template: {apiVersion: v1, kind: Secret, metadata: {name: '${ .metadata.name }'}}}]",
		"  children: [{name: c, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }', namespace: 'x-${ .metadata.name }'}}}]",
		"  children: [{name: role, template: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: 'thing-${ .metadata.uid }'}}}]",
	}},
	{"status", []string{"", "  status: {n: '${ .metadata.generation }'}"}},
	{"finalizer", []string{"", "  finalizer: {}"}},
	{"install", []string{"", "  install: {watchNamespaces: [blue, green], replicas: 2}"}},
}

// listReaders returns the choices for a child that reads all objects of another one, or
// that waits for one whose number depends on another's.
func listReaders() []choice {
	var readers []string
	for _, reads := range []string{
		"[$children.d[]]", "[$children.d[].data.k]", "[$children.d[]? | .metadata.name]", "$children.d | length", "$children.d | map(.data.k)",
		"$children.d | to_entries | map(.key)", "[$children.d[] | .metadata.uid] | add", "any($children.d[]; .data.k == \"v\")",
		"first($children.d[] | .data.k)", "$children.d[0].data.k", "[$children.d[], $children.one] | length",
	} {
		readers = append(readers,
			"  - {name: r, template: {apiVersion: v1, kind: Secret, metadata: {name: '${ .metadata.name }'}, data: {x: '${ "+reads+" | tojson | @base64 }'}}}",
			"  - {name: r, when: '("+reads+") != null', template: {apiVersion: v1, kind: Secret, metadata: {name: '${ .metadata.name }'}}}",
			"  - {name: r, forEach: '[("+reads+")]', template: {apiVersion: v1, kind: Secret, metadata: {name: '${ .metadata.name }-${ $index }'}}}",
		)
	}
	return []choice{
		{"api", []string{"  api: {group: example.com, kind: Thing, versions: [{name: v1, schema: {spec: {a: integer | default=1 minimum=0 maximum=9}, status: {n: integer}}}]}"}},
		{"list", []string{
			"  children:\n  - {name: d, forEach: '[range(.spec.a)]', template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }-${ $item }'}, data: {k: v}}}\n" +
				"  - {name: one, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }-one'}}}",
		}},
		{"reader", readers},
		{"others", []string{
			"", "  - {name: w, dependsOn: [r], template: {apiVersion: v1, kind: ServiceAccount, metadata: {name: '${ .metadata.name }'}}}\n" +
				"  status: {n: '${ $children.d | length }'}",
		}},
	}
}

// TestListReaders is TestCombinations for children that read lists of children.
func TestListReaders(t *testing.T) { combine(t, listReaders(), 60) }

// TestTemplateCombinations is TestCombinations for definitions without logic.
func TestTemplateCombinations(t *testing.T) { combine(t, templated, 150) }

// combine generates an operator for every combination.
func combine(t *testing.T, choices []choice, least int) {
	t.Helper()
	files := fstest.MapFS{"main.py": &fstest.MapFile{Data: []byte("print()\n")}}
	built, rejected := 0, 0
	for _, lines := range product(choices) {
		text := "apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: thing}\nspec:\n" +
			strings.Join(lines, "\n") + "\n"
		result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: []byte(text), Dir: files}}, argoperator.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if len(result.Operators) == 1 {
			passesChecks(t, text, result.Operators)
			built++
			continue
		}
		rejected++
		for _, f := range result.Findings {
			if f.Severity == diag.Error && !slices.Contains(refusals, f.Code) {
				t.Errorf("%s: %s\n%s", f.Code, f.Message, text)
			}
		}
	}
	t.Logf("%d built, %d refused", built, rejected)
	if built < least {
		t.Errorf("only %d combinations were built: the choices exclude each other too often", built)
	}
}

// product returns every combination, with one line of each choice.
func product(choices []choice) [][]string {
	if len(choices) == 0 {
		return [][]string{nil}
	}
	var all [][]string
	for _, rest := range product(choices[1:]) {
		for _, variant := range choices[0].variants {
			lines := rest
			if variant != "" {
				lines = append([]string{variant}, rest...)
			}
			all = append(all, lines)
		}
	}
	return all
}
