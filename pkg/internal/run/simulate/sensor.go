package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/sensors/dependencies"
	cloudevents "github.com/cloudevents/sdk-go/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// subscription is what one trigger of a Sensor subscribes to.
type subscription struct {
	sensor       *eventsv1.Sensor
	trigger      eventsv1.Trigger
	dependencies []eventsv1.EventDependency
}

// subscriptions returns the subscriptions of a Sensor, one for each trigger.
func subscriptions(sensor *eventsv1.Sensor) ([]subscription, error) {
	var out []subscription
	for _, t := range sensor.Spec.Triggers {
		names, err := dependencyNames(sensor, t)
		if err != nil {
			return nil, fmt.Errorf("trigger %s of Sensor %s: %w", t.Template.Name, sensor.Name, err)
		}
		s := subscription{sensor: sensor, trigger: t}
		for _, d := range sensor.Spec.Dependencies {
			if slices.Contains(names, d.Name) {
				s.dependencies = append(s.dependencies, d)
				names = slices.DeleteFunc(names, func(name string) bool { return name == d.Name })
			}
		}
		if len(names) > 0 {
			return nil, fmt.Errorf("trigger %s of Sensor %s: unknown dependency %s", t.Template.Name, sensor.Name, names[0])
		}
		out = append(out, s)
	}
	return out, nil
}

// dependencyNames returns the dependencies in a trigger's conditions. Without
// conditions Argo waits for all dependencies together.
func dependencyNames(sensor *eventsv1.Sensor, t eventsv1.Trigger) ([]string, error) {
	conditions := t.Template.Conditions
	if conditions == "" && len(sensor.Spec.Dependencies) == 1 {
		conditions = sensor.Spec.Dependencies[0].Name
	}
	if conditions == "" || strings.ContainsAny(conditions, "&()") {
		return nil, fmt.Errorf("conditions over several events (%q) are not simulated", conditions)
	}
	var names []string
	for name := range strings.SplitSeq(conditions, "||") {
		names = append(names, strings.TrimSpace(name))
	}
	return names, nil
}

// matches reports whether an event belongs to a dependency.
func matches(d eventsv1.EventDependency, e Event) bool {
	return d.EventSourceName == e.Source && d.EventName == e.Name
}

// cloudEvent returns an event as it is sent over the event bus.
func cloudEvent(e Event, id int, now time.Time) (*cloudevents.Event, error) {
	out := cloudevents.NewEvent()
	out.SetID(fmt.Sprintf("%08d", id))
	out.SetSource(e.Source)
	out.SetSubject(e.Name)
	out.SetType("resource")
	out.SetTime(now)
	if err := out.SetData(cloudevents.ApplicationJSON, e.Data); err != nil {
		return nil, fmt.Errorf("encoding an event: %w", err)
	}
	return &out, nil
}

// transforms caches the result of one event's transforms by Sensor and dependency,
// because triggers that share a dependency get the same event.
type transforms struct {
	mu   sync.Mutex // triggers may run at the same time
	made map[[2]string]transformed
}

type transformed struct {
	out *cloudevents.Event
	err error
}

func newTransforms() *transforms { return &transforms{made: map[[2]string]transformed{}} }

// of returns the result of a dependency's transform.
func (t *transforms) of(
	ctx context.Context,
	p *Prepared,
	sensor *eventsv1.Sensor,
	d eventsv1.EventDependency,
	in *cloudevents.Event,
) transformed {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := [2]string{sensor.Namespace + "/" + sensor.Name, d.Name}
	done, known := t.made[id]
	if !known {
		message := in.Clone()
		done.out, done.err = p.transform(ctx, &message, d.Transform)
		t.made[id] = done
	}
	return done
}

// pass runs the dependency's transform and filter. It returns the event for the
// triggers, or nil and sets the reason on the delivery.
func (t *transforms) pass(
	ctx context.Context,
	p *Prepared,
	sensor *eventsv1.Sensor,
	d eventsv1.EventDependency,
	in *cloudevents.Event,
	delivery *Delivery,
) *eventsv1.Event {
	done := t.of(ctx, p, sensor, d, in)
	out, err := done.out, done.err
	if err == nil {
		own := out.Clone()
		out = &own
	}
	if err != nil {
		delivery.Stopped, delivery.Lost = "the transform failed: "+err.Error(), true
		return nil
	}
	return filter(d, out, delivery)
}

// filter evaluates the filter, which follows the transform.
func filter(d eventsv1.EventDependency, out *cloudevents.Event, delivery *Delivery) *eventsv1.Event {
	event := converted(out)
	if err := json.Unmarshal(event.Data, &delivery.Transformed); err != nil {
		delivery.Stopped, delivery.Lost = "the result of the transform is not an object: "+err.Error(), true
		return nil
	}
	if d.Transform == nil {
		delivery.Transformed = nil
	}
	passed, err := dependencies.Filter(event, d.Filters, d.FiltersLogicalOperator)
	switch {
	case err != nil:
		delivery.Stopped, delivery.Lost = "the filter failed: "+err.Error(), true
	case !passed:
		delivery.Stopped = "the filter rejects it: " + describeFilter(d.Filters)
	default:
		return event
	}
	return nil
}

// describeFilter lists the conditions of a filter.
func describeFilter(f *eventsv1.EventDependencyFilter) string {
	var all []string
	for _, d := range f.Data {
		comparator := string(d.Comparator)
		if comparator == "" {
			comparator = "="
		}
		all = append(all, d.Path+" "+comparator+" "+strings.Join(d.Value, "|"))
	}
	for _, e := range f.Exprs {
		all = append(all, e.Expr)
	}
	if f.Script != "" {
		all = append(all, "a script")
	}
	return strings.Join(all, ", ")
}

// converted returns the event in the form that filters and parameters read, as the
// Sensor converts it.
func converted(e *cloudevents.Event) *eventsv1.Event {
	return &eventsv1.Event{
		Context: &eventsv1.EventContext{
			DataContentType: e.Context.GetDataContentType(),
			Source:          e.Context.GetSource(),
			SpecVersion:     e.Context.GetSpecVersion(),
			Type:            e.Context.GetType(),
			Time:            metav1.Time{Time: e.Context.GetTime()},
			ID:              e.Context.GetID(),
			Subject:         e.Context.GetSubject(),
		},
		Data: e.Data(),
	}
}
