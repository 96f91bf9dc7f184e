package childcheck

import (
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// scaled warns if a child is an autoscaler of another one whose template sets the replicas:
// the operator undoes each scaling. It also warns if the target is no child, although there are
// children of its kind.
func (f *family) scaled(child int) diag.List {
	var findings diag.List
	reported := map[int]bool{}
	found, near := false, -1
	for _, cr := range f.having(child) {
		for _, scaler := range f.objects(child, cr) {
			kind, name := schema.ScaleTarget(scaler.object)
			if name == nil {
				return nil
			}
			for _, target := range f.all(cr) {
				switch {
				case target.kind.Kind != kind || !target.beside(scaler):
				case schema.ValueAt(target.object, "metadata", "name") != name:
					near = target.child
				default:
					found = true
					if schema.ValueAt(target.object, "spec", "replicas") != nil && !reported[target.child] {
						reported[target.child] = true
						findings = append(findings, f.fight(child, target.child)...)
					}
				}
			}
		}
	}
	if !found && near >= 0 && f.d.Operator.Spec.API.Existing == nil {
		text, _ := schema.ValueAt(f.declared(near).Template, "metadata", "name").(string)
		findings.Warn(
			f.at(child, "spec", "scaleTargetRef", "name"),
			diag.UnmatchedChild,
			fmt.Sprintf("the %s scales no child: child %s has another name", f.declared(child).Kind, f.declared(near).Name),
			"write name: "+source.Scalar(text, true, 0),
		)
	}
	return findings
}

// fight warns of an autoscaler and its target.
func (f *family) fight(scaler, target int) diag.List {
	if f.runs[target].child.Update == plan.Never {
		return nil // the operator undoes nothing
	}
	var findings diag.List
	by, of := f.declared(scaler), f.declared(target)
	hint := "remove replicas: the autoscaler sets it"
	if when := by.When; when != "" {
		otherwise := "1"
		switch replicas := schema.ValueAt(of.Template, "spec", "replicas").(type) {
		case string:
			otherwise = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(replicas, "${"), "}"))
		case nil:
		default:
			otherwise = fmt.Sprint(replicas)
		}
		hint = fmt.Sprintf("leave it out while the autoscaler exists: replicas: %s",
			source.Scalar(fmt.Sprintf("${ if %s then null else %s end }", when, otherwise), true, 0))
	}
	findings.Warn(
		f.at(target, "spec", "replicas"),
		diag.ScaledReplicas,
		fmt.Sprintf("the %s of child %s sets replicas of this %s, too: the operator undoes each scaling", by.Kind, by.Name, of.Kind),
		hint,
	)
	return findings
}
