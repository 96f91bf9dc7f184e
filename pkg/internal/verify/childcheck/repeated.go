package childcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// repeated warns of a child that ends and is then deleted by others: the operator creates it again,
// which starts it again. A child whose `when` reads the status is left alone: the status can
// remember that it ran.
func (f *family) repeated(child int) diag.List {
	r := f.runs[child]
	if r.child.When != nil && slices.ContainsFunc(r.child.When.Reads(), func(path []string) bool {
		return len(path) == 0 || path[0] == "status"
	}) {
		return nil
	}
	for _, cr := range f.having(child) {
		for _, made := range f.objects(child, cr) {
			if path, why, hint := ended(made); path != nil {
				var findings diag.List
				findings.Warn(f.at(child, path...), diag.RepeatedRun,
					fmt.Sprintf("%s, and the operator then creates it again, which runs it again", why), hint+f.once(child))
				return findings
			}
		}
	}
	return nil
}

// ended returns the field with which an object is deleted after its end; nil if it is kept.
func ended(m member) (path []string, why, hint string) {
	const kept = "remove the key: the object is then kept, and deleted with the custom resource"
	switch kind := m.kind.Group + "/" + m.kind.Kind; {
	case kind == "batch/Job" && schema.ValueAt(m.object, "spec", "ttlSecondsAfterFinished") != nil:
		return []string{"spec", "ttlSecondsAfterFinished"}, "Kubernetes deletes the Job after its end", kept
	case kind == "argoproj.io/Workflow" && schema.ValueAt(m.object, "spec", "ttlStrategy") != nil:
		return []string{"spec", "ttlStrategy"}, "Argo deletes the Workflow after its end", kept
	case kind == "/Pod" && slices.Contains([]any{"Never", "OnFailure"}, schema.ValueAt(m.object, "spec", "restartPolicy")):
		return []string{"spec", "restartPolicy"}, "Kubernetes deletes Pods that have ended when there are many of them, or with their node",
			"use a Job, which is kept"
	}
	return nil, "", ""
}

// once says how to run a child a single time, if changes of the status are events of the operator.
func (f *family) once(child int) string {
	c := f.declared(child)
	ended := map[string]string{
		"Job": "($children.%s.status.succeeded // 0) > 0", "Workflow": `$children.%s.status.phase == "Succeeded"`,
		"Pod": `$children.%s.status.phase == "Succeeded"`,
	}[c.Kind]
	status := f.d.Operator.Spec.Status
	if c.ForEach != "" || f.d.CRD != nil || status["done"] != nil || !f.p.Reconcile.Execution.ObservedOnParent {
		return ""
	}
	when := ".status.done != true"
	if c.When != "" {
		when = "(" + strings.TrimSpace(c.When) + ") and " + when
	}
	return fmt.Sprintf("; or delete it at once and remember that it ran: when: %s, and in the definition's status: "+
		"done: '${ .status.done == true or %s }'", source.Scalar(when, true, 0), fmt.Sprintf(ended, c.Name))
}
