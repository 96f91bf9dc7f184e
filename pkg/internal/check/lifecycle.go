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

	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// lifecycle: every Workflow ends, is cleaned away, and those of one custom
// resource run one at a time; a CronWorkflow finds what events have missed.
func lifecycle(o argo.Objects) []problem.Problem {
	var out []problem.Problem
	launches := o.Launches()
	for _, l := range launches {
		out = append(out, ends(l)...)
		if _, ok := l.By.(*eventsv1.Sensor); ok {
			out = append(out, serial(l, o)...)
		}
	}
	out = append(out, argo.Each(o, func(r *problem.Report, c *wfv1.CronWorkflow) {
		if c.Spec.ConcurrencyPolicy != wfv1.ForbidConcurrent {
			r.Add(field.NewPath("spec", "concurrencyPolicy"), problem.CodeResync, "set it to Forbid", "two resyncs at once submit everything twice")
		}
		if c.Spec.Suspend {
			r.Add(field.NewPath("spec", "suspend"), problem.CodeResync, "leave it out", "a suspended resync repairs nothing")
		}
	})...)
	return append(out, argo.Each(o, func(r *problem.Report, s *eventsv1.Sensor) {
		if !slices.ContainsFunc(launches, func(l argo.Launch) bool { return resyncs(o, l, s, launches) }) {
			r.Add(nil, problem.CodeResync, "emit a CronWorkflow that submits what is due",
				"nothing repairs what the bus has lost: no CronWorkflow starts what this Sensor starts")
		}
	})...)
}

func ends(l argo.Launch) []problem.Problem {
	spec := l.Spec()
	in, path := l.TemplateOwner()
	r := problem.About(in)
	if spec.ActiveDeadlineSeconds == nil || *spec.ActiveDeadlineSeconds <= 0 {
		r.Add(path.Child("activeDeadlineSeconds"), problem.CodeDeadline, "set it", "a Workflow that hangs holds its mutex for ever")
	}
	if spec.PodGC == nil || spec.PodGC.Strategy == "" {
		r.Add(path.Child("podGC"), problem.CodeGarbageCollection, "set strategy", "finished pods pile up")
	}
	ttl := spec.TTLStrategy
	if ttl == nil || ttl.SecondsAfterCompletion == nil && (ttl.SecondsAfterSuccess == nil || ttl.SecondsAfterFailure == nil) {
		r.Add(path.Child("ttlStrategy"), problem.CodeGarbageCollection, "set secondsAfterSuccess and secondsAfterFailure", "finished Workflows pile up")
	}
	return r.Problems
}

// serial: the mutex names the custom resource, by an argument of the Workflow.
func serial(l argo.Launch, o argo.Objects) []problem.Problem {
	in, path := l.TemplateOwner()
	r := problem.About(in)
	s := l.Spec().Synchronization
	forAll := looksAtAll(l, o)
	if s == nil || len(s.Mutexes) == 0 && s.Mutex == nil {
		r.Add(path.Child("synchronization"), problem.CodeMutex, "add a mutex", "two Workflows of one custom resource would work against each other")
		return r.Problems
	}
	if s.Mutex != nil && len(s.Mutexes) > 0 {
		r.Add(path.Child("synchronization"), problem.CodeMutex, "state one", "mutex and mutexes together: the Workflow fails")
	}
	for i, m := range append(slices.Clone(s.Mutexes), s.Mutex) {
		if m != nil && !forAll && !strings.Contains(m.Name, "{{workflow.parameters.") {
			r.Add(path.Child("synchronization", "mutexes").Index(i), problem.CodeMutex, "put the custom resource's key into its name", "one lock for all custom resources")
		}
	}
	return r.Problems
}

// looksAtAll tells whether a launch is about all custom resources and reconciles
// none: it looks for those to be reconciled.
func looksAtAll(l argo.Launch, o argo.Objects) bool {
	pods := l.Pods()
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(p argo.Pod) bool {
		scripts := p.Scripts(o)
		return len(scripts) == 0 || slices.ContainsFunc(scripts, func(s argo.Script) bool { return s.Command != "enqueue" })
	})
}

// resyncs tells whether a launch is the resync of a Sensor: a CronWorkflow that
// starts the Sensor's template, or whose script does, or that makes an
// EventSource of the Sensor list everything again.
func resyncs(o argo.Objects, l argo.Launch, s *eventsv1.Sensor, launches []argo.Launch) bool {
	if _, ok := l.By.(*wfv1.CronWorkflow); !ok {
		return false
	}
	starts := []*wfv1.WorkflowTemplate{l.Template}
	for _, next := range argo.ScriptLaunches(o, []argo.Launch{l}) {
		starts = append(starts, next.Template)
	}
	for _, of := range launches {
		if of.By == manifest.Object(s) && of.Template != nil && slices.Contains(starts, of.Template) {
			return true
		}
	}
	return slices.ContainsFunc(l.Pods(), func(p argo.Pod) bool { return replays(p, s) || asks(o, p, s) })
}

// replays tells whether a pod makes an EventSource of the Sensor announce
// everything again: another pod does, and it is another one for each Workflow
// only if it carries the Workflow's name.
func replays(p argo.Pod, s *eventsv1.Sensor) bool {
	m := p.Template.Resource
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
func asks(o argo.Objects, p argo.Pod, s *eventsv1.Sensor) bool {
	for _, script := range p.Scripts(o) {
		for _, d := range s.Spec.Dependencies {
			e, parent := argo.EntryOf(o, s, d), script.Config.Parent
			if script.Command == "resync" && script.Config.Templates && e.Resource == parent.Plural && e.Group == parent.Group() {
				return true
			}
		}
	}
	return false
}
