package expression

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
)

// Node is a value of the status as the pod evaluates it, ready for JSON: one of
// {"object": {…}}, {"array": […]}, {"value": literal}, {"expr": e} and
// {"concat": [e…]}, where an expression e is a JSON array that begins with the
// name of its operation.
type Node = map[string]any

// CompileStatus compiles the `status` of a definition. children are the names
// that $children may be followed by.
func CompileStatus(status map[string]any, children []string) (Node, []Problem) {
	if len(status) == 0 {
		return nil, nil
	}
	c := &compiler{children: children}
	return c.value(nil, status), c.problems
}

type compiler struct {
	children []string
	problems []Problem
}

func (c *compiler) problem(path []string, message, hint string) {
	c.problems = append(c.problems, Problem{Path: slices.Clone(path), Message: message, Hint: hint})
}

func (c *compiler) value(path []string, value any) Node {
	switch v := value.(type) {
	case map[string]any:
		fields := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fields[key] = c.value(append(path, key), v[key])
		}
		return Node{"object": fields}
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = c.value(append(path, strconv.Itoa(i)), item)
		}
		return Node{"array": items}
	case string:
		return c.scalar(path, v)
	default:
		return Node{"value": v}
	}
}

func (c *compiler) scalar(path []string, text string) Node {
	parts, err := split(text)
	if err != nil {
		c.problem(path, err.Error(), "write ${ expression }, or $${ for the characters ${")
		return nil
	}
	if len(parts) == 1 && !parts[0].expr {
		return Node{"value": parts[0].text}
	}
	exprs := make([]any, len(parts))
	for i, p := range parts {
		exprs[i] = []any{"lit", p.text}
		if p.expr {
			exprs[i] = c.expr(path, p.text)
		}
	}
	if len(exprs) == 1 {
		return Node{"expr": exprs[0]}
	}
	return Node{"concat": exprs}
}

func (c *compiler) expr(path []string, source string) any {
	query, err := parse(source)
	if err != nil {
		c.problem(path, err.Error(), syntaxHint(source, err))
		return nil
	}
	e, err := c.query(query)
	if err != nil {
		c.problem(path, err.Error(),
			"in status use fields of the custom resource (.spec.x) and of live children ($children.NAME.status.x), //, comparisons, + - *, and, or, not, length and if; anything more belongs into the logic's response")
		return nil
	}
	return e
}

// operations are the binary operators that the pod knows.
var operations = map[gojq.Operator]string{
	gojq.OpAlt: "alt", gojq.OpEq: "eq", gojq.OpNe: "ne", gojq.OpLt: "lt", gojq.OpLe: "le",
	gojq.OpGt: "gt", gojq.OpGe: "ge", gojq.OpAdd: "add", gojq.OpSub: "sub", gojq.OpMul: "mul",
	gojq.OpAnd: "and", gojq.OpOr: "or",
}

func (c *compiler) query(q *gojq.Query) (any, error) {
	if len(q.FuncDefs) > 0 || len(q.Imports) > 0 || len(q.Patterns) > 0 {
		return nil, fmt.Errorf("%q defines names, which status expressions cannot", q)
	}
	if q.Term != nil {
		return c.term(q.Term)
	}
	if q.Op == gojq.OpPipe {
		return c.pipe(q)
	}
	name, ok := operations[q.Op]
	if !ok {
		return nil, fmt.Errorf("status expressions have no operator %s", q.Op)
	}
	left, err := c.query(q.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.query(q.Right)
	if err != nil {
		return nil, err
	}
	return []any{name, left, right}, nil
}

// pipe allows `e | not` and `e | length`, the two functions that read their input.
func (c *compiler) pipe(q *gojq.Query) (any, error) {
	t := q.Right.Term
	if t == nil || t.Type != gojq.TermTypeFunc || len(t.SuffixList) > 0 ||
		(t.Func.Name != "not" && t.Func.Name != "length") {
		return nil, fmt.Errorf("status expressions can pipe into not and length only, not into %q", q.Right)
	}
	input, err := c.query(q.Left)
	if err != nil {
		return nil, err
	}
	return []any{t.Func.Name, input}, nil
}

func (c *compiler) term(t *gojq.Term) (any, error) {
	if t.Type == gojq.TermTypeFunc && t.Func.Name == "$children" {
		return c.child(t)
	}
	base, err := c.primary(t)
	if err != nil {
		return nil, err
	}
	return c.suffixes(base, t.SuffixList)
}

func (c *compiler) primary(t *gojq.Term) (any, error) {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return []any{"cr"}, nil
	case gojq.TermTypeIndex:
		return c.index([]any{"cr"}, t.Index)
	case gojq.TermTypeNull:
		return []any{"lit", nil}, nil
	case gojq.TermTypeTrue, gojq.TermTypeFalse:
		return []any{"lit", t.Type == gojq.TermTypeTrue}, nil
	case gojq.TermTypeNumber:
		return []any{"lit", json.Number(t.Number)}, nil
	case gojq.TermTypeString:
		if len(t.Str.Queries) == 0 {
			return []any{"lit", t.Str.Str}, nil
		}
	case gojq.TermTypeQuery:
		return c.query(t.Query)
	case gojq.TermTypeIf:
		return c.conditional(t.If.Cond, t.If.Then, t.If.Elif, t.If.Else)
	}
	return nil, fmt.Errorf("status expressions do not know %q", t)
}

func (c *compiler) conditional(cond, then *gojq.Query, elif []*gojq.IfElif, otherwise *gojq.Query) (any, error) {
	test, err := c.query(cond)
	if err != nil {
		return nil, err
	}
	yes, err := c.query(then)
	if err != nil {
		return nil, err
	}
	var no any = []any{"cr"} // jq: an absent else is the input
	switch {
	case len(elif) > 0:
		no, err = c.conditional(elif[0].Cond, elif[0].Then, elif[1:], otherwise)
	case otherwise != nil:
		no, err = c.query(otherwise)
	}
	if err != nil {
		return nil, err
	}
	return []any{"if", test, yes, no}, nil
}

// child compiles $children.NAME and what follows.
func (c *compiler) child(t *gojq.Term) (any, error) {
	if len(t.SuffixList) == 0 || t.SuffixList[0].Index == nil || t.SuffixList[0].Index.Name == "" {
		return nil, fmt.Errorf("$children is followed by the name of a child")
	}
	name := t.SuffixList[0].Index.Name
	if !slices.Contains(c.children, name) {
		return nil, fmt.Errorf("there is no child %q; the children are %q", name, c.children)
	}
	return c.suffixes([]any{"child", name}, t.SuffixList[1:])
}

func (c *compiler) suffixes(base any, list []*gojq.Suffix) (any, error) {
	for _, s := range list {
		if s.Optional {
			continue // every step is: a type error makes the field null
		}
		if s.Index == nil {
			return nil, fmt.Errorf("status expressions cannot iterate")
		}
		var err error
		if base, err = c.index(base, s.Index); err != nil {
			return nil, err
		}
	}
	return base, nil
}

func (c *compiler) index(base any, i *gojq.Index) (any, error) {
	switch {
	case i.IsSlice:
		return nil, fmt.Errorf("status expressions cannot slice")
	case i.Name != "":
		return []any{"get", base, i.Name}, nil
	case i.Str != nil && len(i.Str.Queries) == 0:
		return []any{"get", base, i.Str.Str}, nil
	case i.Start != nil && i.Start.Term != nil && i.Start.Term.Type == gojq.TermTypeNumber:
		n, err := strconv.Atoi(i.Start.Term.Number)
		if err == nil {
			return []any{"index", base, n}, nil
		}
	case i.Start != nil && i.Start.Term != nil && i.Start.Term.Type == gojq.TermTypeString && len(i.Start.Term.Str.Queries) == 0:
		return []any{"get", base, i.Start.Term.Str.Str}, nil
	}
	return nil, fmt.Errorf("status expressions index by a plain name or number only")
}
