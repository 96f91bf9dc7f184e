package plan

import (
	"fmt"
	"strconv"
	"strings"

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
	return append(findings, braces(p, d)...)
}

// braces refuses text of the definition that Argo would take for a template of
// its own. Where the logic needs a value at run time, the request has it.
func braces(p *Plan, d *definition.Definition) diag.List {
	var findings diag.List
	refuse := func(text string, path ...string) {
		if strings.Contains(text, "{{") {
			findings.Add(d.Position(append([]string{"spec", "logic"}, path...)...), diag.Reserved,
				fmt.Sprintf("%q holds {{, which Argo Workflows replaces", text),
				"write the text to a file of the logic; what differs from run to run is in the request")
		}
	}
	refuse(p.Logic.Image, "image")
	for i, word := range p.Logic.Command {
		refuse(word, "command", strconv.Itoa(i))
	}
	for i, env := range p.Logic.Env {
		refuse(env.Value, "env", strconv.Itoa(i), "value")
	}
	return findings
}
