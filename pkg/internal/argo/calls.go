package argo

import (
	"cmp"
	"encoding/json"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/internal/schema"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Call is a call to the API server that the emitted objects lead to.
type Call struct {
	Account   Account
	Verb      string
	Group     string
	Resource  string // with the subresource: memcacheds/status
	Namespace string // "" for every namespace, and for a cluster-scoped resource
	Name      string // "" where it is only known later
	Why       string

	In   manifest.Object // whose call it is
	Path *field.Path
}

// Account is a service account.
type Account struct{ Namespace, Name string }

func (a Account) String() string { return a.Namespace + "/" + a.Name }

// CallsOf derives the calls from the objects that make them, whatever Roles there
// are; all but those of the pod's program.
func CallsOf(o Objects) []Call {
	return slices.Concat(sourceCalls(o), sensorCalls(o), executorCalls(o), resourceCalls(o))
}

// Group is the API group of Argo.
const Group = schema.ArgoGroup

// LeaderElection is the annotation that makes replicas elect a leader by a Lease.
const LeaderElection = "events.argoproj.io/leader-election"

// sourceCalls: an informer lists and watches; a leader holds a Lease.
func sourceCalls(o Objects) []Call {
	var out []Call
	for _, s := range All[*eventsv1.EventSource](o) {
		by := Account{s.Namespace, EventsAccount(s.Spec.Template)}
		for name, e := range s.Spec.Resource {
			at := Call{
				Account: by, Group: e.Group, Resource: e.Resource, Namespace: e.Namespace,
				Why: "the EventSource watches it", In: s, Path: field.NewPath("spec", "resource").Key(name),
			}
			out = append(out, at.each("list", "watch")...)
		}
		out = append(out, leaseCalls(s, by, s.Annotations)...)
	}
	return out
}

// EventsAccount is the service account of the pod of an EventSource or a Sensor.
func EventsAccount(t *eventsv1.Template) string {
	if t == nil {
		return "default"
	}
	return cmp.Or(t.ServiceAccountName, "default")
}

func leaseCalls(in manifest.Object, by Account, annotations map[string]string) []Call {
	if annotations[LeaderElection] != "k8s" {
		return nil
	}
	at := Call{
		Account: by, Group: "coordination.k8s.io", Resource: "leases", Namespace: in.GetNamespace(),
		Why: "replicas elect a leader", In: in, Path: field.NewPath("metadata", "annotations").Key(LeaderElection),
	}
	return at.each("get", "create", "update")
}

// each is the call with each of the verbs.
func (c Call) each(verbs ...string) []Call {
	var out []Call
	for _, verb := range verbs {
		c.Verb = verb
		out = append(out, c)
	}
	return out
}

// OperationVerbs are what a k8s trigger does. A patch of an object that is not
// there becomes a create, which an operator must not want: it would bring back
// what was deleted.
var OperationVerbs = map[eventsv1.KubernetesResourceOperation][]string{
	"":              {"create"},
	eventsv1.Create: {"create"},
	eventsv1.Update: {"get", "create", "update"},
	eventsv1.Patch:  {"get", "patch"},
	eventsv1.Delete: {"get", "delete"},
}

func sensorCalls(o Objects) []Call {
	var out []Call
	for _, s := range All[*eventsv1.Sensor](o) {
		by := Account{s.Namespace, EventsAccount(s.Spec.Template)}
		for _, t := range o.Triggers(s) {
			var calls []Call
			switch {
			case t.Parts() != nil:
				calls = CallsOfComputed(problem.About(s), o, s, t)
			case t.Resource() != nil:
				calls = TriggerCall(s, t).each(OperationVerbs[t.Template.K8s.Operation]...)
				if t.Workflow() != nil && t.Template.K8s.Operation == eventsv1.Patch {
					calls = append(calls, TriggerCall(s, t).each("create")...) // a Workflow is wanted where there is none
				}
			}
			for _, c := range calls {
				c.Account = by
				out = append(out, c)
			}
		}
		out = append(out, leaseCalls(s, by, s.Annotations)...)
	}
	return out
}

// TriggerCall is the resource that a k8s trigger acts on. Where a parameter
// writes the namespace, it may be any.
func TriggerCall(s *eventsv1.Sensor, t Trigger) Call {
	var object metav1.PartialObjectMetadata
	_ = json.Unmarshal(t.Resource(), &object) // strict decoding has reported what is no object
	kind := object.GroupVersionKind()
	namespace, name := cmp.Or(object.Namespace, s.Namespace), object.Name
	for _, p := range t.Template.K8s.Parameters {
		switch p.Dest {
		case "metadata.namespace":
			namespace = ""
		case "metadata.name":
			name = ""
		}
	}
	return Call{
		Group: kind.Group, Resource: schema.GuessedPlural(kind.Kind), Namespace: namespace, Name: name,
		Why: "the Sensor's trigger " + t.Template.Name, In: s, Path: t.ResourcePath(),
	}
}
