package childcheck

import (
	"errors"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// costs reports the expressions of the status and of readyWhen that exceed the limits of
// jq for a sample. In a Sensor, which has no limits, they would hold up all events.
func costs(d *definition.Definition, p *plan.Plan, s *samples) diag.List {
	var findings diag.List
	for _, f := range p.Status.Fields {
		t := &run{d: d, p: p, samples: s}
		findings = append(findings, cost(d, f.Value, t.around(f.Value), "spec", "status", f.Name)...)
	}
	for i, c := range p.Children {
		if c.Ready != nil && c.Object != nil {
			t := &run{d: d, p: p, child: c, samples: s}
			findings = append(findings, cost(d, c.Ready, t.live(), "spec", "children", strconv.Itoa(i), "readyWhen")...)
		}
	}
	return findings
}

// input is what an expression reads, and the custom resource that leads to it.
type input struct {
	value   any
	vars    expression.Vars
	written map[string]any
}

// cost reports an expression that exceeds a limit for one of the inputs: as a warning, or as an error
// if it does for the first one, which is the smallest. Other errors are not of interest here: the
// inputs are incomplete.
func cost(d *definition.Definition, program *expression.Program, inputs []input, at ...string) diag.List {
	for i, in := range inputs {
		_, err := program.Run(in.value, in.vars)
		limit := new(jq.LimitError)
		if !errors.As(err, &limit) {
			continue
		}
		found := diag.Finding{
			Position: d.Position(at...), Severity: diag.Warning, Code: diag.BadExpression,
			Message: err.Error() + ", where the custom resource has " + specOf(in.written), Hint: limit.Hint,
		}
		if i == 0 {
			found.Severity = diag.Error
		}
		return diag.List{found}
	}
	return nil
}

// around returns plausible samples, and those that differ in one field that a program
// reads: with the children as rendered and a value in every field of a child that the
// program reads, and without children.
func (t *run) around(program *expression.Program) []input {
	s := t.samples
	if len(s.plausible) == 0 {
		return []input{{value: s.bare().served}}
	}
	all := append(slices.Clone(s.plausible), s.steps(s.schema, s.full(), s.full(), program)...)
	reads := program.ReadsChildren()
	var out []input
	for _, cr := range all {
		out = append(out, input{value: cr.served, written: cr.written})
		if len(reads) > 0 {
			out = append(out, input{cr.served, expression.Vars{Children: withFields(t.otherChildren(cr), reads)}, cr.written})
		}
	}
	return out
}

// withFields adds a value to every field of the children that is missing.
func withFields(children map[string]any, reads map[string][][]string) map[string]any {
	for name, paths := range reads {
		objects, list := children[name].([]any)
		if !list {
			if children[name] == nil {
				children[name] = map[string]any{}
			}
			objects = []any{children[name]}
		}
		for _, object := range objects {
			for _, path := range paths {
				fill(object, path)
			}
		}
	}
	return children
}

func fill(object any, path []string) {
	fields, ok := object.(map[string]any)
	if !ok || len(path) == 0 {
		return
	}
	if _, ok := fields[path[0]]; !ok {
		fields[path[0]] = 1.0
		if len(path) > 1 {
			fields[path[0]] = map[string]any{}
		}
	}
	fill(fields[path[0]], path[1:])
}

// live returns the objects of the child for the plausible samples.
func (t *run) live() []input {
	out := []input{{value: map[string]any{}}}
	for _, cr := range t.samples.plausible {
		for _, object := range t.rendered(cr) {
			out = append(out, input{value: object, written: cr.written})
		}
	}
	return out
}
