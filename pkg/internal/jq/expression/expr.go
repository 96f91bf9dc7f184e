package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqhint"
)

// expr is one parsed and analysed expression.
type expr struct {
	part
	path   []string
	query  *gojq.Query
	source string // without unnecessary space
	spans  jq.Spans

	defines   bool  // source starts with a function definition
	reads     reads // what it reads
	variables []*Variable
	carried   reads // see Program
	chosen    reads
	result
}

// use checks whether an expression fits the place where its value is used.
type use func(*templates, *expr)

// expr parses and analyses the text between ${ and }, and checks that it fits its place;
// nil if it is not jq. For text in another language, it reports how to write it in jq.
func (c *templates) expr(path []string, p part, fits use) *expr {
	before := len(c.problems)
	e := c.analysed(path, p)
	if e != nil {
		fits(c, e)
	}
	if found := c.problems[before:]; failed(found) && !c.trial {
		fix, caveat := c.translation(path, p, fits, false), ""
		if fix == "" && e == nil {
			fix, caveat = c.translation(path, p, fits, true), "declare the field in the schema"
		}
		if _, ok := jqhint.List(p.text); ok && c.loop && e == nil && caveat == "" {
			caveat = "$item is then an entry of the list"
		}
		if fix != "" {
			first := found[slices.IndexFunc(found, func(p Problem) bool { return !p.Warning })]
			first.Caveat, first.Fix, first.FixAt, first.FixEnd = caveat, fix, p.at, p.at+len(p.text)
			c.problems = append(c.problems[:before], first)
		} else {
			c.verify(path, p, fits, found)
		}
		c.problems = append(c.problems[:before], asShell(p, c.problems[before:])...)
	}
	return e
}

// analysed parses and analyses the text between ${ and }; nil if it is not jq.
func (c *templates) analysed(path []string, p part) *expr {
	if p.text == "" {
		c.problem(Problem{
			Path: path, Offset: p.at, Code: BadExpression, Message: "the expression is empty",
			Hint: "write ${ .spec.field }, or $${ for the characters ${",
		})
		return nil
	}
	query, err := gojq.Parse(p.text)
	if at := strings.IndexByte(p.text, 0); at >= 0 { // gojq stops reading there
		c.problem(Problem{Path: path, Offset: p.at + at, Length: 1, Code: BadExpression, Message: "the expression has a null byte in it"})
		return nil
	}
	if err != nil {
		c.syntax(path, p, err)
		return nil
	}
	e := &expr{part: p, path: path, query: query, source: shortest(p.text, query)}
	e.source, e.defines = withFunctions(e.source, query)
	c.analyse(e)
	return e
}

// syntax reports gojq's syntax error at the token it names.
func (c *templates) syntax(path []string, p part, err error) {
	problem := Problem{
		Path: path, Offset: p.at, Length: len(p.text), Code: BadExpression,
		Message: fmt.Sprintf("%q is not jq: %v", p.text, err), Hint: jqhint.Syntax(p.text, err),
	}
	if list, ok := jqhint.List(p.text); ok && c.loop {
		problem.Hint = "write the list alone: " + list + "; $item is then an entry of it"
	}
	var at *gojq.ParseError
	if errors.As(err, &at) {
		problem.Offset = p.at + max(0, at.Offset-len(at.Token))
		problem.Length = min(len(at.Token), len(p.text)-problem.Offset+p.at)
		if at.Token == "" {
			problem.Offset, problem.Length = p.at+len(p.text), 0
		}
	}
	c.problem(problem)
}

// shortest returns the expression without unnecessary space and comments.
func shortest(source string, query *gojq.Query) string {
	tokens, _, _ := jq.Lex(source)
	short := jq.Compact(tokens)
	if again, err := gojq.Parse(short); err == nil && again.String() == query.String() {
		return short
	}
	return source + "\n" // it may end in a comment
}

// one returns the expression as a jq term that yields exactly one value. If there is
// none, it yields null.
func (e *expr) one() string {
	switch {
	case e.min == 0 || e.max > 1:
		return "[" + e.source + "][0]"
	case e.isTerm():
		return e.source
	}
	return "(" + e.source + ")"
}

// isTerm reports whether the expression needs no parentheses where a term is allowed.
func (e *expr) isTerm() bool {
	q := e.query
	if q.Term == nil || len(q.FuncDefs) > 0 || e.defines {
		return false
	}
	switch q.Term.Type {
	case gojq.TermTypeIndex, gojq.TermTypeIdentity, gojq.TermTypeFunc, gojq.TermTypeObject, gojq.TermTypeArray,
		gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeQuery, gojq.TermTypeIf, gojq.TermTypeString:
		return e.source[len(e.source)-1] != '\n'
	}
	return false
}
