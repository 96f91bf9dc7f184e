package selfcheck

import (
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// This file has the rules that make an operator reliable. The documentation
// explains them.

// eventSources reports EventSources that miss changes of a custom resource.
func eventSources(o objects) []problem.Problem {
	parents, clusterScoped := parentsOf(o), o.clusterScoped()
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.EventSource) {
		for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
			e := s.Spec.Resource[name]
			at := field.NewPath("spec", "resource").Key(name).Child("filter")
			if e.Namespace != "" && clusterScoped[e.Resource+"."+e.Group] {
				r.Add(field.NewPath("spec", "resource").Key(name).Child("namespace"), codeNamespace, "leave it empty",
					"%s is cluster-scoped: there is nothing to watch in a namespace", e.Resource)
			}
			if e.Filter == nil {
				continue
			}
			if e.Filter.AfterStart {
				r.Add(at.Child("afterStart"), codeAfterStart, "leave it out",
					"drops what exists at the start, what is applied server-side, and every deletion of it")
			}
			if parents[e.Resource+"."+e.Group] && !watchedUnfiltered(s.Spec.Resource, e) {
				r.Add(
					at,
					codeCustomResourceFilter,
					"filter in jq",
					"a filter on the custom resources themselves drops the deletions that a lost watch reports late",
				)
			}
		}
		checkElection(r, s.Spec.Replicas, s.Annotations)
	})
}

// watchedUnfiltered reports whether another entry watches the same kind in the same
// namespace without a filter. The filtered entry then watches children of that
// kind.
func watchedUnfiltered(entries map[string]eventsv1.ResourceEventSource, filtered eventsv1.ResourceEventSource) bool {
	for _, e := range entries {
		if e.Filter == nil && e.GroupVersionResource == filtered.GroupVersionResource && e.Namespace == filtered.Namespace {
			return true
		}
	}
	return false
}

// parentsOf returns the reconciled kinds as plural.group: those with an emitted
// CustomResourceDefinition, those in the configuration of the pod's script, and
// those whose observed state a request writes.
func parentsOf(o objects) map[string]bool {
	out := map[string]bool{}
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](o.Objects) {
		out[crd.Spec.Names.Plural+"."+crd.Spec.Group] = true
	}
	for _, p := range o.pods() {
		for _, s := range p.Scripts(o.Objects) {
			out[s.Config.Parent.Plural+"."+s.Config.Parent.Group()] = true
		}
	}
	for _, q := range o.requests() {
		if q.ContentType == MergeType {
			out[q.Kind.Resource+"."+q.Kind.Group] = true // a merge patch writes the observed state
		}
	}
	return out
}

// checkElection reports several replicas without a Lease, because two of them could lead at
// once.
func checkElection(r *problem.Report, replicas *int32, annotations map[string]string) {
	if argo.ElectsOverBus(replicas, annotations) {
		r.Add(field.NewPath("metadata", "annotations"), codeDelivery, "set "+argo.LeaderElection+": k8s",
			"%d replicas elect their leader over the EventBus, which can elect two", *replicas)
	}
}

// delivery reports triggers that may lose an event: each needs retries and a
// dead-letter trigger.
func delivery(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		checkElection(r, s.Spec.Replicas, s.Annotations)
		for _, t := range o.Triggers(s) {
			if !t.AtLeastOnce {
				r.Add(
					t.Path.Child("atLeastOnce"),
					codeDelivery,
					"set it to true",
					"a failure loses the event, and retryStrategy has no effect",
				)
			}
			if !t.DeadLetter {
				checkDeadLetter(r, t)
			}
			for name, why := range argo.UnreadableAmounts(t.RetryStrategy) {
				r.Add(t.Path.Child("retryStrategy", name), codeRetry, "", "%s: every event would be dropped", why)
			}
			checkTrigger(r, o, s, t)
		}
	})
}

func checkDeadLetter(r *problem.Report, t argo.Trigger) {
	checkRetries(r, t)
	at := t.Path.Child("dlqTrigger")
	if t.DlqTrigger == nil {
		r.Add(
			at,
			codeDeadLetter,
			"add one, if only a log trigger",
			"when the retries are used up the event is acknowledged and gone",
		)
		return
	}
	fallback := argo.NewTrigger(t.DlqTrigger, at, true)
	if key := keyOf(t); key != "" && t.DlqTrigger.Template != nil && keyOf(fallback) == key {
		r.Add(at, codeDeadLetter, "make another request, or log", "the fallback makes the request again that has failed")
	}
}

func checkRetries(r *problem.Report, t argo.Trigger) {
	if t.RetryStrategy == nil || t.RetryStrategy.Steps < 2 {
		r.Add(t.Path.Child("retryStrategy"), codeRetry, "set steps to 2 or more", "one failed call loses the event")
	}
}

func checkTrigger(r *problem.Report, o objects, s *eventsv1.Sensor, t argo.Trigger) {
	at := t.Path.Child("template")
	if t.Template.HTTP != nil {
		checkHTTPTrigger(r, t, requestsOf(o, s, t))
	}
	if t.Template.ArgoWorkflow != nil {
		r.Add(at.Child("argoWorkflow"), codeTriggerType, "create the Workflow by a k8s trigger",
			"runs a command line inside the Sensor, and needs more permissions than create")
	}
	if wf := t.Workflow(); wf != nil {
		checkTriggeredWorkflow(r, t, wf)
	}
	if k := t.Template.K8s; k != nil && k.Operation == eventsv1.Create && t.Resource() != nil &&
		!strings.Contains(string(t.Resource()), `"generateName"`) {
		r.Add(
			t.ResourcePath().Child("metadata"),
			codeTriggerType,
			"use generateName",
			"the second event would find the object there and fail",
		)
	}
}

// checkHTTPTrigger reports an http trigger that waits too long, or that accepts a
// status which another attempt could change. A deletion may be left to the next event unless the
// object is missing, because that is recorded.
func checkHTTPTrigger(r *problem.Report, t argo.Trigger, requests []Request) {
	deletes := onlyDeletes(requests)
	if h := t.Template.HTTP; h.Timeout <= 0 || h.Timeout > argo.MaxHTTPTimeout {
		r.Add(
			t.Path.Child("template", "http", "timeout"),
			codeTimeout,
			"set it to 10 or less",
			"each call keeps its connection until the timeout (default 60 s)",
		)
	}
	if t.DeadLetter {
		checkRetries(r, t)
	}
	at := t.Path.Child("policy", "status", "allow")
	if t.Policy == nil || t.Policy.Status == nil || len(t.Policy.Status.Allow) == 0 {
		r.Add(
			at,
			codeDelivery,
			"list the codes of success",
			"without it every answer is a success, and no failed call is tried again",
		)
		return
	}
	if createsEvent(requests) && !slices.Contains(t.Policy.Status.Allow, 409) {
		r.Add(at, codeDelivery, "add 409", "the Event of a second delivery is there already, and would be tried again")
	}
	if asks(t) && !slices.Contains(t.Policy.Status.Allow, 201) {
		r.Add(at, codeDelivery, "add 201", "a Workflow that was created would be created again")
	}
	for i, code := range t.Policy.Status.Allow {
		if deletes && !slices.Contains([]int32{404, 409, 422}, code) {
			continue
		}
		if code >= 500 || code < 200 || slices.Contains([]int32{401, 403, 429}, code) {
			r.Add(at.Index(i), codeDelivery, "leave it out", "%d is no success, and passes: the call has to be tried again", code)
		}
	}
}

// createsEvent reports whether one of the requests creates an Event: nothing else is
// created by POST.
func createsEvent(list []Request) bool {
	return slices.ContainsFunc(list, func(q Request) bool { return q.Method == "POST" })
}

// onlyDeletes reports whether the requests delete objects and apply none.
func onlyDeletes(list []Request) bool {
	return slices.ContainsFunc(list, func(q Request) bool { return q.Method == "DELETE" }) &&
		!slices.ContainsFunc(list, func(q Request) bool { return q.ContentType == ApplyType })
}

// requestsOf returns the requests of a trigger, or nil if they cannot be derived.
func requestsOf(o objects, s *eventsv1.Sensor, t argo.Trigger) []Request {
	var all []Request
	for _, d := range s.Spec.Dependencies {
		program := o.programOf(d)
		if program == nil || !slices.Contains(t.DependencyNames(), d.Name) {
			continue
		}
		list, problem := program.RequestsUnder(keyOf(t))
		if problem != "" {
			return nil
		}
		all = append(all, list...)
	}
	return all
}

// checkTriggeredWorkflow reports fields of a Workflow that Argo refuses with
// templateReferencing: Strict. It allows the reference, the arguments and the
// priority.
func checkTriggeredWorkflow(r *problem.Report, t argo.Trigger, wf *wfv1.Workflow) {
	allowed := wfv1.WorkflowSpec{WorkflowTemplateRef: wf.Spec.WorkflowTemplateRef, Arguments: wf.Spec.Arguments, Priority: wf.Spec.Priority}
	if wf.Spec.WorkflowTemplateRef == nil || !equal(allowed, wf.Spec) {
		r.Add(t.ResourcePath().Child("spec"), codeTriggerType, "move the rest to the WorkflowTemplate",
			"a created Workflow holds workflowTemplateRef, arguments and priority only, or a strict controller refuses it")
	}
}
