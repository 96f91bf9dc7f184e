package argo

import (
	"cmp"
	"encoding/json"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Call is a request to the API server that the emitted objects cause.
type Call struct {
	Account   Account
	Verb      string
	Group     string
	Resource  string // with the subresource: memcacheds/status
	Namespace string // "" for all namespaces, and for a cluster-scoped resource
	Name      string // "" if not known statically
	Why       string

	In   manifest.Object // the object that causes the call
	Path *field.Path
}

// Account is a service account.
type Account struct{ Namespace, Name string }

func (a Account) String() string { return a.Namespace + "/" + a.Name }

// CallsOf derives the calls from the objects that cause them, independently of the
// Roles. It leaves out the calls of the program in pods.
func CallsOf(o Objects) []Call {
	return slices.Concat(sourceCalls(o), sensorCalls(o), executorCalls(o), resourceCalls(o))
}

// Group is the API group of Argo.
const Group = schema.ArgoGroup

// LeaderElection is the annotation that enables leader election with a Lease.
const LeaderElection = "events.argoproj.io/leader-election"

// sourceCalls returns the calls of EventSources: informers list and watch, leaders
// hold a Lease.
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

// EventsAccount returns the service account of an EventSource's or Sensor's pod.
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

// each returns the call once for each verb.
func (c Call) each(verbs ...string) []Call {
	var out []Call
	for _, verb := range verbs {
		c.Verb = verb
		out = append(out, c)
	}
	return out
}

// OperationVerbs are the verbs that a k8s trigger needs. If the object does not
// exist, Argo turns a patch into a create; operators must not have that permission,
// because it would recreate deleted objects.
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
					calls = append(calls, TriggerCall(s, t).each("create")...) // a missing Workflow is created
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

// TriggerCall returns the call of a k8s trigger. The namespace is empty if a
// parameter sets it.
func TriggerCall(s *eventsv1.Sensor, t Trigger) Call {
	var object metav1.PartialObjectMetadata
	_ = json.Unmarshal(t.Resource(), &object) // strict decoding reports errors
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
