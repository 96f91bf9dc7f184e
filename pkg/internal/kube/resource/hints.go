package resource

import (
	"regexp"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// literals matches the strings and numbers of a CEL rule.
var literals = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|-?\d+(?:\.\d+)?`)

// speaking maps calls of a CEL rule to a text for which they return true.
var speaking = []struct{ call, text string }{
	{"uantity(", "1"},
	{"uantity(", "1Gi"},
	{"rl(", "https://example.com/path"},
	{"URL(", "https://example.com/path"},
	{"ip(", "192.0.2.1"},
	{"IP(", "192.0.2.1"},
	{"ip(", "2001:db8::1"},
	{"cidr(", "192.0.2.0/24"},
	{"CIDR(", "192.0.2.0/24"},
	{"duration(", "1h"},
	{"timestamp(", "2026-01-02T03:04:05Z"},
	{"format.", "sample"},
	{"emver(", "1.2.3"},
	{"int(", "1"},
}

// hint is a text that may be meant as a regular expression.
type hint struct{ pattern string }

// hintsOf returns the constants in a node's rules and their neighbours, which are on
// both sides of a rule's limit.
func hintsOf(n *node) []any {
	rules := n.XValidations
	if n.ValueValidation != nil {
		for i := range n.ValueValidation.AllOf {
			rules = append(rules[:len(rules):len(rules)], n.ValueValidation.AllOf[i].XValidations...)
		}
	}
	var out []any
	for _, rule := range rules {
		out = append(out, hintsIn(rule)...)
	}
	return out
}

func hintsIn(rule apiextensionsv1.ValidationRule) []any {
	var out []any
	for _, found := range literals.FindAllStringSubmatch(rule.Rule, -1) {
		switch text := found[1] + found[2]; {
		case text != "":
			if plain, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `\'`, `'`) + `"`); err == nil {
				text = plain
			}
			out = append(out, text, hint{pattern: text})
		case strings.ContainsAny(found[0], `"'`):
			out = append(out, "")
		default:
			if number, err := strconv.ParseFloat(found[0], 64); err == nil {
				out = append(out, number, number+1, number-1)
			}
		}
	}
	for _, s := range speaking {
		if strings.Contains(rule.Rule, s.call) {
			out = append(out, s.text)
		}
	}
	return out
}
