package plan

import (
	"cmp"
	"slices"
	"strings"
)

// A Sensor discards the response to a request. So after some failed attempts it starts a
// Workflow, whose pod sends the request once more with the Sensor's service account, and
// records the API server's message on the custom resource: templates/runtime/diagnose.py.

// workflowKind is the kind of a Workflow itself.
var workflowKind = Kind{Group: ArgoGroup, Version: "v1alpha1", Kind: "Workflow", Plural: "workflows", Namespaced: true}

// DiagnosisName returns the name of the WorkflowTemplate that asks why the API server
// rejects a request, and the prefix of the names of its Workflows.
func (p *declared) DiagnosisName() string {
	return cmp.Or(p.Shared.Group, p.Operator.Name) + "-diagnose"
}

// diagnoses reports whether a Workflow asks why the API server rejects a child. It has the
// whole request, and would show the values of a Secret.
func (p *decided) diagnoses(c Child) bool { return p.Reconcile.Diagnoses && p.canShow(c) }

// canShow reports whether a Workflow may have the requests for a child.
func (p *declared) canShow(c Child) bool { return !c.Kind.secret() && !p.ReadsSecrets(c) }

// diagnosable reports whether the direct engine makes any request that a Workflow may ask
// about: for a child, for the deletion of a listed object, or for a status with conditions.
func diagnosable(p *declared) bool {
	return p.WritesStatus() && p.API.HasConditions ||
		slices.ContainsFunc(p.Children, func(c Child) bool { return p.canShow(c) || p.listed(c) })
}

// diagnosisGrants returns the permissions to start the Workflow and to run its pod.
func diagnosisGrants(p *configured) []Grant {
	if !p.Reconcile.Diagnoses {
		return nil
	}
	return []Grant{
		{
			Account: SensorAccount, Group: ArgoGroup, Resource: workflowKind.Plural, Verbs: []string{"create"},
			Reason: "create the Workflow that finds out why the API server rejects a request",
		},
		diagnosisResults(p),
	}
}

// diagnosisResults names the pod, because a Sensor itself runs no step.
func diagnosisResults(p *configured) Grant {
	g := taskResults(SensorAccount)
	g.Reason = "report the result of the pod of " + p.DiagnosisName() + ", which uses this account (Argo executor)"
	return g
}

// diagnosisPolicy restricts the Workflows that the Sensors may create, to those of the operator's
// own WorkflowTemplates: with the engine workflow or steps, for which the policy stays after a
// change of the engine until somebody deletes it, the Sensors create others.
func diagnosisPolicy(p *decided) Policy {
	templates := []string{p.DiagnosisName(), p.Names.WorkflowTemplate, p.EnqueueTemplate()}
	return Policy{
		Name: "workflows", Kinds: []Kind{workflowKind}, Creates: true, Accounts: []Account{SensorAccount},
		Namespaces: []string{p.Shared.Namespace}, Rule: onlyTemplates(templates...),
		Message: "this service account may create Workflows only from the WorkflowTemplates " + strings.Join(templates, ", "),
		Why:     "prevents the service account of the Sensors from running other Workflows or using other service accounts",
	}
}
