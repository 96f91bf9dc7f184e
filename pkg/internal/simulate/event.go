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

	"github.com/argoperator/argoperator/pkg/internal/cluster"
)

// Event is what an EventSource publishes of a change.
type Event struct {
	Source string // the EventSource's name
	Name   string // of its entry
	Type   string // ADD, UPDATE or DELETE
	Object Name
	Data   json.RawMessage // the payload: type, body, oldBody, group, version, resource
}

// Name is what people call an object by.
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
	entry        eventsv1.ResourceEventSource
	selector     labels.Selector
}

// watches of an EventSource, by name.
func watches(source *eventsv1.EventSource) ([]watch, error) {
	var out []watch
	for _, name := range slices.Sorted(maps.Keys(source.Spec.Resource)) {
		w := watch{source: source.Name, name: name, entry: source.Spec.Resource[name], selector: labels.Everything()}
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

// selector is that of the list and watch requests, as Argo makes it.
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

// sees makes the event of a change, if the informer sees one: an object that
// comes to match the selector is added, one that ceases to is deleted.
func (w watch) sees(c cluster.Change) (Event, bool) {
	o := c.About()
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
		if c.New != nil { // the watch shows the last state that matched, under the version that does not
			body = c.Old.DeepCopy()
			body.SetResourceVersion(c.New.GetResourceVersion())
		}
	}
	prefix := w.entry.Filter != nil && !strings.HasPrefix(o.GetName(), w.entry.Filter.Prefix)
	if kind == "" || prefix || !slices.Contains(w.entry.EventTypes, kind) {
		return Event{}, false
	}
	return w.event(string(kind), body, old), true
}

func (w watch) matches(o cluster.Object) bool {
	return o != nil && w.selector.Matches(labels.Set(o.GetLabels()))
}

// event is the payload as the resource EventSource writes it.
func (w watch) event(kind string, body, old cluster.Object) Event {
	payload := map[string]any{
		"type": kind, "body": w.shown(body), "oldBody": w.shown(old),
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

// shown is an object in the version that the entry names, null where there is none.
func (w watch) shown(o cluster.Object) any {
	if o == nil {
		return nil
	}
	gvr := w.entry.GroupVersionResource
	return cluster.InVersion(o, cluster.Kind{GroupVersionKind: o.GroupVersionKind().GroupKind().WithVersion(gvr.Version)}).Object
}
