package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/expression"
)

// A template that reads a field of another child loses what it made of it when
// that field has no value for a moment. So each child has an annotation with the
// fields that had a value when it was written, and it is not written as long as
// one of them has none.

// knownAnnotation of a child is those fields, as a list in JSON.
const knownAnnotation = "argoperator.dev/known"

// need is an expression of a template that may come out null because a field of
// another child has no value.
type need struct {
	text, source string
	paths        []neededPath
}

// neededPath is a field of another child.
type neededPath struct {
	child string
	keys  []string
}

func needsOf(program *expression.Program) []need {
	if program == nil {
		return nil
	}
	var out []need
	for _, n := range program.Needs() {
		one := need{text: n.Text, source: n.Source}
		for _, child := range slices.Sorted(maps.Keys(n.Reads)) {
			for _, keys := range n.Reads[child] {
				one.paths = append(one.paths, neededPath{child, keys})
			}
		}
		out = append(out, one)
	}
	return out
}

// text is the field as an expression names it.
func (p neededPath) text() string { return "$children" + dotted(append([]string{p.child}, p.keys...)) }

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func dotted(keys []string) string {
	var b strings.Builder
	for _, key := range keys {
		if identifier.MatchString(key) {
			b.WriteString("." + key)
		} else {
			b.WriteString("[" + quote(key) + "]")
		}
	}
	return b.String()
}

// jq is the value of the field; null where there is none.
func (p neededPath) jq() string {
	return "(" + p.text() + "?)"
}

// knownJQ is the jq of the annotation of a child, with $children bound; empty
// where its template needs nothing of other children.
func knownJQ(c Child) string {
	var fields []string
	for _, n := range c.needs {
		for _, path := range n.paths {
			field := fmt.Sprintf("(if %s == null then empty else %s end)", path.jq(), quote(path.text()))
			if !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
	}
	if fields == nil {
		return ""
	}
	return "[" + strings.Join(fields, ", ") + "]"
}

// lostJQ is the jq of what keeps a living child from being written, or null: a
// field of another child that had a value when it was written and has none now.
// A child that is not wanted any more has no fields to wait for.
func lostJQ(p *Plan, c Child) string {
	var terms []string
	for _, n := range c.needs {
		for _, path := range n.paths {
			wanted := ""
			if i := slices.IndexFunc(p.Children, func(other Child) bool { return other.Name == path.child }); i >= 0 && p.Children[i].When != nil {
				wanted = " and " + whenJQ(p.Children[i])
			}
			terms = append(terms, fmt.Sprintf(`(if ($known | index(%s)) != null and %s == null%s and (try (%s == null) catch false) then %s else empty end)`,
				quote(path.text()), path.jq(), wanted, n.source, quote(path.text()+", which had a value before")))
		}
	}
	if terms == nil {
		return ""
	}
	return fmt.Sprintf(`(%s as $children | (%s.known // []) as $known | first(%s, null))`, liveJQ(p, "."), memory(p, c, ""), strings.Join(terms, ", "))
}

// runtimeNeeds are the needs of a child as the pod knows them.
func runtimeNeeds(c Child) []RuntimeNeed {
	var out []RuntimeNeed
	for i, n := range c.needs {
		one := RuntimeNeed{Expr: c.inPod.needs[i]}
		for _, path := range n.paths {
			one.Paths = append(one.Paths, RuntimePath{Keys: append([]string{path.child}, path.keys...), Text: path.text()})
		}
		out = append(out, one)
	}
	return out
}
