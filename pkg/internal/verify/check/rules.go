package check

import (
	"maps"
	"slices"
	"strconv"
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

// MaxHTTPTimeout is the maximum timeout in seconds. An http trigger leaks its
// connection until the timeout.
const MaxHTTPTimeout = 10

// eventSources reports EventSources that miss changes of a custom resource.
func eventSources(o argo.Objects) []problem.Problem {
	parents, clusterScoped := parentsOf(o), o.ClusterScoped()
	return argo.Each(o, func(r *problem.Report, s *eventsv1.EventSource) {
		for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
			e := s.Spec.Resource[name]
			at := field.NewPath("spec", "resource").Key(name).Child("filter")
			if e.Namespace != "" && clusterScoped[e.Resource+"."+e.Group] {
				r.Add(field.NewPath("spec", "resource").Key(name).Child("namespace"), problem.CodeNamespace, "leave it empty",
					"%s is cluster-scoped: there is nothing to watch in a namespace", e.Resource)
			}
			if e.Filter == nil {
				continue
			}
			if e.Filter.AfterStart {
				r.Add(at.Child("afterStart"), problem.CodeAfterStart, "leave it out",
					"drops what exists at the start, what is applied server-side, and every deletion of it")
			}
			if parents[e.Resource+"."+e.Group] && !watchedUnfiltered(s.Spec.Resource, e) {
				r.Add(
					at,
					problem.CodeCustomResourceFilter,
					"filter in jq",
					"a filter on the custom resources themselves drops the deletions that a lost watch reports late",
				)
			}
		}
		LeaderElection(r, s.Spec.Replicas, s.Annotations)
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
func parentsOf(o argo.Objects) map[string]bool {
	out := map[string]bool{}
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](o) {
		out[crd.Spec.Names.Plural+"."+crd.Spec.Group] = true
	}
	for _, p := range o.Pods() {
		for _, s := range p.Scripts(o) {
			out[s.Config.Parent.Plural+"."+s.Config.Parent.Group()] = true
		}
	}
	for _, q := range o.Requests() {
		if q.ContentType == argo.MergeType {
			out[q.Kind.Resource+"."+q.Kind.Group] = true // a merge patch writes the observed state
		}
	}
	return out
}

// LeaderElection reports several replicas without a Kubernetes lease, because two
// of them could lead at once.
func LeaderElection(r *problem.Report, n *int32, annotations map[string]string) {
	if n != nil && *n > 1 && annotations[argo.LeaderElection] != "k8s" {
		r.Add(field.NewPath("metadata", "annotations"), problem.CodeDelivery, "set "+argo.LeaderElection+": k8s",
			"%d replicas elect their leader over the EventBus, which can elect two", *n)
	}
}

// delivery reports triggers that may lose an event: each needs retries and a
// dead-letter trigger.
func delivery(o argo.Objects) []problem.Problem {
	return argo.Each(o, func(r *problem.Report, s *eventsv1.Sensor) {
		LeaderElection(r, s.Spec.Replicas, s.Annotations)
		for _, t := range o.Triggers(s) {
			if !t.AtLeastOnce {
				r.Add(
					t.Path.Child("atLeastOnce"),
					problem.CodeDelivery,
					"set it to true",
					"a failure loses the event, and retryStrategy has no effect",
				)
			}
			if !t.DeadLetter {
				checkDeadLetter(r, t)
			}
			RetryAmounts(r, t)
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
			problem.CodeDeadLetter,
			"add one, if only a log trigger",
			"when the retries are used up the event is acknowledged and gone",
		)
		return
	}
	fallback := argo.NewTrigger(t.DlqTrigger, at, true)
	if key := t.Key(); key != "" && t.DlqTrigger.Template != nil && fallback.Key() == key {
		r.Add(at, problem.CodeDeadLetter, "make another request, or log", "the fallback makes the request again that has failed")
	}
}

func checkRetries(r *problem.Report, t argo.Trigger) {
	if t.RetryStrategy == nil || t.RetryStrategy.Steps < 2 {
		r.Add(t.Path.Child("retryStrategy"), problem.CodeRetry, "set steps to 2 or more", "one failed call loses the event")
	}
}

// RetryAmounts reports quoted numbers. Argo accepts them and then drops every
// event.
func RetryAmounts(r *problem.Report, t argo.Trigger) {
	if t.RetryStrategy == nil {
		return
	}
	for name, amount := range map[string]*eventsv1.Amount{"factor": t.RetryStrategy.Factor, "jitter": t.RetryStrategy.Jitter} {
		if amount == nil {
			continue
		}
		if _, err := strconv.ParseFloat(string(amount.Value), 64); err != nil {
			r.Add(
				t.Path.Child("retryStrategy", name),
				problem.CodeRetry,
				"write it without quotes",
				"%s is not a number: every event would be dropped",
				amount.Value,
			)
		}
	}
}

func checkTrigger(r *problem.Report, o argo.Objects, s *eventsv1.Sensor, t argo.Trigger) {
	at := t.Path.Child("template")
	if t.Template.HTTP != nil {
		checkHTTPTrigger(r, t, requestsOf(o, s, t))
	}
	if t.Template.ArgoWorkflow != nil {
		r.Add(at.Child("argoWorkflow"), problem.CodeTriggerType, "create the Workflow by a k8s trigger",
			"runs a command line inside the Sensor, and needs more permissions than create")
	}
	if wf := t.Workflow(); wf != nil {
		checkTriggeredWorkflow(r, t, wf)
	}
	if k := t.Template.K8s; k != nil && k.Operation == eventsv1.Create && t.Resource() != nil &&
		!strings.Contains(string(t.Resource()), `"generateName"`) {
		r.Add(
			t.ResourcePath().Child("metadata"),
			problem.CodeTriggerType,
			"use generateName",
			"the second event would find the object there and fail",
		)
	}
}

// checkHTTPTrigger reports an http trigger that waits too long, or that accepts a
// status which another attempt could change. A deletion may be left to the next event unless the
// object is missing, because that is recorded.
func checkHTTPTrigger(r *problem.Report, t argo.Trigger, requests []argo.Request) {
	deletes := onlyDeletes(requests)
	if h := t.Template.HTTP; h.Timeout <= 0 || h.Timeout > MaxHTTPTimeout {
		r.Add(
			t.Path.Child("template", "http", "timeout"),
			problem.CodeTimeout,
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
			problem.CodeDelivery,
			"list the codes of success",
			"without it every answer is a success, and no failed call is tried again",
		)
		return
	}
	if createsEvent(requests) && !slices.Contains(t.Policy.Status.Allow, 409) {
		r.Add(at, problem.CodeDelivery, "add 409", "the Event of a second delivery is there already, and would be tried again")
	}
	if t.Asks() && !slices.Contains(t.Policy.Status.Allow, 201) {
		r.Add(at, problem.CodeDelivery, "add 201", "a Workflow that was created would be created again")
	}
	for i, code := range t.Policy.Status.Allow {
		if deletes && !slices.Contains([]int32{404, 409, 422}, code) {
			continue
		}
		if code >= 500 || code < 200 || slices.Contains([]int32{401, 403, 429}, code) {
			r.Add(at.Index(i), problem.CodeDelivery, "leave it out", "%d is no success, and passes: the call has to be tried again", code)
		}
	}
}

// createsEvent reports whether one of the requests creates an Event: nothing else is
// created by POST.
func createsEvent(list []argo.Request) bool {
	return slices.ContainsFunc(list, func(q argo.Request) bool { return q.Method == "POST" })
}

// onlyDeletes reports whether the requests delete objects and apply none.
func onlyDeletes(list []argo.Request) bool {
	return slices.ContainsFunc(list, func(q argo.Request) bool { return q.Method == "DELETE" }) &&
		!slices.ContainsFunc(list, func(q argo.Request) bool { return q.ContentType == argo.ApplyType })
}

// requestsOf returns the requests of a trigger, or nil if they cannot be derived.
func requestsOf(o argo.Objects, s *eventsv1.Sensor, t argo.Trigger) []argo.Request {
	var all []argo.Request
	for _, d := range s.Spec.Dependencies {
		program := o.ProgramOf(d)
		if program == nil || !slices.Contains(t.DependencyNames(), d.Name) {
			continue
		}
		list, problem := program.RequestsUnder(t.Key())
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
		r.Add(t.ResourcePath().Child("spec"), problem.CodeTriggerType, "move the rest to the WorkflowTemplate",
			"a created Workflow holds workflowTemplateRef, arguments and priority only, or a strict controller refuses it")
	}
}
