package differential

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	language "github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// world is a cluster with the operator on one engine, and its custom resource.
type world struct {
	*simulate.Simulation
	c      *Case
	engine plan.Engine
	plan   *plan.Plan
	cr     map[string]any // as its user wants it; nil before it is created
	uid    string
	seen   int // steps of the trace that have been checked

	grants    []argo.Grant
	forbidden []string // requests that the roles of the operator do not allow

	noWrites bool     // the custom resource is paused
	written  []string // requests that write all the same

	last    snapshot
	checked map[string]string // the versions of the objects that a relist has left as they are

	wasReady bool              // children have been made ready
	inTime   map[string]bool   // the uids of children that were made while those were ready, or not wanted, that they wait for
	late     bool              // an event came late, or changes came in a burst
	looked   map[string]string // by the uid of a child: its spec when its controller has observed it
	failed   bool              // a request has failed, which a kind without conditions does not show
}

// operator is a definition on one engine, before it runs.
type operator struct {
	plan     *plan.Plan
	objects  []manifest.Object
	kinds    []*apiextensionsv1.CustomResourceDefinition
	prepared *simulate.Prepared
	requests func(cluster.Call) // called with each request; nil: not called
}

// planned returns the operator on an engine, and findings if the engine does not support
// the definition.
func (c *Case) planned(engine plan.Engine) (operator, diag.List) {
	definitions, findings := language.Parse(c.Source(engine))
	if findings.HasErrors() || len(definitions) != 1 {
		return operator{}, findings
	}
	d := definitions[0]
	p, wrong := plan.New(d)
	if wrong.HasErrors() {
		return operator{}, wrong
	}
	kinds := slices.Clone(c.kinds)
	for _, name := range slices.Sorted(maps.Keys(d.ChildCRDs)) {
		if crd := d.ChildCRDs[name]; crd != nil {
			kinds = append(kinds, crd)
		}
	}
	objects := manifest.Build(p)
	if p.Shared.Group != "" {
		group, _, _ := plan.Group([]*plan.Plan{p})
		objects = append(manifest.BuildMember(p), manifest.BuildGroup(group)...)
	}
	return operator{plan: p, objects: objects, kinds: kinds, prepared: simulate.NewPrepared()}, nil
}

// begin starts a cluster with the operator.
func (o operator) begin(c *Case, runner simulate.Runner) (*world, error) {
	w := &world{c: c, engine: o.plan.Reconcile.Engine, plan: o.plan, inTime: map[string]bool{}, looked: map[string]string{}}
	w.setRights(o.objects)
	requests := func(call cluster.Call) {
		w.checkRights(call)
		if o.requests != nil {
			o.requests(call)
		}
	}
	var err error
	w.Simulation, err = simulate.New(simulate.Inputs{
		Objects: o.objects, Kinds: o.kinds, Runner: runner, Prepared: o.prepared, Requests: requests,
	})
	if err != nil {
		return nil, err
	}
	for _, object := range c.othersObjects() {
		if err := w.Apply(object); err != nil {
			return nil, err
		}
	}
	return w, w.Run(context.Background())
}

// create writes the custom resource.
func (w *world) create(cr map[string]any) error {
	w.cr = cr
	if err := w.Apply(cr); err != nil {
		return err
	}
	there, err := w.Get(cr)
	w.uid = textAt(there, "metadata", "uid")
	return err
}

// edit makes the custom resource another one, as kubectl edit does.
func (w *world) edit(cr map[string]any) error {
	patch := mergePatch(w.cr, cr)
	w.cr = cr
	return w.Patch(cr, "", byHand, patch)
}

// The field managers of changes by hand, and of the controllers of children.
const (
	byHand     = "kubectl-edit"
	controller = "kube-controller-manager"
)

// mergePatch returns the merge patch from one object to another.
func mergePatch(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for key := range from {
		if _, stays := to[key]; !stays {
			out[key] = nil
		}
	}
	for key, value := range to {
		before, mapping := from[key].(map[string]any)
		after, still := value.(map[string]any)
		switch {
		case mapping && still:
			if inner := mergePatch(before, after); len(inner) > 0 {
				out[key] = inner
			}
		case fmt.Sprint(from[key]) != fmt.Sprint(value):
			out[key] = value
		}
	}
	return out
}

// settle runs the operator and the controllers that only look at annotations until nothing
// changes, and no Workflow waits.
func (w *world) settle() error {
	for range 100 {
		if err := w.Run(context.Background()); err != nil {
			return err
		}
		ran, err := w.FireTimers(context.Background())
		if err != nil {
			return err
		}
		looked, err := w.lookAtAnnotations()
		if err != nil || ran == 0 && !looked {
			return err
		}
	}
	return errors.New("the operator and the controllers of its children do not stop")
}

// lookAtAnnotations lets the controllers of children observe a generation that only counts
// changes of annotations. It reports whether there is one.
func (w *world) lookAtAnnotations() (bool, error) {
	looked := false
	for _, o := range w.own() {
		generation, seen := at(o, "metadata", "generation"), at(o, "status", "observedGeneration")
		id, spec := textAt(o, "metadata", "uid"), fmt.Sprint(solid(map[string]any{"spec": o["spec"]}))
		switch {
		case seen == nil || generation == nil:
		case fmt.Sprint(seen) == fmt.Sprint(generation):
			w.looked[id] = spec
		case w.looked[id] == spec:
			looked = true
			if err := w.Patch(o, "status", controller, map[string]any{"status": map[string]any{"observedGeneration": generation}}); err != nil {
				return false, err
			}
		}
	}
	return looked, nil
}

// failures returns the failures since the last call. After a conflict the operator reads
// the object again, so it is none.
func (w *world) failures() []string {
	trace := w.Trace()[w.seen:]
	w.seen = len(w.Trace())
	return simulate.Texts(slices.DeleteFunc(trace.Failures(), func(f simulate.Failure) bool { return f.Conflict }))
}

// own returns the children of the custom resource, sorted.
func (w *world) own() []map[string]any {
	var out []map[string]any
	for _, o := range w.Objects() {
		if textAt(o, "metadata", "labels", "argoperator.dev/owner-uid") == w.uid && w.uid != "" {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b map[string]any) int { return cmp.Compare(placeOf(a), placeOf(b)) })
	return out
}

// placeOf identifies an object.
func placeOf(o map[string]any) string {
	return textAt(o, "kind") + " " + textAt(o, "metadata", "namespace") + "/" + textAt(o, "metadata", "name")
}

// ready makes all children ready as their controllers do, until nothing changes.
func (w *world) ready() error {
	for range 8 {
		changed := false
		for _, o := range w.own() {
			status := statusOf(o)
			if status == nil || includes(o["status"], decoded[any](status)) {
				continue
			}
			changed = true
			if err := w.Patch(o, "status", controller, map[string]any{"status": status}); err != nil {
				return err
			}
		}
		if err := w.settle(); err != nil || !changed {
			return err
		}
	}
	return nil
}

func statusOf(o map[string]any) map[string]any {
	if textAt(o, "kind") == "Widget" {
		return map[string]any{"value": "of-" + textAt(o, "metadata", "name"), "observedGeneration": at(o, "metadata", "generation")}
	}
	return testsuite.ReadyStatus(o)
}

// events takes the pending changes, and returns the events that the EventSources would
// publish for them.
func (w *world) events() []simulate.Event {
	var out []simulate.Event
	for _, change := range w.Cluster().TakeChanges() {
		for _, watch := range w.Watches() {
			if event, ok := watch.EventFor(change); ok {
				out = append(out, event)
			}
		}
	}
	return out
}

// published returns the events of the trace from a step on.
func (w *world) published(from int) []simulate.Event {
	var out []simulate.Event
	for _, step := range w.Trace()[from:] {
		if step.Event != nil {
			out = append(out, *step.Event)
		}
	}
	return out
}

// publish delivers events, and all that follows from them.
func (w *world) publish(events []simulate.Event) error {
	for _, e := range events {
		if err := w.Publish(context.Background(), e); err != nil {
			return err
		}
	}
	return w.settle()
}

// resync does what the operator does at its interval.
func (w *world) resync() error {
	if err := w.Resync(context.Background()); err != nil {
		return err
	}
	return w.settle()
}

// refuse makes the API server reject the next writes of the operator.
func (w *world) refuse(times, code int) {
	w.Intercept(func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			info, _ := w.RequestInfo(r)
			if r.Method == http.MethodGet || times == 0 || info.Kind == "Workflow" || info.Kind == "EventSource" {
				api.ServeHTTP(rw, r)
				return
			}
			times--
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(code)
			_, _ = fmt.Fprintf(rw, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"refused","code":%d}`, code)
		})
	})
}

// rewritten describes what a relist makes the operator change, although nothing has
// happened; empty: nothing.
func (w *world) rewritten() (string, error) {
	before := w.snapshot()
	if maps.Equal(before.versions, w.checked) { // nothing has changed since
		return "", nil
	}
	for range 2 { // the observed state may change once
		if err := w.Relist(context.Background()); err != nil {
			return "", err
		}
		if err := w.settle(); err != nil {
			return "", err
		}
		after := w.snapshot()
		if change := difference(before.essence, after.essence); change != "" {
			return change, nil
		}
		w.checked = after.versions
		if maps.Equal(before.versions, after.versions) {
			return "", nil
		}
		before = after
	}
	return "", nil
}

// at returns the value at a path; nil if there is none.
func at(value any, path ...string) any { return schema.ValueAt(value, path...) }

func textAt(value any, path ...string) string {
	out, _ := at(value, path...).(string)
	return out
}

// snapshot is the state of a cluster.
type snapshot struct {
	essence  map[string]any // by object, without what depends on time and order
	versions map[string]string
	uid      string // of the custom resource
}

func (w *world) snapshot() snapshot {
	all := slices.DeleteFunc(w.Objects(), func(o map[string]any) bool { return o["kind"] == "Event" })
	out := snapshot{map[string]any{}, map[string]string{}, w.uid}
	for _, o := range all {
		out.versions[placeOf(o)] = textAt(o, "metadata", "resourceVersion")
	}
	if out.uid == w.last.uid && maps.Equal(out.versions, w.last.versions) {
		return w.last
	}
	var uids []string
	name := func(uid, place string) { // also in the data of a Secret
		encode := base64.StdEncoding.EncodeToString
		uids = append(uids, uid, "uid of "+place, encode([]byte(uid)), encode([]byte("uid of "+place)))
	}
	for _, o := range all {
		name(textAt(o, "metadata", "uid"), placeOf(o))
	}
	if w.cr != nil && w.uid != "" { // it may be gone
		name(w.uid, placeOf(w.cr))
	}
	named := strings.NewReplacer(uids...)
	for _, o := range all {
		out.essence[placeOf(o)] = decodedText(named.Replace(encoded(w.essential(o))))
	}
	w.last = out
	return out
}

// essential removes what the operator notes, and what depends on time and order.
func (w *world) essential(o map[string]any) any {
	metadata, _ := o["metadata"].(map[string]any)
	withoutHand(o)
	for _, key := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"} {
		delete(metadata, key)
	}
	if w.anywhere(textAt(o, "metadata", "labels", "argoperator.dev/child")) {
		delete(metadata, "ownerReferences")
	}
	for _, kind := range []string{"annotations", "labels"} {
		given, _ := metadata[kind].(map[string]any)
		maps.DeleteFunc(given, func(key string, _ any) bool { return strings.Contains(key, "argoperator.dev/") })
	}
	if w.cr != nil && o["kind"] == w.cr["kind"] { // an engine may need one that the other does without
		delete(metadata, "finalizers")
	}
	status, _ := o["status"].(map[string]any)
	delete(status, "observedGeneration")
	delete(status, "children")
	if conditions, ok := status["conditions"].([]any); ok { // messages name Workflows; Stalled repeats Ready
		kept := []any{}
		for _, c := range conditions {
			if kind := textAt(c, "type"); kind != "Stalled" {
				kept = append(kept, map[string]any{"type": kind, "status": at(c, "status")})
			}
		}
		status["conditions"] = kept
	}
	return solid(o)
}

// withoutHand removes the values that only a change by hand has set: whether one stays that the
// template then ceases to set depends on what the operator sees first.
func withoutHand(o map[string]any) {
	for _, part := range []string{"data", "spec"} {
		values, _ := o[part].(map[string]any)
		for key := range values {
			if names := managersOf(o, "f:"+part, "f:"+key); slices.Equal(names, []string{byHand}) {
				delete(values, key)
			}
		}
		if values != nil && len(values) == 0 {
			delete(o, part)
		}
	}
}

// managersOf returns the names of the managers of a field.
func managersOf(o map[string]any, path ...string) []string {
	var out []string
	managers, _ := at(o, "metadata", "managedFields").([]any)
	for _, m := range managers {
		if at(at(m, "fieldsV1"), path...) != nil {
			out = append(out, textAt(m, "manager"))
		}
	}
	return out
}

// anywhere reports a child in a computed namespace. The pod makes the custom resource its
// owner if that is in the same one; the Sensor does not know.
func (w *world) anywhere(child string) bool {
	return slices.ContainsFunc(w.plan.Children, func(c plan.Child) bool { return c.Name == child && c.Namespace != nil && !c.SameNamespace })
}

// isNotFound reports an answer of the API server that an object does not exist.
func isNotFound(err error) bool { return cluster.IsNotFound(err) }
