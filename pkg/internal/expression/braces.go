package expression

import (
	"regexp"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq"
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// bracesOf finds {{ }} that read what Helm, Argo, kro or Ansible would fill in.
// Other braces are somebody else's: alert rules and programs have them too.
// parentheses finds the same of $( ), which Kubernetes fills in with variables
// of a container.
var (
	parentheses = regexp.MustCompile(`\$\( *(\.?(?:spec|metadata|status)(?:\.\w+)+) *\)`)

	bracesOf = regexp.MustCompile(`\{\{-? *(\.(?:Values|Release|Chart|Files|Capabilities|spec|metadata|status)\b[.\w]*|(?:include|tpl) |(?:inputs|workflow|sensor)\.[.\w-]+|[A-Za-z]\w* *\}\})`)
	dotted   = regexp.MustCompile(`^(?:\.\w+)+$`)
)

// braces warns of {{ }} in literal text: it stays there as it is. Who escapes a
// ${ in the same text, or writes it as ${ "{{ … }}" }, knows.
func (c *templates) braces(path []string, text string, parts []part) {
	if strings.Contains(text, "$${") || strings.HasPrefix(c.apiVersion(), schema.ArgoGroup+"/") {
		return
	}
	for _, p := range parts {
		kind, found := "{{ }} is Helm's or Argo's", bracesOf.FindStringSubmatchIndex(p.text)
		if found == nil {
			kind, found = "$( ) is no expression", parentheses.FindStringSubmatchIndex(p.text)
		}
		if p.expr || found == nil {
			continue
		}
		written := p.text[found[0]:found[1]]
		inside := strings.Trim(p.text[found[2]:found[3]], " }")
		if written[0] == '$' && inside[0] != '.' {
			inside = "." + inside
		}
		ours := c.ours(inside)
		if ours == "" && jq.IsName(inside) && inside != "include" && inside != "tpl" {
			continue // a name that means nothing here
		}
		if ours == "" {
			ours = ".spec.field"
		}
		c.problem(Problem{
			Path: path, Offset: p.at + found[0], Length: found[1] - found[0], Code: BadExpression, Warning: true,
			Message: kind + " and stays in the text as it is: expressions are written ${ }",
			Hint:    "write ${ " + ours + " }; " + meant(written),
		})
		return // one is enough
	}
}

// meant is how to say that foreign marks are meant.
func meant(written string) string {
	if written[0] == '$' {
		return `if the text is meant, ${ "$( … )" }`
	}
	return `if the braces are meant, ${ "{{ … }}" }`
}

// apiVersion is that of the object that the template makes.
func (c *templates) apiVersion() string {
	fields, _ := c.whole.(map[string]any)
	version, _ := fields["apiVersion"].(string)
	return version
}

// ours is the path that somebody else's path stands for; "" if it is not known.
func (c *templates) ours(inside string) string {
	a := &analyser{scope: c.scope}
	if !strings.HasPrefix(inside, ".") {
		hint := a.inside(func(field string) bool { return field == inside }, nil)
		return strings.TrimSuffix(strings.TrimPrefix(hint, "did you mean "), "?")
	}
	if !dotted.MatchString(inside) {
		return ""
	}
	path := strings.Split(inside[1:], ".")
	if slices.Contains([]string{"spec", "metadata", "status"}, path[0]) {
		return inside
	}
	if of := a.helmPath(path[0], path[1:]); !strings.Contains(of, "…") {
		return of
	}
	return ""
}
