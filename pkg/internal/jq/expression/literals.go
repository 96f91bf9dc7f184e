package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// wantAllowed reports the strings of an expression that become its value and that the
// schema does not allow.
func (c *templates) wantAllowed(e *expr, want schema.Type) {
	allowed := schema.Strings(want)
	if len(allowed) == 0 {
		for _, term := range literals(e.query) {
			if why := schema.Unfit(want, term.Str.Str); why != "" {
				span := e.spans[term]
				c.problem(Problem{
					Path: e.path, Offset: e.at + span.At, Length: span.End - span.At, Code: WrongType, Warning: true,
					Message: fmt.Sprintf("%s can be %s, which %s", c.field(e.path), jq.Quote(term.Str.Str), why),
					Hint:    "write a text that the schema allows, or null to omit the field",
				})
			}
		}
		return
	}
	if of, ok := strings.CutSuffix(e.text, "| tostring"); ok && !slices.Contains(allowed, "true") && !slices.Contains(allowed, "false") {
		if kind, _ := c.kindOfText(of); kind == "boolean" {
			message := c.field(e.path) + " is true or false as text, which is not in its enum"
			c.wrong(e, message, chosen(strings.TrimSpace(of), allowed), "", "")
		}
	}
	for _, term := range literals(e.query) {
		text := term.Str.Str
		if slices.Contains(allowed, text) {
			continue
		}
		what := advice{sentence: "write one of " + strings.Join(allowed, ", ") + "; or add " + text + " to the enum"}
		if best := nearest(text, allowed); best != "" {
			what = advice{meant: jq.Quote(best)}
		}
		span := e.spans[term]
		c.problem(Problem{
			Path: e.path, Offset: e.at + span.At, Length: span.End - span.At, Code: WrongType, Hint: what.hint(), guessed: what.meant != "",
			Message: fmt.Sprintf("%s is %s, which is not in its enum", c.field(e.path), jq.Quote(text)),
		})
	}
}

// chosen returns an expression that chooses between the status True and False of a condition; "" for
// texts that are no such status.
func chosen(condition string, allowed []string) string {
	if !slices.Contains(allowed, "True") || !slices.Contains(allowed, "False") || strings.ContainsAny(condition, "\n#") {
		return ""
	}
	return "if " + condition + ` then "True" else "False" end`
}

// literals returns the strings without expressions in them that a query ends with.
func literals(q *gojq.Query) []*gojq.Term {
	switch {
	case q == nil:
		return nil
	case q.Op == gojq.OpPipe:
		return literals(q.Right)
	case q.Op == gojq.OpAlt:
		return append(literals(q.Left), literals(q.Right)...)
	case q.Term == nil || len(q.Term.SuffixList) > 0:
		return nil
	}
	switch t := q.Term; t.Type {
	case gojq.TermTypeString:
		if len(t.Str.Queries) == 0 {
			return []*gojq.Term{t}
		}
	case gojq.TermTypeQuery:
		return literals(t.Query)
	case gojq.TermTypeIf:
		out := literals(t.If.Then)
		for _, branch := range t.If.Elif {
			out = append(out, literals(branch.Then)...)
		}
		return append(out, literals(t.If.Else)...)
	}
	return nil
}
