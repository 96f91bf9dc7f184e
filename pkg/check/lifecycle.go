package check

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/manifest"
)

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// lifecycle: every Workflow ends, is cleaned away, and those of one custom
// resource run one at a time; a CronWorkflow finds what events have missed.
func lifecycle(o objects) []Problem {
	var out []Problem
	launches := o.launches()
	for _, l := range launches {
		out = append(out, ends(l)...)
		if _, ok := l.by.(*eventsv1.Sensor); ok {
			out = append(out, serial(l, o)...)
		}
	}
	out = append(out, each(o, func(r *report, c *wfv1.CronWorkflow) {
		if c.Spec.ConcurrencyPolicy != wfv1.ForbidConcurrent {
			r.add(field.NewPath("spec", "concurrencyPolicy"), CodeResync, "set it to Forbid", "two resyncs at once submit everything twice")
		}
		if c.Spec.Suspend {
			r.add(field.NewPath("spec", "suspend"), CodeResync, "leave it out", "a suspended resync repairs nothing")
		}
	})...)
	return append(out, each(o, func(r *report, s *eventsv1.Sensor) {
		if !slices.ContainsFunc(launches, func(l launch) bool { return resyncs(o, l, s, launches) }) {
			r.add(nil, CodeResync, "emit a CronWorkflow that submits what is due",
				"nothing repairs what the bus has lost: no CronWorkflow starts what this Sensor starts")
		}
	})...)
}

func ends(l launch) []Problem {
	spec := l.spec()
	in, path := l.holder()
	r := about(in)
	if spec.ActiveDeadlineSeconds == nil || *spec.ActiveDeadlineSeconds <= 0 {
		r.add(path.Child("activeDeadlineSeconds"), CodeDeadline, "set it", "a Workflow that hangs holds its mutex for ever")
	}
	if spec.PodGC == nil || spec.PodGC.Strategy == "" {
		r.add(path.Child("podGC"), CodeGarbage, "set strategy", "finished pods pile up")
	}
	ttl := spec.TTLStrategy
	if ttl == nil || ttl.SecondsAfterCompletion == nil && (ttl.SecondsAfterSuccess == nil || ttl.SecondsAfterFailure == nil) {
		r.add(path.Child("ttlStrategy"), CodeGarbage, "set secondsAfterSuccess and secondsAfterFailure", "finished Workflows pile up")
	}
	return r.problems
}

// serial: the mutex names the custom resource, by an argument of the Workflow.
func serial(l launch, o objects) []Problem {
	in, path := l.holder()
	r := about(in)
	s := l.spec().Synchronization
	forAll := looksAtAll(l, o)
	if s == nil || len(s.Mutexes) == 0 && s.Mutex == nil {
		r.add(path.Child("synchronization"), CodeMutex, "add a mutex", "two Workflows of one custom resource would work against each other")
		return r.problems
	}
	if s.Mutex != nil && len(s.Mutexes) > 0 {
		r.add(path.Child("synchronization"), CodeMutex, "state one", "mutex and mutexes together: the Workflow fails")
	}
	for i, m := range append(slices.Clone(s.Mutexes), s.Mutex) {
		if m != nil && !forAll && !strings.Contains(m.Name, "{{workflow.parameters.") {
			r.add(path.Child("synchronization", "mutexes").Index(i), CodeMutex, "put the custom resource's key into its name", "one lock for all custom resources")
		}
	}
	return r.problems
}

// looksAtAll tells whether a launch is about all custom resources and reconciles
// none: it looks for those to be reconciled.
func looksAtAll(l launch, o objects) bool {
	pods := l.pods()
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(p pod) bool {
		scripts := p.scripts(o)
		return len(scripts) == 0 || slices.ContainsFunc(scripts, func(s script) bool { return s.command != "wake" })
	})
}

// resyncs tells whether a launch is the resync of a Sensor: a CronWorkflow that
// starts the Sensor's template, or whose script does, or that makes an
// EventSource of the Sensor list everything again.
func resyncs(o objects, l launch, s *eventsv1.Sensor, launches []launch) bool {
	if _, ok := l.by.(*wfv1.CronWorkflow); !ok {
		return false
	}
	starts := []*wfv1.WorkflowTemplate{l.template}
	for _, next := range submitted(o, []launch{l}) {
		starts = append(starts, next.template)
	}
	for _, of := range launches {
		if of.by == manifest.Object(s) && of.template != nil && slices.Contains(starts, of.template) {
			return true
		}
	}
	return slices.ContainsFunc(l.pods(), func(p pod) bool { return replays(p, s) || asks(o, p, s) })
}

// replays tells whether a pod makes an EventSource of the Sensor announce
// everything again: another pod does, and it is another one for each Workflow
// only if it carries the Workflow's name.
func replays(p pod, s *eventsv1.Sensor) bool {
	m := p.template.Resource
	if m == nil || m.Action != "patch" {
		return false
	}
	var source eventsv1.EventSource
	if err := yaml.Unmarshal([]byte(m.Manifest), &source); err != nil || source.Kind != "EventSource" || source.Namespace != s.Namespace {
		return false
	}
	pod := source.Spec.Template
	if pod == nil || pod.Metadata == nil || !slices.Contains(slices.Collect(maps.Values(pod.Metadata.Annotations)), "{{workflow.name}}") {
		return false
	}
	return slices.ContainsFunc(s.Spec.Dependencies, func(d eventsv1.EventDependency) bool { return d.EventSourceName == source.Name })
}

// asks tells whether a pod has the Sensor compute what is due: with templates
// the script changes the custom resource, which is an event of it.
func asks(o objects, p pod, s *eventsv1.Sensor) bool {
	for _, script := range p.scripts(o) {
		for _, d := range s.Spec.Dependencies {
			e, parent := entryOf(o, s, d), script.config.Parent
			if script.command == "resync" && script.config.Templates && e.Resource == parent.Plural && e.Group == parent.group() {
				return true
			}
		}
	}
	return false
}
