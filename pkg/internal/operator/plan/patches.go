package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// A patch sets fields of an object of others. Only a pod does: it reads the object, and
// applies the fields with a field manager of the custom resource's own. Which objects
// have fields of that manager is in their managedFields, so nothing is remembered.

// patches compiles the patches of the definition.
func (c *compiler) patches() []Child {
	var out []Child
	for i, declared := range c.d.Operator.Spec.Patches {
		at := []string{"spec", "patches", strconv.Itoa(i)}
		out = append(out, c.sound(at, func() Child { return c.patch(declared, at...) }))
	}
	return out
}

func (c *compiler) patch(declared v1alpha1.Patch, path ...string) Child {
	in := definition.PatchChild(declared)
	at := func(more ...string) []string { return append(slices.Clone(path), more...) }
	group, version := source.SplitAPIVersion(in.APIVersion)
	out := Child{
		Name: in.Name, Update: InPlace,
		Kind: Kind{Group: group, Version: version, Kind: in.Kind, Plural: in.Plural, Namespaced: in.Scope != "Cluster"},
	}
	scope := c.conditions(&out, in, path)
	var problems []expression.Problem
	out.Object, problems = expression.Template(in.Template, scope, kindType(c.d.PatchSchema(in.Name), in.APIVersion, in.Kind))
	c.report(problems, at("template")...)
	metadata, _ := in.Template["metadata"].(map[string]any)
	if _, written := metadata["name"].(string); !written {
		c.findings.Add(
			c.d.Position(at("template")...),
			diag.MissingKey,
			"metadata.name is missing",
			"metadata: {name: \"${ .spec.target }\"}",
		)
	} else {
		out.ObjectName, _ = expression.Template(metadata["name"], scope, schema.Of(schema.String))
	}
	namespace, elsewhere := metadata["namespace"].(string)
	out.SameNamespace = !elsewhere
	if elsewhere {
		out.Namespace, _ = expression.Template(namespace, scope, schema.Of(schema.String))
	} else if out.Kind.Namespaced && !c.api.Kind.Namespaced {
		c.findings.Add(c.d.Position(at("template", "metadata")...), diag.MissingKey,
			fmt.Sprintf("metadata.namespace is missing: %s is cluster-scoped, so there is no default "+
				"namespace", c.scope.Name), "metadata: {namespace: \"${ .spec.namespace }\"}")
	}
	c.clusterScoped(out, in.Template, at("template", "metadata")...)
	out.needs = needsOf(out.ForEach, out.Object)
	c.compileForPod(&out, in, path)
	return out
}

// runtimePatches returns the patches in the form that the pod reads.
func runtimePatches(p *decided) []RuntimeKind {
	var out []RuntimeKind
	for _, c := range p.Patches {
		kind := runtimeKind(c.Kind)
		kind.Secret = p.ReadsSecrets(c)
		kind.Name, kind.Identity = c.Name, c.podPrograms.identity
		kind.Object, kind.When, kind.ForEach, kind.Needs = c.podPrograms.object, c.podPrograms.when, c.podPrograms.forEach, runtimeNeeds(c)
		kind.Beside, kind.Chosen = c.SameNamespace && c.Kind.Namespaced, c.ChoosesNamespace()
		out = append(out, kind)
	}
	return out
}

// patchGrants returns the permissions on the objects of others.
func patchGrants(p *configured) []Grant {
	var list []Grant
	for _, c := range p.Patches {
		list = append(list, Grant{
			Account: p.Reconcile.Execution.Writer, Group: c.Kind.Group, Resource: c.Kind.Plural, Verbs: []string{"list", "patch"},
			InWatchedNamespaces: true,
			Reason:              "list and patch the objects of spec.patches by server-side apply",
		})
	}
	return list
}
