package plan

import (
	"fmt"
	"strings"
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

// placed returns the jq of a child. It fails if the namespace is not allowed. The
// namespace of the custom resource itself always is.
func placed(p *configured, c Child, source string) string {
	if p.Install.AllowedNamespaces == "" || !c.Kind.Namespaced || c.Namespace == nil || c.SameNamespace {
		return source
	}
	return fmt.Sprintf(
		`(%s | .metadata.namespace as $namespace | if $namespace | test(%s) then . else error("namespace \($namespace) is not one of install.allowedNamespaces") end)`,
		source,
		quote(p.Install.AllowedNamespaces),
	)
}
