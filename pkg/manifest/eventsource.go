package manifest

import (
	"maps"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// leaderElection makes replicas elect a leader through a Lease, which also prevents the
// old and the new pod of a rollout from working at the same time.
const leaderElection = "events.argoproj.io/leader-election"

func eventSources(p *plan.Plan) []Object {
	entries, ticks := map[string]eventsv1.ResourceEventSource{}, map[string]eventsv1.CalendarEventSource{}
	for _, e := range p.Events {
		if e.Interval != "" {
			ticks[e.Name] = eventsv1.CalendarEventSource{Interval: e.Interval}
		} else {
			entries[e.Name] = eventSourceEntry(e)
		}
	}
	m := meta(p, p.Names.EventSource)
	elect(&m, p)
	return []Object{&eventsv1.EventSource{
		TypeMeta:   metav1.TypeMeta{APIVersion: eventsv1.SchemeGroupVersion.String(), Kind: "EventSource"},
		ObjectMeta: m,
		Spec: eventsv1.EventSourceSpec{
			EventBusName: p.Shared.EventBus.Name,
			Replicas:     &p.Shared.Replicas,
			Template:     eventsPod(p, plan.SourceAccount, p.Reconcile.Execution.SourcePod()),
			Resource:     entries,
			Calendar:     ticks,
		},
	}}
}

func eventSourceEntry(e plan.Event) eventsv1.ResourceEventSource {
	entry := eventsv1.ResourceEventSource{
		Namespace: e.Namespace,
		GroupVersionResource: metav1.GroupVersionResource{
			Group: e.Kind.Group, Version: e.Kind.Version, Resource: e.Kind.Plural,
		},
	}
	for _, t := range e.Types {
		entry.EventTypes = append(entry.EventTypes, eventsv1.ResourceEventType(t))
	}
	if len(e.Selector) > 0 {
		entry.Filter = &eventsv1.ResourceFilter{}
		for _, key := range slices.Sorted(maps.Keys(e.Selector)) {
			entry.Filter.Labels = append(entry.Filter.Labels,
				eventsv1.Selector{Key: key, Operation: "==", Value: e.Selector[key]})
		}
		for _, child := range e.Without {
			entry.Filter.Labels = append(entry.Filter.Labels, eventsv1.Selector{Key: plan.ChildLabel, Operation: "!=", Value: child})
		}
	}
	return entry
}

func elect(m *metav1.ObjectMeta, p *plan.Plan) {
	if !p.Shared.LeaderElection {
		return
	}
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[leaderElection] = "k8s"
}
