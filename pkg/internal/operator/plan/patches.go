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
		Name: in.Name, Update: InPlace, Subresource: declared.Subresource,
		Kind: Kind{Group: group, Version: version, Kind: in.Kind, Plural: in.Plural, Namespaced: in.Scope != "Cluster"},
	}
	scope := c.conditions(&out, in, path)
	var problems []expression.Problem
	out.Object, problems = expression.Template(in.Template, scope, schema.OfKind(c.d.PatchSchema(in.Name), in.APIVersion, in.Kind))
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
	c.sameField(out, path)
	c.clusterScoped(out, in.Template, at("template", "metadata")...)
	out.needs = needsOf(out.ForEach, out.Object)
	c.compileForPod(&out, in, scope, path)
	return out
}

// releases reports whether the fields of a patch are given up with the custom resource. An
// approval stays: the API server does not let anybody take it back.
func (c Child) releases() bool { return c.Subresource != schema.Approval }

// patchesItself reports whether a patch is always for the custom resource itself.
func (p *declared) patchesItself(c Child) bool {
	return p.isParent(c.Kind) && c.ForEach == nil && c.ObjectName != nil && c.ObjectName.Source() == ".metadata.name" &&
		(c.SameNamespace || !c.Kind.Namespaced)
}

// leavesFields reports whether the fields of a patch would stay on another object when the
// custom resource goes.
func (p *declared) leavesFields(c Child) bool { return c.releases() && !p.patchesItself(c) }

// sameField warns of a field of one object that every custom resource sets to a value of its
// own: the API server refuses the second.
func (c *compiler) sameField(patch Child, path []string) {
	if patch.Object == nil || patch.ObjectName == nil {
		return
	}
	for _, part := range []*expression.Program{patch.ObjectName, patch.Namespace} {
		if part == nil || part == patch.Namespace && patch.SameNamespace {
			continue
		}
		if _, one := part.Const(); !one {
			return
		}
	}
	for _, p := range patch.Object.Parts() {
		names := len(p.Path) == 2 && p.Path[0] == "metadata"                          // the object
		own := p.Whole && p.Permits(map[string]any{}) || p.Path == nil                // it may have a key for each
		same := len(p.Reads()) == 0 && len(p.ReadsChildren()) == 0 && !p.UsesOthers() // for all custom resources
		if names || own || same {
			continue
		}
		c.findings.Warn(c.d.Position(slices.Concat(path, []string{"template"}, p.Path)...), diag.Uniqueness,
			fmt.Sprintf("every %s sets %s of the same %s to a value of its own: the API server refuses the second",
				c.scope.Name, source.Path(p.Path), patch.Kind.Kind),
			"write a key for each, such as ${ {(.metadata.name): .spec.NAME} }, or name another object for each; "+
				"if there is only one, accept this")
		return
	}
}

// runtimePatches returns the patches in the form that the pod reads.
func runtimePatches(p *decided) []RuntimeKind {
	var out []RuntimeKind
	for _, c := range p.Patches {
		kind := runtimeKind(c.Kind)
		kind.Secret = p.ReadsSecrets(c)
		kind.Name, kind.Identity = c.Name, c.podPrograms.identity
		kind.Object, kind.When, kind.ForEach, kind.Needs = c.podPrograms.object, c.podPrograms.when, c.podPrograms.forEach, runtimeNeeds(c)
		kind.Part, kind.Stays, kind.Self = c.Subresource, !c.releases(), p.patchesItself(c)
		kind.Beside, kind.Chosen = c.SameNamespace && c.Kind.Namespaced, c.ChoosesNamespace()
		out = append(out, kind)
	}
	return out
}

// patchGrants returns the permissions on the objects of others. The custom resource itself is
// at hand, so a patch for it lists nothing.
func patchGrants(p *configured) []Grant {
	var list []Grant
	for _, c := range p.Patches {
		grant := Grant{
			Account: p.Reconcile.Execution.Writer, Group: c.Kind.Group, Resource: c.Kind.Plural, Verbs: []string{"list", "patch"},
			InWatchedNamespaces: true,
			Reason:              "list and patch the objects of spec.patches by server-side apply",
		}
		if p.patchesItself(c) {
			grant.Verbs, grant.Reason = []string{"patch"}, "patch the custom resource by spec.patches"
		}
		if c.Subresource != "" {
			part := grant
			part.Resource, part.Verbs = c.Kind.Plural+"/"+c.Subresource, []string{"patch"}
			grant.Verbs = slices.DeleteFunc(grant.Verbs, func(verb string) bool { return verb == "patch" })
			list = append(list, part)
		}
		if len(grant.Verbs) > 0 {
			list = append(list, grant)
		}
	}
	return list
}
