package argo

import (
	"cmp"
	"encoding/json"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

// Group is the API group of Argo.
const Group = schema.ArgoGroup

// LeaderElection is the annotation that enables leader election with a Lease.
const LeaderElection = "events.argoproj.io/leader-election"

// EventsAccount returns the service account of an EventSource's or Sensor's pod.
func EventsAccount(t *eventsv1.Template) string {
	if t == nil {
		return "default"
	}
	return cmp.Or(t.ServiceAccountName, "default")
}

// ElectsOverBus reports whether replicas elect their leader over the EventBus, which can elect
// two, instead of by a Lease.
func ElectsOverBus(replicas *int32, annotations map[string]string) bool {
	return replicas != nil && *replicas > 1 && annotations[LeaderElection] != "k8s"
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
