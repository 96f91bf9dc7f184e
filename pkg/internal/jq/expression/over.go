package expression

import (
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// Over returns an expression in ${ } for the entries of a mapping with those of another over
// them. Each is a mapping of texts, which may contain ${ }, or one expression. An entry
// without a value is omitted, as in a template.
func Over(common, own any) string {
	return "${ {} + (" + entries(common) + ") + (" + entries(own) + ") | with_entries(select(.value != null)) }"
}

// entries returns a mapping as jq. What is neither that nor an expression is an error of the
// definition, which is reported.
func entries(value any) string {
	fields, isMap := value.(map[string]any)
	if !isMap {
		return textOf(value)
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, jq.Quote(key)+": "+textOf(fields[key]))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// textOf returns a value that may contain ${ } as a term of jq.
func textOf(value any) string {
	text, _ := value.(string)
	parts, err := split(text)
	if err != nil || len(parts) == 0 || len(parts) == 1 && !parts[0].expr {
		literal, err := jq.Literal(value)
		if err != nil {
			return "null"
		}
		return literal
	}
	if len(parts) == 1 {
		return "([" + parts[0].text + "\n][0])"
	}
	var b strings.Builder
	for _, p := range parts {
		if quoted := jq.Quote(p.text); p.expr {
			failure := jq.Quote(p.text + " is null inside a text")
			b.WriteString(`\([` + p.text + "\n][0] | if . == null then error(" + failure + ") else . end)")
		} else {
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return `"` + b.String() + `"`
}
