package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// unsupported reports what no engine supports, or only with restrictions.
func unsupported(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	for i, c := range p.Children {
		at := d.Position("spec", "children", strconv.Itoa(i))
		switch {
		case !c.Kind.Namespaced && len(p.Shared.WatchNamespaces) > 0:
			findings.Add(at, diag.Unsupported,
				fmt.Sprintf("%s is cluster-scoped, but install.watchNamespaces limits the operator to those namespaces", c.Kind.Kind),
				"remove the child or install.watchNamespaces")
		case d.Operator.Spec.Logic == nil || p.Reconcile.Finalizer != "" || c.Orphan || !p.unowned(c):
		case c.Kind.Namespaced:
			findings.Add(
				d.Position("spec", "children", strconv.Itoa(i), "template", "metadata", "namespace"),
				diag.Unsupported,
				fmt.Sprintf(
					"the %s is in another namespace than its %s and cannot have it as owner: the garbage collector would not delete it",
					c.Kind.Kind,
					p.API.Kind.Kind,
				),
				finalizerHint,
			)
		default:
			findings.Add(
				at,
				diag.Unsupported,
				fmt.Sprintf(
					"%s is cluster-scoped and cannot have a namespaced %s as owner: the garbage collector would not delete it",
					c.Kind.Kind,
					p.API.Kind.Kind,
				),
				finalizerHint,
			)
		}
	}
	if d.Operator.Spec.Logic != nil && p.Reconcile.Finalizer == "" && slices.ContainsFunc(p.Patches, p.leavesFields) {
		findings.Add(d.PositionOfKey("spec", "patches"), diag.ConflictingKeys,
			"patches with logic need a finalizer: the program must learn that a custom resource is deleted",
			"write finalizer: {}; the request then has finalizing: true")
	}
	return slices.Concat(findings, templateBraces(p, d), oversized(p, d), unprotected(p, d), exposedSecrets(p, d))
}

// finalizerHint is for operators with logic, which takes part in the clean-up.
const finalizerHint = "add finalizer: {} so that the operator deletes it (and calls the logic before), or set onDelete: Orphan to keep it"

// maxApplied is the maximum size of an object for client-side `kubectl apply`, which
// stores a copy in an annotation: 256 KiB, minus room for other annotations.
const maxApplied = 240 * 1024

// oversized warns of objects that need a server-side apply.
func oversized(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	warn := func(what string, size int, path ...string) {
		if size > maxApplied {
			findings.Warn(d.Position(path...), diag.TooLarge,
				fmt.Sprintf("%s has %d KiB, too large for kubectl apply without --server-side", what, size/1024),
				"apply the output with kubectl apply --server-side")
		}
	}
	files := 0
	for _, f := range append(slices.Clone(p.Logic.Files), p.Logic.Parameters...) {
		files += len(quote(f.Content))
	}
	warn("the logic", files, "spec", "logic", "files")
	warn("the CustomResourceDefinition", len(p.API.CRD), "spec", "api", "crd", "file")
	return findings
}

// templateBraces reports text of the definition that Argo would interpret as a template
// of its own. Logic that needs such a value finds it in its request.
func templateBraces(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	refuse := func(text string, path ...string) {
		if strings.Contains(text, "{{") {
			findings.Add(d.Position(append([]string{"spec", "logic"}, path...)...), diag.ReservedName,
				fmt.Sprintf("%q contains {{, which Argo Workflows replaces", text),
				"move the text to a file of the logic; values that differ between runs are in the request")
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
