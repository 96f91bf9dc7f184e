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
)

// The rules that make an operator reliable: docs say why, and each is a lesson
// somebody has paid for.

// maxHTTPTimeout in seconds: an http trigger leaks its connection until then.
const maxHTTPTimeout = 10

// events: an EventSource reports every change of a custom resource.
func events(o objects) []Problem {
	parents, clusterScoped := parentsOf(o), o.clusterScoped()
	return each(o, func(r *report, s *eventsv1.EventSource) {
		for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
			e := s.Spec.Resource[name]
			at := field.NewPath("spec", "resource").Key(name).Child("filter")
			if e.Namespace != "" && clusterScoped[e.Resource+"."+e.Group] {
				r.add(field.NewPath("spec", "resource").Key(name).Child("namespace"), CodeNamespace, "leave it empty",
					"%s is cluster-scoped: there is nothing to watch in a namespace", e.Resource)
			}
			if e.Filter == nil {
				continue
			}
			if e.Filter.AfterStart {
				r.add(at.Child("afterStart"), CodeAfterStart, "leave it out",
					"drops what exists at the start, what is applied server-side, and every deletion of it")
			}
			if parents[e.Resource+"."+e.Group] && !watchedWhole(s.Spec.Resource, e) {
				r.add(at, CodeParentFilter, "filter in jq", "a filter on the custom resources themselves drops the deletions that a lost watch reports late")
			}
		}
		replicas(r, s.Spec.Replicas, s.Annotations)
	})
}

// watchedWhole tells whether another entry watches the same kind in the same
// namespace without a filter: then a filtered one is about children of that kind.
func watchedWhole(entries map[string]eventsv1.ResourceEventSource, filtered eventsv1.ResourceEventSource) bool {
	for _, e := range entries {
		if e.Filter == nil && e.GroupVersionResource == filtered.GroupVersionResource && e.Namespace == filtered.Namespace {
			return true
		}
	}
	return false
}

// parentsOf are the kinds that are reconciled, as plural.group: those whose
// CustomResourceDefinitions are emitted, those the pod-side script names, and
// those on which requests leave their marks.
func parentsOf(o objects) map[string]bool {
	out := map[string]bool{}
	for _, crd := range all[*apiextensionsv1.CustomResourceDefinition](o) {
		out[crd.Spec.Names.Plural+"."+crd.Spec.Group] = true
	}
	for _, p := range o.pods() {
		for _, s := range p.scripts(o) {
			out[s.config.Parent.Plural+"."+s.config.Parent.group()] = true
		}
	}
	for _, q := range o.requests() {
		if q.contentType == mergeType {
			out[q.kind.resource+"."+q.kind.group] = true // on which is remembered what was seen
		}
	}
	return out
}

// clusterScopedIn are the kinds that are known to have no namespace, as plural.group.
func clusterScopedIn(o objects) map[string]bool {
	out := map[string]bool{}
	for _, crd := range all[*apiextensionsv1.CustomResourceDefinition](o) {
		out[crd.Spec.Names.Plural+"."+crd.Spec.Group] = crd.Spec.Scope == apiextensionsv1.ClusterScoped
	}
	for _, p := range o.pods() {
		for _, s := range p.scripts(o) {
			for _, k := range append(slices.Clone(s.config.Children), s.config.Parent) {
				out[k.Plural+"."+k.group()] = !k.Namespaced
			}
		}
	}
	for _, q := range o.requests() {
		out[q.kind.resource+"."+q.kind.group] = q.namespace == ""
	}
	return out
}

// replicas need a leader that only one of them can be.
func replicas(r *report, n *int32, annotations map[string]string) {
	if n != nil && *n > 1 && annotations[leaderElection] != "k8s" {
		r.add(field.NewPath("metadata", "annotations"), CodeDelivery, "set "+leaderElection+": k8s",
			"%d replicas elect their leader over the bus, where two can lead at once", *n)
	}
}

// delivery: an event is retried, then handed to a dead-letter trigger; it is
// never just dropped.
func delivery(o objects) []Problem {
	return each(o, func(r *report, s *eventsv1.Sensor) {
		replicas(r, s.Spec.Replicas, s.Annotations)
		for _, t := range o.triggers(s) {
			if !t.AtLeastOnce {
				r.add(t.path.Child("atLeastOnce"), CodeDelivery, "set it to true", "a failure loses the event, and retryStrategy has no effect")
			}
			if !t.deadLetter {
				retried(r, t)
			}
			amounts(r, t)
			triggerRules(r, o, s, t)
		}
	})
}

func retried(r *report, t trigger) {
	tried(r, t)
	at := t.path.Child("dlqTrigger")
	if t.DlqTrigger == nil {
		r.add(at, CodeDeadLetter, "add one, if only a log trigger", "when the retries are used up the event is acknowledged and gone")
		return
	}
	fallback := newTrigger(t.DlqTrigger, at, true)
	if key := t.key(); key != "" && t.DlqTrigger.Template != nil && fallback.key() == key {
		r.add(at, CodeDeadLetter, "make another request, or log", "the fallback makes the request again that has failed")
	}
}

func tried(r *report, t trigger) {
	if t.RetryStrategy == nil || t.RetryStrategy.Steps < 2 {
		r.add(t.path.Child("retryStrategy"), CodeRetry, "set steps to 2 or more", "one failed call loses the event")
	}
}

// amounts: Argo takes a quoted number and then drops every event.
func amounts(r *report, t trigger) {
	if t.RetryStrategy == nil {
		return
	}
	for name, amount := range map[string]*eventsv1.Amount{"factor": t.RetryStrategy.Factor, "jitter": t.RetryStrategy.Jitter} {
		if amount == nil {
			continue
		}
		if _, err := strconv.ParseFloat(string(amount.Value), 64); err != nil {
			r.add(t.path.Child("retryStrategy", name), CodeRetry, "write it without quotes", "%s is not a number: every event would be dropped", amount.Value)
		}
	}
}

func triggerRules(r *report, o objects, s *eventsv1.Sensor, t trigger) {
	at := t.path.Child("template")
	if t.Template.HTTP != nil {
		answered(r, t, tells(o, s, t))
	}
	if t.Template.ArgoWorkflow != nil {
		r.add(at.Child("argoWorkflow"), CodeTrigger, "create the Workflow by a k8s trigger",
			"runs a command line inside the Sensor, and needs more permissions than create")
	}
	if wf := t.workflow(); wf != nil {
		submitsReference(r, t, wf)
	}
	if k := t.Template.K8s; k != nil && k.Operation == eventsv1.Create && t.resource() != nil && !strings.Contains(string(t.resource()), `"generateName"`) {
		r.add(t.resourcePath().Child("metadata"), CodeTrigger, "use generateName", "the second event would find the object there and fail")
	}
}

// answered: an http trigger does not wait long, and takes for success only what
// another try would not change. Of an Event nothing depends: one that is refused
// in a namespace that is going may be given up.
func answered(r *report, t trigger, tells bool) {
	if h := t.Template.HTTP; h.Timeout <= 0 || h.Timeout > maxHTTPTimeout {
		r.add(t.path.Child("template", "http", "timeout"), CodeTimeout, "set it to 10 or less", "each call keeps its connection until the timeout (default 60 s)")
	}
	if t.deadLetter {
		tried(r, t)
	}
	at := t.path.Child("policy", "status", "allow")
	if t.Policy == nil || t.Policy.Status == nil || len(t.Policy.Status.Allow) == 0 {
		r.add(at, CodeDelivery, "list the codes of success", "without it every answer is a success, and no failed call is tried again")
		return
	}
	if tells && !slices.Contains(t.Policy.Status.Allow, 409) {
		r.add(at, CodeDelivery, "add 409", "the Event of a second delivery is there already, and would be tried again")
	}
	for i, code := range t.Policy.Status.Allow {
		if code == 403 && tells {
			continue
		}
		if code >= 500 || code < 200 || slices.Contains([]int32{401, 403, 429}, code) {
			r.add(at.Index(i), CodeDelivery, "leave it out", "%d is no success, and passes: the call has to be tried again", code)
		}
	}
}

// tells whether a trigger does nothing but create Events.
func tells(o objects, s *eventsv1.Sensor, t trigger) bool {
	found := false
	for _, d := range s.Spec.Dependencies {
		program := o.programOf(d)
		if program == nil || !slices.Contains(t.fires(), d.Name) {
			continue
		}
		list, problem := program.requestsUnder(t.key())
		if problem != "" || slices.ContainsFunc(list, func(q request) bool { return q.method != "POST" }) {
			return false
		}
		found = true
	}
	return found
}

// submitsReference: under templateReferencing Strict, a Workflow is a reference
// and arguments, and some little that may do no harm, as its priority.
func submitsReference(r *report, t trigger, wf *wfv1.Workflow) {
	bare := wfv1.WorkflowSpec{WorkflowTemplateRef: wf.Spec.WorkflowTemplateRef, Arguments: wf.Spec.Arguments, Priority: wf.Spec.Priority}
	if wf.Spec.WorkflowTemplateRef == nil || !equal(bare, wf.Spec) {
		r.add(t.resourcePath().Child("spec"), CodeTrigger, "move the rest to the WorkflowTemplate",
			"a created Workflow holds workflowTemplateRef, arguments and priority only, or a strict controller refuses it")
	}
}
