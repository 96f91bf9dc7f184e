package source

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// longestValue is the size in bytes up to which a hint shows a whole value.
const longestValue = 120

// Rewritten returns the scalar at a path, as YAML, with other text in the place of the bytes
// of its value from one offset to another. For a long value, and for one of several lines,
// it returns the text alone.
func (p Positions) Rewritten(path []string, from, to int, text string) string {
	_, n, exact := p.Find(path)
	if !exact || n.Kind != yaml.ScalarNode || from > to || to > len(n.Value) {
		return text
	}
	value := n.Value[:from] + text + n.Value[to:]
	if len(value) > longestValue || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.Contains(value, "\n") {
		if strings.HasSuffix(strings.TrimRight(n.Value[:from], " "), "${") {
			return "${ " + text + " }"
		}
		return text
	}
	return Scalar(value, p.inFlow(path), p.style(n))
}

// InPlaceOf returns another value for a scalar, as YAML that is valid between braces, too.
func (p Positions) InPlaceOf(n *yaml.Node, value string) string {
	return Scalar(value, true, p.style(n))
}

// style returns the style of a scalar in the file.
func (p Positions) style(n *yaml.Node) yaml.Style {
	if _, ok := p.home(n).repaired[n.Line]; ok {
		return 0 // the quotes are not in the file
	}
	return n.Style
}

// inFlow reports whether the value at a path is between the braces or brackets of YAML.
func (p Positions) inFlow(path []string) bool {
	for i := range path {
		if _, n, _ := p.Find(path[:i]); n != nil && n.Style&yaml.FlowStyle != 0 {
			return true
		}
	}
	return false
}

// Scalar returns a string as YAML in one line, in the given style if that holds it.
func Scalar(value string, inFlow bool, style yaml.Style) string {
	single := "'" + strings.ReplaceAll(value, "'", "''") + "'"
	double := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value) + `"`
	forms := []string{value, `"` + value + `"`, single}
	switch {
	case style&yaml.SingleQuotedStyle != 0:
		forms = []string{single}
	case style&yaml.DoubleQuotedStyle != 0:
		forms = []string{`"` + value + `"`, single}
	}
	for _, form := range forms {
		if means(form, value, inFlow) {
			return form
		}
	}
	return double
}

// means reports whether a piece of YAML is a string, also where more follows.
func means(form, value string, inFlow bool) bool {
	text := "- k: " + form + "\n  l: m\n"
	if inFlow {
		text = "- {k: " + form + ", l: m}\n"
	}
	var list []map[string]any
	return yaml.Unmarshal([]byte(text), &list) == nil && len(list) == 1 && len(list[0]) == 2 && list[0]["k"] == value
}
