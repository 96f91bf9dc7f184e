package plan

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// If a custom resource chooses a namespace, its author writes or reads in that
// namespace with the operator's permissions. install.allowedNamespaces restricts the
// choice. Without it, a custom resource chooses none of the cluster's own namespaces.

// allowedPattern returns the regular expression of the allowed namespaces; empty: any.
func allowedPattern(patterns []string) string {
	if len(patterns) == 0 {
		return ""
	}
	var names []string
	for _, pattern := range patterns {
		names = append(names, strings.ReplaceAll(pattern, "*", "[-a-z0-9]*"))
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// systemPattern returns the regular expression of the namespaces that no custom resource
// chooses: those of Kubernetes, of both Argos and of the operator. The last one has a place
// of its own, because a Helm chart replaces it.
func (p *declared) systemPattern() string {
	return allowedPattern([]string{"kube-*", "argo", "argo-events", "argo-workflows", p.Shared.Namespace})
}

// ChoosesNamespace reports whether users, or the logic, decide in which namespace the child
// is, or which Namespace it is.
func (c Child) ChoosesNamespace() bool {
	if c.Object == nil {
		return c.Kind.Namespaced || c.Kind.namespace()
	}
	return c.chosen
}

// ChoosesNamespace reports whether users decide from which namespaces the objects are.
func (r Related) ChoosesNamespace() bool { return r.chosen }

func (k Kind) namespace() bool { return k.Group == "" && k.Kind == "Namespace" }

// chooseNamespaces finds out which namespaces users decide. With a list of those that are
// allowed, a value that the schema lists has to be among them, too.
func (p *declared) chooseNamespaces(d *definition.Definition) {
	flow := p.Flow(d)
	free := func(c Child, program *expression.Program) bool {
		return slices.ContainsFunc(flow.Program(c, program), func(s Source) bool {
			return s.Free() || p.Install.AllowedNamespaces != "" && s.Who != ByServer
		})
	}
	for _, list := range [][]Child{p.Children, p.Patches} {
		for i, c := range list {
			switch {
			case c.Kind.namespace():
				list[i].chosen = free(c, c.ObjectName)
			case c.Kind.Namespaced && !c.SameNamespace:
				list[i].chosen = free(c, c.Namespace)
			}
		}
	}
	for i, r := range p.Related {
		p.Related[i].chosen = r.Kind.Namespaced && (free(Child{}, r.Namespace) || r.Everywhere && free(Child{}, r.Selection))
	}
}

// choosesNamespace reports whether a custom resource, or the logic, chooses any.
func (r Runtime) choosesNamespace() bool {
	chosen := func(k RuntimeKind) bool { return k.Chosen }
	return slices.ContainsFunc(r.Children, chosen) || slices.ContainsFunc(r.Patches, chosen) ||
		slices.ContainsFunc(r.Related, func(k RuntimeRelated) bool { return k.Chosen })
}

// templateJQ returns the jq of a child, as it is sent. It fails if the namespace is not allowed, or if a
// value is missing that it uses where null does damage: the value of a child that is not
// wanted.
func templateJQ(p *configured, c Child) jqfile.Value {
	out := jqfile.Raw(c.Object.Source())
	if c.HasTexts {
		out = directPrograms().Definition("encoded", jqfile.Holes{"hole::secret": out})
	}
	if c.ChoosesNamespace() {
		pattern, allowed, place := p.Install.AllowedNamespaces, true, ".metadata.namespace"
		if pattern == "" {
			pattern, allowed = p.systemPattern(), false
		}
		if c.Kind.namespace() {
			place = ".metadata.name"
		}
		out = directPrograms().Definition("placed", jqfile.Holes{
			"hole::placedObject": out, "hole::place": jqfile.Raw(place), "hole::namespaces": jqfile.String(pattern),
			"hole::allowed": jqfile.Bool(allowed),
		})
	}
	if c.Kind.Custom() {
		out = directPrograms().Definition("nested", jqfile.Holes{
			"hole::nestedObject": out, "hole::depths": jqfile.Raw(depthsJQ()), "hole::tooDeep": jqfile.String(tooDeep),
			"annotation::depth": jqfile.String(depthAnnotation),
		})
	}
	for _, n := range c.needs {
		if n.Damage {
			out = directPrograms().Definition("harmless", jqfile.Holes{
				"hole::needed": jqfile.Raw(n.Source), "hole::problem": jqfile.String(n.Text + " has no value"), "hole::harmlessObject": out,
			})
		}
	}
	return out
}
