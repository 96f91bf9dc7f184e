package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Events of a custom resource.
const (
	Added   = "ADD"
	Updated = "UPDATE"
	Deleted = "DELETE"
)

// Action is a user's change of a custom resource.
type Action struct {
	Event  string         // Added, Updated or Deleted
	Object map[string]any // the custom resource: after the change, or before its deletion
	Old    map[string]any // the previous state, for Updated
}

// Rendering is the result of a list of actions.
type Rendering struct {
	// Objects that the operator created or changed and that still exist, without
	// server-side metadata: the children of each custom resource in creation order,
	// then the custom resource.
	Objects []map[string]any
	// Kept lists Objects as KIND NAMESPACE/NAME.
	Kept []string
	// Deleted lists the objects that a deletion removed, as KIND NAMESPACE/NAME, in
	// creation order.
	Deleted []string
	// Events counts the events that EventSources published for the actions, without
	// those of their setup. Failures and Trace cover the same events.
	Events   int
	Failures []string // one line each
	// LastLines are the last lines that a program printed which failed.
	LastLines string
	Trace     Trace // nil with Inputs.Untraced
}

// Render applies actions one after the other and returns what the operator makes of
// them.
func Render(ctx context.Context, in Inputs, actions []Action) (out Rendering, err error) {
	s, err := New(in)
	if err != nil {
		return Rendering{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	given, err := s.give(ctx, in.Given)
	if err != nil {
		return Rendering{}, err
	}
	var all []cluster.Key               // the custom resources
	isOne := map[cluster.Key]bool{}     // of them
	children := map[int][]cluster.Key{} // by the index of the action that created them
	shown := map[cluster.Key]int{}
	for i, a := range actions {
		a = a.named(i + 1)
		created := s.cluster.Created
		trace, gone, err := s.act(ctx, a)
		if err != nil {
			return Rendering{}, err
		}
		out.Deleted = append(out.Deleted, gone...)
		out.Events += trace.events()
		one := s.key(s.withNamespace(a.Object))
		failures := Texts(trace.Failures())
		if why := readyFailure(s.cluster.Objects[one]); why != "" && len(failures) == 0 {
			failures = []string{why}
		}
		out.Failures = append(out.Failures, failures...)
		out.LastLines = cmp.Or(trace.LastLines(), out.LastLines)
		if in.Untraced {
			s.trace = nil
		} else {
			out.Trace = append(out.Trace, trace...)
		}
		all = append(all, one)
		isOne[one] = true
		for _, k := range s.cluster.CreatedAfter(created) {
			if _, known := shown[k]; !known && k != one {
				shown[k] = i
			}
		}
	}
	for _, k := range given {
		shown[k] = 0 // if the operator changed it
	}
	for _, k := range s.cluster.Order {
		if i, known := shown[k]; known && !isOne[k] {
			children[i] = append(children[i], k)
		}
	}
	for i, one := range all {
		for _, k := range append(children[i], one) {
			if rendered := s.rendered(k); len(rendered) > 0 {
				out.Objects = append(out.Objects, rendered...)
				out.Kept = append(out.Kept, kindAndName(s.cluster.Objects[k]))
			}
		}
	}
	return out, nil
}

// Bare returns an object without what operators note on it for themselves: their labels and
// annotations, the owner, and the observed state of a custom resource of the given kinds.
func Bare(fields map[string]any, observing map[schema.GroupKind]bool) map[string]any {
	o := (&unstructured.Unstructured{Object: fields}).DeepCopy()
	if o.GetLabels()[plan.OwnerUID] != "" {
		o.SetLabels(others(o.GetLabels(), plan.ManagedBy))
		o.SetAnnotations(others(o.GetAnnotations()))
		o.SetOwnerReferences(nil)
	}
	if observing[o.GroupVersionKind().GroupKind()] {
		unstructured.RemoveNestedField(o.Object, "status", "children")
	}
	return o.Object
}

// others returns labels or annotations without the operators' own.
func others(all map[string]string, own ...string) map[string]string {
	maps.DeleteFunc(all, func(key, _ string) bool {
		return strings.HasPrefix(key, v1alpha1.Group+"/") || slices.Contains(own, key)
	})
	if len(all) == 0 {
		return nil // no mapping, rather than an empty one
	}
	return all
}

// GivenError is a given object that the API server rejects.
type GivenError struct {
	Index int
	Err   error
}

func (e *GivenError) Error() string { return e.Err.Error() }

// Unwrap returns the answer of the API server.
func (e *GivenError) Unwrap() error { return e.Err }

// give creates the objects that exist before the actions, and lets the operator see them.
func (s *Simulation) give(ctx context.Context, objects []map[string]any) ([]cluster.Key, error) {
	var out []cluster.Key
	for i, o := range objects {
		if err := s.Put(o); err != nil {
			return nil, &GivenError{i, err}
		}
		out = append(out, s.key(s.withNamespace(o)))
	}
	err := s.Run(ctx)
	s.trace = nil
	return out, err
}

// named returns the action with a name for a custom resource with a generateName.
func (h Action) named(number int) Action {
	for _, fields := range []*map[string]any{&h.Object, &h.Old} {
		o := &unstructured.Unstructured{Object: *fields}
		if *fields != nil && o.GetName() == "" && o.GetGenerateName() != "" {
			o = o.DeepCopy()
			o.SetName(cluster.GeneratedName(o, number))
			*fields = o.Object
		}
	}
	return h
}

// readyFailure returns the failure that the operator reports in the Ready
// condition: a failure inside a Sensor's transform appears nowhere else.
func readyFailure(o cluster.Object) string {
	if o == nil {
		return ""
	}
	if reason, message := NotReady(o.Object); slices.Contains([]string{"Failed", "ReconcileFailed", "StatusRejected"}, reason) {
		return kindAndName(o) + ": " + message
	}
	return ""
}

// NotReady returns the reason and the message of the condition Ready, if it is False.
func NotReady(object map[string]any) (reason, message string) {
	conditions, _, _ := unstructured.NestedSlice(object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		if c["type"] == "Ready" && c["status"] == "False" {
			reason, _ = c["reason"].(string)
			message, _ = c["message"].(string)
		}
	}
	return reason, message
}

// kindAndName returns the kind, namespace and name of an object.
func kindAndName(o cluster.Object) string {
	return o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
}

// act returns the trace of the action alone, and the objects that a deletion
// removed.
func (s *Simulation) act(ctx context.Context, h Action) (Trace, []string, error) {
	act, before := s.Apply, h.Object
	switch h.Event {
	case Added:
		before = nil
	case Updated:
		before = h.Old
	case Deleted:
		act = s.Delete
	default:
		return nil, nil, fmt.Errorf("unknown event %q; use %s, %s or %s", h.Event, Added, Updated, Deleted)
	}
	if before != nil {
		if err := s.Apply(before); err != nil {
			return nil, nil, err
		}
		if err := s.Run(ctx); err != nil {
			return nil, nil, err
		}
	}
	var there []string
	if h.Event == Deleted { // all objects are many, if there are many actions
		there = s.names()
	}
	start := len(s.trace)
	if err := act(h.Object); err != nil {
		return nil, nil, err
	}
	if err := s.Run(ctx); err != nil {
		return nil, nil, err
	}
	return slices.Clone(s.trace[start:]), s.missing(there), nil
}

// missing returns the names that no object has.
func (s *Simulation) missing(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	left := map[string]bool{}
	for _, name := range s.names() {
		left[name] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return left[name] })
}

// names returns the names of all objects except Events and the operators' own.
func (s *Simulation) names() []string {
	var out []string
	for _, k := range s.cluster.Order {
		if o := s.cluster.Objects[k]; o != nil && k.GroupResource != cluster.EventsResource && !s.internal(k, o) {
			out = append(out, kindAndName(o))
		}
	}
	return out
}

func (s *Simulation) key(o cluster.Object) cluster.Key {
	return cluster.Key{GroupResource: s.kind(o).Resource(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// rendered returns an object as a user would apply it. It returns nothing for
// deleted objects, Events, the operator's Workflows and objects that only their
// user wrote.
func (s *Simulation) rendered(k cluster.Key) []map[string]any {
	o := s.cluster.Objects[k]
	if o == nil || k.GroupResource == cluster.EventsResource || s.internal(k, o) {
		return nil
	}
	theirs := slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager != kubectl && e.Manager != controller
	})
	if len(o.GetManagedFields()) == 0 { // its user wrote no field, and then the API server tracks nobody
		theirs = o.Object["status"] != nil
	}
	if !theirs {
		return nil
	}
	return []map[string]any{s.Normalized(o.Object)}
}

// removeServerMetadata removes the metadata that the API server sets.
func removeServerMetadata(fields map[string]any) {
	for _, name := range []string{
		"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "selfLink",
	} {
		unstructured.RemoveNestedField(fields, "metadata", name)
	}
}
