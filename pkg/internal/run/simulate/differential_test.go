package simulate_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

const root = "../../../.."

// TestDirectMatchesJQ checks that the direct engine renders random custom resources as
// the expressions of the definition do.
func TestDirectMatchesJQ(t *testing.T) {
	for _, o := range operators(t) {
		t.Run(o.plan.Operator.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range 40 / len(o.plan.Children) { // FuzzDirect has more
				differ(t, o, uint64(seed))
			}
		})
	}
}

// FuzzDirect is TestDirectMatchesJQ with more seeds.
func FuzzDirect(f *testing.F) {
	f.Add(uint64(1))
	all := operators(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		differ(t, all[seed%uint64(len(all))], seed)
	})
}

// operator is a definition with its plan and objects.
type operator struct {
	plan    *plan.Plan
	schema  *resource.Schema
	objects []manifest.Object
}

// operators returns the examples of the direct engine and additional definitions.
func operators(t testing.TB) []operator {
	t.Helper()
	var all []operator
	for _, file := range []string{
		"examples/memcached/operator.yaml", "examples/webapp/operator.yaml",
		"testdata/expression/differential/shapes.yaml", "testdata/expression/differential/chain.yaml",
	} {
		o, err := open(filepath.Join(root, file))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, o)
	}
	return all
}

// open reads a definition of the direct engine.
func open(file string) (operator, error) {
	o, err := openWith(file, "")
	if err == nil && o.plan.Reconcile.Engine != plan.Direct {
		return operator{}, fmt.Errorf("the engine is %s: %v", o.plan.Reconcile.Engine, o.plan.Reconcile.Against)
	}
	return o, err
}

// openWith reads a definition with additional lines.
func openWith(file, more string) (operator, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return operator{}, err
	}
	data = append(bytes.ReplaceAll(data, []byte("  reconcile: {engine: workflow}\n"), nil), more...)
	definitions, findings := definition.Parse(source.Input{Name: file, Data: data, Dir: os.DirFS(filepath.Dir(file))})
	if len(findings) > 0 || len(definitions) != 1 {
		return operator{}, fmt.Errorf("%d definitions: %v", len(definitions), findings)
	}
	d := definitions[0]
	p, findings := plan.New(d)
	if findings.HasErrors() {
		return operator{}, fmt.Errorf("planning: %v", findings)
	}
	k := p.API.Kind
	schema, err := resource.New(resource.Kind{
		Group: k.Group, Version: k.Version, Kind: k.Kind, Namespaced: k.Namespaced, Status: k.StatusSubresource,
	}, d.Schema(d.WorkingVersion()))
	return operator{plan: p, schema: schema, objects: manifest.Build(p)}, err
}

// differ compares two random custom resources of the same name, the second both
// after the first and alone, with the results of the expressions.
func differ(t *testing.T, o operator, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	first, second := o.random(t, r), o.random(t, r)
	ready := r.IntN(3)
	once, updated := begin(t, o), begin(t, o)
	once.apply(second, ready)
	updated.apply(first, r.IntN(5)-2)
	updated.apply(second, ready)
	once.isExpected("the second")
	updated.isExpected("the second after the first")
	once.same("the second after the first is another one", once.children(), updated.children())
	switch r.IntN(3) { // not all checks every time, to limit the run time
	case 0:
		again := begin(t, o)
		again.apply(second, ready)
		once.same("two runs differ", once.objects(), again.objects())
	case 1:
		updated.redeliver(r)
	}
	if t.Failed() {
		t.Fatalf("%s, seed %d\nfirst: %s\nsecond: %s", o.plan.Operator.Name, seed, text(first), text(second))
	}
}

// random returns a custom resource with labels and annotations that a user may set.
func (o operator) random(t *testing.T, r *rand.Rand) map[string]any {
	t.Helper()
	cr, err := o.schema.Random(r)
	if err != nil {
		t.Fatal(err)
	}
	cr = filled(cr).(map[string]any)
	metadata := cr["metadata"].(map[string]any)
	metadata["name"] = "sample"
	for _, kind := range []string{"labels", "annotations"} {
		if tiers := []string{"", "front", "back"}; r.IntN(2) == 0 {
			metadata[kind] = map[string]any{"tier": tiers[r.IntN(len(tiers))]}
		}
	}
	return cr
}

// filled returns a value without empty mappings, which server-side apply leaves as
// null.
func filled(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = filled(v[i])
		}
	case map[string]any:
		for key := range v {
			if v[key] = filled(v[key]); isEmpty(v[key]) {
				delete(v, key)
			}
		}
	}
	return value
}

func isEmpty(value any) bool {
	mapping, ok := value.(map[string]any)
	return ok && len(mapping) == 0
}

// world is a cluster with an operator and one custom resource.
type world struct {
	*simulate.Simulation
	t  *testing.T
	o  operator
	cr map[string]any
}

func begin(t *testing.T, o operator) *world {
	t.Helper()
	s, err := simulate.New(simulate.Inputs{Objects: o.objects})
	if err != nil {
		t.Fatal(err)
	}
	return &world{Simulation: s, t: t, o: o}
}

// apply writes the custom resource and sets the ready replicas of each workload; a
// negative number leaves the status empty.
func (w *world) apply(cr map[string]any, ready int) {
	w.t.Helper()
	w.cr = cr
	if err := w.Apply(cr); err != nil {
		w.t.Fatal(err)
	}
	w.settle()
	for _, c := range w.o.plan.Children {
		live := w.liveChild(c)
		if ready < 0 || c.Kind.Group != "apps" || live == nil {
			continue
		}
		generation := live["metadata"].(map[string]any)["generation"]
		w.patch(c, map[string]any{"status": map[string]any{"observedGeneration": generation, "replicas": ready, "readyReplicas": ready}})
	}
	w.settle()
}

func (w *world) settle() {
	w.t.Helper()
	if err := w.Run(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	for _, failure := range simulate.Texts(w.Trace().Failures()) {
		w.t.Errorf("failed: %s", failure)
	}
}

// patch writes the status of a child as its controller does.
func (w *world) patch(c plan.Child, change map[string]any) {
	w.t.Helper()
	metadata := w.liveChild(c)["metadata"].(map[string]any)
	path := fmt.Sprintf("/apis/%s/namespaces/%v/%s/%v/status", c.Kind.APIVersion(), metadata["namespace"], c.Kind.Plural, metadata["name"])
	req, err := http.NewRequest(http.MethodPatch, path, strings.NewReader(text(change)))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	if _, err := w.Do(req); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(fields map[string]any) map[string]any {
	w.t.Helper()
	object, err := w.Get(fields)
	if err != nil {
		w.t.Fatal(err)
	}
	return object
}

// liveChild returns a child in the cluster, nil if there is none.
func (w *world) liveChild(c plan.Child) map[string]any {
	w.t.Helper()
	metadata := map[string]any{"name": w.run(c.ObjectName, nil)}
	switch {
	case !c.Kind.Namespaced:
	case c.Namespace == nil:
		metadata["namespace"] = w.owner()["metadata"].(map[string]any)["namespace"]
	default:
		metadata["namespace"] = w.run(c.Namespace, nil)
	}
	return w.get(map[string]any{"apiVersion": c.Kind.APIVersion(), "kind": c.Kind.Kind, "metadata": metadata})
}

// owner returns the custom resource in the cluster.
func (w *world) owner() map[string]any { return w.get(w.cr) }

// run evaluates an expression over the custom resource.
func (w *world) run(program *expression.Program, children map[string]any) any {
	w.t.Helper()
	value, err := program.Run(w.owner(), expression.Vars{Children: children})
	if err != nil {
		w.t.Fatalf("%s: %v", program.Source(), err)
	}
	return value
}

// isExpected compares the children and the status with the results of the
// expressions.
func (w *world) isExpected(what string) {
	w.t.Helper()
	live := map[string]any{}
	for _, c := range w.o.plan.Children {
		if object := w.liveChild(c); object != nil {
			live[c.Name] = object
		}
	}
	want := map[string]any{}
	for _, c := range w.o.plan.Children {
		if c.When == nil || w.run(c.When, live) == true {
			want[c.Name] = bare(w.run(c.Object, live))
		}
	}
	w.same(what+": children (-jq +applied)", want, w.children())
	status, _ := w.owner()["status"].(map[string]any)
	for _, f := range w.o.plan.Status.Fields {
		w.same(what+": status."+f.Name+" (-jq +written)", w.run(f.Value, live), status[f.Name])
	}
}

// children returns the children in the cluster without the metadata of the operator and the
// values of the API server.
func (w *world) children() map[string]any {
	w.t.Helper()
	all := map[string]any{}
	for _, c := range w.o.plan.Children {
		if object := w.liveChild(c); object != nil {
			all[c.Name] = bare(w.Normalized(object))
		}
	}
	return all
}

// objects returns the custom resource and its children completely.
func (w *world) objects() map[string]any {
	w.t.Helper()
	all := map[string]any{"": w.owner()}
	for _, c := range w.o.plan.Children {
		all[c.Name] = w.liveChild(c)
	}
	return all
}

// redeliver delivers events a second time: the latest of each object, which must
// change nothing, then older ones of the custom resource.
func (w *world) redeliver(r *rand.Rand) {
	w.t.Helper()
	own, latest := w.events()
	objects, children := w.objects(), w.children()
	names := slices.SortedFunc(maps.Keys(latest), func(a, b simulate.Name) int { return strings.Compare(a.String(), b.String()) })
	for _, name := range names {
		w.publish(latest[name])
		w.same("a second delivery of "+latest[name].Type+" of "+name.String()+" changes something", objects, w.objects())
	}
	for _, i := range []int{0, r.IntN(len(own))} {
		w.publish(own[i])
		w.same(fmt.Sprintf("a late delivery of event %d of the custom resource changes what follows its generation", i),
			w.ofGeneration(children), w.ofGeneration(w.children()))
		w.resync(own[0])
		w.same(fmt.Sprintf("after a late delivery of event %d the resync does not put right the children", i), children, w.children())
	}
}

// events returns those of the custom resource, and the latest of every object.
func (w *world) events() (own []simulate.Event, latest map[simulate.Name]simulate.Event) {
	latest = map[simulate.Name]simulate.Event{}
	for _, step := range w.Trace() {
		if step.Event == nil {
			continue
		}
		if strings.HasPrefix(step.Event.Object.Resource, w.o.plan.API.Kind.Plural+".") {
			own = append(own, *step.Event)
		}
		latest[step.Event.Object] = *step.Event
	}
	return own, latest
}

// ofGeneration returns the children that depend only on fields that increment the
// custom resource's generation.
func (w *world) ofGeneration(children map[string]any) map[string]any {
	out := maps.Clone(children)
	for _, c := range w.o.plan.Children {
		for _, program := range []*expression.Program{c.Object, c.When} {
			if program != nil && (len(program.ReadsChildren()) > 0 || slices.ContainsFunc(program.Reads(), uncounted)) {
				delete(out, c.Name)
			}
		}
	}
	return out
}

func uncounted(path []string) bool {
	return len(path) > 1 && path[0] == "metadata" && (path[1] == "labels" || path[1] == "annotations")
}

// resync publishes the custom resource as a restarted EventSource does.
func (w *world) resync(added simulate.Event) {
	w.t.Helper()
	var payload map[string]any
	if err := json.Unmarshal(added.Data, &payload); err != nil {
		w.t.Fatal(err)
	}
	payload["body"] = w.owner()
	added.Data = json.RawMessage(text(payload))
	w.publish(added)
}

func (w *world) publish(e simulate.Event) {
	w.t.Helper()
	if err := w.Publish(context.Background(), e); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Run(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) same(what string, want, got any) {
	w.t.Helper()
	if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
		w.t.Errorf("%s:\n%s", what, diff)
	}
}

// withoutEmpty removes empty values, many of which the API server omits.
func withoutEmpty(fields map[string]any) {
	for key, value := range fields {
		switch v := value.(type) {
		case nil:
			delete(fields, key)
		case bool, string, float64:
			if v == false || v == "" || v == 0.0 {
				delete(fields, key)
			}
		case map[string]any:
			if withoutEmpty(v); len(v) == 0 {
				delete(fields, key)
			}
		case []any:
			if len(v) == 0 {
				delete(fields, key)
			}
			for _, item := range v {
				if below, ok := item.(map[string]any); ok {
					withoutEmpty(below)
				}
			}
		}
	}
}

// bare returns an object without what the API server, its controller and the
// operator add to the template.
func bare(object any) any {
	out, _ := plain(object).(map[string]any)
	delete(out, "status")
	metadata, _ := out["metadata"].(map[string]any)
	for _, key := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "namespace", "ownerReferences"} {
		delete(metadata, key)
	}
	if text, ok := out["stringData"].(map[string]any); ok { // which the API server encodes
		data := map[string]any{}
		for key, value := range text {
			data[key] = base64.StdEncoding.EncodeToString([]byte(value.(string)))
		}
		delete(out, "stringData")
		out["data"] = data
	}
	withoutEmpty(out)
	for _, kind := range []string{"labels", "annotations"} {
		added, _ := metadata[kind].(map[string]any)
		maps.DeleteFunc(added, func(key string, _ any) bool {
			return strings.HasPrefix(key, "argoperator.dev/") || key == "app.kubernetes.io/managed-by"
		})
		if len(added) == 0 {
			delete(metadata, kind)
		}
	}
	return out
}

// plain returns a value as decoded from JSON, with one type of numbers.
func plain(value any) any {
	var out any
	if err := json.Unmarshal([]byte(text(value)), &out); err != nil {
		panic(err) // unreachable: test data
	}
	return out
}

func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // unreachable: decoded from JSON
	}
	return string(data)
}

func readText(data string) any {
	var out any
	if err := json.Unmarshal([]byte(data), &out); err != nil {
		panic(err) // unreachable: test data
	}
	return out
}
