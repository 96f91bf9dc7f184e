package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// Event is the event that an EventSource publishes for a change.
type Event struct {
	Source string // name of the EventSource
	Name   string // name of the entry in the EventSource
	Type   string // ADD, UPDATE or DELETE
	Object Name
	Data   json.RawMessage // the payload: type, body, oldBody, group, version, resource
}

// Name identifies an object for users.
type Name struct{ Resource, Namespace, Name string }

func (n Name) String() string {
	if n.Namespace == "" {
		return n.Resource + " " + n.Name
	}
	return n.Resource + " " + n.Namespace + "/" + n.Name
}

// watch is one entry of an EventSource: an informer on one resource.
type watch struct {
	source, name string
	account      string // service account of the EventSource as namespace/name
	entry        eventsv1.ResourceEventSource
	selector     labels.Selector
}

// watches returns the entries of an EventSource, sorted by name.
func watches(source *eventsv1.EventSource) ([]watch, error) {
	var out []watch
	for _, name := range slices.Sorted(maps.Keys(source.Spec.Resource)) {
		w := watch{
			source:   source.Name,
			name:     name,
			account:  sourceAccount(source),
			entry:    source.Spec.Resource[name],
			selector: labels.Everything(),
		}
		if f := w.entry.Filter; f != nil {
			if f.AfterStart || len(f.Fields) > 0 || !f.CreatedBy.IsZero() {
				return nil, fmt.Errorf("entry %s of EventSource %s: filters by time and by field are not simulated", name, source.Name)
			}
			var err error
			if w.selector, err = selector(f.Labels); err != nil {
				return nil, fmt.Errorf("entry %s of EventSource %s: %w", name, source.Name, err)
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// sourceAccount returns the service account of an EventSource's pod.
func sourceAccount(source *eventsv1.EventSource) string {
	if source.Spec.Template == nil {
		return ""
	}
	return source.Namespace + "/" + source.Spec.Template.ServiceAccountName
}

// selector returns the label selector of the list and watch requests, built as Argo
// builds it.
func selector(filters []eventsv1.Selector) (labels.Selector, error) {
	out := labels.NewSelector()
	for _, f := range filters {
		operator, values := selection.Equals, []string{f.Value}
		if f.Operation != "" {
			operator = selection.Operator(f.Operation)
		}
		switch {
		case f.Value == "" && (operator == selection.Exists || operator == selection.DoesNotExist):
			values = nil
		case operator == selection.In || operator == selection.NotIn:
			values = strings.Split(f.Value, ",")
		}
		requirement, err := labels.NewRequirement(f.Key, operator, values)
		if err != nil {
			return nil, err
		}
		out = out.Add(*requirement)
	}
	return out, nil
}

// eventFor returns the event of a change in a cluster, if the informer sees the change. Of a real
// cluster, which is nil, it sees objects in its own version. An
// object that starts to match the selector is added; one that stops matching is
// deleted.
func (w watch) eventFor(in *cluster.Cluster, c cluster.Change) (Event, bool) {
	o := c.Object()
	if c.Resource.Group != w.entry.Group || c.Resource.Resource != w.entry.Resource ||
		w.entry.Namespace != "" && w.entry.Namespace != o.GetNamespace() {
		return Event{}, false
	}
	before, after := w.matches(c.Old), w.matches(c.New)
	var kind eventsv1.ResourceEventType
	var body, old cluster.Object
	switch {
	case !before && after:
		kind, body = eventsv1.ADD, c.New
	case before && after && c.Old.GetResourceVersion() != c.New.GetResourceVersion():
		kind, body, old = eventsv1.UPDATE, c.New, c.Old
	case before && !after:
		kind, body = eventsv1.DELETE, c.Old
		if c.New != nil { // the watch returns the last matching state with the resource version of the new one
			body = c.Old.DeepCopy()
			body.SetResourceVersion(c.New.GetResourceVersion())
		}
	}
	prefix := w.entry.Filter != nil && !strings.HasPrefix(o.GetName(), w.entry.Filter.Prefix)
	if kind == "" || prefix || !slices.Contains(w.entry.EventTypes, kind) {
		return Event{}, false
	}
	return w.event(in, string(kind), body, old), true
}

func (w watch) matches(o cluster.Object) bool {
	return o != nil && w.selector.Matches(labels.Set(o.GetLabels()))
}

// event encodes the payload as the resource EventSource does.
func (w watch) event(in *cluster.Cluster, kind string, body, old cluster.Object) Event {
	payload := map[string]any{
		"type": kind, "body": w.converted(in, body), "oldBody": w.converted(in, old),
		"group": w.entry.Group, "version": w.entry.Version, "resource": w.entry.Resource,
	}
	if len(w.entry.Metadata) > 0 {
		payload["metadata"] = w.entry.Metadata
	}
	data, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("simulate: an object does not encode: %v", err)) // unreachable
	}
	resource := schema.GroupResource{Group: w.entry.Group, Resource: w.entry.Resource}
	name := Name{Resource: resource.String(), Namespace: body.GetNamespace(), Name: body.GetName()}
	return Event{Source: w.source, Name: w.name, Type: kind, Object: name, Data: data}
}

// converted returns an object in the version of the entry, or null if there is no
// object.
func (w watch) converted(in *cluster.Cluster, o cluster.Object) any {
	switch {
	case o == nil:
		return nil
	case o.GroupVersionKind().Version == w.entry.Version:
		return o.Object
	}
	return in.InVersion(o, in.Kind(o.GroupVersionKind().GroupKind().WithVersion(w.entry.Version))).Object
}
