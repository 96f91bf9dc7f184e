package childcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// scaled warns if a child is an autoscaler of another one whose template sets the replicas:
// the operator undoes each scaling. It also warns if the target is no child, although there are
// children of its kind or name, and if it lacks the requests of which the autoscaler computes a share.
func (f *family) scaled(child int) diag.List {
	var findings diag.List
	reported := map[int]bool{}
	found, near, named := false, -1, -1
	for _, cr := range f.having(child) {
		for _, scaler := range f.objects(child, cr) {
			kind, name := schema.ScaleTarget(scaler.object)
			if name == nil {
				return nil
			}
			for _, target := range f.all(cr) {
				isNamed := schema.ValueAt(target.object, "metadata", "name") == name
				_, scales := podAt(target)
				switch {
				case !target.beside(scaler):
				case target.kind.Kind != kind && isNamed && scales:
					named = target.child
				case target.kind.Kind != kind:
				case !isNamed:
					near = target.child
				default:
					if !found {
						findings = append(findings, f.withoutRequests(child, scaler, target)...)
					}
					found = true
					if schema.ValueAt(target.object, "spec", "replicas") != nil && !reported[target.child] {
						reported[target.child] = true
						findings = append(findings, f.fight(child, target.child)...)
					}
				}
			}
		}
	}
	if !found && named >= 0 {
		findings.Warn(f.at(child, "spec", "scaleTargetRef", "kind"), diag.UnmatchedChild,
			fmt.Sprintf("the %s scales no child: child %s has another kind", f.declared(child).Kind, f.declared(named).Name),
			"write kind: "+f.declared(named).Kind)
	} else if !found && near >= 0 && f.d.Operator.Spec.API.Existing == nil {
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

// withoutRequests warns of a share of requests that a container of the target does not have.
func (f *family) withoutRequests(child int, scaler, target member) diag.List {
	var findings diag.List
	of := map[string][]string{}
	for _, metric := range mappings(scaler.object, nil, []string{"spec", "metrics", "*", "resource"}) {
		name, _ := schema.ValueAt(scaler.object, append(slices.Clip(metric), "name")...).(string)
		if schema.ValueAt(scaler.object, append(slices.Clip(metric), "target", "type")...) == "Utilization" {
			of[name] = append(slices.Clip(metric), "name")
		}
	}
	if schema.ValueAt(scaler.object, "spec", "targetCPUUtilizationPercentage") != nil {
		of["cpu"] = []string{"spec", "targetCPUUtilizationPercentage"}
	}
	in, _ := podAt(target)
	for _, name := range source.SortedKeys(of) {
		for _, container := range mappings(target.object, nil, slices.Concat(in, []string{"spec", "containers", "*"})) {
			resources := append(slices.Clip(container), "resources")
			written := schema.ValueAt(f.declared(target.child).Template, resources...)
			if f.runs[target.child].computes(resources) || schema.IsComputed(written) {
				continue // users decide
			}
			has := func(key string) bool {
				return schema.ValueAt(target.object, append(slices.Clip(resources), key, name)...) != nil
			}
			if !has("requests") && !has("limits") {
				findings.Warn(f.at(child, of[name]...), diag.UnmatchedChild,
					fmt.Sprintf("the %s computes a share of the requests for %s, which a container of child %s lacks",
						f.declared(child).Kind, name, f.declared(target.child).Name),
					fmt.Sprintf("add resources: {requests: {%s: …}} to each container of child %s", name, f.declared(target.child).Name))
				break
			}
		}
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
