package argo

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

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

// RoleIn returns the role of a Workflow's service account.
func RoleIn(spec wfv1.WorkflowSpec) Role {
	if manifest.IsDiagnosis(spec) {
		return RoleSensor
	}
	return RoleWorkflow
}
