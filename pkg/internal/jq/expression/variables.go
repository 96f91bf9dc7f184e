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

// A variable of the definition is a value that expressions read as $variables.NAME, a
// parameter one that they read as $parameters.NAME. An expression that reads some is jq that
// binds them first, each once: ({a:A} as $variables|($variables+{b:B}) as
// $variables|EXPRESSION). So no engine knows of them, and the jq grows with their number, not
// with that of their uses.

// Variable is a value that expressions read as $variables.NAME or $parameters.NAME.
type Variable struct {
	root   root
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
	v := &Variable{root: variablesRoot, name: name, source: n.source, reads: c.variables, needs: c.needs}
	program, _ := c.program(n)
	if program == nil {
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
	given := slices.ContainsFunc(c.variables, func(v *Variable) bool { return v.root == parametersRoot }) // a Helm chart has other values
	if constant, ok := program.Const(); ok && !given {
		if text, ok := constant.(string); ok {
			v.value.text = &text
		}
	}
	return v, c.problems
}

// Broken returns a variable that has an error which is reported elsewhere.
func Broken(name string) *Variable {
	return &Variable{root: variablesRoot, name: name, broken: true, source: "null", value: unknown()}
}

// Parameter returns a value that is known before an expression is evaluated. source is a jq
// term; optional tells that it may yield null.
func Parameter(name string, t schema.Type, source string, optional bool) *Variable {
	v := &Variable{root: parametersRoot, name: name, source: source, value: typed(t)}
	if optional {
		v.value.kinds |= null
	}
	return v
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
					for _, one := range variablesIn(query) {
						names[one.path[0]] = names[one.path[0]] || one.root == variablesRoot
					}
				}
			}
		}
	}
	walk(value)
	maps.DeleteFunc(names, func(_ string, variable bool) bool { return !variable })
	return slices.Sorted(maps.Keys(names))
}

// isNamed reports whether a root is that of values of the definition, not of an object.
func (r root) isNamed() bool { return r == variablesRoot || r == parametersRoot }

// variablesIn returns the variables that a query reads, in their order.
func variablesIn(q *gojq.Query) reads {
	var names reads
	jq.Walk(q, func(node any) bool {
		t, ok := node.(*gojq.Term)
		if !ok || t.Type != gojq.TermTypeFunc || !root(t.Func.Name).isNamed() || len(t.SuffixList) == 0 {
			return true
		}
		of := root(t.Func.Name)
		switch i := t.SuffixList[0].Index; {
		case i == nil:
		case i.Name != "":
			names = append(names, read{of, []string{i.Name}})
		case i.Str != nil && i.Str.Queries == nil:
			names = append(names, read{of, []string{i.Str.Str}})
		}
		return true
	})
	return names
}

// isVariable reports whether an expression is a variable, without a field of it.
func isVariable(q *gojq.Query) bool {
	q = jq.Unwrap(q)
	return len(q.FuncDefs) == 0 && q.Term != nil && q.Term.Type == gojq.TermTypeFunc && root(q.Term.Func.Name).isNamed() &&
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
	var parameters, entries []string
	for _, v := range variables {
		entry := quoteKey(v.name) + ":" + v.source
		if v.root == parametersRoot {
			parameters = append(parameters, entry)
		} else {
			entries = append(entries, entry)
		}
	}
	if len(parameters) > 0 {
		b.WriteString("{" + strings.Join(parameters, ",") + "} as " + string(parametersRoot) + "|")
	}
	for i, entry := range entries {
		value := "{" + entry + "}"
		if i > 0 {
			value = "(" + string(variablesRoot) + "+" + value + ")"
		}
		b.WriteString(value + " as " + string(variablesRoot) + "|")
	}
	return b.String() + source + ")"
}

// variablesOf returns the variables that a query reads, in the order in which they are computed.
func (s Scope) variablesOf(q *gojq.Query) []*Variable {
	var list []*Variable
	for _, one := range variablesIn(q) {
		if v := s.named(one.root)[one.path[0]]; v != nil && !v.broken {
			list = within(list, v)
		}
	}
	return list
}

// named returns the values of a root by name.
func (s Scope) named(of root) map[string]*Variable {
	if of == parametersRoot {
		return s.Parameters
	}
	return s.Variables
}

// kind is what messages call one of the values of a root.
func (r root) kind() string { return strings.TrimSuffix(string(r[1:]), "s") }

// readVariable walks $variables.NAME or $parameters.NAME.
func (a *analyser) readVariable(of root, name string, node any) value {
	all := a.scope.named(of)
	v, ok := all[name]
	if !ok {
		names := slices.Sorted(maps.Keys(all))
		what := advice{sentence: fmt.Sprintf("there are no %[1]s: write them under spec.%[1]s", of[1:])}
		if best := nearest(name, names); best != "" {
			what.meant = read{of, []string{best}}.String()
		} else if len(names) > 0 {
			what.sentence = fmt.Sprintf("%s: %s", of[1:], strings.Join(names, ", "))
		}
		a.failAdvised(node, UnknownField, fmt.Sprintf("there is no %s %q", of.kind(), name), what)
		return unknown()
	}
	v.read = true
	if v.broken {
		a.report(node, Problem{Code: BadExpression, Message: fmt.Sprintf("the %s %s has an error", of.kind(), name), Known: true})
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

// wholeVariables reports $variables or $parameters without the name of one.
func (a *analyser) wholeVariables(q *gojq.Query) {
	for _, of := range []root{variablesRoot, parametersRoot} {
		if a.reads.has(of) {
			a.fail(q, BadExpression, fmt.Sprintf("%s is not a value", of), fmt.Sprintf("write %s.NAME", of))
		}
	}
	a.reads = slices.DeleteFunc(a.reads, func(r read) bool { return r.root.isNamed() })
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
