package simulate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// TestGraphs checks that both engines agree on random definitions whose children read
// each other, and that they have what the definition says: nothing is written without
// the values that it needs. GRAPH_SEEDS sets their number, GRAPH_SEED selects one.
func TestGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	first, count := 0, 6
	if n, err := strconv.Atoi(os.Getenv("GRAPH_SEEDS")); err == nil {
		count = n
	}
	if n, err := strconv.Atoi(os.Getenv("GRAPH_SEED")); err == nil {
		first, count = n, 1
	}
	for seed := first; seed < first+count; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) { playGraph(t, uint64(seed)) })
	}
}

// graph is a random definition. Its children are ConfigMaps, whose data is what they
// were made of, and Parts, whose status the test writes.
type graph struct {
	text  string
	parts []string // the children that are Parts
}

// readings are the ways in which a template can read field F of another child.
var readings = []string{"${ F }", `${ F // "none" }`, "${ F // null }", "${ F? }", "x-${ F }", `${ F + "/x" }`, `${ "\(F)!" }`, `${ if .spec.flag then F else null end }`, `${ F | split("-") | .[0] }`}

func randomGraph(r *rand.Rand) graph {
	g := graph{}
	n := 3 + r.IntN(3) // one Sensor has room for them
	var children []string
	for i := range n {
		name, part := fmt.Sprintf("c%d", i), r.IntN(3) == 0
		if part {
			g.parts = append(g.parts, name)
		}
		var data, more []string
		for j := range i { // only of earlier ones, so there are no cycles
			if r.IntN(3) != 0 {
				continue
			}
			field := fmt.Sprintf("$children.c%d.data.v", j)
			if slices.Contains(g.parts, fmt.Sprintf("c%d", j)) {
				field = fmt.Sprintf("$children.c%d.status.v", j)
			}
			reading := strings.ReplaceAll(readings[r.IntN(len(readings))], "F", field)
			data = append(data, fmt.Sprintf("r%d: '%s'", j, reading))
			if r.IntN(6) == 0 {
				more = []string{fmt.Sprintf("dependsOn: [c%d]", j)}
			}
		}
		if r.IntN(4) == 0 {
			more = append(more, "when: .spec.flag")
		}
		object := "${ .metadata.name }-" + name
		switch kind := "apiVersion: v1, kind: ConfigMap"; {
		case part:
			children = append(children, fmt.Sprintf("  - {name: %s, plural: parts, scope: Namespaced, readyWhen: '.status.v != null', %stemplate: {apiVersion: example.com/v1, kind: Part, metadata: {name: '%s'}, spec: {%s}}}",
				name, joined(more), object, strings.Join(data, ", ")))
		default:
			data = append(data, fmt.Sprintf("v: 'v%d-${ .spec.text }'", i))
			children = append(children, fmt.Sprintf("  - {name: %s, %stemplate: {%s, metadata: {name: '%s'}, data: {%s}}}", name, joined(more), kind, object, strings.Join(data, ", ")))
		}
	}
	r.Shuffle(len(children), func(i, j int) { children[i], children[j] = children[j], children[i] })
	g.text = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: graphs}
spec:
  api:
    group: example.com
    kind: Graph
    versions:
    - name: v1
      schema:
        spec:
          text: string | default=a maxLength=9
          flag: boolean | default=false
  reconcile: {engine: ENGINE}
  children:
` + strings.Join(children, "\n") + "\n"
	return g
}

func joined(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return strings.Join(keys, ", ") + ", "
}

// playGraph does the same in both engines, and compares after each step.
func playGraph(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	g := randomGraph(r)
	t.Logf("seed %d\n%s", seed, g.text)
	var both []*world
	for _, engine := range []plan.Engine{plan.Direct, plan.Workflow} {
		file := filepath.Join(t.TempDir(), "operator.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(g.text, "ENGINE", string(engine), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := openWith(file, "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := simulate.New(simulate.Inputs{Objects: o.objects, Runner: simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH")}}})
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, &world{Simulation: s, t: t, o: o})
	}
	cr := map[string]any{"apiVersion": "example.com/v1", "kind": "Graph", "metadata": map[string]any{"name": "one", "namespace": "default"}, "spec": map[string]any{}}
	values := map[string]any{}
	for step := range 6 {
		what := "created"
		switch kind := r.IntN(4); {
		case step == 0:
		case kind == 0:
			cr["spec"] = map[string]any{"text": fmt.Sprintf("t%d", step), "flag": r.IntN(2) == 0}
			what = "edited " + text(cr["spec"])
		case len(g.parts) > 0:
			part := g.parts[r.IntN(len(g.parts))]
			values[part] = fmt.Sprintf("s%d-x", step)
			if r.IntN(3) == 0 {
				values[part] = nil
			}
			what = fmt.Sprintf("status of %s is %v", part, values[part])
		}
		var results []map[string]any
		for _, w := range both {
			w.cr = cr
			if err := w.Apply(cr); err != nil {
				t.Fatal(err)
			}
			w.rest(values)
			results = append(results, w.graph())
		}
		// While a template fails, its child is as it was at some moment before.
		fails := both[0].needsAreMet(fmt.Sprintf("step %d, %s", step, what))
		if diff := cmp.Diff(results[0], results[1]); diff != "" && !fails {
			t.Fatalf("step %d, %s: (-direct +workflow)\n%s", step, what, diff)
		}
	}
}

// rest lets the operator and the controller of Parts work until nothing changes. A
// failing template is no failure of the engine.
func (w *world) rest(values map[string]any) {
	w.t.Helper()
	for range 12 {
		if err := w.Run(context.Background()); err != nil {
			w.t.Fatal(err)
		}
		changed := false
		for _, c := range w.o.plan.Children {
			live := w.liveChild(c)
			if c.Kind.Kind != "Part" || live == nil {
				continue
			}
			status, _ := live["status"].(map[string]any)
			if want := values[c.Name]; status["v"] != want {
				w.patch(c, map[string]any{"status": map[string]any{"v": want}})
				changed = true
			}
		}
		if !changed {
			return
		}
	}
	w.t.Fatal("it does not come to rest")
}

// graph returns the children and the condition Ready.
func (w *world) graph() map[string]any {
	out := map[string]any{}
	for name, object := range w.children() {
		fields := object.(map[string]any)
		out[name] = map[string]any{"data": plain(fields["data"]), "spec": plain(fields["spec"])}
	}
	status, _ := w.owner()["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if fields := c.(map[string]any); fields["type"] == "Ready" {
			out["Ready"] = fields["status"]
		}
	}
	return out
}

// needsAreMet compares each child with what its template makes of the live children,
// and the children that are missing with what they need. It returns whether a template
// fails.
func (w *world) needsAreMet(what string) (fails bool) {
	w.t.Helper()
	live := map[string]any{}
	for _, c := range w.o.plan.Children {
		if object := w.liveChild(c); object != nil {
			live[c.Name] = object
		}
	}
	for _, c := range w.o.plan.Children {
		object, exists := live[c.Name]
		if wanted := c.When == nil || w.run(c.When, live) == true; !wanted {
			if exists {
				w.t.Errorf("%s: %s exists and is not wanted", what, c.Name)
			}
			continue
		}
		missing := slices.ContainsFunc(c.Object.Needs(), func(n expression.Need) bool {
			wanted := slices.ContainsFunc(w.o.plan.Children, func(other plan.Child) bool {
				return slices.Contains(n.Children, other.Name) && (other.When == nil || w.run(other.When, live) == true)
			})
			value, err := w.need(n).Run(w.owner(), expression.Vars{Children: live})
			return wanted && err == nil && value == nil
		})
		damaged := slices.ContainsFunc(c.Object.Needs(), func(n expression.Need) bool {
			value, err := w.need(n).Run(w.owner(), expression.Vars{Children: live})
			return n.Damage && err == nil && value == nil
		})
		want, err := c.Object.Run(w.owner(), expression.Vars{Children: live})
		fails = fails || err != nil && !missing || damaged && !missing
		switch {
		case missing && !exists, err != nil, damaged:
		case missing: // it stays as it was
		case !exists && len(c.DependsOn) == 0:
			w.t.Errorf("%s: %s does not exist, and nothing is missing", what, c.Name)
		case exists:
			for _, key := range []string{"data", "spec"} {
				if diff := cmp.Diff(contents(want, key), contents(object, key)); diff != "" {
					w.t.Errorf("%s: %s (-template +live)\n%s", what, c.Name, diff)
				}
			}
		}
	}
	if w.t.Failed() {
		w.t.FailNow()
	}
	return fails
}

// contents returns a section of an object without empty values.
func contents(object any, section string) any {
	value := solid(plain(object.(map[string]any)[section]))
	if isEmpty(value) {
		return nil
	}
	return value
}

func (w *world) need(n expression.Need) *expression.Program {
	scope := expression.Scope{Children: map[string]schema.Type{}}
	for _, c := range w.o.plan.Children {
		scope.Children[c.Name] = schema.Any()
	}
	program, problems := expression.Expression(n.Source, scope, "")
	if program == nil {
		w.t.Fatal(problems)
	}
	return program
}
