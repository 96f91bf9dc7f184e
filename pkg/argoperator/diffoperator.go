package argoperator

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// changedOperator reports what a change of the operator itself does to the custom resources and to the objects that exist.
func (o Operator) changedOperator(earlier []Operator) diag.List {
	var findings diag.List
	for _, before := range earlier {
		if before.Name != o.Name {
			continue
		}
		other := o.changedKind(before)
		if findings = append(findings, other...); len(other) == 0 {
			findings = append(findings, o.changedFinalizer(before)...)
		}
		findings = append(findings, o.removedPatches(before)...)
	}
	return append(findings, o.changedName(earlier)...)
}

// changedKind reports that the operator has another kind, and leaves the custom resources of the earlier one.
func (o Operator) changedKind(before Operator) diag.List {
	was, is := before.plan.API.Kind, o.plan.API.Kind
	key, changed := "group", was.Group
	if was.Group == is.Group {
		key, changed = "plural", was.Plural // of the same plural, the CustomResourceDefinition shows the change
	}
	if was.Group == is.Group && was.Plural == is.Plural {
		return nil
	}
	var findings diag.List
	findings.Add(o.definition.Position("spec", "api", key), diag.BreakingChange,
		fmt.Sprintf("the %s is another one than %s: no operator handles the custom resources of %s.%s any more",
			key, changed, was.Plural, was.Group),
		"give the operator of the new kind another metadata.name, and keep this one until its custom resources are gone")
	return findings
}

// changedFinalizer reports that custom resources have a finalizer that nothing removes any more.
func (o Operator) changedFinalizer(before Operator) diag.List {
	was, is := before.plan.Reconcile.Finalizer, o.plan.Reconcile.Finalizer
	if was == "" || was == is {
		return nil
	}
	at, hint := o.definition.Position("spec"), "first delete the custom resources; or remove this finalizer from them by hand"
	if is != "" {
		at, hint = o.definition.Position("spec", "finalizer", "name"), "keep finalizer: {name: "+was+"}"
	}
	var findings diag.List
	findings.Add(at, diag.BreakingChange,
		fmt.Sprintf("nothing removes the finalizer %s any more: custom resources that have it cannot be deleted", was), hint)
	return findings
}

// removedPatches reports patches whose fields nothing removes any more.
func (o Operator) removedPatches(before Operator) diag.List {
	var findings diag.List
	for _, patch := range before.plan.Patches {
		if !hasChild(o.plan.Patches, patch.Name) {
			findings.Warn(o.definition.Position("spec"), diag.RemovedChild,
				fmt.Sprintf("patch %s was removed from the definition: what it has written is kept", patch.Name),
				`to remove it, first apply the patch with when: "false"`)
		}
	}
	return findings
}

// changedName reports an operator that handles the custom resources of an earlier one of another name.
func (o Operator) changedName(earlier []Operator) diag.List {
	i := slices.IndexFunc(earlier, func(before Operator) bool {
		was, is := before.plan.API.Kind, o.plan.API.Kind
		return was.Group == is.Group && was.Kind == is.Kind && !before.plan.API.Existing
	})
	if i < 0 || slices.ContainsFunc(earlier, func(before Operator) bool { return before.Name == o.Name }) {
		return nil
	}
	var findings diag.List
	findings.Add(o.definition.Position("metadata", "name"), diag.BreakingChange,
		fmt.Sprintf("the operator was %s: it may not write the objects that that one has made", earlier[i].Name),
		"keep metadata.name: "+earlier[i].Name)
	return findings
}

// changedValues reports random values of a Secret that are made anew.
func (o Operator) changedValues(was, is plan.Child, i int) diag.List {
	var findings diag.List
	for _, key := range source.SortedKeys(was.Generate) {
		if _, kept := is.Generate[key]; !kept {
			findings.Warn(o.definition.Position("spec", "children", strconv.Itoa(i), "generate"), diag.DataLoss,
				fmt.Sprintf("the value of %s is deleted from the Secrets of child %s that exist; another key gets a new random value",
					key, is.Name),
				"keep the key")
		}
	}
	return findings
}
