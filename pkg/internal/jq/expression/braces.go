package expression

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// bracesOf matches {{ }} that contain an expression of Helm, Argo, kro or Ansible.
// Other braces are legitimate, for example in alert rules and programs. parentheses
// matches $( ), in which Kubernetes expands the variables of a container.
var (
	parentheses = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\( *(\.?(?:spec|metadata|status)(?:\.\w+)+) *\)`) })

	bracesOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`\{\{-? *(\.(?:Values|Release|Chart|Files|Capabilities|spec|metadata|status)\b[.\w]*|(?:include|tpl) ` +
				`|(?:inputs|workflow|sensor)\.[.\w-]+|[A-Za-z]\w* *\}\})`,
		)
	})
	dotted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\.\w+)+$`) })
)

// braces warns of {{ }} in literal text, which is not expanded, and reports it as an error
// where no text is valid. It does not warn if the
// same text escapes a ${, or has the braces as ${ "{{ … }}" }, because then they are
// intended.
func (c *templates) braces(path []string, text string, parts []part, want schema.Type) (wrong bool) {
	if strings.Contains(text, "$${") || strings.HasPrefix(c.apiVersion(), schema.ArgoGroup+"/") || c.isFixedName(path) {
		return false
	}
	for _, p := range parts {
		if p.expr || !strings.Contains(p.text, "{{") && !strings.Contains(p.text, "$(") {
			continue
		}
		kind, found := "{{ }}", bracesOf().FindStringSubmatchIndex(p.text)
		if found == nil {
			kind, found = "$( )", parentheses().FindStringSubmatchIndex(p.text)
		}
		if found == nil {
			continue
		}
		written := p.text[found[0]:found[1]]
		inside := strings.Trim(p.text[found[2]:found[3]], " }")
		if written[0] == '$' && inside[0] != '.' {
			inside = "." + inside
		}
		ours := c.ownPath(inside)
		if ours == "" && jq.IsName(inside) && inside != "include" && inside != "tpl" {
			continue // not a name that can be resolved
		}
		if ours == "" {
			ours = ".spec.field"
		}
		problem := Problem{
			Path: path, Offset: p.at + found[0], Length: found[1] - found[0], Code: BadExpression, Warning: true,
			Message: kind + " is not expanded and stays in the string: argoperator expands ${ }",
			Hint:    "write ${ " + ours + " }; " + meant(written),
		}
		if wrong = ofType(want)&str == 0; wrong { // the string has a wrong type, too
			problem.Warning, problem.Length = false, 0
			problem.Message = fmt.Sprintf(
				"%s is not expanded, and %s must be %s: argoperator expands ${ }",
				kind,
				c.field(path),
				ofType(want),
			)
			problem.Hint = "write ${ " + ours + " }"
		}
		c.problem(problem)
		return wrong // one finding per text is enough
	}
	return false
}

// isFixedName reports whether a path is the name of a template's object that no expression
// makes unique, which is an error of the definition.
func (c *templates) isFixedName(path []string) bool {
	if !slices.Equal(path, []string{"metadata", "name"}) {
		return false
	}
	fields, _ := c.whole.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	return !strings.Contains(name+namespace, "${")
}

// meant returns the hint for foreign braces that are intended.
func meant(written string) string {
	if written[0] == '$' {
		return `to keep the text, write ${ "$( … )" }`
	}
	return `to keep the braces, write ${ "{{ … }}" }`
}

// apiVersion returns the apiVersion of the template's object.
func (c *templates) apiVersion() string {
	fields, _ := c.whole.(map[string]any)
	version, _ := fields["apiVersion"].(string)
	return version
}

// ownPath returns the path that corresponds to a path of another tool, or "".
func (c *templates) ownPath(inside string) string {
	a := &analyser{scope: c.scope}
	if !strings.HasPrefix(inside, ".") {
		return anyOf(a.inside(func(field string) bool { return field == inside }, nil))
	}
	if !dotted().MatchString(inside) {
		return ""
	}
	path := strings.Split(inside[1:], ".")
	if slices.Contains([]string{"spec", "metadata", "status"}, path[0]) {
		return inside
	}
	if of := a.helmPath(path[0], path[1:]); !strings.HasSuffix(of, "FIELD") {
		return of
	}
	return ""
}
