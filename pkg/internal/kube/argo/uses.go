package argo

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Role is the purpose of a service account.
type Role string

// Roles; each needs its own service accounts.
const (
	RoleSource   Role = "EventSource"
	RoleSensor   Role = "Sensor"
	RoleWorkflow Role = "Workflow"
)

// Use is one use of a service account.
type Use struct {
	Account Account
	Role    Role
	In      manifest.Object
	Path    *field.Path
}

// UsesOf returns all uses of service accounts in the objects.
func UsesOf(o Objects) []Use {
	var out []Use
	at := field.NewPath("spec", "template", "serviceAccountName")
	for _, s := range All[*eventsv1.EventSource](o) {
		out = append(out, Use{Account{s.Namespace, EventsAccount(s.Spec.Template)}, RoleSource, s, at})
	}
	for _, s := range All[*eventsv1.Sensor](o) {
		out = append(out, Use{Account{s.Namespace, EventsAccount(s.Spec.Template)}, RoleSensor, s, at})
	}
	for _, p := range o.Pods() {
		role := RoleIn(p.Spec)
		out = append(out, Use{Account{p.Namespace, p.account()}, role, p.In, p.Path})
		if p.Executor() != p.account() {
			out = append(out, Use{Account{p.Namespace, p.Executor()}, role, p.In, p.Path.Child("executor")})
		}
	}
	return out
}

// RoleIn returns the role of a Workflow's service account.
func RoleIn(spec wfv1.WorkflowSpec) Role {
	if manifest.IsDiagnosis(spec) {
		return RoleSensor
	}
	return RoleWorkflow
}
