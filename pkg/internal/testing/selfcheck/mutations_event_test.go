package selfcheck

import (
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

func (d *direct) statusSensor() *eventsv1.Sensor {
	sensors := argo.All[*eventsv1.Sensor](argo.NewObjects(d.objects))
	return sensors[len(sensors)-1]
}

// eventTrigger returns the trigger that writes the status and Events.
func (d *direct) eventTrigger() *eventsv1.Trigger {
	list := d.statusSensor().Spec.Triggers
	return &list[slices.IndexFunc(list, func(t eventsv1.Trigger) bool { return t.Template.Name == "status" })]
}

// replaceEventJQ changes the program that computes Events.
func (d *direct) replaceEventJQ(old, with string) {
	list := d.statusSensor().Spec.Dependencies
	jq := &list[slices.IndexFunc(list, func(e eventsv1.EventDependency) bool { return e.Name == "status" })].Transform.JQ
	*jq = replaced(*jq, old, with)
}

// eventRule returns the Sensors' permissions for Events.
func (d *direct) eventRule() *rbacv1.PolicyRule {
	rules := d.role().Rules
	return &rules[slices.IndexFunc(rules, func(r rbacv1.PolicyRule) bool { return r.Resources[0] == "events" })]
}

func eventMutations() []directMutation {
	jqMutation := func(name, reason, code, old, with string) directMutation {
		return directMutation{
			name: name, reason: reason, mutate: func(d *direct) { d.replaceEventJQ(old, with) },
			code: code, object: webSensor, path: "spec.dependencies[4].transform.jq",
		}
	}
	return []directMutation{
		jqMutation("Event without a fixed name", "every delivery would create another Event", codeRequest, `name: ($new.metadata |`, `generateName: ($new.metadata |`),
		jqMutation("Event message without a limit", "the API server accepts 1024 bytes", codeRequest, `.[:1024] | until(utf8bytelength <= 1024; .[:-16])`, `.[:1024]`),
		jqMutation("Event without a UID", "kubectl describe would not find it", codeRequest, `uid: $new.metadata.uid, resource`, `resource`),
		jqMutation("Event in another namespace", "it must be in the namespace of its object", codeRequest, `metadata: {namespace: $new.metadata.namespace`, `metadata: {namespace: "elsewhere"`),
		jqMutation("Event without a reporter", "the API server requires one", codeRequest, `reportingInstance: "web",`, ``),
		jqMutation("Event time in seconds", "the API server requires microseconds", codeRequest, `rtrimstr("Z") + ".000000Z"`, `.`),
		jqMutation("unknown field of an Event", "the API server would drop it", codeRequest, `action: "Reconcile"`, `action: "Reconcile", verb: "x"`),
		jqMutation("POST of another kind", "the second delivery would always fail", codeUnknownRequest, `/events?`, `/configmaps?`),
		jqMutation("POST to a named object", "the API server has no such endpoint", codeUnknownRequest, `/events?`, `/events/one?`),
		{name: "existing Event counts as a failure", reason: "the trigger would retry a second delivery", mutate: func(d *direct) {
			d.eventTrigger().Policy.Status.Allow = []int32{201, 403, 404}
		}, code: codeDelivery, object: webSensor, path: "spec.triggers[4].policy.status.allow"},
		{name: "refusal of other requests counts as success", reason: "permissions may arrive later", mutate: func(d *direct) {
			d.statusSensor().Spec.Triggers[1].Policy.Status.Allow = []int32{200, 403}
		}, code: codeDelivery, object: webSensor, path: "spec.triggers[1].policy.status.allow[1]"},
		{
			name: "missing permission for Events", reason: "no Event would be written", mutate: func(d *direct) { d.eventRule().Resources[0] = "endpoints" },
			code: codeMissingPermission, object: webSensor, path: "spec.triggers[4]",
		},
		{
			name: "unused patch of Events", reason: "an Event is only created", mutate: func(d *direct) { d.eventRule().Verbs = []string{"create", "patch"} },
			code: codeUnusedPermission, object: webRole, path: "rules",
		},
	}
}

// emitEvents makes the operator's pod write an Event when Ready changes.
func emitEvents(f *fixture) {
	f.config["emitsEvents"] = true
	f.clusterRoles["workflow"].Rules = append(f.clusterRoles["workflow"].Rules, rule("", "events", "create"))
}
