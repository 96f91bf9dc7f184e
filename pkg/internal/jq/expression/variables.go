package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// A variable of the definition is a value that expressions read as $variables.NAME. An
// expression that reads some is jq that binds them first, each once: ({a:A} as
// $variables|($variables+{b:B}) as $variables|EXPRESSION). So no engine knows of them, and the
// jq grows with their number, not with that of their uses.

// Variable is a value that expressions read as $variables.NAME.
type Variable struct {
	name   string
	value  value
	source string      // a jq term
	reads  []*Variable // the variables that it reads, each after those that it reads itself
	flow   flow
	needs  []Need
	broken bool // it has errors, which are reported there
	read   bool // an expression reads it
}

// flow is what reaches the result of an expression.
type flow struct {
	reads, carried, keyed, digested reads
	children                        bool // it needs the variable $children
}

// Define compiles a variable, whose value may contain `${ }`.
func Define(name string, value any, scope Scope) (*Variable, []Problem) {
	c := &templates{scope: scope, kind: kindOf(value), whole: value, want: schema.Any(), forPod: true}
	c.assume()
	n := c.value(nil, value, c.want)
	v := &Variable{name: name, source: n.source, reads: c.variables, needs: c.needs}
	if program, _ := c.program(n); program == nil {
		v.broken, v.value = true, unknown()
		return v, c.problems
	}
	v.value = typed(schema.Any())
	if n.typ != nil {
		v.value = typed(n.typ)
	}
	v.flow = flow{reads: c.reads.distinct(), carried: c.carried.distinct()}
	for _, e := range c.flows {
		v.flow.keyed, v.flow.digested = append(v.flow.keyed, e.keyed...).distinct(), append(v.flow.digested, e.digested...).distinct()
	}
	if e := n.expr; e != nil {
		v.value, v.flow = e.value, c.flows[0]
		for _, paths := range []*[]read{&v.value.from, &v.value.items, &v.value.of} {
			*paths = reads(*paths).distinct()
		}
		if e.mayBeNull() {
			v.value.kinds |= null
		}
	}
	return v, c.problems
}

// Broken returns a variable that has an error which is reported elsewhere.
func Broken(name string) *Variable {
	return &Variable{name: name, broken: true, source: "null", value: unknown()}
}

// IsRead reports whether an expression reads the variable, or it has errors.
func (v *Variable) IsRead() bool { return v.read || v.broken }

// ReadsVariables lists the names of the variables that the expressions in a value read.
func ReadsVariables(value any) []string {
	names := map[string]bool{}
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, v := range value {
				walk(v)
			}
		case []any:
			for _, v := range value {
				walk(v)
			}
		case string:
			parts, _ := split(value)
			for _, p := range parts {
				if query, err := parse(p.text); p.expr && err == nil {
					for _, name := range variablesIn(query) {
						names[name] = true
					}
				}
			}
		}
	}
	walk(value)
	return slices.Sorted(maps.Keys(names))
}

// variablesIn returns the names of the variables that a query reads, in their order.
func variablesIn(q *gojq.Query) []string {
	var names []string
	jq.Walk(q, func(node any) bool {
		t, ok := node.(*gojq.Term)
		if !ok || t.Type != gojq.TermTypeFunc || t.Func.Name != string(variablesRoot) || len(t.SuffixList) == 0 {
			return true
		}
		switch i := t.SuffixList[0].Index; {
		case i == nil:
		case i.Name != "":
			names = append(names, i.Name)
		case i.Str != nil && i.Str.Queries == nil:
			names = append(names, i.Str.Str)
		}
		return true
	})
	return names
}

// isVariable reports whether an expression is a variable, without a field of it.
func isVariable(q *gojq.Query) bool {
	q = jq.Unwrap(q)
	return len(q.FuncDefs) == 0 && q.Term != nil && q.Term.Type == gojq.TermTypeFunc && q.Term.Func.Name == string(variablesRoot) &&
		len(q.Term.SuffixList) == 1
}

// within adds variables, and those that they read, to a list in the order in which they are
// computed.
func within(list []*Variable, more ...*Variable) []*Variable {
	for _, v := range more {
		for _, one := range append(slices.Clip(v.reads), v) {
			if !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
	}
	return list
}

// bound returns jq, as a term, with the variables that it reads.
func bound(variables []*Variable, source string) string {
	if len(variables) == 0 {
		return source
	}
	var b strings.Builder
	b.WriteByte('(')
	for i, v := range variables {
		entry := "{" + quoteKey(v.name) + ":" + v.source + "}"
		if i > 0 {
			entry = "($variables+" + entry + ")"
		}
		b.WriteString(entry + " as $variables|")
	}
	return b.String() + source + ")"
}

// variablesOf returns the variables that a query reads, in the order in which they are computed.
func (s Scope) variablesOf(q *gojq.Query) []*Variable {
	var list []*Variable
	for _, name := range variablesIn(q) {
		if v := s.Variables[name]; v != nil && !v.broken {
			list = within(list, v)
		}
	}
	return list
}

// readVariable walks $variables.NAME.
func (a *analyser) readVariable(name string, node any) value {
	v, ok := a.scope.Variables[name]
	if !ok {
		names := slices.Sorted(maps.Keys(a.scope.Variables))
		what := advice{sentence: "there are no variables: write them under spec.variables"}
		if best := nearest(name, names); best != "" {
			what.meant = read{variablesRoot, []string{best}}.String()
		} else if len(names) > 0 {
			what.sentence = "variables: " + strings.Join(names, ", ")
		}
		a.failAdvised(node, UnknownField, fmt.Sprintf("there is no variable %q", name), what)
		return unknown()
	}
	v.read = true
	if v.broken {
		a.report(node, Problem{Code: BadExpression, Message: "the variable " + name + " has an error", Known: true})
		return unknown()
	}
	a.variables = within(a.variables, v)
	switch all := append(slices.Clone(v.flow.reads), v.value.from...); {
	case a.scope.Children == nil && (all.has(childrenRoot) || v.flow.children):
		a.fail(node, BadExpression, fmt.Sprintf("$variables.%s reads $children, which cannot be used here", name), a.scope.NoChildren)
		return unknown()
	case a.scope.Related == nil && !a.scope.OpenRelated && all.has(relatedRoot):
		a.fail(node, BadExpression, fmt.Sprintf("$variables.%s reads $related, which cannot be used here", name), "")
		return unknown()
	}
	a.flows(v.flow)
	a.waitsForVariable(v, node)
	found := v.value
	for _, is := range []**absence{&found.absent, &found.item} {
		if *is != nil {
			here := **is
			here.node, *is = node, &here
		}
	}
	return a.sure(found)
}

// wholeVariables reports $variables without the name of one.
func (a *analyser) wholeVariables(q *gojq.Query) {
	if a.reads.has(variablesRoot) {
		a.fail(q, BadExpression, "$variables is not a value", "write $variables.NAME")
	}
	a.reads = slices.DeleteFunc(a.reads, func(r read) bool { return r.root == variablesRoot })
}

// waitsForVariable records what a variable waits for. Where nothing waits, it may fail.
func (a *analyser) waitsForVariable(v *Variable, node any) {
	for _, n := range v.needs {
		excluded := slices.ContainsFunc(n.Children, func(child string) bool { return slices.Contains(a.scope.Optional, child) })
		if a.scope.Waits {
			a.waits = append(a.waits, n)
		}
		if n.Damage && a.lenient == 0 && (excluded || !a.scope.Waits && !a.scope.Omits) {
			a.report(node, Problem{
				Code: MayBeNull, Warning: true,
				Message: fmt.Sprintf("%s may be missing, and then the variable %s cannot be computed", n.Text, v.name),
				Hint:    "in the variable, write a default: (" + n.Text + " // DEFAULT)",
			})
		}
	}
}

// flows records that the expression reads what another one does, whose result it has.
func (a *analyser) flows(f flow) {
	a.usesChildren = a.usesChildren || f.children
	add := func(r reads) [2]int {
		from := len(a.reads)
		a.reads = append(a.reads, r...)
		return [2]int{from, len(a.reads)}
	}
	a.lost = append(a.lost, add(f.reads))
	keyed, digested := add(f.keyed), add(f.digested)
	a.lost, a.keyed, a.digested = append(a.lost, keyed, digested), append(a.keyed, keyed), append(a.digested, digested)
	add(f.carried)
}

// flow returns what reaches the result of the expression so far.
func (a *analyser) flow() flow {
	f := flow{reads: a.reads.distinct(), carried: a.carriedReads(), keyed: a.keyedReads().distinct(), children: a.usesChildren}
	if shown := a.shownReads(); len(shown) > len(f.carried) && !a.aborted {
		f.digested = shown[len(f.carried):].distinct()
	}
	f.carried = f.carried.distinct()
	return f
}
