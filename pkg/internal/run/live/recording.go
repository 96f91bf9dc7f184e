package live

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Recording is what users did, as a test.
type Recording struct {
	Steps []RecordedStep `json:"steps"`
	YAML  string         `json:"yaml"`
	Ended string         `json:"ended"` // why nothing more is recorded; empty: it goes on
}

// RecordedStep is one action.
type RecordedStep struct {
	Name   string `json:"name"`
	Action string `json:"action"`
}

// step is an action of a test with its expectations.
type step struct {
	name   string
	action string // key of the test step
	value  any
	refuse []any
	expect map[string]any
}

// recorder turns what happens to the first custom resource into the steps of a test. It
// sees what users did with any client, since it compares objects and not requests.
type recorder struct {
	objects *objects
	refuses func() int // the code with which the API server rejects the operators' writes; 0: it does not

	mu       sync.Mutex
	resource map[string]any // as created
	uid      string
	steps    []step
	ended    string
	removed  map[string]bool // paths that operators deleted
	changed  time.Time       // of the last change or record
	pending  func() int
}

// quiet is how long nothing must happen before a state is expected in a test: what comes
// later may belong to the same action.
const quiet = 300 * time.Millisecond

// stir notes that something happens.
func (r *recorder) stir() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed = time.Now()
}

// settling limits how long a recording waits for quiet.
const settling = 10 * quiet

// settle waits until nothing happens any more, so that the last step has an expectation.
func (r *recorder) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	for {
		r.mu.Lock()
		rest := quiet - time.Since(r.changed)
		r.mu.Unlock()
		if rest <= 0 && r.pending() == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(rest, quiet/10)):
		}
	}
}

// requested notes a request of an operator.
func (r *recorder) requested(method, path string) {
	if method != http.MethodDelete {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removed[path] = true
}

// drop starts over.
func (r *recorder) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resource, r.uid, r.steps, r.ended, r.removed = nil, "", nil, "", map[string]bool{}
}

// end stops recording for a reason. What comes later would be no test of what happened.
func (r *recorder) end(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resource != nil && r.ended == "" {
		r.expect()
		r.ended = why
	}
}

// begin starts with a custom resource that was there before.
func (r *recorder) begin(cr *unstructured.Unstructured) {
	r.resource, r.uid = asCreated(cr), string(cr.GetUID())
	r.changed = time.Now()
	r.add(step{name: "create the " + cr.GetKind(), action: "create", value: map[string]any{}})
}

// act adds a step that no object shows.
func (r *recorder) act(name, action string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resource != nil {
		r.add(step{name: name, action: action, value: map[string]any{}})
	}
}

// add adds a step, and completes the one before with what is there now.
func (r *recorder) add(s step) {
	if r.ended != "" {
		return
	}
	r.expect()
	if n := len(r.steps); n > 0 && s.action == "ready" && r.steps[n-1].action == s.action &&
		reflect.DeepEqual(r.steps[n-1].value, s.value) {
		r.steps[n-1].expect = nil // it was ready for a moment
		return
	}
	if code := r.refuses(); code != 0 {
		for _, kind := range r.childKinds() {
			s.refuse = append(s.refuse, map[string]any{"kind": kind, "code": code})
		}
	}
	for base, n := s.name, 2; slices.ContainsFunc(r.steps, func(o step) bool { return o.name == s.name }); n++ {
		s.name = fmt.Sprintf("%s (%d)", base, n)
	}
	r.steps = append(r.steps, s)
	r.changed = time.Now()
}

func (r *recorder) childKinds() []string {
	kinds := map[string]bool{}
	for _, o := range r.objects.childrenOf(r.uid) {
		kinds[o.GetKind()] = true
	}
	return slices.Sorted(maps.Keys(kinds))
}

// expect completes the last step with the current state, if nothing happens any more.
func (r *recorder) expect() {
	if len(r.steps) == 0 || r.pending() > 0 || time.Since(r.changed) < quiet {
		return
	}
	last := &r.steps[len(r.steps)-1]
	if last.expect != nil {
		return
	}
	last.expect = map[string]any{}
	cr := r.objects.get(r.uid)
	if cr == nil {
		last.expect["gone"] = true
		return
	}
	var children []any
	for _, o := range r.objects.childrenOf(r.uid) {
		ref := reference(o, cr.GetNamespace())
		kind := ref["kind"]
		delete(ref, "kind")
		children = append(children, map[string]any{"kind": kind, "metadata": ref})
	}
	if len(children) > 0 {
		last.expect["children"] = children
	}
	if status := expectedStatus(cr); len(status) > 0 {
		last.expect["status"] = status
	}
}

// reference names an object in a test.
func reference(o *unstructured.Unstructured, namespace string) map[string]any {
	out := map[string]any{"kind": o.GetKind(), "name": o.GetName()}
	if o.GetNamespace() != "" && o.GetNamespace() != namespace {
		out["namespace"] = o.GetNamespace()
	}
	return out
}

// expectedStatus returns the fields of the definition, and the condition Ready without what
// differs between two runs.
func expectedStatus(cr *unstructured.Unstructured) map[string]any {
	status, _, _ := unstructured.NestedMap(cr.Object, "status")
	out := map[string]any{}
	for key, value := range status {
		switch key {
		case "children", "observedGeneration":
		case "conditions":
			for _, c := range conditionsOf(cr) {
				if c.Type == "Ready" {
					out[key] = []any{map[string]any{"type": c.Type, "status": c.Status, "reason": c.Reason}}
				}
			}
		default:
			out[key] = value
		}
	}
	return out
}

// follow sees every change of an object.
func (r *recorder) follow(c cluster.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	about := c.Object()
	switch {
	case r.objects.isPrimary(about):
		r.primary(c)
	case r.uid == "" && c.Old != nil && r.objects.changedByHand(c, r.removed[pathOf(c)]):
		if cr := r.objects.primaryOf(about); cr != nil {
			r.begin(cr)
			r.child(c)
		}
	case r.uid != "" && ownedBy(about, r.uid):
		r.child(c)
	default:
		return
	}
	r.changed = time.Now()
}

// ownedBy reports whether an object is a child of a custom resource.
func ownedBy(o *unstructured.Unstructured, uid string) bool {
	if o.GetLabels()[plan.OwnerUID] == uid {
		return true
	}
	return slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return string(ref.UID) == uid })
}

// primary records what happens to the custom resource.
func (r *recorder) primary(c cluster.Change) {
	if r.resource != nil && !sameName(c.Object().Object, r.resource) {
		return
	}
	kind := c.Object().GetKind()
	switch {
	case c.Old == nil:
		if r.uid == string(c.New.GetUID()) { // listed again
			return
		}
		given := asCreated(c.New)
		s := step{name: "create the " + kind, action: "create", value: map[string]any{}}
		if r.resource == nil {
			r.resource = given
		} else {
			s.value = patchOf(r.resource, given)
		}
		r.uid = string(c.New.GetUID())
		r.add(s)
	case c.New == nil || c.New.GetDeletionTimestamp() != nil:
		if c.Old.GetDeletionTimestamp() != nil {
			return
		}
		if r.resource == nil {
			r.begin(c.Old)
		}
		r.add(step{name: "delete the " + kind, action: "delete", value: map[string]any{}})
	default:
		if patch := patchOf(asCreated(c.Old), asCreated(c.New)); len(patch) > 0 {
			if r.resource == nil {
				r.begin(c.Old)
			}
			r.add(step{name: "change " + changedNames(patch), action: "edit", value: patch})
		}
	}
}

// child records what others than the operator do to a child.
func (r *recorder) child(c cluster.Change) {
	about := c.Object()
	ref := reference(about, textAt(r.resource, "metadata", "namespace"))
	what := about.GetKind() + " " + about.GetName()
	switch {
	case c.Old == nil:
	case c.New == nil:
		cr := r.objects.get(r.uid)
		path := pathOf(c)
		ours := r.removed[path]
		delete(r.removed, path) // the next deletion may be a user's
		if cr != nil && cr.GetDeletionTimestamp() == nil && !ours {
			r.add(step{name: "delete " + what + " by hand", action: "childDelete", value: ref})
		}
	default:
		r.childChange(c, ref, what)
	}
}

func (r *recorder) childChange(c cluster.Change, ref map[string]any, what string) {
	about := c.Object()
	by := r.objects.changedBy(c.Old, c.New)
	before, _ := readiness(c.Old, conditionsOf(c.Old))
	after, _ := readiness(c.New, conditionsOf(c.New))
	patch := patchOf(asCreated(c.Old), asCreated(c.New))
	old, _, _ := unstructured.NestedMap(c.Old.Object, "status")
	now, _, _ := unstructured.NestedMap(c.New.Object, "status")
	status := patchOf(old, now)
	if !by.user && len(status) > 0 && isBuiltIn(about) {
		by.controller = true // times of field managers are in seconds: two changes of a status can look like one
	}
	switch {
	case by.user && len(patch) > 0:
		r.add(step{name: "change " + what + " by hand", action: "childEdit", value: with(ref, "patch", patch)})
	case by.controller && before != "True" && after == "True":
		r.add(step{name: what + " is ready", action: "ready", value: ref})
	case by.user && len(status) > 0:
		r.add(step{name: what + " has another status", action: "childStatus", value: with(ref, "status", status)})
	}
}

// isBuiltIn reports whether a controller of Kubernetes writes the status of an object.
func isBuiltIn(o *unstructured.Unstructured) bool {
	group := groupKindOf(o).Group
	return group == "" || group == "apps" || group == "batch"
}

func with(ref map[string]any, key string, value any) map[string]any {
	out := maps.Clone(ref)
	out[key] = value
	return out
}

// writers say who changed an object.
type writers struct{ user, controller bool }

// changedBy compares the field managers of two states: those of users are all but the operators
// and the controllers.
func (s *objects) changedBy(before, after *unstructured.Unstructured) writers {
	var out writers
	for _, manager := range s.managers(before, after) {
		if manager == controllerManager || manager == kubeletManager {
			out.controller = true
		} else {
			out.user = true
		}
	}
	return out
}

// managers returns the field managers other than operators whose entries differ between two states.
func (s *objects) managers(before, after *unstructured.Unstructured) []string {
	old := map[string]metav1.ManagedFieldsEntry{}
	id := func(e metav1.ManagedFieldsEntry) string {
		return e.Manager + "/" + string(e.Operation) + "/" + e.Subresource
	}
	for _, e := range before.GetManagedFields() {
		old[id(e)] = e
	}
	var out []string
	for _, e := range after.GetManagedFields() {
		if !reflect.DeepEqual(old[id(e)], e) && !s.isOperator(e.Manager) && !slices.Contains(out, e.Manager) {
			out = append(out, e.Manager)
		}
	}
	return out
}

// isOperator reports whether a field manager is one of an operator.
func (s *objects) isOperator(manager string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.names {
		if manager == name || strings.HasPrefix(manager, name+"-") {
			return true
		}
	}
	return false
}

// changedByHand reports whether a user changed or deleted a child. ours tells that operators sent
// the request for the deletion.
func (s *objects) changedByHand(c cluster.Change, ours bool) bool {
	if c.New == nil {
		return !ours
	}
	return s.changedBy(c.Old, c.New).user
}

// primaryOf returns the custom resource of a child; nil: it has none.
func (s *objects) primaryOf(child *unstructured.Unstructured) *unstructured.Unstructured {
	if cr := s.get(child.GetLabels()[plan.OwnerUID]); cr != nil && cr.GetDeletionTimestamp() == nil && s.isPrimary(cr) {
		return cr
	}
	return nil
}

// Field managers of the controllers of argoperator-dev.
const (
	controllerManager = "kube-controller-manager"
	kubeletManager    = "kubelet"
)

// asCreated returns an object as its user wrote it: without what servers, controllers and
// operators add.
func asCreated(o *unstructured.Unstructured) map[string]any {
	out := o.DeepCopy()
	delete(out.Object, "status")
	metadata := map[string]any{"name": o.GetName()}
	if o.GetNamespace() != "" {
		metadata["namespace"] = o.GetNamespace()
	}
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	foreign := func(key, _ string) bool {
		return strings.HasPrefix(key, v1alpha1.Group+"/") || key == "kubectl.kubernetes.io/last-applied-configuration" ||
			key == "deployment.kubernetes.io/revision" || key == plan.ManagedBy
	}
	maps.DeleteFunc(labels, foreign)
	maps.DeleteFunc(annotations, foreign)
	for key, texts := range map[string]map[string]string{"labels": labels, "annotations": annotations} {
		if len(texts) == 0 {
			continue
		}
		fields := map[string]any{}
		for name, text := range texts {
			fields[name] = text
		}
		metadata[key] = fields
	}
	out.Object["metadata"] = metadata
	return out.Object
}

func sameName(a, b map[string]any) bool {
	return a["kind"] == b["kind"] && textAt(a, "metadata", "name") == textAt(b, "metadata", "name") &&
		textAt(a, "metadata", "namespace") == textAt(b, "metadata", "namespace")
}

func textAt(fields map[string]any, path ...string) string {
	text, _, _ := unstructured.NestedString(fields, path...)
	return text
}

// patchOf returns the merge patch from one object to another.
func patchOf(before, after map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range after {
		was, existed := before[key]
		a, wasObject := was.(map[string]any)
		b, isObject := value.(map[string]any)
		switch {
		case existed && reflect.DeepEqual(was, value):
		case wasObject && isObject:
			if below := patchOf(a, b); len(below) > 0 {
				out[key] = below
			}
		default:
			out[key] = value
		}
	}
	for key := range before {
		if _, still := after[key]; !still {
			out[key] = nil
		}
	}
	return out
}

// changedNames names the fields of a patch.
func changedNames(patch map[string]any) string {
	names := leaves("", patch)
	slices.Sort(names)
	if len(names) > maxChanged {
		names = append(names[:maxChanged], "more")
	}
	return strings.Join(names, ", ")
}

// leaves returns the paths of the values in a patch.
func leaves(path string, patch map[string]any) []string {
	var out []string
	for key, value := range patch {
		below := strings.TrimPrefix(path+"."+key, ".")
		if fields, ok := value.(map[string]any); ok && len(fields) > 0 {
			out = append(out, leaves(below, fields)...)
		} else {
			out = append(out, below)
		}
	}
	return out
}

// recording returns the test so far.
func (r *recorder) recording(name string) (Recording, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Recording{Steps: []RecordedStep{}, Ended: r.ended}
	for _, s := range r.steps {
		out.Steps = append(out.Steps, RecordedStep{s.name, s.action})
	}
	if len(r.steps) == 0 {
		return out, nil
	}
	r.expect()
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"apiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec:\n  resource:\n    object:\n",
		v1alpha1.APIVersion,
		v1alpha1.TestKind,
		name,
	)
	if err := indented(&b, "      ", r.resource); err != nil {
		return out, err
	}
	b.WriteString("  steps:\n")
	for _, s := range r.steps {
		for i, part := range []map[string]any{{"name": s.name}, {s.action: s.value}, {"refuse": s.refuse}, {"expect": s.expect}} {
			for _, value := range part {
				if i > 1 && reflect.ValueOf(value).Len() == 0 {
					part = nil
				}
			}
			if part == nil {
				continue
			}
			prefix := "    "
			if i == 0 {
				prefix = "  - "
			}
			if err := indented(&b, prefix, part); err != nil {
				return out, err
			}
		}
	}
	out.YAML = b.String()
	return out, nil
}

// indented writes a value as YAML with a prefix before each line.
func indented(b *strings.Builder, prefix string, value any) error {
	data, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		b.WriteString(prefix + line)
	}
	return nil
}

// pathOf returns the path of the changed object in the API.
func pathOf(c cluster.Change) string {
	o := c.Object()
	return cluster.Path(c.Resource.WithVersion(o.GroupVersionKind().Version), o.GetNamespace(), o.GetName())
}

// Recorded returns the number of recorded steps.
func (l *Live) Recorded() int {
	l.recorder.mu.Lock()
	defer l.recorder.mu.Unlock()
	return len(l.recorder.steps)
}

// Settle waits for a moment in which nothing happens, for a few seconds at most.
func (l *Live) Settle(ctx context.Context) { l.recorder.settle(ctx) }

// Recording returns what was done with the first custom resource as a test.
func (l *Live) Recording(name string) (Recording, error) { return l.recorder.recording(name) }

// DropRecording starts over with the next custom resource.
func (l *Live) DropRecording() { l.recorder.drop() }
