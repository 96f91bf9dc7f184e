package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
)

// variables are the values of a definition, or of one child, that expressions read as
// $variables.NAME.
type variables struct {
	*compiler
	declared map[string]any
	scope    expression.Scope
	at       []string
	path     []string // the variables that are being compiled
	done     map[string]bool
	cyclic   map[string]bool
}

// variables compiles the variables at a path, each after those that it reads. It returns them
// with those of the scope.
func (c *compiler) variables(declared map[string]any, scope expression.Scope, at ...string) map[string]*expression.Variable {
	v := variables{compiler: c, declared: declared, scope: scope, at: at, done: map[string]bool{}, cyclic: map[string]bool{}}
	v.scope.Variables = map[string]*expression.Variable{}
	maps.Copy(v.scope.Variables, scope.Variables)
	for name := range declared {
		v.scope.Variables[name] = expression.Broken(name) // until it is compiled
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		v.compile(name)
	}
	return v.scope.Variables
}

// define compiles the variables of the definition.
func (c *compiler) define() {
	scope := c.scope
	scope.Given, scope.Waits = c.api.SelectorJQ, true
	c.scope.Variables = c.variables(c.d.Operator.Spec.Variables, scope, "spec", "variables")
}

func (v *variables) compile(name string) {
	if at := slices.Index(v.path, name); at >= 0 {
		v.cycle(v.path[at:])
	}
	if v.done[name] || slices.Contains(v.path, name) {
		return
	}
	v.path = append(v.path, name)
	for _, other := range expression.ReadsVariables(v.declared[name]) {
		if _, here := v.declared[other]; here {
			v.compile(other)
		}
	}
	v.path = v.path[:len(v.path)-1]
	if v.done[name] = true; v.cyclic[name] {
		return
	}
	variable, problems := expression.Define(name, v.declared[name], v.scope)
	v.report(problems, append(slices.Clone(v.at), name)...)
	v.scope.Variables[name] = variable
}

// cycle reports variables that read each other.
func (v *variables) cycle(names []string) {
	var why []string
	for i, name := range names {
		v.cyclic[name] = true
		why = append(why, fmt.Sprintf("%s reads $variables.%s", name, names[(i+1)%len(names)]))
	}
	message := "variables depend on each other: " + strings.Join(why, "; ")
	if len(names) == 1 {
		message = fmt.Sprintf("variable %s depends on itself: it reads $variables.%s", names[0], names[0])
	}
	v.findings.Add(v.d.Position(append(slices.Clone(v.at), names[0])...), diag.BadValue, message, "remove one of the references")
}

// unread warns of the variables or parameters at a path that no expression reads.
func (c *compiler) unread(declared map[string]any, all map[string]*expression.Variable, at ...string) {
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if c.draft || all[name].IsRead() {
			continue
		}
		read := "$" + at[len(at)-1] + "." + name
		c.findings.Warn(c.d.PositionOfKey(append(slices.Clone(at), name)...), diag.UnusedVariable,
			"no expression reads "+read, "remove it, or write ${ "+read+" } where the value is needed")
	}
}
