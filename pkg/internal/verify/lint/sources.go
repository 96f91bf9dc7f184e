package lint

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// sourceRules check EventSources.
func sourceRules() []Rule {
	return []Rule{
		{
			Code:    "after-start",
			Warning: true,
			Summary: "An EventSource ignores what happened before its pod started.",
			Why: "afterStart drops the ADD of every object that is older than the pod, so objects created while the pod restarts are " +
				"never reported. It also drops updates of older objects by server-side apply, and the update that marks them for deletion.",
			Fix:   "remove afterStart, and make what the events start idempotent",
			check: on(skipsOnStart),
		},
		{
			Code:    "invalid-event-type",
			Summary: "A resource event has no event type, or an unknown one.",
			Why:     "Argo accepts any word as event type. The EventSource's pod then fails again and again.",
			Fix:     "use ADD, UPDATE or DELETE",
			check:   on(eventTypes),
		},
		{
			Code:    "filter-loses-deletes",
			Warning: true,
			Summary: "An EventSource reports deletions and has a filter.",
			Why: "If the watch was interrupted, Argo Events receives late deletions in another form, and every filter drops them. With a " +
				"label filter, an object that loses its label is reported as deleted although it still exists.",
			Fix:   "remove the filter, and filter in the Sensor",
			check: on(losesDeletes),
		},
		{
			Code:    "duplicate-event-name",
			Summary: "Two events of an EventSource, or two dependencies of a Sensor, have the same name.",
			Why: "Sensors cannot distinguish the events, and Argo Events rejects the EventSource. Of the dependencies, only the last " +
				"gets events.",
			Fix: "rename one of them",
			check: func(i *inspection) {
				on(eventTwice)(i)
				on(dependencyTwice)(i)
			},
		},
		{
			Code:    "unsafe-leader-election",
			Warning: true,
			Summary: "The replicas of an EventSource or Sensor elect their leader over the EventBus.",
			Why: "If the leader of two replicas fails, both stop. During a rollout an old and a new pod can both be the leader, so " +
				"events arrive twice or not at all.",
			Fix:   "set the annotation events.argoproj.io/leader-election: k8s, and grant get, create and update on leases",
			check: twoLeaders,
		},
		{
			Code:    "default-service-account",
			Warning: true,
			Summary: "A pod that calls the API server uses the service account \"default\".",
			Why: "Every pod of the namespace without a serviceAccountName uses this account. A permission granted to it is granted to " +
				"all of them.",
			Fix:   "set spec.template.serviceAccountName",
			check: defaultAccount,
		},
		{
			Code:    "cluster-scoped-watch",
			Summary: "An EventSource watches a cluster-scoped kind in a namespace.",
			Why: "The path of the watch does not exist in the API. The pod tries again forever and its state is Running; only its log " +
				"shows the error.",
			Fix:   "remove namespace",
			check: on(watchesNowhere),
		},
		{
			Code:    "unauthenticated-webhook",
			Warning: true,
			Summary: "An EventSource accepts requests from everyone.",
			Why: "Without a secret, every pod of the cluster, and everyone who can reach the endpoint, can send an event with any " +
				"content.",
			Fix:   "name a Secret with a token that the sender knows",
			check: on(open),
		},
	}
}

// namedEvent is an event of an EventSource.
type namedEvent struct {
	kind, name string
	path       *field.Path
	text       bool // the body of its events is text: it has no jsonBody
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
			parsed := spec.Field(i).MapIndex(reflect.ValueOf(name)).FieldByName("JSONBody")
			text := parsed.IsValid() && !parsed.Bool()
			out = append(out, namedEvent{kind, name, field.NewPath("spec", kind).Key(name), text})
		}
	}
	return out
}

func skipsOnStart(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e := s.Spec.Resource[name]
		if f := e.Filter; f != nil && f.AfterStart && slices.ContainsFunc(e.EventTypes, func(t eventsv1.ResourceEventType) bool {
			return t != eventsv1.DELETE // its time is that of the deletion
		}) {
			i.report(field.NewPath("spec", "resource").Key(name).Child("filter", "afterStart"),
				"afterStart drops objects that were created before the pod started")
		}
	}
}

func eventTypes(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		r := problem.About(s)
		admission.EventTypes(r, i.rule.Code, field.NewPath("spec", "resource").Key(name), s.Spec.Resource[name])
		for _, p := range r.Problems {
			i.adopt(p)
		}
	}
}

func losesDeletes(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e := s.Spec.Resource[name]
		if f := e.Filter; f != nil && !f.AfterStart && slices.Contains(e.EventTypes, eventsv1.DELETE) && !watchesUnfiltered(s) {
			i.report(
				field.NewPath("spec", "resource").Key(name).Child("filter"),
				"the filter drops deletions that happen while the watch is interrupted",
			)
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
			i.report(e.path, "the name %q is already used by an event in %s", e.name, other)
		}
		seen[e.name] = e.kind
	}
}

func twoLeaders(i *inspection) {
	var replicas *int32
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		if slices.ContainsFunc(eventsOf(o), func(e namedEvent) bool { return isRecreated(e.kind) }) { // all pods of others work
			replicas = o.Spec.Replicas
		}
	case *eventsv1.Sensor:
		replicas = o.Spec.Replicas
	}
	if argo.ElectsOverBus(replicas, i.Object.GetAnnotations()) {
		i.report(field.NewPath("spec", "replicas"), "%d replicas elect their leader over the EventBus, which can elect two", *replicas)
	}
}

func defaultAccount(i *inspection) {
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		if len(o.Spec.Resource) > 0 && argo.EventsAccount(o.Spec.Template) == "default" {
			i.report(field.NewPath("spec", "template", "serviceAccountName"), "the EventSource watches resources as service account "+
				"\"default\"")
		}
	case *eventsv1.Sensor:
		creates := slices.ContainsFunc(argo.Triggers(o), func(t argo.Trigger) bool {
			return t.Template.K8s != nil || t.Template.ArgoWorkflow != nil
		})
		if creates && argo.EventsAccount(o.Spec.Template) == "default" {
			i.report(field.NewPath("spec", "template", "serviceAccountName"), "the Sensor's triggers run as service account \"default\"")
		}
	}
}

func watchesNowhere(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		if e := s.Spec.Resource[name]; e.Namespace != "" && i.set.clusterScoped(e) {
			i.report(field.NewPath("spec", "resource").Key(name).Child("namespace"), "%s is cluster-scoped",
				argo.Qualified(e.Group, e.Resource))
		}
	}
}

// clusterScoped reports whether a watched kind is known to be cluster-scoped.
func (s *objectSet) clusterScoped(e eventsv1.ResourceEventSource) bool {
	known := slices.ContainsFunc(schema.BuiltinKinds(), func(k schema.BuiltinKind) bool {
		return k.Group == e.Group && k.Plural == e.Resource && !k.Namespaced()
	})
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](s.all) {
		if crd.Spec.Group == e.Group && crd.Spec.Names.Plural == e.Resource {
			if known = crd.Spec.Scope == apiextensionsv1.ClusterScoped; !known {
				return false
			}
		}
	}
	return known
}

// open reports the endpoints of an EventSource that have no secret.
func open(i *inspection, s *eventsv1.EventSource) {
	report := func(kind, name, key string, secret *corev1.SecretKeySelector) {
		if secret == nil {
			i.reportHint(field.NewPath("spec", kind).Key(name), "set "+key+" to a Secret with a token that the sender knows",
				"the endpoint accepts requests from everyone")
		}
	}
	for name, e := range s.Spec.Webhook {
		report("webhook", name, "authSecret", e.AuthSecret)
	}
	for name, e := range s.Spec.Github {
		report("github", name, "webhookSecret", e.WebhookSecret)
	}
	for name, e := range s.Spec.Gitlab {
		report("gitlab", name, "secretToken", e.SecretToken)
	}
	for name, e := range s.Spec.BitbucketServer {
		report("bitbucketserver", name, "webhookSecret", e.WebhookSecret)
	}
	for name, e := range s.Spec.Slack {
		report("slack", name, "signingSecret", e.SigningSecret)
	}
}
