package jqhint

import (
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// printer writes nodes as jq. A node that means the . of an outer scope becomes a
// variable, which that scope binds.
type printer struct {
	root  *scope
	names map[*scope]string
	bound map[*scope]bool
}

func newPrinter(root *scope) *printer {
	return &printer{root: root, names: map[*scope]string{}, bound: map[*scope]bool{}}
}

// whole writes an expression; false if it needs a variable that nothing binds.
func (r *printer) whole(n *node) (string, bool) {
	text := r.body(n, r.root)
	for s := range r.names {
		if !r.bound[s] {
			return "", false
		}
	}
	return text, true
}

// body writes what a scope holds, with its variable if inner scopes use that.
func (r *printer) body(n *node, s *scope) string {
	text := r.print(n, s, 0)
	if name, used := r.names[s]; used {
		r.bound[s] = true
		return ". as " + name + " | " + text
	}
	return text
}

// variable returns the name of the variable of a scope.
func (r *printer) variable(s *scope) string {
	if r.names[s] == "" {
		name := "$" + s.name
		for i := 2; r.taken(name); i++ {
			name = fmt.Sprintf("$%s%d", s.name, i)
		}
		r.names[s] = name
	}
	return r.names[s]
}

func (r *printer) taken(name string) bool {
	for _, other := range r.names {
		if other == name {
			return true
		}
	}
	return name == "$item" || name == "$index" || name == "$children" || name == "$related" || name == "$variables" ||
		name == "$parameters"
}

// The precedence of a pipe, of what may stand in a comma list, of a prefix and of a term.
const (
	asPipe  = 0
	asValue = 1
	asUnary = 7
	asTerm  = 8
)

// print writes a node where . is that of a scope, in parentheses if it binds weaker than
// the place.
func (r *printer) print(n *node, at *scope, place int) string {
	text, strength := r.node(n, at)
	if strength < place {
		return "(" + text + ")"
	}
	return text
}

func (r *printer) node(n *node, at *scope) (text string, strength int) {
	arg := func(i, place int) string {
		if n.args[i] == nil {
			return ""
		}
		return r.print(n.args[i], at, place)
	}
	switch n.op {
	case opDot:
		if n.scope == at {
			return ".", asTerm
		}
		return r.variable(n.scope), asTerm
	case opField:
		base := arg(0, asTerm)
		return strings.TrimSuffix(base, ".") + "." + n.text, asTerm
	case opIndex:
		if name, ok := isName(n.args[1].text); ok && n.args[1].op == opTerm {
			return r.node(field(n.args[0], name), at)
		}
		return arg(0, asTerm) + "[" + arg(1, asPipe) + "]", asTerm
	case opSlice:
		return arg(0, asTerm) + "[" + arg(1, asValue) + ":" + arg(2, asValue) + "]", asTerm
	case opEach:
		return arg(0, asTerm) + "[]", asTerm
	case opTry:
		return arg(0, asTerm) + "?", asTerm
	case opCall:
		return r.call(n, at), asTerm
	case opPipe:
		return r.pipe(n, at)
	case opMinus:
		return "-" + arg(0, asTerm), asUnary
	case opBinary:
		own := operators[n.text]
		left, right := own, own+1
		if own == operators["=="] {
			left = own + 1
		}
		if n.text == "//" {
			left, right = own+1, own
		}
		return arg(0, left) + " " + n.text + " " + arg(1, right), own
	}
	return r.compound(n, at)
}

func (r *printer) compound(n *node, at *scope) (text string, strength int) {
	var all []string
	switch n.op {
	case opIf:
		for i, arg := range n.args {
			word := []string{"if ", " then "}[i%2]
			if i > 0 && i%2 == 0 {
				word = map[bool]string{true: " else ", false: " elif "}[i == len(n.args)-1]
			}
			all = append(all, word+r.print(arg, at, asPipe))
		}
		return strings.Join(all, "") + " end", asTerm
	case opList:
		for _, arg := range n.args {
			all = append(all, r.print(arg, at, asValue))
		}
		switch n.text {
		case "(":
			return "(" + strings.Join(all, ", ") + ")", asTerm
		case ",":
			return strings.Join(all, ", "), asPipe
		}
		return "[" + strings.Join(all, ", ") + "]", asTerm
	case opObject:
		for i := 0; i < len(n.args); i += 2 {
			pair := r.print(n.args[i], at, asTerm)
			if name, ok := isName(pair); ok {
				pair = name
			}
			if n.args[i+1] != nil {
				pair += ": " + r.print(n.args[i+1], at, asTerm)
			}
			all = append(all, pair)
		}
		return "{" + strings.Join(all, ", ") + "}", asTerm
	case opString:
		for i, arg := range n.args {
			if i%2 == 1 {
				all = append(all, `\(`+r.print(arg, at, asPipe)+")")
				continue
			}
			quoted := jq.Quote(arg.text)
			all = append(all, quoted[1:len(quoted)-1])
		}
		return `"` + strings.Join(all, "") + `"`, asTerm
	}
	return n.text, asTerm
}

func (r *printer) call(n *node, at *scope) string {
	if len(n.args) == 0 {
		return n.text
	}
	var all []string
	for i, arg := range n.args {
		if n.scope != nil && i == len(n.args)-1 {
			all = append(all, r.body(arg, n.scope))
		} else {
			all = append(all, r.print(arg, at, asPipe))
		}
	}
	return n.text + "(" + strings.Join(all, "; ") + ")"
}

func (r *printer) pipe(n *node, at *scope) (string, int) {
	from, to := n.args[0], n.args[1]
	if from.op == opDot && from.scope == at && n.scope != at {
		text, strength := r.node(to, n.scope)
		if _, used := r.names[n.scope]; !used {
			return text, strength
		}
	}
	return r.print(from, at, asPipe) + " | " + r.body(to, n.scope), asPipe
}
