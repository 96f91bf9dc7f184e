package selfcheck

import (
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// callsOf derives the calls from the objects that cause them, independently of the
// Roles. It leaves out the calls of the program in pods.
func callsOf(o objects) []argo.Call {
	return slices.Concat(sourceCalls(o), sensorCalls(o), executorCalls(o), resourceCalls(o))
}

// sourceCalls returns the calls of EventSources: informers list and watch, leaders
// hold a Lease.
func sourceCalls(o objects) []argo.Call {
	var out []argo.Call
	for _, s := range argo.All[*eventsv1.EventSource](o.Objects) {
		by := argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}
		for name, e := range s.Spec.Resource {
			at := argo.Call{
				Account: by, Group: e.Group, Resource: e.Resource, Namespace: e.Namespace,
				Why: "the EventSource watches it", In: s, Path: field.NewPath("spec", "resource").Key(name),
			}
			out = append(out, each(at, "list", "watch")...)
		}
		out = append(out, leaseCalls(s, by, s.Annotations)...)
	}
	return out
}

func leaseCalls(in manifest.Object, by argo.Account, annotations map[string]string) []argo.Call {
	if annotations[argo.LeaderElection] != "k8s" {
		return nil
	}
	at := argo.Call{
		Account: by, Group: "coordination.k8s.io", Resource: "leases", Namespace: in.GetNamespace(),
		Why: "replicas elect a leader", In: in, Path: field.NewPath("metadata", "annotations").Key(argo.LeaderElection),
	}
	return each(at, "get", "create", "update")
}

// each returns the call once for each verb.
func each(c argo.Call, verbs ...string) []argo.Call {
	var out []argo.Call
	for _, verb := range verbs {
		c.Verb = verb
		out = append(out, c)
	}
	return out
}

func sensorCalls(o objects) []argo.Call {
	var out []argo.Call
	for _, s := range argo.All[*eventsv1.Sensor](o.Objects) {
		by := argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}
		for _, t := range o.Triggers(s) {
			var calls []argo.Call
			switch {
			case t.Parts() != nil:
				calls = computedTriggerCalls(problem.About(s), o, s, t)
			case t.Resource() != nil:
				calls = each(argo.TriggerCall(s, t), argo.OperationVerbs[t.Template.K8s.Operation]...)
				if t.Workflow() != nil && t.Template.K8s.Operation == eventsv1.Patch {
					calls = append(calls, each(argo.TriggerCall(s, t), "create")...) // a missing Workflow is created
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
