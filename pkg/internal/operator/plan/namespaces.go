package plan

import (
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
)

// If a custom resource chooses a namespace, its author writes or reads in that
// namespace with the operator's permissions. install.allowedNamespaces restricts the
// choice.

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

// templateJQ returns the jq of a child, as it is sent. It fails if the namespace is not allowed, or if a
// value is missing that it uses where null does damage: the value of a child that is not
// wanted.
func templateJQ(p *configured, c Child) jqfile.Value {
	out := jqfile.Raw(c.Object.Source())
	if c.HasTexts {
		out = directPrograms().Definition("encoded", jqfile.Holes{"hole::secret": out})
	}
	if p.Install.AllowedNamespaces != "" && c.Kind.Namespaced && c.Namespace != nil && !c.SameNamespace {
		out = directPrograms().Definition("placed", jqfile.Holes{
			"hole::placedObject": out, "hole::allowedNamespaces": jqfile.String(p.Install.AllowedNamespaces),
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
