package argoperator

import (
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/verify/childcheck"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// groups are the operators of each install.group and namespace, in the order of their
// first.
type groups [][]Operator

func (g *groups) add(o Operator) {
	if o.plan.Shared.Group == "" {
		return
	}
	for i, members := range *g {
		if members[0].sharesWith(o.Bundle) {
			(*g)[i] = append(members, o)
			return
		}
	}
	*g = append(*g, []Operator{o})
}

// sharesWith reports whether two operators, or an operator and what is shared, are of one
// group.
func (b Bundle) sharesWith(other Bundle) bool {
	own, others := b.plan.Shared, other.plan.Shared
	return own.Group != "" && own.Group == others.Group && own.Namespace == others.Namespace
}

// generateGroup builds and checks what the operators of a group share. taken has the
// places of the names of operators, by namespace and name.
func generateGroup(members []Operator, taken map[string]diag.Position) (Group, diag.List, error) {
	first := members[0]
	if at, ok := taken[first.plan.Shared.Namespace+"/"+first.plan.Shared.Group]; ok {
		var findings diag.List
		findings.Add(first.definition.Position("spec", "install", "group"), diag.DuplicateValue,
			fmt.Sprintf("the group has the name of operator %s at %s:%d:%d", first.plan.Shared.Group, at.File, at.Line, at.Column),
			"rename the group")
		return Group{}, findings, nil
	}
	var plans []*plan.Plan
	for _, o := range members {
		plans = append(plans, o.plan)
	}
	shared, other, key := plan.Group(plans)
	if shared == nil {
		var findings diag.List
		findings.Add(
			members[other].definition.Position(append([]string{"spec"}, strings.Split(key, ".")...)...),
			diag.ConflictingKeys,
			fmt.Sprintf(
				"%s of operator %s differs from that of operator %s, which is in the same group",
				key,
				members[other].Name,
				first.Name,
			),
			"operators of a group share this setting: use the same value in both, or another install.group",
		)
		return Group{}, findings, nil
	}
	if one, other, name := plan.Collision(plans); name != "" {
		var findings diag.List
		findings.Add(
			members[other].definition.Position("metadata", "name"),
			diag.DuplicateValue,
			fmt.Sprintf(
				"operators %s and %s of group %s both have an event or trigger %s",
				members[one].Name,
				members[other].Name,
				shared.Operator.Name,
				name,
			),
			"rename one of the two operators or its child, or use another install.group",
		)
		return Group{}, findings, nil
	}
	bundle, err := bundled(shared, manifest.BuildGroup(shared))
	if err != nil {
		return Group{}, nil, err
	}
	var findings diag.List
	for _, p := range childcheck.Emitted(argo.Read(bundle.documents), false) {
		found, err := findingsOf(causing(p, members, shared).definition, []problem.Problem{p})
		if err != nil {
			return Group{}, nil, fmt.Errorf("group %s: %w", shared.Operator.Name, err)
		}
		findings = append(findings, found...)
	}
	return Group{bundle}, findings, nil
}

// causing returns the operator that causes a problem of a shared object: the first with a
// trigger in a Sensor, which is too large only for one trigger.
func causing(p problem.Problem, members []Operator, shared *plan.Plan) Operator {
	for _, s := range shared.Sensors {
		if p.Object != "Sensor/"+s.Name {
			continue
		}
		for _, m := range members {
			if m.plan.Triggers(s) {
				return m
			}
		}
	}
	return members[0]
}
