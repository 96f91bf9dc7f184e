package lint

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/admission"
	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/check"
	"github.com/argoperator/argoperator/pkg/internal/problem"
)

// sourceRules check EventSources.
func sourceRules() []Rule {
	return []Rule{
		{
			Code:    "after-start",
			Summary: "An EventSource leaves out what happened before its pod started.",
			Why: "Besides all that exists already, afterStart drops every change that is applied server-side to an older object, and " +
				"the change that marks it for deletion. Whatever is created while the pod is away is never seen.",
			Fix:   "leave afterStart out, and let what the events start be idempotent",
			check: on(skipsOnStart),
		},
		{
			Code:    "invalid-event-type",
			Summary: "An event type that does not exist, or none.",
			Why:     "Argo's validation takes any word; the pod of the EventSource then fails, over and over.",
			Fix:     "ADD, UPDATE or DELETE",
			check:   on(eventTypes),
		},
		{
			Code:    "filter-loses-deletes",
			Warning: true,
			Summary: "An EventSource is to report deletions, and has a filter.",
			Why: "A deletion that happened while the watch was interrupted is reported in another shape, which no filter takes: the event " +
				"is dropped. With a filter of labels an object that loses its label counts as deleted although it is there.",
			Fix:   "filter in the Sensor, by jq",
			check: on(losesDeletes),
		},
		{
			Code:    "duplicate-event-name",
			Summary: "Two events of an EventSource have one name.",
			Why:     "Sensors cannot tell them apart, and Argo Events refuses the EventSource.",
			Fix:     "rename one",
			check:   on(eventTwice),
		},
		{
			Code:    "unsafe-leader-election",
			Warning: true,
			Summary: "Several replicas elect their leader over the bus.",
			Why: "Of two replicas the loss of one stops both, and during a rollout the old and the new pod can lead at once: events come " +
				"twice or not at all.",
			Fix:   "annotate it events.argoproj.io/leader-election: k8s, and grant get, create and update on leases",
			check: twoLeaders,
		},
		{
			Code:    "default-service-account",
			Warning: true,
			Summary: "What calls the API server runs as the service account \"default\".",
			Why:     "Its rights are those of every other pod of the namespace that states none: grant it some, and all have them.",
			Fix:     "state serviceAccountName",
			check:   defaultAccount,
		},
	}
}

// namedEvent is an event of an EventSource.
type namedEvent struct {
	kind, name string
	path       *field.Path
}

// eventsOf returns all events of an EventSource: the entries of all maps in its
// spec.
func eventsOf(s *eventsv1.EventSource) []namedEvent {
	var out []namedEvent
	spec := reflect.ValueOf(s.Spec)
	for i := range spec.NumField() {
		kind, _, _ := strings.Cut(spec.Type().Field(i).Tag.Get("json"), ",")
		if spec.Field(i).Kind() != reflect.Map {
			continue
		}
		var names []string
		for _, key := range spec.Field(i).MapKeys() {
			names = append(names, key.String())
		}
		slices.Sort(names)
		for _, name := range names {
			out = append(out, namedEvent{kind, name, field.NewPath("spec", kind).Key(name)})
		}
	}
	return out
}

func skipsOnStart(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		if f := s.Spec.Resource[name].Filter; f != nil && f.AfterStart {
			i.report(field.NewPath("spec", "resource").Key(name).Child("filter", "afterStart"),
				"drops what exists at the start, what is applied server-side, and every deletion of it")
		}
	}
}

func eventTypes(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		r := problem.About(s)
		admission.ResourceEntry(r, field.NewPath("spec", "resource").Key(name), s.Spec.Resource[name])
		for _, p := range r.Problems {
			if p.Code == problem.CodeEventType {
				i.adopt(p)
			}
		}
	}
}

func losesDeletes(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e := s.Spec.Resource[name]
		if f := e.Filter; f != nil && !f.AfterStart && slices.Contains(e.EventTypes, eventsv1.DELETE) && !watchesUnfiltered(s) {
			i.report(field.NewPath("spec", "resource").Key(name).Child("filter"), "drops deletions that an interrupted watch reports late")
		}
	}
}

// watchesUnfiltered reports whether an EventSource watches something without a
// filter. Its filtered entries are then dependents of that, such as children.
func watchesUnfiltered(s *eventsv1.EventSource) bool {
	for _, e := range s.Spec.Resource {
		if e.Filter == nil {
			return true
		}
	}
	return false
}

func eventTwice(i *inspection, s *eventsv1.EventSource) {
	seen := map[string]string{}
	for _, e := range eventsOf(s) {
		if other, there := seen[e.name]; there {
			i.report(e.path, "%s has an event %q as well", other, e.name)
		}
		seen[e.name] = e.kind
	}
}

func twoLeaders(i *inspection) {
	r := problem.About(i.Object)
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		check.LeaderElection(r, o.Spec.Replicas, o.Annotations)
	case *eventsv1.Sensor:
		check.LeaderElection(r, o.Spec.Replicas, o.Annotations)
	}
	for _, p := range r.Problems {
		i.report(field.NewPath("spec", "replicas"), "%s", p.Message)
	}
}

func defaultAccount(i *inspection) {
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		if len(o.Spec.Resource) > 0 && argo.EventsAccount(o.Spec.Template) == "default" {
			i.report(field.NewPath("spec", "template", "serviceAccountName"), "it watches as the service account \"default\"")
		}
	case *eventsv1.Sensor:
		creates := slices.ContainsFunc(argo.Triggers(o), func(t argo.Trigger) bool { return t.Template.K8s != nil || t.Template.ArgoWorkflow != nil })
		if creates && argo.EventsAccount(o.Spec.Template) == "default" {
			i.report(field.NewPath("spec", "template", "serviceAccountName"), "its triggers act as the service account \"default\"")
		}
	}
}
