package check

import (
	"cmp"
	"encoding/json"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
	"github.com/argoperator/argoperator/pkg/schema"
)

// call is a call to the API server that the emitted objects lead to.
type call struct {
	account   account
	verb      string
	group     string
	resource  string // with the subresource: memcacheds/status
	namespace string // "" for every namespace, and for a cluster-scoped resource
	name      string // "" where it is only known later
	why       string

	in   manifest.Object // whose call it is
	path *field.Path
}

// account is a service account.
type account struct{ namespace, name string }

func (a account) String() string { return a.namespace + "/" + a.name }

// callsOf derives the calls from the objects that make them, whatever Roles there
// are; all but those of the pod's program.
func callsOf(o objects) []call {
	return slices.Concat(sourceCalls(o), sensorCalls(o), executorCalls(o), resourceCalls(o))
}

const argoGroup = "argoproj.io"

// leaderElection is the annotation that makes replicas elect a leader by a Lease.
const leaderElection = "events.argoproj.io/leader-election"

// sourceCalls: an informer lists and watches; a leader holds a Lease.
func sourceCalls(o objects) []call {
	var out []call
	for _, s := range all[*eventsv1.EventSource](o) {
		by := account{s.Namespace, eventsAccount(s.Spec.Template)}
		for name, e := range s.Spec.Resource {
			at := call{
				account: by, group: e.Group, resource: e.Resource, namespace: e.Namespace,
				why: "the EventSource watches it", in: s, path: field.NewPath("spec", "resource").Key(name),
			}
			out = append(out, at.each("list", "watch")...)
		}
		out = append(out, leaseCalls(s, by, s.Annotations)...)
	}
	return out
}

func eventsAccount(t *eventsv1.Template) string {
	if t == nil {
		return "default"
	}
	return cmp.Or(t.ServiceAccountName, "default")
}

func leaseCalls(in manifest.Object, by account, annotations map[string]string) []call {
	if annotations[leaderElection] != "k8s" {
		return nil
	}
	at := call{
		account: by, group: "coordination.k8s.io", resource: "leases", namespace: in.GetNamespace(),
		why: "replicas elect a leader", in: in, path: field.NewPath("metadata", "annotations").Key(leaderElection),
	}
	return at.each("get", "create", "update")
}

// each is the call with each of the verbs.
func (c call) each(verbs ...string) []call {
	var out []call
	for _, verb := range verbs {
		c.verb = verb
		out = append(out, c)
	}
	return out
}

// operationVerbs are what a k8s trigger does. A patch of an object that is not
// there becomes a create, which an operator must not want: it would bring back
// what was deleted.
var operationVerbs = map[eventsv1.KubernetesResourceOperation][]string{
	"":              {"create"},
	eventsv1.Create: {"create"},
	eventsv1.Update: {"get", "create", "update"},
	eventsv1.Patch:  {"get", "patch"},
	eventsv1.Delete: {"get", "delete"},
}

func sensorCalls(o objects) []call {
	var out []call
	for _, s := range all[*eventsv1.Sensor](o) {
		by := account{s.Namespace, eventsAccount(s.Spec.Template)}
		for _, t := range o.triggers(s) {
			var calls []call
			switch {
			case t.parts() != nil:
				calls = callsOfComputed(about(s), o, s, t)
			case t.resource() != nil:
				calls = triggerCall(s, t).each(operationVerbs[t.Template.K8s.Operation]...)
				if t.workflow() != nil && t.Template.K8s.Operation == eventsv1.Patch {
					calls = append(calls, triggerCall(s, t).each("create")...) // a Workflow is wanted where there is none
				}
			}
			for _, c := range calls {
				c.account = by
				out = append(out, c)
			}
		}
		out = append(out, leaseCalls(s, by, s.Annotations)...)
	}
	return out
}

// triggerCall is the resource that a k8s trigger acts on. Where a parameter
// writes the namespace, it may be any.
func triggerCall(s *eventsv1.Sensor, t trigger) call {
	var object metav1.PartialObjectMetadata
	_ = json.Unmarshal(t.resource(), &object) // strict decoding has reported what is no object
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
	return call{
		group: kind.Group, resource: schema.GuessedPlural(kind.Kind), namespace: namespace, name: name,
		why: "the Sensor's trigger " + t.Template.Name, in: s, path: t.resourcePath(),
	}
}
