package lint

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// triggerRules check the triggers of a Sensor.
func triggerRules() []Rule {
	return []Rule{
		{
			Code:    "retry-strategy-ignored",
			Summary: "A trigger has a retryStrategy and no atLeastOnce.",
			Why:     "Without atLeastOnce the Sensor ignores the retryStrategy: one failed call loses the event.",
			Fix:     "set atLeastOnce: true",
			check:   eachTrigger(deadRetry),
		},
		{
			Code:    "at-most-once",
			Warning: true,
			Strict:  true,
			Summary: "A trigger runs at most once for an event.",
			Why: "Without atLeastOnce a failed call loses the event, and a restart of the Sensor loses all events in progress. Events " +
				"can also overtake each other.",
			Fix:   "set atLeastOnce: true and a retryStrategy",
			check: eachTrigger(atMostOnce),
		},
		{
			Code:    "no-retry",
			Warning: true,
			Summary: "A trigger with atLeastOnce has no retries.",
			Why: "The Sensor acknowledges the event after the last attempt, even if it failed. One restart of the API server loses " +
				"the event.",
			Fix:   "set retryStrategy.steps to 2 or more",
			check: eachTrigger(notRetried),
		},
		{
			Code:    "invalid-retry-strategy",
			Summary: "The factor or jitter of a retryStrategy is not a number, or its duration is no duration.",
			Why:     "kubectl applies such a value without an error, and then the Sensor drops every event before the first attempt.",
			Fix:     "write the number without quotes",
			check:   eachTrigger(retryAmount),
		},
		{
			Code:    "invalid-rate-limit",
			Summary: "A rate limit has an unknown unit, or no number of requests.",
			Why:     "An unknown unit counts as a second. Without a number of requests the Sensor's pod fails again and again.",
			Fix:     "set unit to Second, Minute or Hour, and requestsPerUnit to 1 or more",
			check:   eachTrigger(rateLimit),
		},
		{
			Code:    "no-dead-letter",
			Warning: true,
			Summary: "A trigger has no dead-letter trigger.",
			Why:     "After the last retry the Sensor acknowledges the event, and it is lost. Only the Sensor's log shows it.",
			Fix:     "add a dlqTrigger, for example one that logs the event",
			check:   eachTrigger(noDeadLetter),
		},
		{
			Code:    "argo-workflow-trigger",
			Warning: true,
			Strict:  true,
			Summary: "An argoWorkflow trigger submits a Workflow.",
			Why: "For each event it runs the argo command in the Sensor's pod, in the version of the Sensor's image, which rejects " +
				"fields that it does not know. It needs permission to list Workflows and to read templates as well.",
			Fix:   "create the Workflow with a k8s trigger",
			check: eachTrigger(submits),
		},
		{
			Code:    "failing-trigger",
			Summary: "With its settings, a trigger fails for every event.",
			Why:     "Argo Events accepts the settings. Only the Sensor's log shows the error.",
			Fix:     "correct the setting",
			check:   eachTrigger(failingTriggers),
		},
		{
			Code:    "several-trigger-types",
			Summary: "A trigger has several types.",
			Why:     "Argo Events uses the first one that it knows, and ignores the others.",
			Fix:     "write a trigger for each",
			check:   eachTrigger(twoTypes),
		},
		{
			Code:    "invalid-parameter-destination",
			Summary: "A parameter writes to a path that the trigger's object does not have.",
			Why:     "Argo Events appends nulls to a list or fails, and the intended field keeps its value.",
			Fix:     "correct dest",
			check:   eachTrigger(missingDestination),
		},
		{
			Code:    "fixed-name",
			Summary: "A trigger creates an object of the same name for every event.",
			Why:     "The second event fails because the object already exists.",
			Fix:     "use generateName, or a parameter that sets metadata.name",
			check:   eachTrigger(sameName),
		},
		{
			Code:    "irregular-plural",
			Summary: "A k8s trigger guesses the wrong plural of a kind.",
			Why: "Argo Events derives the plural of a kind from its name by English spelling. If the CustomResourceDefinition has " +
				"another plural, every call fails with 404.",
			Fix:   "change the plural of the kind, or call the API server with an http trigger",
			check: eachTrigger(wrongPlural),
		},
		{
			Code:    "cluster-scoped-trigger",
			Summary: "A k8s trigger creates or changes a cluster-scoped object.",
			Why:     "Argo Events sends every kind except Namespace and Node to a namespaced path, so every call fails with 404.",
			Fix:     "call the API server with an http trigger, or start a Workflow",
			check:   eachTrigger(unscoped),
		},
		{
			Code:    "unsupported-patch-strategy",
			Summary: "A k8s trigger cannot send this kind of patch.",
			Why: "A JSON patch is a list, but the trigger sends an object. A server-side apply needs a field manager, which the " +
				"trigger does not send.",
			Fix:   "remove patchStrategy, which then is a merge patch, or call the API server with an http trigger",
			check: eachTrigger(impossiblePatch),
		},
		{
			Code:    "patch-creates-object",
			Warning: true,
			Summary: "A trigger patches or updates an object, and is allowed to create it.",
			Why:     "Argo Events creates the object if it does not exist. A late event of a deleted object therefore brings it back.",
			Fix:     "do not grant create on this kind to the Sensor's service account",
			check:   eachTrigger(resurrects),
		},
		{
			Code:    "http-timeout",
			Warning: true,
			Summary: "The timeout of an http trigger is longer than ten seconds.",
			Why: "Argo Events does not close responses: each call whose answer has a body keeps its connection open until the timeout, " +
				"which is 60 s by default.",
			Fix:   "set timeout to 10 or less, in seconds",
			check: eachTrigger(waitsLong),
		},
		{
			Code:    "unchecked-http-status",
			Warning: true,
			Summary: "An http trigger treats every response as success.",
			Why:     "Without policy.status.allow, a response of 403 or 503 counts as success, and the Sensor does not retry.",
			Fix:     "list the status codes of success in policy.status.allow",
			check:   eachTrigger(anyAnswer),
		},
		{
			Code:    "success-counts-as-failure",
			Summary: "An awsLambda trigger treats the answer of an asynchronous call as failure.",
			Why:     "Lambda answers 202 to invocationType Event. The Sensor calls again until its retries are over.",
			Fix:     "add 202 to policy.status.allow",
			check:   eachTrigger(refusesAccepted),
		},
		{
			Code:    "failure-counts-as-success",
			Warning: true,
			Summary: "An http trigger treats a response that asks for another attempt as success.",
			Why: "A response of 401, 403, 429 or 5xx says that the call had no effect, and may succeed later. A code in " +
				"policy.status.allow is not tried again, so the event is lost.",
			Fix:   "remove the code from policy.status.allow",
			check: eachTrigger(toleratesFailure),
		},
		{
			Code:    "header-of-another-event",
			Summary: "An http trigger takes a header from an event that may be missing.",
			Why: "With several dependencies joined by || the trigger fires on one event, but Argo Events reads every entry of " +
				"dynamicHeaders, and fails for those of the other events.",
			Fix:   "use parameters with the destination headers.NAME",
			check: eachTrigger(absentHeader),
		},
		{
			Code:    "token-in-manifest",
			Warning: true,
			Summary: "A header of an http trigger contains a token or a password.",
			Why:     "Everyone who can read the Sensor, or the repository with it, can use the token.",
			Fix:     "move it to a Secret, and name that in secureHeaders",
			check:   eachTrigger(readableToken),
		},
		{
			Code:    "event-chooses-host",
			Warning: true,
			Summary: "An event chooses the host to which an http trigger sends credentials.",
			Why:     "Everyone who can cause the event can send the credentials to a server of their own.",
			Fix:     "write the host into url, or into the beginning of the template",
			check:   eachTrigger(sendsAnywhere),
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
		i.report(t.Path.Child("retryStrategy"), "retryStrategy has no effect without atLeastOnce")
	}
}

func atMostOnce(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.RetryStrategy == nil && !t.AtLeastOnce && !t.DeadLetter && t.Template.Log == nil {
		i.report(t.Path.Child("template"), "a failed call loses the event")
	}
}

func notRetried(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.AtLeastOnce && t.Template.Log == nil && (t.RetryStrategy == nil || t.RetryStrategy.Steps < 2) {
		i.report(t.Path.Child("retryStrategy"), "without retries, one failed call loses the event")
	}
}

func retryAmount(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	i.backoff(t.Path.Child("retryStrategy"), t.RetryStrategy, "every event would be dropped")
	if t.Policy != nil && t.Policy.K8s != nil {
		i.backoff(t.Path.Child("policy", "k8s", "backoff"), t.Policy.K8s.Backoff, "the trigger fails after it has created the object")
	}
	if p := t.Template.Pulsar; p != nil {
		i.backoff(t.Path.Child("template", "pulsar", "connectionBackoff"), p.ConnectionBackoff, "the trigger never connects")
	}
}

// backoff reports what Argo Events cannot read in a backoff.
func (i *inspection) backoff(at *field.Path, b *eventsv1.Backoff, consequence string) {
	for name, why := range argo.UnreadableAmounts(b) {
		hint := "write it without quotes"
		if name == "duration" {
			hint = "write s, m or h, such as 10s"
		}
		i.reportHint(at.Child(name), hint, "%s: %s", why, consequence)
	}
}

func rateLimit(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.RateLimit == nil {
		return
	}
	at, unit := t.Path.Child("rateLimit"), string(t.RateLimit.Unit)
	known := []string{string(eventsv1.Second), string(eventsv1.Minute), string(eventsv1.Hour)}
	if unit != "" && !slices.Contains(known, unit) {
		i.reportHint(at.Child("unit"), diag.DidYouMean(unit, known, strings.ToLower),
			"there is no unit %s: the limit is for each second", unit)
	}
	if t.RateLimit.RequestsPerUnit <= 0 {
		i.report(at, "a rate limit needs requestsPerUnit")
	}
}

func noDeadLetter(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.AtLeastOnce && t.RetryStrategy != nil && t.DlqTrigger == nil && !t.DeadLetter && t.Template.Log == nil {
		i.report(t.Path.Child("retryStrategy"), "the event is lost after the last retry")
	}
}

func submits(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if w := t.Template.ArgoWorkflow; w != nil && (w.Operation == "" || w.Operation == eventsv1.Submit) && len(w.Args) == 0 {
		i.report(t.Path.Child("template", "argoWorkflow"), "the trigger runs the argo command for each event")
	}
}

func missingDestination(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if slices.ContainsFunc(t.Parameters, func(p eventsv1.TriggerParameter) bool { return strings.HasSuffix(p.Dest, ".dest") }) {
		return // an event writes the destination
	}
	whole := schema.OfGo(reflect.TypeOf(*t.Template))
	for n, p := range t.Parameters {
		at := t.Path.Child("parameters").Index(n).Child("dest")
		if first := argo.Segments(p.Dest)[0]; !slices.Contains(whole.Fields(), first) {
			hint := cmp.Or(diag.DidYouMean(first, whole.Fields(), strings.ToLower), "begin it with the type of the trigger")
			if len(t.Resource()) > 0 {
				hint = "write k8s.source.resource." + p.Dest + ", or move it to the parameters of k8s"
			}
			i.reportHint(at, hint, "%s: a trigger has no field %s", p.Dest, first)
			continue
		}
		i.destinationIn(at, whole, p.Dest)
	}
	for _, p := range t.AllParameters() {
		if of, ok := whole.Field(p.List); ok && slices.Contains(ownDestinations, p.List) {
			i.destinationIn(p.Path.Child("dest"), of, p.Dest)
		}
	}
	for _, p := range t.ObjectParameters() {
		if data, ok := p.Into.([]byte); !ok || len(data) == 0 || strings.HasSuffix(p.Dest, ".-1") {
			continue // appends, or the object is not inline
		}
		if of, known := (objectOf{p.Into.([]byte)}).typeOf(); known {
			if why, hint := unknownDestination(of, p.Dest); why != "" {
				i.reportHint(p.Path.Child("dest"), cmp.Or(hint, i.rule.Fix), "%s: %s", p.Dest, why)
				continue
			}
		}
		more := 1
		if argument().MatchString(p.Dest) && !named(t, p.Dest) {
			more = 0
		}
		if problem := p.DestError(more); problem != "" {
			i.report(p.Path.Child("dest"), "%s: %s", p.Dest, problem)
		}
	}
}

// ownDestinations are the types of triggers whose parameters write into all of their fields.
var ownDestinations = []string{"http", "kafka", "awsLambda", "openWhisk"}

// destinationIn reports a destination that is no field of a trigger. Argo Events ignores the case of fields.
func (i *inspection) destinationIn(at *field.Path, of schema.Type, dest string) {
	why, hint := unknownDestination(of, strings.TrimSuffix(dest, ".-1"))
	_, missing, in := placed(of, dest)
	if why != "" && (in == nil || !slices.ContainsFunc(in.Fields(), func(name string) bool { return strings.EqualFold(name, missing) })) {
		i.reportHint(at, hint, "%s: %s", dest, why)
	}
}

// argument matches the value of an argument by its position. Argo refuses a Workflow with an
// argument that has no name.
var argument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^spec\.arguments\.parameters\.\d+\.value$`) })

// named reports whether another parameter writes the name of an argument.
func named(t argo.Trigger, value string) bool {
	name := strings.TrimSuffix(value, "value") + "name"
	return slices.ContainsFunc(t.ObjectParameters(), func(p argo.Parameter) bool { return p.Dest == name })
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
	i.report(path.Child("metadata", "name"), "every event creates %q, and fails once it exists", object.Name)
}

// resourceOf returns the object of a k8s trigger.
func resourceOf(t argo.Trigger) (metav1.PartialObjectMetadata, bool) {
	var object metav1.PartialObjectMetadata
	if t.Template.K8s == nil || t.Resource() == nil || yaml.Unmarshal(t.Resource(), &object) != nil {
		return object, false
	}
	return object, object.Kind != ""
}

func (s *objectSet) definitionOf(group, kind string) *apiextensionsv1.CustomResourceDefinition {
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](s.all) {
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
	crd := i.set.definitionOf(object.GroupVersionKind().Group, object.Kind)
	if guessed := schema.GuessedPlural(object.Kind); crd != nil && crd.Spec.Names.Plural != guessed {
		i.report(
			t.ResourcePath().Child("kind"),
			"Argo Events calls %s, but the plural of %s is %s",
			guessed,
			object.Kind,
			crd.Spec.Names.Plural,
		)
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
	crd := i.set.definitionOf(object.GroupVersionKind().Group, object.Kind)
	if slices.Contains(clusterScopedKinds, object.Kind) || crd != nil && crd.Spec.Scope == apiextensionsv1.ClusterScoped {
		i.report(t.ResourcePath().Child("kind"), "%s is cluster-scoped, but the trigger calls a namespaced path", object.Kind)
	}
}

// sentPatches are the patches that a k8s trigger can send.
var sentPatches = []types.PatchType{types.MergePatchType, types.StrategicMergePatchType}

func impossiblePatch(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if k := t.Template.K8s; k != nil && k.PatchStrategy != "" && !slices.Contains(sentPatches, k.PatchStrategy) {
		hint := "use " + string(sentPatches[0]) + " or " + string(sentPatches[1])
		if k.PatchStrategy == types.JSONPatchType || k.PatchStrategy == types.ApplyPatchType {
			hint = "" // the program wants another kind
		}
		i.reportHint(t.Path.Child("template", "k8s", "patchStrategy"), hint, "a k8s trigger cannot send %s", k.PatchStrategy)
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
		i.report(
			t.Path.Child("template", "k8s", "operation"),
			"a late event recreates a deleted %s, because service account %s can create it",
			object.Kind,
			c.Account.Name,
		)
	}
}

func waitsLong(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	h := t.Template.HTTP
	switch {
	case h == nil:
	case h.Timeout <= 0:
		i.report(t.Path.Child("template", "http"), "a call whose answer has a body keeps its connection for 60 s")
	case h.Timeout > argo.MaxHTTPTimeout:
		i.report(t.Path.Child("template", "http", "timeout"), "a call whose answer has a body keeps its connection for %d s", h.Timeout)
	}
}

func anyAnswer(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.Template.HTTP != nil && (t.Policy == nil || t.Policy.Status == nil || len(t.Policy.Status.Allow) == 0) {
		i.report(t.Path.Child("template", "http"), "a response such as 403 or 503 counts as success")
	}
}

func refusesAccepted(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if l := t.Template.AWSLambda; l == nil || l.InvocationType == nil || *l.InvocationType != "Event" || t.Policy == nil ||
		t.Policy.Status == nil || len(t.Policy.Status.Allow) == 0 || slices.Contains(t.Policy.Status.Allow, http.StatusAccepted) {
		return
	}
	i.report(t.Path.Child("policy", "status", "allow"), "Lambda answers 202, which is not in the list")
}

func toleratesFailure(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.Template.HTTP == nil || t.Policy == nil || t.Policy.Status == nil {
		return
	}
	var failures []int
	for n, code := range t.Policy.Status.Allow {
		if code >= 500 || slices.Contains([]int32{401, 403, 429}, code) {
			failures = append(failures, n)
		}
	}
	if len(failures) > 4 {
		return // a list of all codes says that the answer does not matter
	}
	for _, n := range failures {
		i.report(t.Path.Child("policy", "status", "allow").Index(n), "a response of %d counts as success", t.Policy.Status.Allow[n])
	}
}

func absentHeader(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.Template.HTTP == nil || !strings.Contains(t.Template.Conditions, "||") {
		return
	}
	for n, p := range t.Template.HTTP.DynamicHeaders {
		if p.Src != nil && p.Src.Value == nil {
			i.report(t.Path.Child("template", "http", "dynamicHeaders").Index(n),
				"the trigger fails on an event without dependency %q", p.Src.DependencyName)
		}
	}
}

func readableToken(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.Template.HTTP == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.Template.HTTP.Headers)) {
		secret := slices.ContainsFunc([]string{"authorization", "proxy-authorization", "x-api-key", "private-token"},
			func(known string) bool { return strings.EqualFold(name, known) })
		if secret && t.Template.HTTP.Headers[name] != "" {
			i.report(t.Path.Child("template", "http", "headers").Key(name), "header %s is readable in the Sensor", name)
		}
	}
}

// fixedHost matches the beginning of a template of a URL whose host does not depend on the event.
var fixedHost = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^https?://[^/{]+/`) })

func sendsAnywhere(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	h := t.Template.HTTP
	if h == nil || len(h.SecureHeaders) == 0 && h.BasicAuth == nil {
		return
	}
	for _, p := range t.AllParameters() {
		whole := p.Target() == "host" || p.Target() == "url" && (p.Operation == "" || p.Operation == eventsv1.TriggerParameterOpOverwrite)
		if p.Src != nil && whole && !p.IsSafeTemplate() && !fixedHost().MatchString(p.Src.DataTemplate+p.Src.ContextTemplate) {
			i.report(p.Path.Child("dest"), "the event chooses the host that receives the credentials")
		}
	}
}
