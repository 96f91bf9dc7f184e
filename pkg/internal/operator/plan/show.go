package plan

import (
	"bytes"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// A worker leaves no trace in Argo's user interface. So it runs a custom resource whose
// reconcile failed for good, or that somebody annotates, once as a Workflow, where Argo
// Workflows is installed: templates/runtime/show.py. The manifests have no object of Argo
// Workflows, so that they apply where it is not.

// mayShow reports whether a worker of a definition can start Workflows. It cannot with a hook,
// which needs a pod that stays, and the worker of a group does not: its policy would compare
// with the Workflows of all operators. Without a policy, its account could use every other
// account of the namespace.
func mayShow(spec v1alpha1.Spec) bool {
	return *spec.Install.AdmissionPolicies && spec.Install.Group == "" && (spec.Logic == nil || spec.Logic.Hook == nil)
}

// showsIn reports whether it does.
func showsIn(spec v1alpha1.Spec) bool { return mayShow(spec) && *spec.Reconcile.Diagnose }

// maxShown limits what the logic adds to the spec of the Workflow, in bytes. The worker takes
// the spec from an environment variable, which has 128 KiB at most, and the policy compares
// with it.
const maxShown = 40_000

// fitsShown reports whether the spec of the Workflow has room for the logic: the names of its
// files, its command and its variables, whose dollar signs are escaped.
func fitsShown(l Logic) bool {
	var size int
	for _, part := range [][]byte{encode(l.Command), encode(l.Env)} {
		size += len(part) + len(`u0024`)*bytes.Count(part, []byte("$"))
	}
	for _, f := range l.Files {
		size += len(`{"key":"","path":""},`) + len(f.Key) + len(f.Path)
	}
	return size <= maxShown
}

// showGrants returns the permissions to start the Workflow and to run its pod, which writes
// what the worker writes.
func showGrants(p *configured) []Grant {
	if !p.Reconcile.Shows {
		return nil
	}
	results := taskResults(WorkerAccount)
	results.Reason = "report the result of the pod of a Workflow that shows a reconcile, which uses this account (Argo executor)"
	return []Grant{
		{
			Account: WorkerAccount, Group: ArgoGroup, Resource: workflowKind.Plural, Verbs: []string{"create", "get", "list"},
			Reason: "run a custom resource whose reconcile failed, or that is annotated, once as a Workflow; see when it has ended",
		},
		results,
	}
}

// showPolicy restricts the Workflows that the worker may create.
func showPolicy(p *decided) Policy {
	return Policy{
		Name: "shown", Kinds: []Kind{workflowKind}, Creates: true, Accounts: []Account{WorkerAccount},
		Namespaces: []string{p.Shared.Namespace}, Rule: ownStatus, Shown: true,
		Message: "this service account may create only Workflows that reconcile one custom resource of " + p.Operator.Name,
		Why:     "prevents the service account of the worker from running other Workflows or using other service accounts",
	}
}
