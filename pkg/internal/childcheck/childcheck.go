// Package childcheck renders the templates of children for sample custom resources
// and validates the objects as the API server would. It also warns of children that
// grant rights, and of custom resources that choose where the operator writes.
//
// The rule of this package: a problem with every sample is an error of the
// template; a problem with some samples is a warning about a value that the schema
// permits.
package childcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/admission"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/jq"
	"github.com/argoperator/argoperator/pkg/internal/plan"
	"github.com/argoperator/argoperator/pkg/internal/problem"
)

// Findings checks where an operator writes and what rights its children grant, and
// their templates with sample custom resources. known are earlier findings, whose lines
// get no further warnings.
func Findings(d *definition.Definition, p *plan.Plan, known diag.List) diag.List {
	reach := append(escalations(p, d), checkNamespaces(p, d)...)
	if reach.HasErrors() {
		return reach
	}
	return append(reach, templates(d, p, append(slices.Clone(known), reach...))...)
}

// templates checks the templates.
func templates(d *definition.Definition, p *plan.Plan, known diag.List) diag.List {
	if !slices.ContainsFunc(p.Children, func(c plan.Child) bool { return c.Object != nil }) {
		return nil
	}
	s := newSamples(d, p)
	var findings diag.List
	for i, c := range p.Children {
		if c.Object != nil {
			t := &run{d: d, p: p, child: c, samples: s, validator: validator{d.ChildCRDs[c.Name], map[string][]problem.Problem{}}}
			findings = append(findings, t.findings("spec", "children", strconv.Itoa(i))...)
		}
	}
	return slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Severity == diag.Warning && reported(known, f) })
}

// reported reports whether there is a finding for the same line already; a sample
// only confirms it.
func reported(known diag.List, f diag.Finding) bool {
	return slices.ContainsFunc(known, func(k diag.Finding) bool { return k.File == f.File && k.Line == f.Line })
}

// childProblem is a problem at a key of the child's definition.
type childProblem struct {
	problem.Problem
	key string // template, when or forEach
	// exceedsLimit: the evaluation exceeded a limit. It is an error even if only
	// some values cause it: the Sensor has no limits, so it would block every
	// custom resource.
	exceedsLimit bool
}

// run checks the template of one child.
type run struct {
	d         *definition.Definition
	p         *plan.Plan
	child     plan.Child
	samples   *samples
	validator validator
	count     int
	groups    []*group
}

// group is the same problem in several samples.
type group struct {
	problem childProblem
	count   int
	cr      customResource // one sample with the problem
	env     environment
}

// similar reports whether two problems differ only in the values that they mention.
func (p childProblem) similar(other childProblem) bool {
	return p.key == other.key && p.Path == other.Path && p.Code == other.Code && p.exceedsLimit == other.exceedsLimit
}

// findings checks the template with all samples.
func (t *run) findings(path ...string) diag.List {
	for _, cr := range t.samples.of(t) {
		if t.try(cr) {
			break // this is an error already, and every other sample would take as long
		}
	}
	var findings diag.List
	for _, g := range t.groups {
		at := t.d.Position(slices.Concat(path, []string{g.problem.key}, g.problem.Segments())...)
		message := t.child.Kind.Kind + ": " + strings.TrimPrefix(g.problem.Path+": "+g.problem.Message, ": ")
		switch {
		case g.problem.exceedsLimit:
			findings.Add(at, g.problem.Code, message, g.problem.Hint)
		case g.count == t.count && !t.dependsOnText(g):
			findings.Add(at, g.problem.Code, message, g.problem.Hint)
		default:
			least, problem := t.smallest(g)
			message = t.child.Kind.Kind + ": " + strings.TrimPrefix(problem.Path+": "+problem.Message, ": ")
			findings.Warn(at, g.problem.Code, message+", where the custom resource has "+specOf(least)+g.env.note, t.remedy(g, least, problem))
		}
	}
	return findings
}

// try checks one custom resource. It returns true if further samples are pointless.
func (t *run) try(cr customResource) bool {
	for _, env := range t.environments(cr) {
		problems, wanted := t.problemsOf(cr, env)
		if wanted {
			t.count++
		}
		var counted []*group
		for _, problem := range problems {
			i := slices.IndexFunc(t.groups, func(g *group) bool { return g.problem.similar(problem) })
			if i < 0 {
				t.groups = append(t.groups, &group{problem: problem, cr: cr, env: env})
				i = len(t.groups) - 1
			}
			if g := t.groups[i]; !slices.Contains(counted, g) {
				g.count++
				counted = append(counted, g)
			}
			if problem.exceedsLimit {
				return true
			}
		}
	}
	return false
}

// find returns a problem similar to that of a group, if the sample has one.
func (t *run) find(g *group, cr customResource) (found childProblem, wanted, has bool) {
	problems, wanted := t.problemsOf(cr, g.env)
	i := slices.IndexFunc(problems, g.problem.similar)
	if i < 0 {
		return childProblem{}, wanted, false
	}
	return problems[i], wanted, true
}

// dependsOnText reports whether a problem of all samples depends on the free text
// in them: samples with other words do not have it.
func (t *run) dependsOnText(g *group) bool {
	return slices.ContainsFunc(t.samples.reworded(g.cr, g.problem.Message), func(cr customResource) bool {
		_, wanted, has := t.find(g, cr)
		return wanted && !has
	})
}

// smallest returns the smallest custom resource with a problem, and the problem in
// it.
func (t *run) smallest(g *group) (written map[string]any, problem childProblem) {
	problem = g.problem
	if g.cr.written == nil {
		return g.cr.served, problem
	}
	written = t.samples.schema.Shrink(g.cr.written, func(object map[string]any) bool {
		found, _, has := t.find(g, t.samples.served(object))
		if has {
			problem = found
		}
		return has
	})
	return written, problem
}

// maxItems limits the items of forEach that are checked; further items rarely
// differ.
const maxItems = 8

// validator validates objects and caches the results, because many samples render
// the same object.
type validator struct {
	crd     *apiextensionsv1.CustomResourceDefinition // nil for a built-in kind
	results map[string][]problem.Problem              // by the object's JSON
}

func (j validator) validate(object map[string]any) []problem.Problem {
	data, err := json.Marshal(object)
	if err != nil {
		return admission.Child(object, j.crd) // returns the encoding error
	}
	id := string(data)
	if _, known := j.results[id]; !known {
		j.results[id] = admission.Child(object, j.crd)
	}
	return j.results[id]
}

// problemsOf renders the child for one custom resource and returns the problems,
// and whether the custom resource has the child.
func (t *run) problemsOf(cr customResource, env environment) (problems []childProblem, wanted bool) {
	if env.unknown {
		return nil, true
	}
	vars := env.vars
	items, key, err := t.items(cr, vars)
	if err != nil {
		return failed(key, err), true
	}
	for i, item := range items {
		vars.Item, vars.Index = item, i
		if t.child.Object.Waits(cr.served, vars) {
			continue
		}
		object, err := t.child.Object.Run(cr.served, vars)
		if err != nil {
			problems = append(problems, failed("template", err)...)
		} else if object, ok := object.(map[string]any); ok {
			for _, p := range t.validator.validate(object) {
				problems = append(problems, childProblem{Problem: p, key: "template"})
			}
		}
	}
	return problems, len(items) > 0
}

// failed returns the problem of an expression at a key of the child.
func failed(key string, err error) []childProblem {
	t := childProblem{Problem: problem.Problem{Code: diag.BadExpression, Message: err.Error()}, key: key}
	var limit *jq.LimitError
	if errors.As(err, &limit) {
		t.Hint, t.exceedsLimit = limit.Hint, true
	}
	return []childProblem{t}
}

// remedy suggests a fix for a problem of a custom resource. It names the field if
// changing a single one removes the problem.
func (t *run) remedy(g *group, cr map[string]any, p childProblem) string {
	field, how := "the field", "required, default, minLength, pattern, maximum …"
	if t.samples.schema != nil {
		causes := t.samples.schema.Causes(cr, func(object map[string]any) bool {
			_, wanted, has := t.find(g, t.samples.served(object))
			return has || !wanted
		})
		for name, value := range causes {
			if len(causes) > 1 {
				break
			}
			field, how = name, "minimum, maximum"
			if _, text := value.(string); text {
				how = "pattern, enum, minLength, maxLength"
				if strings.Contains(p.Message, "Quantity") {
					how = "the type quantity, or a pattern"
				}
			}
		}
	}
	return fmt.Sprintf("restrict %s in the schema (%s), or guard against the value in the expression", field, how)
}

// userFields returns the fields of a custom resource that users write.
func userFields(cr map[string]any) map[string]any {
	fields := map[string]any{}
	for key, value := range cr {
		if key != "apiVersion" && key != "kind" && key != "metadata" && key != "status" {
			fields[key] = value
		}
	}
	return fields
}

// specOf returns the fields of a custom resource as short JSON.
func specOf(cr map[string]any) string {
	data, err := json.Marshal(userFields(cr))
	if err != nil {
		return "a value that JSON cannot hold"
	}
	const limit = 160
	if text := []rune(string(data)); len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return string(data)
}
