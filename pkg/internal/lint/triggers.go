package lint

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/check"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// triggerRules check the triggers of a Sensor.
func triggerRules() []Rule {
	return []Rule{
		{
			Code:    "retry-strategy-ignored",
			Summary: "A trigger has a retryStrategy and no atLeastOnce.",
			Why:     "Without atLeastOnce the strategy is not used at all: one failed call, and the event is gone.",
			Fix:     "set atLeastOnce: true",
			check:   eachTrigger(deadRetry),
		},
		{
			Code:    "at-most-once",
			Warning: true,
			Summary: "A trigger runs at most once.",
			Why: "Without atLeastOnce a failure loses the event, a crash of the Sensor loses all that are under way, and events of one " +
				"object overtake each other.",
			Fix:   "set atLeastOnce: true and a retryStrategy",
			check: eachTrigger(atMostOnce),
		},
		{
			Code:    "no-retry",
			Warning: true,
			Summary: "A trigger that is to run at least once is tried once.",
			Why:     "The event is acknowledged after the last try, whatever came of it: one restart of the API server loses it.",
			Fix:     "set retryStrategy.steps to 2 or more",
			check:   eachTrigger(notRetried),
		},
		{
			Code:    "invalid-retry-strategy",
			Summary: "A factor or jitter of a retryStrategy is not a number.",
			Why:     "Quoted, it applies cleanly, and then every event is dropped.",
			Fix:     "write it without quotes",
			check:   eachTrigger(retryAmount),
		},
		{
			Code:    "no-dead-letter",
			Warning: true,
			Summary: "Nothing happens when the retries are used up.",
			Why:     "The event is acknowledged and gone; only the Sensor's log knows.",
			Fix:     "add a dlqTrigger, if only one that logs",
			check:   eachTrigger(noDeadLetter),
		},
		{
			Code:    "argo-workflow-trigger",
			Warning: true,
			Summary: "A Workflow is submitted by an argoWorkflow trigger.",
			Why: "It runs the argo command line inside the Sensor for each event, of the version that its image has: a field that it does " +
				"not know is refused. Besides create it needs the right to list Workflows and to read templates.",
			Fix:   "create the Workflow by a k8s trigger",
			check: eachTrigger(submits),
		},
		{
			Code:    "invalid-parameter-destination",
			Summary: "A parameter writes to a place that the object does not have.",
			Why:     "Argo Events fills a list up with nulls, or fails; the field that was meant keeps its value.",
			Fix:     "correct dest",
			check:   eachTrigger(missingDestination),
		},
		{
			Code:    "fixed-name",
			Summary: "Each event creates an object of the same name.",
			Why:     "The second one finds it there and fails.",
			Fix:     "use generateName, or a parameter that writes metadata.name",
			check:   eachTrigger(sameName),
		},
		{
			Code:    "irregular-plural",
			Summary: "Argo Events calls the kind by another plural than its definition does.",
			Why:     "A k8s trigger makes the plural of the kind by English spelling and never asks the API server: every call is a 404.",
			Fix:     "give the kind that plural, or call the API server by an http trigger",
			check:   eachTrigger(wrongPlural),
		},
		{
			Code:    "cluster-scoped-trigger",
			Summary: "A k8s trigger acts on a kind without a namespace.",
			Why:     "Argo Events puts a namespace into the path of every kind but Namespace and Node: every call is a 404.",
			Fix:     "call the API server by an http trigger, or start a Workflow",
			check:   eachTrigger(unscoped),
		},
		{
			Code:    "unsupported-patch-strategy",
			Summary: "A patch strategy that a k8s trigger cannot carry.",
			Why:     "A JSON patch is a list and the trigger sends an object; a server-side apply needs a field manager, which it does not send.",
			Fix:     "leave patchStrategy out (merge), or call the API server by an http trigger",
			check:   eachTrigger(impossiblePatch),
		},
		{
			Code:    "patch-creates-object",
			Warning: true,
			Summary: "A patch or update creates what is not there, and the Sensor may.",
			Why:     "A late event of something that was deleted brings it back.",
			Fix:     "do not grant create on that kind to the Sensor's service account",
			check:   eachTrigger(resurrects),
		},
		{
			Code:    "http-timeout",
			Warning: true,
			Summary: "An http trigger waits longer than ten seconds.",
			Why:     "It never closes an answer: each call keeps a connection until the timeout, which is 60 s by default.",
			Fix:     "set timeout to 10 or less, in seconds",
			check:   eachTrigger(waitsLong),
		},
		{
			Code:    "unchecked-http-status",
			Warning: true,
			Summary: "An http trigger takes any answer for a success.",
			Why:     "Without policy.status.allow a 403 or a 503 counts as done: nothing is tried again.",
			Fix:     "list the codes of success in policy.status.allow",
			check:   eachTrigger(anyAnswer),
		},
	}
}

// eachTrigger calls check for every trigger of a Sensor.
func eachTrigger(check func(*inspection, *eventsv1.Sensor, argo.Trigger)) func(*inspection) {
	return on(func(i *inspection, s *eventsv1.Sensor) {
		for _, t := range argo.Triggers(s) {
			check(i, s, t)
		}
	})
}

func deadRetry(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.RetryStrategy != nil && !t.AtLeastOnce {
		i.report(t.Path.Child("retryStrategy"), "has no effect without atLeastOnce")
	}
}

func atMostOnce(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.RetryStrategy == nil && !t.AtLeastOnce && !t.DeadLetter && t.Template.Log == nil {
		i.report(t.Path.Child("template"), "a failure loses the event")
	}
}

func notRetried(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.AtLeastOnce && t.Template.Log == nil && (t.RetryStrategy == nil || t.RetryStrategy.Steps < 2) {
		i.report(t.Path.Child("retryStrategy"), "one failed call loses the event")
	}
}

func retryAmount(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	r := problem.About(i.Object)
	check.RetryAmounts(r, t)
	for _, p := range r.Problems {
		i.adopt(p)
	}
}

func noDeadLetter(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.AtLeastOnce && t.RetryStrategy != nil && t.DlqTrigger == nil && !t.DeadLetter && t.Template.Log == nil {
		i.report(t.Path.Child("retryStrategy"), "when the tries are used up the event is gone")
	}
}

func submits(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if w := t.Template.ArgoWorkflow; w != nil && (w.Operation == "" || w.Operation == eventsv1.Submit) && len(w.Args) == 0 {
		i.report(t.Path.Child("template", "argoWorkflow"), "runs the argo command line for each event")
	}
}

func missingDestination(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	for _, p := range t.ObjectParameters() {
		if data, ok := p.Into.([]byte); !ok || len(data) == 0 || strings.HasSuffix(p.Dest, ".-1") {
			continue // appends, or the object is not inline
		}
		if problem := p.DestError(1); problem != "" {
			i.report(p.Path.Child("dest"), "%s: %s", p.Dest, problem)
		}
	}
}

func sameName(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	creates := t.Template.K8s != nil && (t.Template.K8s.Operation == "" || t.Template.K8s.Operation == eventsv1.Create) ||
		t.Template.ArgoWorkflow != nil && t.Template.ArgoWorkflow.Operation == eventsv1.Submit
	data, path := t.ObjectBytes()
	var object metav1.PartialObjectMetadata
	if !creates || data == nil || yaml.Unmarshal(data, &object) != nil || object.Name == "" {
		return
	}
	for _, p := range t.AllParameters() {
		if strings.HasPrefix(p.Dest, "metadata") || p.List == "parameters" && strings.Contains(p.Dest, "source.resource") {
			return
		}
	}
	i.report(path.Child("metadata", "name"), "the second event finds %q there and fails", object.Name)
}

// resourceOf returns the object of a k8s trigger.
func resourceOf(t argo.Trigger) (metav1.PartialObjectMetadata, bool) {
	var object metav1.PartialObjectMetadata
	if t.Template.K8s == nil || t.Resource() == nil || yaml.Unmarshal(t.Resource(), &object) != nil {
		return object, false
	}
	return object, object.Kind != ""
}

func (i *inspection) definitionOf(group, kind string) *apiextensionsv1.CustomResourceDefinition {
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](i.set.all) {
		if crd.Spec.Group == group && crd.Spec.Names.Kind == kind {
			return crd
		}
	}
	return nil
}

func wrongPlural(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	object, ok := resourceOf(t)
	if !ok {
		return
	}
	crd := i.definitionOf(object.GroupVersionKind().Group, object.Kind)
	if guessed := schema.GuessedPlural(object.Kind); crd != nil && crd.Spec.Names.Plural != guessed {
		i.report(t.ResourcePath().Child("kind"), "Argo Events calls the resource %s, its definition %s", guessed, crd.Spec.Names.Plural)
	}
}

// clusterScopedKinds are built-in cluster-scoped kinds except those that Argo
// Events treats as such.
var clusterScopedKinds = []string{
	"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "PersistentVolume", "StorageClass", "IngressClass", "PriorityClass",
	"RuntimeClass", "APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ClusterWorkflowTemplate",
}

func unscoped(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	object, ok := resourceOf(t)
	if !ok {
		return
	}
	crd := i.definitionOf(object.GroupVersionKind().Group, object.Kind)
	if slices.Contains(clusterScopedKinds, object.Kind) || crd != nil && crd.Spec.Scope == apiextensionsv1.ClusterScoped {
		i.report(t.ResourcePath().Child("kind"), "a %s has no namespace, and the trigger states one in the path", object.Kind)
	}
}

func impossiblePatch(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if k := t.Template.K8s; k != nil && (k.PatchStrategy == types.JSONPatchType || k.PatchStrategy == types.ApplyPatchType) {
		i.report(t.Path.Child("template", "k8s", "patchStrategy"), "%s cannot be sent", k.PatchStrategy)
	}
}

func resurrects(i *inspection, s *eventsv1.Sensor, t argo.Trigger) {
	object, ok := resourceOf(t)
	if k := t.Template.K8s; !ok || k.Operation != eventsv1.Patch && k.Operation != eventsv1.Update || object.Kind == "Workflow" {
		return
	}
	c := argo.TriggerCall(s, t)
	c.Verb, c.Account = "create", argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}
	if i.set.granted(c) {
		i.report(t.Path.Child("template", "k8s", "operation"), "creates a %s that is not there, and service account %s may", object.Kind, c.Account.Name)
	}
}

func waitsLong(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	h := t.Template.HTTP
	switch {
	case h == nil:
	case h.Timeout <= 0:
		i.report(t.Path.Child("template", "http"), "each call keeps a connection for 60 s")
	case h.Timeout > check.MaxHTTPTimeout:
		i.report(t.Path.Child("template", "http", "timeout"), "each call keeps a connection for %d s", h.Timeout)
	}
}

func anyAnswer(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.Template.HTTP != nil && (t.Policy == nil || t.Policy.Status == nil || len(t.Policy.Status.Allow) == 0) {
		i.report(t.Path.Child("template", "http"), "a refused call counts as done")
	}
}
