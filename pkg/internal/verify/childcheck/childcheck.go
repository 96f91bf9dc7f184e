// Package childcheck renders the templates of children for sample custom resources
// and validates the objects as the API server would. It also warns of children that
// grant rights, and of custom resources that choose where the operator writes. Of the
// emitted objects it checks what a definition can break.
//
// The rule of this package: an error is a problem of every custom resource, by the types
// of the values. A problem of samples is a warning about a value that the schema permits.
package childcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Findings checks where an operator writes and what rights its children grant, and
// their templates with sample custom resources. known are earlier findings: lines with one
// about an expression get no further warnings. costs are those of large custom resources, which take
// long to find where the API server refuses the CustomResourceDefinition for the costs of its rules.
func Findings(d *definition.Definition, p *plan.Plan, known diag.List) (findings diag.List, costs func() diag.List) {
	reach := slices.Concat(podTemplate(d), escalations(p, d), checkNamespaces(p, d), checkSchedules(p, d))
	if reach.HasErrors() {
		return reach, nil
	}
	found, costs := templates(d, p, append(slices.Clone(known), reach...))
	return append(reach, found...), costs
}

// Draft checks the templates of a definition with errors, of those children that the plan
// has an Object of.
func Draft(d *definition.Definition, draft *plan.Plan, known diag.List) diag.List {
	found, _ := templates(d, draft, known)
	return slices.DeleteFunc(found.Only(diag.Error), func(f diag.Finding) bool {
		return slices.ContainsFunc(known, func(k diag.Finding) bool {
			return k.Severity == diag.Error && k.File == f.File && k.Line == f.Line
		})
	})
}

// templates checks the templates, and later their costs.
func templates(d *definition.Definition, p *plan.Plan, known diag.List) (findings diag.List, costly func() diag.List) {
	checked := func(c plan.Child) bool { return c.Object != nil }
	if len(p.Status.Fields) == 0 && !slices.ContainsFunc(slices.Concat(p.Children, p.Patches), checked) {
		return nil, func() diag.List { return nil }
	}
	s := newSamples(d, p, place{"sample", "default"})
	findings = costs(d, p, s)
	tried := &family{d: d, p: p, samples: s, runs: make([]*run, len(p.Children)), made: map[memberOf][]member{}}
	for i, c := range p.Children {
		if c.Object != nil {
			tried.runs[i] = newRun(d, p, i, s)
			findings = append(findings, tried.runs[i].findings("spec", "children", strconv.Itoa(i))...)
		}
	}
	for i, c := range p.Patches {
		if c.Object != nil {
			findings = append(findings, newPatchRun(d, p, i, s).findings("spec", "patches", strconv.Itoa(i))...)
		}
	}
	findings = append(findings, tried.hazards()...)
	findings = slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Severity == diag.Warning && reported(known, f) })
	return findings, func() diag.List { return slices.Concat(tried.growth(), costlyRules(d, s)) }
}

// reported reports whether an expression of the same line has a finding already; a
// sample only confirms it.
func reported(known diag.List, f diag.Finding) bool {
	return slices.ContainsFunc(known, func(k diag.Finding) bool {
		return k.File == f.File && k.Line == f.Line && slices.Contains(ofExpressions, k.Code)
	})
}

// ofExpressions are the codes of findings that foresee what an expression yields.
var ofExpressions = []string{diag.MayBeNull, diag.DefaultReplacesFalse, diag.WrongType, diag.UnknownField, diag.BadExpression}

// childProblem is a problem at a key of the child's definition.
type childProblem struct {
	problem.Problem
	key    string   // template, when or forEach
	at     []string // below the key
	entry  string   // of the mapping there; "" is all of it
	offset int      // of an expression in the text there; 0 is the whole value
	// exceedsLimit: the evaluation exceeded a limit. It is an error even if only
	// some values cause it: the Sensor has no limits, so it would block every
	// custom resource.
	exceedsLimit bool
}

// run checks the template of one child, or of one patch.
type run struct {
	d         *definition.Definition
	p         *plan.Plan
	child     plan.Child
	noun      string         // child or patch
	template  map[string]any // as it is written
	samples   *samples
	validator validator
	count     int // samples that have the child
	cut       int // of these, samples with a problem that hides others
	groups    []*group
	tested    bool // there was an object, or an expression that fails
	assuming  bool // see assume
	exploration
}

func newRun(d *definition.Definition, p *plan.Plan, i int, s *samples) *run {
	c := p.Children[i]
	return &run{
		d: d, p: p, child: c, noun: "child", template: d.Operator.Spec.Children[i].Template, samples: s,
		validator: newValidator(admission.Child, d.ChildCRDs[c.Name]),
	}
}

func newPatchRun(d *definition.Definition, p *plan.Plan, i int, s *samples) *run {
	c := p.Patches[i]
	return &run{
		d: d, p: p, child: c, noun: "patch", template: d.Operator.Spec.Patches[i].Template, samples: s,
		validator: newValidator(partial, d.PatchCRDs[c.Name]),
	}
}

// group is the same problem in several samples.
type group struct {
	problem childProblem
	count   int
	cut     int            // of these, samples that may have other problems, too
	cr      customResource // one sample with the problem
	env     environment
}

// similar reports whether two problems differ only in the values that they mention.
func (p childProblem) similar(other childProblem) bool {
	return p.key == other.key && p.Path == other.Path && p.Code == other.Code && p.exceedsLimit == other.exceedsLimit &&
		slices.Equal(p.at, other.at)
}

// findings checks the template with all samples.
func (t *run) findings(path ...string) diag.List {
	t.tryAll()
	if !t.tested {
		t.assume()
	}
	var findings diag.List
	for _, causes := range t.causes(path) {
		g := causes.first()
		if t.child.Guessed != nil && !certain(g.problem.Problem, t.child.Guessed) {
			continue
		}
		if g.problem.Code == problem.CodeImage && !causes.always {
			continue // most schemas permit any text, because few users mistype an image
		}
		least, found := t.smallest(g)
		message := t.child.Kind.Kind + ": " + diag.About(found.Path, found.Message) + causes.elsewhere()
		switch {
		case found.exceedsLimit && causes.every: // also the smallest one: nothing can be evaluated
			findings.Add(causes.position, found.Code, message+", where the custom resource has "+specOf(least)+g.env.note, found.Hint)
		case causes.always && found.Warning:
			findings.Warn(causes.position, found.Code, message+t.always(least), found.Hint)
		case causes.always:
			findings.Add(causes.position, found.Code, message+t.always(least), found.Hint)
		default:
			message += causes.where(least) + g.env.note
			f := diag.Finding{Position: causes.position, Severity: diag.Warning, Code: found.Code, Message: message}
			var field string
			if f.Hint, field = t.remedy(causes, least, found); field != "" {
				f.Cause = field + " " + specOf(least)
			}
			findings = append(findings, f)
		}
	}
	return findings
}

// cause is a problem that one place of the definition causes, at one or more places of the
// child.
type cause struct {
	position diag.Position
	always   bool // every custom resource has the problem
	every    bool // every sample has it
	groups   []*group
	opaque   *expression.Part // the value that has it, if it has no schema
}

// where says which custom resources have a problem that is not proven; least is one of them.
func (c cause) where(least map[string]any) string {
	switch {
	case !c.every:
		return ", where the custom resource has " + specOf(least)
	case len(userFields(least)) == 0:
		return ", for each custom resource that was tried"
	}
	return ", for each custom resource that was tried, such as " + specOf(least)
}

func (c cause) first() *group { return c.groups[0] }

// elsewhere counts the further places.
func (c cause) elsewhere() string { return diag.Places(len(c.groups) - 1) }

// causes merges the groups that differ only in the index of an item.
func (t *run) causes(path []string) []*cause {
	var out []*cause
	for _, g := range t.groups {
		at := t.position(path, g.problem)
		every := g.count == t.count || g.count > g.cut && g.count-g.cut+t.cut == t.count
		always := every && t.likely && t.proven(g)
		var opaque *expression.Part
		if !always {
			opaque = t.opaque(g)
		}
		i := slices.IndexFunc(out, func(c *cause) bool {
			other := c.first().problem
			if opaque != nil || c.opaque != nil {
				return c.position == at && (opaque == nil) == (c.opaque == nil)
			}
			return c.position == at && c.always == always && other.Code == g.problem.Code &&
				diag.WithoutIndexes(other.Path) == diag.WithoutIndexes(g.problem.Path) &&
				other.exceedsLimit == g.problem.exceedsLimit
		})
		if i < 0 {
			out = append(out, &cause{position: at, always: always, every: every, opaque: opaque})
			i = len(out) - 1
		}
		out[i].groups = append(out[i].groups, g)
	}
	return out
}

// position returns the place of a problem in the definition.
func (t *run) position(path []string, p childProblem) diag.Position {
	path = slices.Concat(path, []string{p.key}, p.at)
	if p.entry != "" && t.d.Written(append(slices.Clip(path), p.entry)...) {
		path = append(path, p.entry)
	}
	if p.offset > 0 {
		return t.d.PositionIn(p.offset, path...)
	}
	return t.d.Position(path...)
}

// always says which custom resources have a problem that every sample has.
func (t *run) always(least map[string]any) string {
	if t.child.When == nil && t.child.ForEach == nil || len(userFields(least)) == 0 {
		return ", for every custom resource"
	}
	return ", for every custom resource that has this " + t.noun + ", for example " + specOf(least)
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

// smallest returns the smallest custom resource with a problem, and the problem in
// it.
func (t *run) smallest(g *group) (written map[string]any, problem childProblem) {
	problem = g.problem
	if g.cr.written == nil {
		return g.cr.served, problem
	}
	keep := func(object map[string]any) bool {
		found, _, has := t.find(g, t.samples.served(object))
		if has {
			problem = found
		}
		return has
	}
	if problem.exceedsLimit { // each evaluation would take as long
		values := t.values(g.cr)
		keep = func(object map[string]any) bool { return t.values(t.samples.served(object)) == values }
	}
	schema := t.samples.schema
	return schema.Shorten(schema.Shrink(g.cr.written, keep), keep), problem
}

// maxItems limits the items of forEach that are checked; further items rarely
// differ.
const maxItems = 8

// validator validates objects and caches the results, because many samples render
// the same object.
type validator struct {
	rules   rules
	crd     *apiextensionsv1.CustomResourceDefinition // nil for a built-in kind
	results map[string][]problem.Problem              // by the object's JSON
}

// rules validate an object, by the CustomResourceDefinition of its kind if that is not built in.
type rules func(object map[string]any, crd *apiextensionsv1.CustomResourceDefinition) []problem.Problem

func newValidator(by rules, crd *apiextensionsv1.CustomResourceDefinition) validator {
	return validator{by, crd, map[string][]problem.Problem{}}
}

func (j validator) validate(object map[string]any) []problem.Problem {
	data, err := json.Marshal(object)
	if err != nil {
		return j.rules(object, j.crd) // returns the encoding error
	}
	id := string(data)
	if _, known := j.results[id]; !known {
		j.results[id] = j.rules(object, j.crd)
	}
	return j.results[id]
}

// rendering is the result of the child's expressions for one custom resource.
type rendering struct {
	wanted   bool // the custom resource has the child
	objects  []map[string]any
	problems []childProblem
}

// render evaluates the child's expressions.
func (t *run) render(cr customResource, env environment) rendering {
	if env.unknown {
		return rendering{wanted: true}
	}
	vars := env.vars
	items, key, err := t.items(cr, vars)
	if err != nil {
		return rendering{wanted: true, problems: []childProblem{failed(key, err)}}
	}
	out := rendering{wanted: len(items) > 0}
	for i, item := range items {
		vars.Item, vars.Index = item, i
		if t.child.Object.Waits(cr.served, vars) {
			continue
		}
		object, err := t.evaluate(t.child.Object, cr, vars)
		if err != nil {
			problem := failed("template", err)
			problem.at, problem.offset, _ = t.child.Object.Failing(cr.served, vars)
			out.problems = append(out.problems, problem)
		} else if object, ok := object.(map[string]any); ok {
			out.objects = append(out.objects, t.child.Complete(object))
		}
	}
	return out
}

// problemsIn validates the objects of a rendering.
func (t *run) problemsIn(r rendering) []childProblem {
	t.tested = t.tested || len(r.objects)+len(r.problems) > 0
	problems := r.problems
	for _, object := range r.objects {
		for _, p := range t.validator.validate(object) {
			problems = append(problems, childProblem{Problem: p, key: "template", at: p.Segments(), entry: entryOf(object, p)})
		}
	}
	return problems
}

// entryOf returns the entry of a mapping of texts, such as labels, that has a problem: the API
// server names only the mapping, and the key or the value that it does not accept.
func entryOf(object map[string]any, p problem.Problem) string {
	fields, _ := schema.ValueAt(object, p.Segments()...).(map[string]any)
	var keys []string
	for key, value := range fields {
		if p.Value != "" && (key == p.Value || value == p.Value) {
			keys = append(keys, key)
		}
	}
	if len(keys) != 1 {
		return ""
	}
	return keys[0]
}

// certain reports whether a child whose template has errors has a problem that does not
// follow from them: a missing key elsewhere.
func certain(p problem.Problem, guessed [][]string) bool {
	at := p.Segments()
	return p.Required && !slices.ContainsFunc(guessed, func(path []string) bool { return schema.Overlap(path, at) })
}

// problemsOf returns the problems of one custom resource, and whether it has the child.
func (t *run) problemsOf(cr customResource, env environment) (problems []childProblem, wanted bool) {
	r := t.render(cr, env)
	return t.problemsIn(r), r.wanted
}

// failed returns the problem of an expression at a key of the child.
func failed(key string, err error) childProblem {
	t := childProblem{Problem: problem.Problem{Code: diag.BadExpression, Message: err.Error(), Final: true}, key: key}
	var limit *jq.LimitError
	if errors.As(err, &limit) {
		t.Hint, t.exceedsLimit = limit.Hint, true
	}
	return t
}

// remedy suggests a fix for a problem of a custom resource. It names the field, and returns
// it, if changing a single one removes the problem.
func (t *run) remedy(c *cause, cr map[string]any, p childProblem) (hint, single string) {
	switch {
	case c.opaque != nil:
		return t.describe(*c.opaque), ""
	case c.every && p.Hint != "":
		return p.Hint, ""
	}
	field, how := "the field", "required, default, minLength, pattern, maximum …"
	if t.samples.schema != nil {
		causes := t.samples.schema.Causes(cr, func(object map[string]any) bool {
			_, wanted, has := t.find(c.first(), t.samples.served(object))
			return has || !wanted
		})
		for name, value := range causes {
			if len(causes) > 1 {
				break
			}
			field, single, how = name, name, "minimum, maximum"
			if _, text := value.(string); text {
				how = "pattern, enum, minLength, maxLength"
				if p.Type == "Quantity" {
					how = "the type quantity, or a pattern"
				}
			}
			above := strings.Split(name, ".")
			above = above[:len(above)-1]
			if place, known := t.samples.schema.At(above...); known && len(above) > 1 && len(place.Fields()) == 0 {
				field, how = strings.Join(above, "."), "a pattern for its values, a rule about its keys"
			}
		}
	}
	return fmt.Sprintf("restrict %s in the schema (%s), or guard against the value in the expression", field, how), single
}

// describe suggests a schema for a value without one.
func (t *run) describe(p expression.Part) string {
	want, list := wantedBy(t.child, p), ""
	if want.Kind() == schema.Array {
		want, list = want.Item(), "[]"
	}
	field, is := p.Field()
	name := schema.Name(want)
	short := slices.ContainsFunc(t.d.Operator.Spec.API.Versions, func(v v1alpha1.Version) bool {
		return v.Name == t.d.WorkingVersion() && v.OpenAPIV3Schema == nil
	})
	if !is || !short || len(field) < 2 || coretypes.Schema(name) == nil {
		return "declare the fields of the value in the schema"
	}
	return fmt.Sprintf("declare %s in the schema: %s: %q", strings.Join(field, "."), field[len(field)-1], list+name)
}

// userFields returns the fields of a custom resource that users write.
func userFields(cr map[string]any) map[string]any {
	fields := map[string]any{}
	for key, value := range cr {
		if key != "apiVersion" && key != "kind" && key != "metadata" && key != "status" {
			fields[key] = value
		}
	}
	metadata := map[string]any{}
	for _, key := range []string{"labels", "annotations"} {
		if values, _ := schema.ValueAt(cr, "metadata", key).(map[string]any); len(values) > 0 {
			metadata[key] = values
		}
	}
	if len(metadata) > 0 {
		fields["metadata"] = metadata
	}
	return fields
}

// specOf returns the fields of a custom resource as YAML in one line.
func specOf(cr map[string]any) string {
	text, err := flow(userFields(cr))
	if err != nil {
		return "a value that YAML cannot hold"
	}
	const limit = 160
	if text := []rune(text); len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return text
}

// flow returns a value as YAML in one line.
func flow(value any) (string, error) {
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		return "", err
	}
	node.Style = yaml.FlowStyle
	data, err := yaml.Marshal(&node)
	return strings.TrimSpace(string(data)), err
}
