package selfcheck

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// lifecycle reports Workflows without a deadline, without cleanup, or without a
// mutex for their custom resource, and Sensors without a CronWorkflow or a worker that
// recovers missed events.
func lifecycle(o objects) []problem.Problem {
	var out []problem.Problem
	launches := o.Launches()
	for _, l := range launches {
		out = append(out, deadlineAndCleanup(l)...)
		if _, ok := l.By.(*eventsv1.Sensor); ok {
			out = append(out, mutexes(l, o)...)
		}
	}
	out = append(out, argo.Each(o.Objects, func(r *problem.Report, c *wfv1.CronWorkflow) {
		if c.Spec.ConcurrencyPolicy != wfv1.ForbidConcurrent {
			r.Add(
				field.NewPath("spec", "concurrencyPolicy"),
				codeResync,
				"set it to Forbid",
				"two resyncs at once submit everything twice",
			)
		}
		if c.Spec.Suspend {
			r.Add(field.NewPath("spec", "suspend"), codeResync, "leave it out", "a suspended resync repairs nothing")
		}
	})...)
	return append(out, argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		if !repairs(o, s) && !slices.ContainsFunc(launches, func(l argo.Launch) bool { return isResync(o, l, s, launches) }) {
			r.Add(nil, codeResync, "emit a CronWorkflow that submits what is due",
				"nothing repairs what the bus has lost: no CronWorkflow starts what this Sensor starts, and no worker looks at all custom resources")
		}
	})...)
}

func deadlineAndCleanup(l argo.Launch) []problem.Problem {
	spec := l.Spec()
	in, path := l.TemplateOwner()
	r := problem.About(in)
	if spec.ActiveDeadlineSeconds == nil || *spec.ActiveDeadlineSeconds <= 0 {
		r.Add(
			path.Child("activeDeadlineSeconds"),
			codeDeadline,
			"set it",
			"a Workflow that hangs holds its mutex until somebody stops it",
		)
	}
	_, shown := l.By.(*appsv1.Deployment) // somebody reads the logs of its pods, which go with the Workflow
	if !shown && (spec.PodGC == nil || spec.PodGC.Strategy == "") {
		r.Add(path.Child("podGC"), codeGarbageCollection, "set strategy", "finished pods pile up")
	}
	ttl := spec.TTLStrategy
	if ttl == nil || ttl.SecondsAfterCompletion == nil && (ttl.SecondsAfterSuccess == nil || ttl.SecondsAfterFailure == nil) {
		r.Add(
			path.Child("ttlStrategy"),
			codeGarbageCollection,
			"set secondsAfterSuccess and secondsAfterFailure",
			"finished Workflows pile up",
		)
	}
	return r.Problems
}

// mutexes reports mutexes whose name does not contain an argument that identifies
// the custom resource.
func mutexes(l argo.Launch, o objects) []problem.Problem {
	in, path := l.TemplateOwner()
	r := problem.About(in)
	s := l.Spec().Synchronization
	enqueues := onlyEnqueues(l, o)
	if s == nil || len(s.Mutexes) == 0 && s.Mutex == nil {
		r.Add(
			path.Child("synchronization"),
			codeMutex,
			"add a mutex",
			"two Workflows of one custom resource would work against each other",
		)
		return r.Problems
	}
	if s.Mutex != nil && len(s.Mutexes) > 0 {
		r.Add(path.Child("synchronization"), codeMutex, "state one", "mutex and mutexes together: the Workflow fails")
	}
	for i, m := range append(slices.Clone(s.Mutexes), s.Mutex) {
		if m != nil && !enqueues && !strings.Contains(m.Name, "{{workflow.parameters.") {
			r.Add(
				path.Child("synchronization", "mutexes").Index(i),
				codeMutex,
				"put the custom resource's key into its name",
				"one lock for all custom resources",
			)
		}
	}
	return r.Problems
}

// onlyEnqueues reports whether a launch only selects the custom resources to
// reconcile, and reconciles none itself.
func onlyEnqueues(l argo.Launch, o objects) bool {
	pods := l.Pods()
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(p argo.Pod) bool {
		scripts := p.Scripts(o.Objects)
		return len(scripts) == 0 || slices.ContainsFunc(scripts, func(s argo.Script) bool { return s.Command != "enqueue" })
	})
}

// isResync reports whether a launch is the resync of a Sensor: a CronWorkflow that
// starts the Sensor's template, directly or from its script, or that makes an
// EventSource of the Sensor list its objects again.
func isResync(o objects, l argo.Launch, s *eventsv1.Sensor, launches []argo.Launch) bool {
	if _, ok := l.By.(*wfv1.CronWorkflow); !ok {
		return false
	}
	starts := []*wfv1.WorkflowTemplate{l.Template}
	for _, launch := range argo.ScriptLaunches(o.Objects, []argo.Launch{l}) {
		starts = append(starts, launch.Template)
	}
	for _, other := range launches {
		if other.By == manifest.Object(s) && other.Template != nil && slices.Contains(starts, other.Template) {
			return true
		}
	}
	return slices.ContainsFunc(l.Pods(), func(p argo.Pod) bool { return restartsSource(p, s) || triggersSensor(o, p, s) })
}

// restartsSource reports whether a pod restarts an EventSource of the Sensor, so
// that it lists its objects again. The patch must contain the Workflow's name, or a
// second patch would change nothing.
func restartsSource(p argo.Pod, s *eventsv1.Sensor) bool {
	resource := p.Template.Resource
	if resource == nil || resource.Action != "patch" {
		return false
	}
	var source eventsv1.EventSource
	if err := yaml.Unmarshal([]byte(resource.Manifest), &source); err != nil || source.Kind != "EventSource" ||
		source.Namespace != s.Namespace {
		return false
	}
	pod := source.Spec.Template
	if pod == nil || pod.Metadata == nil || !slices.Contains(slices.Collect(maps.Values(pod.Metadata.Annotations)), "{{workflow.name}}") {
		return false
	}
	return slices.ContainsFunc(s.Spec.Dependencies, func(d eventsv1.EventDependency) bool { return d.EventSourceName == source.Name })
}

// triggersSensor reports whether a pod changes the custom resource so that the
// Sensor computes its children. Only a script of an operator with templates does
// this.
func triggersSensor(o objects, p argo.Pod, s *eventsv1.Sensor) bool {
	for _, script := range p.Scripts(o.Objects) {
		for _, d := range s.Spec.Dependencies {
			e, parent := entryOf(o, s, d), script.Config.Parent
			if script.Command == "resync" && script.Config.SensorTemplates && e.Resource == parent.Plural && e.Group == parent.Group() {
				return true
			}
		}
	}
	return false
}
