package jq

import "github.com/itchyny/gojq"

// Span is a part of a program's text, in bytes from its start.
type Span struct{ At, End int }

// Spans are the positions of a syntax tree's nodes, by pointer.
type Spans map[any]Span

// Positions returns the span of each node of a query. It visits the nodes in the order
// of the text, so that the next matching token belongs to the node.
func Positions(query *gojq.Query, tokens []Token) Spans {
	p := &placer{tokens: tokens, spans: Spans{}}
	p.query(query)
	return p.spans
}

type placer struct {
	tokens []Token
	next   int
	taken  []Token
	spans  Spans
}

// node sets the span of a node to the tokens that walk consumes.
func (p *placer) node(key any, walk func()) {
	n := len(p.taken)
	walk()
	if len(p.taken) > n {
		p.spans[key] = Span{p.taken[n].At, p.taken[len(p.taken)-1].End()}
	}
}

// take skips tokens up to the next one that fits.
func (p *placer) take(fits func(Token) bool) {
	for i := p.next; i < len(p.tokens); i++ {
		if fits(p.tokens[i]) {
			p.taken = append(p.taken, p.tokens[i])
			p.next = i + 1
			return
		}
	}
}

// text consumes the next tokens with these texts.
func (p *placer) text(written ...string) {
	for _, w := range written {
		p.take(func(t Token) bool { return t.Text == w })
	}
}

func (p *placer) kind(kinds ...TokenKind) {
	p.take(func(t Token) bool {
		for _, k := range kinds {
			if t.Kind == k {
				return true
			}
		}
		return false
	})
}

func (p *placer) query(q *gojq.Query) {
	if q == nil {
		return
	}
	p.node(q, func() {
		for _, f := range q.FuncDefs {
			p.function(f)
		}
		if q.Term != nil {
			p.term(q.Term)
			return
		}
		p.query(q.Left)
		for i, pattern := range q.Patterns {
			p.text([]string{"as", "?//"}[min(i, 1)])
			p.pattern(pattern)
		}
		if q.Right != nil {
			p.text(q.Op.String())
			p.query(q.Right)
		}
	})
}

func (p *placer) function(f *gojq.FuncDef) {
	p.text("def", f.Name)
	for _, arg := range f.Args {
		p.text(arg)
	}
	p.text(":")
	p.query(f.Body)
	p.text(";")
}

func (p *placer) pattern(pattern *gojq.Pattern) {
	switch {
	case pattern == nil:
	case pattern.Name != "":
		p.text(pattern.Name)
	case len(pattern.Array) > 0:
		p.text("[")
		for _, item := range pattern.Array {
			p.pattern(item)
		}
		p.text("]")
	default:
		p.text("{")
		for _, kv := range pattern.Object {
			p.key(kv.Key, kv.KeyString, kv.KeyQuery)
			p.pattern(kv.Val)
		}
		p.text("}")
	}
}

// key is the part before the colon in an object or a pattern.
func (p *placer) key(name string, str *gojq.String, query *gojq.Query) {
	switch {
	case name != "":
		p.text(name)
	case str != nil:
		p.str(str)
	default:
		p.text("(")
		p.query(query)
		p.text(")")
	}
}

func (p *placer) term(t *gojq.Term) {
	p.node(t, func() {
		p.primary(t)
		for _, s := range t.SuffixList {
			p.suffix(s)
		}
	})
}

func (p *placer) primary(t *gojq.Term) {
	switch t.Type {
	case gojq.TermTypeIndex:
		if t.Index.Name == "" {
			p.text(".")
		}
		p.index(t.Index)
	case gojq.TermTypeFunc:
		p.call(t.Func)
	case gojq.TermTypeObject:
		p.object(t.Object)
	case gojq.TermTypeArray:
		p.text("[")
		p.query(t.Array.Query)
		p.text("]")
	case gojq.TermTypeUnary:
		p.text(t.Unary.Op.String())
		p.term(t.Unary.Term)
	case gojq.TermTypeFormat:
		p.text(t.Format)
		p.str(t.Str)
	case gojq.TermTypeString:
		p.str(t.Str)
	case gojq.TermTypeQuery:
		p.text("(")
		p.query(t.Query)
		p.text(")")
	default:
		p.statement(t)
	}
}

// statement walks a term that starts with a keyword, or is one.
func (p *placer) statement(t *gojq.Term) {
	switch t.Type {
	case gojq.TermTypeIf:
		p.conditional(t.If)
	case gojq.TermTypeTry:
		p.text("try")
		p.query(t.Try.Body)
		if t.Try.Catch != nil {
			p.text("catch")
			p.query(t.Try.Catch)
		}
	case gojq.TermTypeReduce:
		p.text("reduce")
		p.loop(t.Reduce.Query, t.Reduce.Pattern, t.Reduce.Start, t.Reduce.Update, nil)
	case gojq.TermTypeForeach:
		p.text("foreach")
		p.loop(t.Foreach.Query, t.Foreach.Pattern, t.Foreach.Start, t.Foreach.Update, t.Foreach.Extract)
	case gojq.TermTypeLabel:
		p.text("label", t.Label.Ident, "|")
		p.query(t.Label.Body)
	default:
		p.text(t.String()[:len(t.String())-len(suffixText(t))])
	}
}

// suffixText returns the last token of a term.
func suffixText(t *gojq.Term) string {
	var text string
	for _, s := range t.SuffixList {
		text += s.String()
	}
	return text
}

func (p *placer) conditional(c *gojq.If) {
	p.text("if")
	p.query(c.Cond)
	p.text("then")
	p.query(c.Then)
	for _, elif := range c.Elif {
		p.text("elif")
		p.query(elif.Cond)
		p.text("then")
		p.query(elif.Then)
	}
	if c.Else != nil {
		p.text("else")
		p.query(c.Else)
	}
	p.text("end")
}

func (p *placer) loop(query *gojq.Query, pattern *gojq.Pattern, parts ...*gojq.Query) {
	p.query(query)
	p.text("as")
	p.pattern(pattern)
	p.text("(")
	for _, part := range parts {
		p.query(part)
	}
	p.text(")")
}

func (p *placer) call(f *gojq.Func) {
	p.node(f, func() { p.text(f.Name) })
	if len(f.Args) == 0 {
		return
	}
	p.text("(")
	for _, arg := range f.Args {
		p.query(arg)
	}
	p.text(")")
}

func (p *placer) object(o *gojq.Object) {
	p.text("{")
	for _, kv := range o.KeyVals {
		p.node(kv, func() { p.key(kv.Key, kv.KeyString, kv.KeyQuery) })
		if kv.Val != nil {
			p.text(":")
			p.query(kv.Val)
		}
	}
	p.text("}")
}

func (p *placer) str(s *gojq.String) {
	if s == nil {
		return
	}
	if s.Queries == nil {
		p.kind(TokenString)
		return
	}
	p.kind(TokenOpen, TokenString)
	for _, q := range s.Queries {
		if q.Term.Str == nil {
			p.node(q, func() { p.query(q.Term.Query) })
			p.kind(TokenMiddle, TokenClose)
		}
	}
}

func (p *placer) suffix(s *gojq.Suffix) {
	p.node(s, func() {
		switch {
		case s.Optional:
			p.text("?")
		case s.Iter:
			p.text("[", "]")
		default:
			p.index(s.Index)
		}
	})
}

// index sets the span of an index to its name or key.
func (p *placer) index(i *gojq.Index) {
	switch {
	case i.Name != "":
		p.node(i, func() { p.text("." + i.Name) })
		s := p.spans[i]
		p.spans[i] = Span{s.At + 1, s.End}
	case i.Str != nil:
		p.node(i, func() { p.str(i.Str) })
	default:
		p.text("[")
		p.node(i, func() {
			p.query(i.Start)
			p.query(i.End)
		})
		p.text("]")
	}
}
