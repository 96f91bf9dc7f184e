package expression

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Template compiles a value whose scalars may contain `${ }`: maps, lists, strings,
// numbers, booleans and null. want is the schema of the result; nil accepts anything. A
// key whose value is null is omitted; a null in a list is kept.
func Template(value any, scope Scope, want schema.Type) (*Program, []Problem) {
	if want == nil {
		want = schema.Any()
	}
	c := &templates{scope: scope, kind: kindOf(value), whole: value, want: want}
	c.assume()
	return c.program(c.value(nil, value, want))
}

// templates compiles the value of one template.
type templates struct {
	scope     Scope
	kind      string      // of the template's object, if it has one
	whole     any         // the template
	want      schema.Type // of the template
	condition bool        // the compiled value is a boolean
	loop      bool        // the compiled value is a list of which each entry makes a child
	lost      bool        // the condition of the scope is invalid: any path may exist
	given     []read      // paths that always exist
	problems  []Problem
	reads     reads
	carried   reads // those of values that may become a part of the result
	chosen    reads // see Program
	shown     reads // see Program
	needs     []Need
	parts     []located
	computed  []Part
	variables []*Variable
	flows     []flow // of the expressions
	forPod    bool   // the pod evaluates the result, too, as an expression
	trial     bool   // the problems are counted, not reported
	text      string // the text with several parts that is being compiled
}

// kindOf returns how messages name the template's object.
func kindOf(template any) string {
	fields, _ := template.(map[string]any)
	kind, _ := fields["kind"].(string)
	return kind
}

// node is a compiled value.
type node struct {
	source  string
	literal bool // source is JSON
	null    bool // it can be null; with literal, it is null
	expr    *expr
	typ     schema.Type // nil if unknown
}

// assume takes from the condition of the scope which paths exist.
func (c *templates) assume() {
	paths, ok := given(c.scope)
	c.given, c.lost = paths, !ok
}

func (c *templates) problem(p Problem) {
	if c.lost && p.Code == MayBeNull {
		return
	}
	p.Path = slices.Clone(p.Path)
	if p.Code == MayBeNull && c.opensWhenEmpty(p.Path) {
		p.Hint += ", and leave the rule out when the list is empty, because that allows all peers"
	}
	c.problems = append(c.problems, p)
}

// opensWhenEmpty reports whether a path is that of the peers of a rule of a NetworkPolicy.
func (c *templates) opensWhenEmpty(path []string) bool {
	return c.kind == "NetworkPolicy" && len(path) > 3 && path[0] == "spec" &&
		slices.Contains([]string{"ingress from", "egress to"}, path[1]+" "+path[3])
}

// failed reports whether a problem is an error.
func failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning })
}

// program finishes the compilation. It returns nil if a problem is an error.
func (c *templates) program(n node) (*Program, []Problem) {
	if failed(c.problems) {
		return nil, c.problems
	}
	p, err := compile(bound(c.variables, n.source), c.reads)
	if err != nil {
		c.problem(Problem{Code: BadExpression, Message: err.Error()})
		return nil, c.problems
	}
	p.carried, p.chosen, p.shown = c.carried, c.chosen, c.shown
	p.needs, p.typ, p.parts, p.computed = c.needs, n.typ, c.parts, c.computed
	p.waits, p.apart = sync.OnceValue(p.compiledNeeds), sync.OnceValue(p.compiledParts)
	return p, c.problems
}

func (c *templates) value(path []string, value any, want schema.Type) node {
	switch v := value.(type) {
	case map[string]any:
		c.wantKind(path, object, want, "")
		return c.object(path, v, want)
	case []any:
		c.wantKind(path, array, want, "")
		return c.list(path, v, want)
	case string:
		return c.scalar(path, v, want)
	}
	c.wantLiteral(path, value, want)
	return c.literal(path, value)
}

func (c *templates) literal(path []string, value any) node {
	text, err := jq.Literal(value)
	if err != nil {
		c.problem(Problem{Path: path, Code: BadExpression, Message: fmt.Sprintf("JSON cannot represent the value: %v", err)})
	}
	return node{source: text, literal: true, null: value == nil, typ: some(ofLiteral(value)).toType()}
}

func (c *templates) object(path []string, fields map[string]any, want schema.Type) node {
	var b strings.Builder
	n := node{literal: true}
	types := map[string]schema.Type{}
	var sometimes []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		at := append(slices.Clip(path), key)
		if strings.Contains(key, "${") {
			c.problem(Problem{
				Path: at, OnKey: true, Code: BadExpression,
				Message: fmt.Sprintf("the key %s contains an expression, but keys are plain text", key),
				Hint:    "write the whole mapping as an expression: ${ {(.spec.key): .spec.value} }",
			})
			continue
		}
		field := c.value(at, fields[key], c.wantField(path, key, want))
		if field.literal && field.null {
			continue
		}
		if want.Needed(key) {
			c.wantNeeded(field, at)
		}
		n.literal = n.literal && field.literal
		if field.null {
			n.null, sometimes = true, append(sometimes, key)
		}
		types[key] = field.typ
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoteKey(key) + ":" + field.source)
	}
	n.source, n.typ = "{"+b.String()+"}", schema.Record(types, sometimes...)
	switch {
	case n.null && c.forPod:
		n.source, n.null = "("+n.source+"|with_entries(select(.value!=null)))", false
	case n.null:
		n.source, n.null = "("+n.source+"|del(.[]|nulls))", false
	}
	return n
}

// quoteKey formats a key of an object, without quotes if jq allows it.
func quoteKey(key string) string {
	if jq.IsName(key) {
		return key
	}
	return jq.Quote(key)
}

func (c *templates) list(path []string, items []any, want schema.Type) node {
	n := node{literal: true}
	sources := make([]string, len(items))
	for i, item := range items {
		inner := c.value(append(slices.Clip(path), strconv.Itoa(i)), item, want.Item())
		if e := inner.expr; e != nil && e.absent != nil {
			hint := "write the list as an expression, in which // empty omits an item"
			if len(items) == 1 {
				hint = "write the list as an expression: ${ [" + e.text + " // empty] }"
			}
			c.wantItem(e, e.absent, want.Item(), hint)
		}
		n.literal = n.literal && inner.literal
		sources[i] = inner.source
		if i == 0 {
			n.typ = schema.ListOf(inner.typ)
		}
	}
	n.source = "[" + strings.Join(sources, ",") + "]"
	return n
}

func (c *templates) scalar(path []string, text string, want schema.Type) node {
	parts, err := split(text)
	if err != nil {
		at := &unclosed{}
		errors.As(err, &at)
		c.problem(Problem{
			Path: path, Offset: at.at, Length: 2, Code: BadExpression, Message: err.Error(),
			Hint: closed(text[at.at+2:]),
		})
		return node{source: "null"}
	}
	if c.braces(path, text, parts, want) {
		return node{source: "null"}
	}
	if len(parts) == 1 {
		if !parts[0].expr {
			c.wantLiteral(path, parts[0].text, want)
			return c.literal(path, parts[0].text)
		}
		e := c.expr(path, parts[0], func(c *templates, e *expr) { c.wantValue(e, want) })
		if e == nil {
			return node{source: "null"}
		}
		source := e.one()
		c.located(e, source)
		c.computed = append(c.computed, Part{
			Path: path, Whole: true, Types: []schema.Type{e.toType()}, Null: e.mayBeNull(), from: e.from, of: e.of,
			reads: e.reads, carried: e.carried, chosen: e.chosen,
		})
		return node{source: source, null: e.mayBeNull(), expr: e, typ: e.toType()}
	}
	fits := (*templates).wantText
	if ofType(want)&str == 0 {
		fits = func(*templates, *expr) {} // no text is right here
	}
	c.wantKind(path, str, want, blockHint(text, parts))
	c.text = text
	return c.interpolate(path, parts, fits)
}

// blockHint explains a string in the place of a list, a mapping or a number: YAML makes one
// of a block that begins with |.
func blockHint(text string, parts []part) string {
	expressions, other := 0, ""
	for _, p := range parts {
		if p.expr {
			expressions++
		} else {
			other += p.text
		}
	}
	first, _, lines := strings.Cut(strings.TrimSpace(text), "\n")
	switch block := strings.Contains(text, "\n"); {
	case expressions == 1 && strings.TrimSpace(other) == "" && block:
		return "write |- instead of |: the line break at the end of the block makes the value a string"
	case expressions == 1 && strings.TrimSpace(other) == "":
		return "write ${ } alone, without spaces around it"
	case block && (lines || expressions == 0) && yamlLine().MatchString(first):
		return "remove the |: it makes a string of the lines below; values in them may be expressions"
	}
	return ""
}

// yamlLine matches the beginning of a list or a mapping.
var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(- |-$|[\w./-]+:( |$))`) })

// located records where an expression is in the template.
func (c *templates) located(e *expr, source string) {
	c.parts = append(c.parts, located{bound(e.variables, source), e.path, e.at})
}

// interpolate builds a string from literal parts and expressions. A null in it is a
// runtime error, because a name that ends in "-null" is never intended.
func (c *templates) interpolate(path []string, parts []part, fits use) node {
	var b strings.Builder
	b.WriteByte('"')
	whole := Part{Path: path, texts: []string{""}}
	for _, p := range parts {
		if !p.expr {
			text := jq.Quote(p.text)
			b.WriteString(text[1 : len(text)-1])
			whole.texts[len(whole.texts)-1] += p.text
			continue
		}
		e := c.expr(path, p, fits)
		if e == nil {
			continue
		}
		source := e.one()
		if e.mayBeNull() {
			source += "|if.==null then error(" + jq.Quote(p.text+" is null inside a text") + ")end"
		}
		c.located(e, source)
		b.WriteString(`\(` + source + `)`)
		whole.texts, whole.Types = append(whole.texts, ""), append(whole.Types, e.toType())
		whole.reads, whole.carried = append(whole.reads, e.reads...), append(whole.carried, e.carried...)
		whole.chosen = append(whole.chosen, e.chosen...)
	}
	c.computed = append(c.computed, whole)
	b.WriteByte('"')
	return node{source: b.String(), typ: schema.Of(schema.String)}
}
