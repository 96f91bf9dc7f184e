package argoperator

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

// childFindings renders every template for sample custom resources and judges
// what comes out. What is wrong with every sample is wrong with the template;
// what is wrong with some is a value that the schema lets through. known is what
// was found before.
func childFindings(d *definition.Definition, p *plan.Plan, known diag.List) diag.List {
	if !slices.ContainsFunc(p.Children, func(c plan.Child) bool { return c.Object != nil }) {
		return nil
	}
	s := newSamples(d, p)
	var findings diag.List
	for i, c := range p.Children {
		if c.Object != nil {
			t := &trial{d: d, p: p, child: c, samples: s, jury: jury{d.ChildCRDs[c.Name], map[string][]problem.Problem{}}}
			findings = append(findings, t.findings("spec", "children", strconv.Itoa(i))...)
		}
	}
	return slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Severity == diag.Warning && said(known, f) })
}

// said tells whether something is known of a line already, which a sample only confirms.
func said(known diag.List, f diag.Finding) bool {
	return slices.ContainsFunc(known, func(k diag.Finding) bool { return k.File == f.File && k.Line == f.Line })
}

// trouble is a problem at a key of the child's definition.
type trouble struct {
	problem.Problem
	key string // template, when or forEach
	// endless is an evaluation that met a bound. It is a problem even if only some
	// values lead to it: the Sensor has no bounds, so it would hold up every custom
	// resource.
	endless bool
}

// trial is the trial of one child's template.
type trial struct {
	d       *definition.Definition
	p       *plan.Plan
	child   plan.Child
	samples *samples
	jury    jury
	tried   int
	groups  []*group
}

// group is the same problem of several samples.
type group struct {
	problem trouble
	count   int
	cr      customResource // one that has it
	among   surroundings
}

// alike says that a problem is the same but for the values in it.
func (p trouble) alike(other trouble) bool {
	return p.key == other.key && p.Path == other.Path && p.Code == other.Code && p.endless == other.endless
}

// findings tries the template on samples.
func (t *trial) findings(path ...string) diag.List {
	for _, cr := range t.samples.of(t) {
		if t.on(cr) {
			break // it is an error already, and every other sample would take as long
		}
	}
	var findings diag.List
	for _, g := range t.groups {
		at := t.d.Position(slices.Concat(path, []string{g.problem.key}, segments(g.problem.Path))...)
		message := t.child.Kind.Kind + ": " + strings.TrimPrefix(g.problem.Path+": "+g.problem.Message, ": ")
		switch {
		case g.problem.endless:
			findings.Add(at, g.problem.Code, message, g.problem.Hint)
		case g.count == t.tried && !t.refuted(g):
			findings.Add(at, g.problem.Code, message, g.problem.Hint)
		default:
			least, problem := t.least(g)
			message = t.child.Kind.Kind + ": " + strings.TrimPrefix(problem.Path+": "+problem.Message, ": ")
			findings.Warn(at, g.problem.Code, message+", where the custom resource has "+specOf(least)+g.among.note, t.remedy(g, least, problem))
		}
	}
	return findings
}

// on tries one customResource; true if there is no use in others.
func (t *trial) on(cr customResource) bool {
	for _, among := range t.around(cr) {
		problems, wanted := t.problemsOf(cr, among)
		if wanted {
			t.tried++
		}
		var counted []*group
		for _, problem := range problems {
			i := slices.IndexFunc(t.groups, func(g *group) bool { return g.problem.alike(problem) })
			if i < 0 {
				t.groups = append(t.groups, &group{problem: problem, cr: cr, among: among})
				i = len(t.groups) - 1
			}
			if g := t.groups[i]; !slices.Contains(counted, g) {
				g.count++
				counted = append(counted, g)
			}
			if problem.endless {
				return true
			}
		}
	}
	return false
}

// has returns a problem like that of a group, if a sample has one.
func (t *trial) has(g *group, cr customResource) (found trouble, wanted, has bool) {
	problems, wanted := t.problemsOf(cr, g.among)
	i := slices.IndexFunc(problems, g.problem.alike)
	if i < 0 {
		return trouble{}, wanted, false
	}
	return problems[i], wanted, true
}

// refuted tells whether a problem of all samples comes of what their free texts
// happen to say: with other words in them there is none.
func (t *trial) refuted(g *group) bool {
	return slices.ContainsFunc(t.samples.reworded(g.cr, g.problem.Message), func(cr customResource) bool {
		_, wanted, has := t.has(g, cr)
		return wanted && !has
	})
}

// least is the smallest custom resource that has a problem, and the problem as
// it is then.
func (t *trial) least(g *group) (written map[string]any, problem trouble) {
	problem = g.problem
	if g.cr.written == nil {
		return g.cr.served, problem
	}
	written = t.samples.schema.Shrink(g.cr.written, func(object map[string]any) bool {
		found, _, has := t.has(g, t.samples.served(object))
		if has {
			problem = found
		}
		return has
	})
	return written, problem
}

// maxItems of a forEach are judged; the others are alike.
const maxItems = 8

// jury says what is wrong with objects. Many samples make the same one.
type jury struct {
	crd   *apiextensionsv1.CustomResourceDefinition // nil for a built-in kind
	known map[string][]problem.Problem              // by their JSON
}

func (j jury) problems(object map[string]any) []problem.Problem {
	data, err := json.Marshal(object)
	if err != nil {
		return admission.Child(object, j.crd) // which says why
	}
	id := string(data)
	if _, known := j.known[id]; !known {
		j.known[id] = admission.Child(object, j.crd)
	}
	return j.known[id]
}

// problemsOf renders the child for one custom resource, if it is wanted at all.
func (t *trial) problemsOf(cr customResource, among surroundings) (problems []trouble, wanted bool) {
	if among.unknown {
		return nil, true
	}
	vars := among.vars
	items, key, err := t.items(cr, vars)
	if err != nil {
		return failed(key, err), true
	}
	for i, item := range items {
		vars.Item, vars.Index = item, i
		object, err := t.child.Object.Run(cr.served, vars)
		if err != nil {
			problems = append(problems, failed("template", err)...)
		} else if object, ok := object.(map[string]any); ok {
			for _, p := range t.jury.problems(object) {
				problems = append(problems, trouble{Problem: p, key: "template"})
			}
		}
	}
	return problems, len(items) > 0
}

// failed is the problem of an expression at a key of the child.
func failed(key string, err error) []trouble {
	t := trouble{Problem: problem.Problem{Code: diag.BadExpression, Message: err.Error()}, key: key}
	var limit *jq.LimitError
	if errors.As(err, &limit) {
		t.Hint, t.endless = limit.Hint, true
	}
	return []trouble{t}
}

// remedy is what to do about a problem that a custom resource has, by the one
// value that brings it, if there is one.
func (t *trial) remedy(g *group, cr map[string]any, p trouble) string {
	field, how := "the field", "required, default, minLength, pattern, maximum …"
	if t.samples.schema != nil {
		causes := t.samples.schema.Causes(cr, func(object map[string]any) bool {
			_, wanted, has := t.has(g, t.samples.served(object))
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

// written are the fields of a custom resource that are its user's.
func written(cr map[string]any) map[string]any {
	fields := map[string]any{}
	for key, value := range cr {
		if key != "apiVersion" && key != "kind" && key != "metadata" && key != "status" {
			fields[key] = value
		}
	}
	return fields
}

// specOf shows what distinguishes a custom resource, in short.
func specOf(cr map[string]any) string {
	data, err := json.Marshal(written(cr))
	if err != nil {
		return "a value that JSON cannot hold"
	}
	const limit = 160
	if text := []rune(string(data)); len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return string(data)
}
