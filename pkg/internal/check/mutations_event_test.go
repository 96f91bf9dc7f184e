package check

import (
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/problem"
)

// The Sensor that writes Events, and the place of its jq, are the last of the
// good operator.
const webStatus = "Sensor/web-status"

func (d *direct) statusSensor() *eventsv1.Sensor {
	sensors := argo.All[*eventsv1.Sensor](argo.NewObjects(d.objects))
	return sensors[len(sensors)-1]
}

// telling is the trigger that writes Events.
func (d *direct) telling() *eventsv1.Trigger {
	list := d.statusSensor().Spec.Triggers
	return &list[slices.IndexFunc(list, func(t eventsv1.Trigger) bool { return t.Template.Name == "event" })]
}

// retell changes the program that makes Events.
func (d *direct) retell(old, with string) {
	list := d.statusSensor().Spec.Dependencies
	jq := &list[slices.IndexFunc(list, func(e eventsv1.EventDependency) bool { return e.Name == "event" })].Transform.JQ
	*jq = replaced(*jq, old, with)
}

// tellingRule is what the Sensors may do with Events.
func (d *direct) tellingRule() *rbacv1.PolicyRule {
	rules := d.role().Rules
	return &rules[slices.IndexFunc(rules, func(r rbacv1.PolicyRule) bool { return r.Resources[0] == "events" })]
}

func eventMutations() []directMutation {
	wrong := func(name, reason, code, old, with string) directMutation {
		return directMutation{
			name: name, reason: reason, do: func(d *direct) { d.retell(old, with) },
			code: code, object: webStatus, path: "spec.dependencies[3].transform.jq",
		}
	}
	return []directMutation{
		wrong("Event without a name of its own", "every delivery would be told again", problem.CodeRequest, `name: ($new.metadata |`, `generateName: ($new.metadata |`),
		wrong("Event of any length", "the API server takes 1024 bytes", problem.CodeRequest, `.[:1024] | until(utf8bytelength <= 1024; .[:-16])`, `.[:1024]`),
		wrong("Event about nobody", "kubectl describe does not find it", problem.CodeRequest, `uid: $new.metadata.uid, resource`, `resource`),
		wrong("Event elsewhere", "it would belong to another object", problem.CodeRequest, `metadata: {namespace: $new.metadata.namespace`, `metadata: {namespace: "elsewhere"`),
		wrong("Event of nobody", "the API server asks who reports", problem.CodeRequest, `reportingInstance: "web-status",`, ``),
		wrong("Event at a time of seconds", "the API server reads microseconds", problem.CodeRequest, `rtrimstr("Z") + ".000000Z"`, `.`),
		wrong("field that no Event has", "it would be dropped", problem.CodeRequest, `action: "Reconcile"`, `action: "Reconcile", verb: "x"`),
		wrong("POST of something else", "the second delivery would fail for ever", problem.CodeUnknownRequest, `/events?`, `/configmaps?`),
		wrong("POST to a name", "the API server knows no such request", problem.CodeUnknownRequest, `/events?`, `/events/one?`),
		{name: "Event that is there already", reason: "a second delivery would be tried again", do: func(d *direct) {
			d.telling().Policy.Status.Allow = []int32{201, 403, 404}
		}, code: problem.CodeDelivery, object: webStatus, path: "spec.triggers[3].policy.status.allow"},
		{name: "refusal of more than an Event", reason: "permissions may be on their way", do: func(d *direct) {
			d.statusSensor().Spec.Triggers[2].Policy.Status.Allow = []int32{200, 403}
		}, code: problem.CodeDelivery, object: webStatus, path: "spec.triggers[2].policy.status.allow[1]"},
		{
			name: "no permission to tell", reason: "nobody hears of it", do: func(d *direct) { d.tellingRule().Resources[0] = "endpoints" },
			code: problem.CodeMissingPermission, object: webStatus, path: "spec.triggers[3]",
		},
		{
			name: "permission to change what was told", reason: "an Event is written once", do: func(d *direct) { d.tellingRule().Verbs = []string{"create", "patch"} },
			code: problem.CodeUnusedPermission, object: webRole, path: "rules",
		},
	}
}

// tellingAloud makes the operator of a pod tell of changes of Ready.
func tellingAloud(f *fixture) {
	f.config["emitEvents"] = true
	f.clusterRoles["workflow"].Rules = append(f.clusterRoles["workflow"].Rules, rule("", "events", "create"))
}
