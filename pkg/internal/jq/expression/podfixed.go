package expression

import (
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// fixed returns the value of a query that reads only other such values; false for other queries.
func (c *podCompiler) fixed(q *gojq.Query, known *names) (any, bool) {
	if t := jq.Unwrap(q).Term; t != nil && t.Type == gojq.TermTypeString && t.Str.Queries == nil && len(t.SuffixList) == 0 {
		return t.Str.Str, true
	}
	if c.size += fixedSize; c.depth >= maxInlined || c.size > maxSize {
		return nil, false
	}
	c.depth++
	defer func() { c.depth-- }()
	given, ok := c.given(q, known)
	if !ok {
		return nil, false
	}
	program, problems := Expression("["+given+q.String()+"]", Scope{Variables: c.scope.Variables}, "")
	if program == nil || failed(problems) {
		return nil, false
	}
	list, _ := program.Const()
	values, _ := list.([]any)
	if len(values) != 1 {
		return nil, false
	}
	text, err := jq.Literal(values[0])
	return values[0], err == nil && !strings.Contains(text, `\ufffd`) // of a text that is not UTF-8
}

// fixedSize is what a query that is evaluated here counts as operations of an expression.
const fixedSize = 100

// given returns definitions, in jq, of the names in scope that a query uses; false if one of them is not fixed.
func (c *podCompiler) given(q *gojq.Query, known *names) (string, bool) {
	definitions := map[string]string{}
	fixed := !slices.ContainsFunc(c.scope.variablesOf(q), func(v *Variable) bool {
		return v.root == parametersRoot // a Helm chart has other values
	})
	jq.Walk(q, func(node any) bool {
		f, ok := node.(*gojq.Func)
		if !ok || !fixed {
			return fixed
		}
		def := known.find(f.Name, len(f.Args))
		switch {
		case root(f.Name).isNamed():
			fixed = c.bound[f.Name] <= c.named // the expression gives it no other value
		case def != nil && len(def.args) > 0:
			fixed = false
		case def != nil && definitions[f.Name] == "":
			var value any
			value, fixed = c.fixedOf(def)
			definitions[f.Name] = definition(f.Name, value)
		}
		return fixed
	})
	return strings.Join(slices.Collect(maps.Values(definitions)), ""), fixed
}

// definition returns the jq that gives a variable or a function a value.
func definition(name string, value any) string {
	text, err := jq.Literal(value)
	if err != nil {
		return "" // the value is not used
	}
	if strings.HasPrefix(name, "$") {
		return text + " as " + name + " | "
	}
	return "def " + name + ": " + text + "; "
}

// fixedOf returns the value of a variable or a function of an expression; false if it is not fixed.
func (c *podCompiler) fixedOf(def *names) (any, bool) {
	switch {
	case def.body == nil:
		return nil, false
	case def.argument || def.variable != "":
		return c.fixed(def.body, def.in)
	}
	return c.fixed(def.body, def)
}
