package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
)

// What may happen to a custom resource.
const (
	Added   = "ADD"
	Updated = "UPDATE"
	Deleted = "DELETE"
)

// Happening is what a user does to a custom resource.
type Happening struct {
	Event  string         // Added, Updated or Deleted
	Object map[string]any // the custom resource: as it becomes, as it was before it is deleted
	Old    map[string]any // as it was, for Updated
}

// Rendering is what came of it.
type Rendering struct {
	// Objects that the operator made or changed and that are left, without what
	// the API server makes: of each custom resource its children in the order in
	// which they were written first, then itself.
	Objects []map[string]any
	// Deleted are the objects that were there before a deletion and are gone after
	// it, as KIND NAMESPACE/NAME, in the order in which they were written first.
	Deleted []string
	// Events that EventSources published of the happenings themselves, not of what
	// led up to them; Failures and Trace are of what came of these.
	Events   int
	Failures []string // a line each
	Trace    Trace    // nil with Inputs.Untraced
}

// Render lets one thing after another happen to an operator.
func Render(ctx context.Context, in Inputs, happenings []Happening) (Rendering, error) {
	s, err := New(in)
	if err != nil {
		return Rendering{}, err
	}
	var out Rendering
	var all []cluster.Key               // the custom resources
	isOne := map[cluster.Key]bool{}     // of them
	children := map[int][]cluster.Key{} // by the happening in which they came to be
	shown := map[cluster.Key]int{}
	for i, h := range happenings {
		births := s.cluster.Births
		trace, gone, err := s.happen(ctx, h)
		if err != nil {
			return Rendering{}, err
		}
		out.Deleted = append(out.Deleted, gone...)
		out.Events += trace.events()
		one := s.key(s.placed(h.Object))
		failures := trace.Failures()
		if why := reported(s.cluster.Objects[one]); why != "" && len(failures) == 0 {
			failures = []string{why}
		}
		out.Failures = append(out.Failures, failures...)
		if in.Untraced {
			s.trace = nil
		} else {
			out.Trace = append(out.Trace, trace...)
		}
		all = append(all, one)
		isOne[one] = true
		for _, k := range s.cluster.Since(births) {
			if _, known := shown[k]; !known && k != one {
				shown[k] = i
			}
		}
	}
	for _, k := range s.cluster.Order {
		if i, known := shown[k]; known && !isOne[k] {
			children[i] = append(children[i], k)
		}
	}
	for i, one := range all {
		for _, k := range append(children[i], one) {
			out.Objects = append(out.Objects, s.rendered(k)...)
		}
	}
	return out, nil
}

// reported is the failure that the operator reports on a custom resource: what
// fails inside a Sensor's transform shows nowhere else.
func reported(o cluster.Object) string {
	if o == nil {
		return ""
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		reason, _ := c["reason"].(string)
		if c["type"] == "Ready" && c["status"] == "False" && slices.Contains([]string{"Failed", "ReconcileFailed", "StatusRejected"}, reason) {
			return fmt.Sprintf("%s: %v", called(o), c["message"])
		}
	}
	return ""
}

// called is an object's kind and place.
func called(o cluster.Object) string {
	return o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
}

// happen returns the trace of the happening alone, and what a deletion removed.
func (s *Simulation) happen(ctx context.Context, h Happening) (Trace, []string, error) {
	act, before := s.Apply, h.Object
	switch h.Event {
	case Added:
		before = nil
	case Updated:
		before = h.Old
	case Deleted:
		act = s.Delete
	default:
		return nil, nil, fmt.Errorf("nothing is called %q: it is %s, %s or %s", h.Event, Added, Updated, Deleted)
	}
	if before != nil {
		if err := s.Apply(before); err != nil {
			return nil, nil, err
		}
		if err := s.Run(ctx); err != nil {
			return nil, nil, err
		}
	}
	start, there := len(s.trace), s.names()
	if err := act(h.Object); err != nil {
		return nil, nil, err
	}
	if err := s.Run(ctx); err != nil {
		return nil, nil, err
	}
	left := s.names()
	gone := slices.DeleteFunc(there, func(name string) bool { return h.Event != Deleted || slices.Contains(left, name) })
	return slices.Clone(s.trace[start:]), gone, nil
}

// names are those of all objects but the operators' own and Events.
func (s *Simulation) names() []string {
	var out []string
	for _, k := range s.cluster.Order {
		if o := s.cluster.Objects[k]; o != nil && k.GroupResource != cluster.Tellings && !s.works(k, o) {
			out = append(out, called(o))
		}
	}
	return out
}

func (s *Simulation) key(o cluster.Object) cluster.Key {
	return cluster.Key{GroupResource: s.kind(o).Resource(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// rendered is an object as it would be applied: none where it is gone, is a
// Workflow that did the operator's work, an Event that tells of it, or was
// touched by its user only.
func (s *Simulation) rendered(k cluster.Key) []map[string]any {
	o := s.cluster.Objects[k]
	if o == nil || k.GroupResource == cluster.Tellings || k.GroupResource == workflows && o.GetLabels()[stamp] != "" {
		return nil
	}
	theirs := slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager != kubectl })
	if !theirs {
		return nil
	}
	return []map[string]any{s.Shown(o.Object)}
}

// withoutServerMade takes away what the API server makes.
func withoutServerMade(fields map[string]any) {
	for _, name := range []string{
		"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "selfLink",
	} {
		unstructured.RemoveNestedField(fields, "metadata", name)
	}
}
