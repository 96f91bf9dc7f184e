package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const templated = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: thing}
spec:
  api: {group: example.com, kind: Thing, versions: [{name: v1, schema: {spec: {name: string | required=true, on: boolean | default=false, list: "[]string"}, status: {n: integer}}}]}
`

const one = `  children: [{name: c, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]
`

// many returns a number of children.
func many(n int) string {
	list := "  children:\n"
	for i := range n {
		list += fmt.Sprintf(`  - {name: c%d, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-%d"}}}`+"\n", i, i)
	}
	return list
}

// TestCountedAnnotations requires that direct records no state in annotations that are
// counted as a change.
func TestCountedAnnotations(t *testing.T) {
	for kind, want := range map[string]Engine{"Deployment": Worker, "StatefulSet": Direct} {
		p := planned(t, `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: thing}
spec:
  api: {existing: {group: apps, version: v1, kind: `+kind+`}}
`+one)
		if p.Reconcile.Engine != want {
			t.Errorf("%s: engine %s, want %s", kind, p.Reconcile.Engine, want)
		}
	}
}

func TestEngine(t *testing.T) {
	tests := []struct {
		name, lines string
		want        Engine
		why         []string // in order; the path and a word of the message
	}{
		{"a template", one, Direct, nil},
		{"status from a child", one + "  status: {n: '${ $children.c.data | length }'}\n", Direct, nil},
		{"status with any jq", one + "  status: {n: '${ [.spec.list[]?] | map(length) | add }'}\n", Direct, nil},
		{"when and readyWhen", `  children: [{name: c, when: .spec.on, readyWhen: .data.a == "b", template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]` + "\n", Direct, nil},
		{"requested engine", one + "  reconcile: {engine: workflow}\n", Workflow, nil},
		{"finalizer", one + "  finalizer: {}\n", Direct, nil},
		{"more than one Sensor", many(10), Worker, []string{"spec.children 97500"}},
		{"shards", one + "  reconcile: {shards: 2}\n", Worker, []string{"spec.reconcile.shards share"}},
		{"a group", one + "  install: {group: all}\n", Worker, []string{"spec.install.group share"}},
		{"forEach", `  children: [{name: c, forEach: ".spec.list // []", template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-${ $index }"}}}]` + "\n", Direct, nil},
		{"mutable name", `  children: [{name: c, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-${ .spec.name }"}}}]` + "\n", Direct, nil},
		{"cluster-scoped child", `  children: [{name: c, template: {apiVersion: v1, kind: Namespace, metadata: {name: "x-${ .metadata.name }"}}}]` + "\n", Direct, nil},
		{"whole child", one + "  status: {n: '${ $children.c | length }'}\n", Worker, []string{"spec.status whole"}},
		{"adoption of an owned child", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]` + "\n", Direct, nil},
		{"adoption of an object that no other can name", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "c-${ .metadata.namespace }.${ .metadata.name }"}}}, {name: k, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "k-${ .spec.name }"}}}]` + "\n", Direct, nil},
		{"adoption by a name that another can have", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "x-${ .spec.name }"}}}]  # argoperator:ignore uniqueness each name is used once` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"adoption by a name that two pairs can have", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-${ .spec.name }"}}}]` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"adoption of items", `  children: [{name: c, adopt: true, forEach: ".spec.list // []", template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-${ $index }"}}}]` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"adoption by a part of the name", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name[:9] }"}}}]` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"adoption of another child of another", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}, {name: k, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-k"}}}]` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"adoption beside another kind", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}, {name: k, template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name }-k"}}}]` + "\n", Direct, nil},
		{"adoption in a fixed namespace", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "x-${ .metadata.name }", namespace: shared}}}]` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"adoption of a cluster-scoped object", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: Namespace, metadata: {name: "x-${ .metadata.name }"}}}]` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"adoption of what outlives", `  children: [{name: c, adopt: true, onDelete: Orphan, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"adoption beside what outlives", `  children: [{name: c, adopt: true, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}, {name: k, onDelete: Orphan, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-k"}}}]` + "\n", Worker, []string{"spec.children.0.adopt owns"}},
		{"logic", one + "  logic: {image: 'python:3.13-slim', command: [python3, -c, pass], files: []}\n", Worker, []string{"spec.logic pod"}},
		{"logic beside jq that a pod does not know", strings.Replace(one, `metadata:`, `data: {a: "${ [paths] | length | tostring }"}, metadata:`, 1) + "  logic: {image: 'python:3.13-slim', command: [python3, -c, pass], files: []}\n", Workflow, []string{"spec.logic pod"}},
		{"logic beside a regular expression", strings.Replace(one, `metadata:`, `data: {a: "${ .spec.name | sub(\"a\"; \"b\") }"}, metadata:`, 1) + "  logic: {image: 'python:3.13-slim', command: [python3, -c, pass], files: []}\n", Worker, []string{"spec.logic pod"}},
		{"logic beside a computed regular expression", strings.Replace(one, `metadata:`, `data: {a: "${ . as $it | .spec.name | sub($it.metadata.name; \"b\") }"}, metadata:`, 1) + "  logic: {image: 'python:3.13-slim', command: [python3, -c, pass], files: []}\n", Workflow, []string{"spec.logic pod"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := planned(t, templated+tt.lines)
			if p.Reconcile.Engine != tt.want {
				t.Errorf("engine %s, want %s", p.Reconcile.Engine, tt.want)
			}
			reasons := p.Reconcile.Against[Direct]
			if len(reasons) != len(tt.why) {
				t.Fatalf("reasons %v, want %v", reasons, tt.why)
			}
			for i, want := range tt.why {
				path, word, _ := strings.Cut(want, " ")
				if got := reasons[i]; strings.Join(got.Path, ".") != path || !strings.Contains(got.Message, word) {
					t.Errorf("reason %v, want %q", got, want)
				}
			}
		})
	}
}

func TestPack(t *testing.T) {
	heavy := func(kib int) part {
		return part{dependencies: []Dependency{{JQ: strings.Repeat("x", kib*1024)}}, triggers: []Trigger{{Name: "t", Call: &Call{}}}}
	}
	tests := []struct {
		name  string
		parts []part
		want  []string // the Sensors, with the number of their triggers
	}{
		{"fits into one Sensor", []part{heavy(10), heavy(10)}, []string{"op tt"}},
		{"exceeds one Sensor", []part{heavy(60), heavy(60), heavy(10)}, []string{"op t", "op-2 tt"}},
		{"no parts", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range pack("op", tt.parts) {
				got = append(got, s.Name+" "+strings.Repeat("t", len(s.Triggers)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
