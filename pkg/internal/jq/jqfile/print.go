package jqfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/itchyny/gojq"
)

// precedence of a query, as in gojq's grammar.
type precedence int

const (
	precPipe precedence = iota
	precComma
	precAlt
	precUpdate
	precOr
	precAnd
	precCompare
	precAdd
	precMultiply
	precTerm
)

func operatorPrecedence(op gojq.Operator) precedence {
	switch op {
	case gojq.OpPipe:
		return precPipe
	case gojq.OpComma:
		return precComma
	case gojq.OpAlt:
		return precAlt
	case gojq.OpOr:
		return precOr
	case gojq.OpAnd:
		return precAnd
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		return precCompare
	case gojq.OpAdd, gojq.OpSub:
		return precAdd
	case gojq.OpMul, gojq.OpDiv, gojq.OpMod:
		return precMultiply
	}
	return precUpdate
}

func precedenceOf(q *gojq.Query) precedence {
	switch {
	case len(q.FuncDefs) > 0:
		return precPipe
	case q.Term == nil:
		return operatorPrecedence(q.Op)
	case q.Term.Type == gojq.TermTypeTry || q.Term.Type == gojq.TermTypeLabel:
		return precPipe // their scope is not obvious
	case isRaw(q.Term):
		return precedence(q.Term.Number[0] - '0')
	}
	return precTerm
}

// width is the maximum length of a line that can be broken.
const width = 200

// printer prints a query, each part on one line if it fits.
type printer struct {
	out    []byte
	indent int
	flat   int // maximum length of the text on one line; 0: no limit
}

func printed(q *gojq.Query) string {
	p := &printer{}
	p.query(q, precPipe)
	return string(p.out)
}

func (p *printer) write(s string) { p.out = append(p.out, s...) }

func (p *printer) over() bool { return p.flat > 0 && len(p.out) > p.flat }

// line starts a new line where lines are broken, and otherwise writes a space.
func (p *printer) line(flat string) {
	if p.flat > 0 {
		p.write(flat)
		return
	}
	p.write("\n" + strings.Repeat(" ", p.indent))
}

// fill writes a separator and an item, on the same line if they fit.
func (p *printer) fill(before string, item func()) {
	if p.flat > 0 {
		p.write(" " + before)
		item()
		return
	}
	start := len(p.out)
	p.limit()
	p.write(" " + before)
	item()
	fits := !p.over()
	p.flat = 0
	if fits {
		return
	}
	p.out = p.out[:start]
	p.line("")
	p.write(before)
	p.fit(item)
}

// limit makes the following text fit on the current line, up to width.
func (p *printer) limit() {
	p.flat = max(bytes.LastIndexByte(p.out, '\n')+1+width, len(p.out)+1)
}

// fit writes on one line if that is short enough, otherwise on several.
func (p *printer) fit(write func()) {
	if p.flat > 0 {
		write()
		return
	}
	start := len(p.out)
	p.limit()
	write()
	fits := !p.over()
	p.flat = 0
	if !fits {
		p.out = p.out[:start]
		write()
	}
}

// query writes a query in a context with a minimum precedence.
func (p *printer) query(q *gojq.Query, least precedence) {
	if precedenceOf(q) < least {
		p.write("(")
		p.indent++
		p.fit(func() { p.node(q) })
		p.indent--
		p.write(")")
		return
	}
	p.fit(func() { p.node(q) })
}

func (p *printer) node(q *gojq.Query) {
	if p.over() {
		return
	}
	for _, d := range q.FuncDefs {
		p.write("def " + d.Name)
		if len(d.Args) > 0 {
			p.write("(" + strings.Join(d.Args, "; ") + ")")
		}
		p.write(": ")
		p.indent++
		p.query(d.Body, precPipe)
		p.indent--
		p.write(";")
		p.line(" ")
	}
	if q.Term != nil {
		p.term(q.Term)
		return
	}
	p.binary(q)
}

func (p *printer) binary(q *gojq.Query) {
	at := operatorPrecedence(q.Op)
	left, right := at, at+1
	switch at {
	case precPipe:
		left, right = precComma, precPipe
		if len(q.Patterns) > 0 {
			left = precTerm
		}
	case precAlt:
		left, right = at+1, at
	case precUpdate, precCompare:
		left = at + 1
	}
	p.side(q.Left, at, left)
	if len(q.Patterns) > 0 {
		p.write(" as ")
		for i, pattern := range q.Patterns {
			if i > 0 {
				p.write(" ?// ")
			}
			p.write(pattern.String())
		}
	}
	next := func() { p.side(q.Right, at, right) }
	switch at {
	case precComma:
		p.write(",")
		p.fill("", next)
	case precPipe, precOr, precAnd:
		p.line(" ")
		p.write(q.Op.String() + " ")
		next()
	default:
		p.fill(q.Op.String()+" ", next)
	}
}

// side writes an operand. Operands of a chain are aligned.
func (p *printer) side(q *gojq.Query, at, least precedence) {
	if q.Term == nil && precedenceOf(q) == at && precedenceOf(q) >= least {
		p.node(q)
		return
	}
	if q.Term == nil && len(q.FuncDefs) > 0 && least == precPipe {
		p.node(q)
		return
	}
	p.query(q, least)
}

func (p *printer) term(t *gojq.Term) {
	switch t.Type {
	case gojq.TermTypeIdentity:
		p.write(".")
	case gojq.TermTypeFunc:
		p.call(t.Func)
	case gojq.TermTypeIndex:
		p.index(t.Index, true)
	case gojq.TermTypeObject:
		p.object(t.Object)
	case gojq.TermTypeArray:
		p.enclosed("[", t.Array.Query, "]")
	case gojq.TermTypeQuery:
		p.enclosed("(", t.Query, ")")
	case gojq.TermTypeUnary:
		p.write(t.Unary.Op.String())
		p.term(t.Unary.Term)
	case gojq.TermTypeFormat:
		p.write(t.Format)
		if t.Str != nil {
			p.write(" ")
			p.text(t.Str)
		}
	case gojq.TermTypeString:
		p.text(t.Str)
	case gojq.TermTypeIf:
		p.branches(t.If)
	case gojq.TermTypeTry:
		p.write("try ")
		p.query(t.Try.Body, precTerm)
		if t.Try.Catch != nil {
			p.write(" catch ")
			p.query(t.Try.Catch, precTerm)
		}
	case gojq.TermTypeReduce:
		p.loop("reduce ", t.Reduce.Query, t.Reduce.Pattern, t.Reduce.Start, t.Reduce.Update)
	case gojq.TermTypeForeach:
		f := t.Foreach
		p.loop("foreach ", f.Query, f.Pattern, f.Start, f.Update, f.Extract)
	case gojq.TermTypeLabel:
		p.write("label " + t.Label.Ident + " | ")
		p.query(t.Label.Body, precPipe)
	default: // null, true, false, numbers, .., break
		p.write((&gojq.Term{Type: t.Type, Number: t.Number, Break: t.Break}).String())
	}
	for _, s := range t.SuffixList {
		p.suffix(s)
	}
}

func (p *printer) enclosed(open string, q *gojq.Query, end string) {
	p.write(open)
	if q != nil {
		p.indent++
		p.query(q, precPipe)
		p.indent--
	}
	p.write(end)
}

func (p *printer) call(f *gojq.Func) {
	if strings.Contains(f.Name, "::") {
		panic("jqfile: nothing fills " + f.Name) // unreachable
	}
	p.write(f.Name)
	for i, a := range f.Args {
		if i == 0 {
			p.write("(")
		} else {
			p.write("; ")
		}
		p.indent++
		p.query(a, precPipe)
		p.indent--
	}
	if len(f.Args) > 0 {
		p.write(")")
	}
}

func (p *printer) loop(word string, q *gojq.Query, pattern *gojq.Pattern, parts ...*gojq.Query) {
	p.write(word)
	p.query(q, precTerm)
	p.write(" as " + pattern.String() + " (")
	p.indent++
	for i, part := range parts {
		if part == nil {
			continue
		}
		if i > 0 {
			p.write("; ")
		}
		p.query(part, precPipe)
	}
	p.indent--
	p.write(")")
}

func (p *printer) branches(f *gojq.If) {
	condition := func(word string, cond, then *gojq.Query) {
		p.write(word + " ")
		p.indent++
		p.query(cond, precPipe)
		p.write(" then")
		p.line(" ")
		p.query(then, precPipe)
		p.indent--
	}
	condition("if", f.Cond, f.Then)
	for _, e := range f.Elif {
		p.line(" ")
		condition("elif", e.Cond, e.Then)
	}
	if f.Else != nil {
		p.line(" ")
		p.write("else ")
		p.query(f.Else, precPipe)
	}
	p.line(" ")
	p.write("end")
}

func (p *printer) object(o *gojq.Object) {
	p.write("{")
	p.indent++
	for i, f := range o.KeyVals {
		if p.over() {
			break
		}
		if i == 0 {
			p.field(f)
			continue
		}
		p.write(",")
		p.fill("", func() { p.field(f) })
	}
	p.indent--
	p.write("}")
}

func (p *printer) field(f *gojq.ObjectKeyVal) {
	switch {
	case f.Key != "":
		p.write(f.Key)
	case f.KeyString != nil:
		p.text(f.KeyString)
	default:
		p.enclosed("(", f.KeyQuery, ")")
	}
	if f.Val != nil {
		p.write(": ")
		p.query(f.Val, precAlt)
	}
}

func (p *printer) index(i *gojq.Index, leading bool) {
	if leading || i.Name != "" || i.Str != nil {
		if n := len(p.out); n > 0 && (p.out[n-1] == '.' || p.out[n-1] >= '0' && p.out[n-1] <= '9') {
			p.write(" ") // `..x` and `0.x` have another meaning
		}
		p.write(".")
	}
	switch {
	case i.Name != "":
		p.write(i.Name)
	case i.Str != nil:
		p.text(i.Str)
	default:
		p.write("[")
		if i.Start != nil {
			p.query(i.Start, precPipe)
		}
		if i.IsSlice {
			p.write(":")
		}
		if i.End != nil {
			p.query(i.End, precPipe)
		}
		p.write("]")
	}
}

func (p *printer) suffix(s *gojq.Suffix) {
	switch {
	case s.Index != nil:
		p.index(s.Index, false)
	case s.Iter:
		p.write("[]")
	case s.Optional:
		p.write("?")
	}
}

func (p *printer) text(s *gojq.String) {
	if s.Queries == nil {
		p.write(quote(s.Str))
		return
	}
	p.write(`"`)
	for _, q := range s.Queries {
		if q.Term.Str != nil {
			inner := quote(q.Term.Str.Str)
			p.write(inner[1 : len(inner)-1])
			continue
		}
		p.enclosed(`\(`, q.Term.Query, ")")
	}
	p.write(`"`)
}

// quote writes a string literal of jq: JSON, but with literal < > &. Unprintable
// characters are escaped, so that the program is readable in YAML.
func quote(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return `"` + s + `"`
	}
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can always be encoded
	var b strings.Builder
	for _, r := range strings.TrimSuffix(encoded.String(), "\n") {
		if unicode.IsPrint(r) || r > 0xffff {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
