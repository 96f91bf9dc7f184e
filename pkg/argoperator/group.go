package argoperator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
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
		if members[0].sharesWith(o) {
			(*g)[i] = append(members, o)
			return
		}
	}
	*g = append(*g, []Operator{o})
}

// sharesWith reports whether two operators, or an operator and what is shared, are of one
// group.
func (o Operator) sharesWith(other Operator) bool {
	a, b := o.plan.Shared, other.plan.Shared
	return a.Group != "" && a.Group == b.Group && a.Namespace == b.Namespace
}

// generateGroup builds and checks what the operators of a group share. taken has the
// places of the names of operators, by namespace and name.
func generateGroup(members []Operator, taken map[string]diag.Position) (Operator, diag.List, error) {
	first := members[0]
	if at, ok := taken[first.plan.Shared.Namespace+"/"+first.plan.Shared.Group]; ok {
		var findings diag.List
		findings.Add(first.definition.Position("spec", "install", "group"), diag.DuplicateValue,
			fmt.Sprintf("the group has the name of operator %s at %s:%d:%d", first.plan.Shared.Group, at.File, at.Line, at.Column),
			"rename the group")
		return Operator{}, findings, nil
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
		return Operator{}, findings, nil
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
		return Operator{}, findings, nil
	}
	objects := manifest.BuildGroup(shared)
	documents, err := output.Documents(objects)
	if err != nil {
		return Operator{}, nil, fmt.Errorf("encoding group %s: %w", shared.Operator.Name, err)
	}
	findings, err := findingsOf(first.definition, childcheck.Emitted(argo.Read(documents), false))
	if err != nil {
		return Operator{}, nil, fmt.Errorf("group %s: %w", shared.Operator.Name, err)
	}
	return Operator{Name: shared.Operator.Name, Objects: objects, plan: shared, documents: documents}, findings, nil
}

// containsObject reports whether there is an object of the same kind and name.
func containsObject(list []manifest.Object, o manifest.Object) bool {
	return slices.ContainsFunc(list, func(other manifest.Object) bool {
		return kindOf(other) == kindOf(o) && other.GetName() == o.GetName() && other.GetNamespace() == o.GetNamespace()
	})
}
