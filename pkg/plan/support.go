package plan

import (
	"fmt"
	"strconv"

	"github.com/argoperator/argoperator/pkg/definition"
	"github.com/argoperator/argoperator/pkg/diag"
)

// unsupported finds what no engine of this version can carry.
func unsupported(p *Plan, d *definition.Definition) diag.List {
	var findings diag.List
	for i, c := range p.Children {
		at := d.Position("spec", "children", strconv.Itoa(i))
		switch {
		case c.Kind.Namespaced:
		case len(p.Install.WatchNamespaces) > 0:
			findings.Add(at, diag.Unsupported,
				fmt.Sprintf("%s is cluster-scoped, and with install.watchNamespaces the operator has no right outside those namespaces", c.Kind.Kind),
				"leave out the child, or install.watchNamespaces")
		case p.API.Kind.Namespaced && p.Reconcile.Finalizer == "" && !c.Orphan:
			findings.Add(at, diag.Unsupported,
				fmt.Sprintf("%s is cluster-scoped, and a namespaced %s cannot own it: nothing would delete it", c.Kind.Kind, p.API.Kind.Kind),
				"add `finalizer: {}` so that the operator deletes it, or onDelete: Orphan")
		}
	}
	return findings
}
