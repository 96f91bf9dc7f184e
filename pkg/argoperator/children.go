package argoperator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/check"
	"github.com/argoperator/argoperator/pkg/definition"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/expression"
	"github.com/argoperator/argoperator/pkg/plan"
	"github.com/argoperator/argoperator/pkg/resource"
)

// Samples of custom resources that each template is tried on.
const (
	randomSamples = 12
	maxSamples    = 40
)

// childFindings renders every template for sample custom resources and judges
// what comes out. What is wrong with every sample is wrong with the template;
// what is wrong with some is a value that the schema lets through. known is what
// was found before.
func childFindings(d *definition.Definition, p *plan.Plan, known diag.List) diag.List {
	if !slices.ContainsFunc(p.Children, func(c plan.Child) bool { return c.Object != nil }) {
		return nil
	}
	crs := samples(d, p)
	var findings diag.List
	for i, c := range p.Children {
		if c.Object != nil {
			findings = append(findings, tryTemplate(d, c, crs, "spec", "children", strconv.Itoa(i))...)
		}
	}
	return slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Severity == diag.Warning && said(known, f) })
}

// said tells whether something is known of a line already, which a sample only confirms.
func said(known diag.List, f diag.Finding) bool {
	return slices.ContainsFunc(known, func(k diag.Finding) bool { return k.File == f.File && k.Line == f.Line })
}

// samples are custom resources as the API server hands them out.
func samples(d *definition.Definition, p *plan.Plan) []map[string]any {
	k := p.API.Kind
	bare := map[string]any{"apiVersion": k.APIVersion(), "kind": k.Kind}
	schema, err := resource.New(resource.Kind{
		Group: k.Group, Version: k.Version, Kind: k.Kind, Namespaced: k.Namespaced, Status: k.Status,
	}, d.Schema(d.WorkingVersion()))
	if err != nil { // an existing kind has none; what is wrong with a schema is found elsewhere
		return []map[string]any{alive(bare, k.Namespaced)}
	}
	var list []map[string]any
	add := func(sample map[string]any, err error) {
		if err == nil && len(list) < maxSamples { // what has no sample cannot be tried
			schema.Default(sample)
			list = append(list, alive(sample, k.Namespaced))
		}
	}
	add(schema.Minimal())
	add(schema.Full())
	random := rand.New(rand.NewPCG(1, 2)) // the same samples every time
	for range randomSamples {
		add(schema.Random(random))
	}
	edges, _ := schema.Edges()
	for _, edge := range edges {
		add(edge.Object, nil)
	}
	return list
}

// alive gives an object what the API server adds.
func alive(object map[string]any, namespaced bool) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	metadata["name"] = "sample"
	metadata["uid"] = "00000000-0000-4000-8000-000000000000"
	metadata["generation"] = 1
	metadata["creationTimestamp"] = "2000-01-01T00:00:00Z"
	if namespaced {
		metadata["namespace"] = "default"
	}
	return object
}

// trouble is a problem at a key of the child's definition.
type trouble struct {
	check.Problem
	key string // template, when or forEach
}

// trial is what is wrong with the children of some samples.
type trial struct {
	problem trouble
	count   int
	example map[string]any
}

// alike says that a problem is the same but for the values in it.
func (t *trial) alike(p trouble) bool {
	return t.problem.key == p.key && t.problem.Path == p.Path && t.problem.Code == p.Code && (t.problem.Message == endless) == (p.Message == endless)
}

// endless is a problem even if only some values lead to it: in the Sensor it
// would hold up every custom resource.
const endless = "does not end in time: give the numbers and lists that it loops over a maximum in the schema"

func tryTemplate(d *definition.Definition, c plan.Child, crs []map[string]any, path ...string) diag.List {
	var trials []*trial
	tried, jury := 0, jury{d.ChildCRDs[c.Name], map[string][]check.Problem{}}
	for _, cr := range crs {
		problems, wanted := problemsOf(jury, c, cr)
		if wanted {
			tried++
		}
		for _, problem := range problems {
			i := slices.IndexFunc(trials, func(t *trial) bool { return t.alike(problem) })
			if i < 0 {
				trials = append(trials, &trial{problem: problem, example: cr})
				i = len(trials) - 1
			}
			trials[i].count++
		}
		if slices.ContainsFunc(problems, func(p trouble) bool { return p.Message == endless }) {
			break // it is an error already, and every other sample would take as long
		}
	}
	var findings diag.List
	for _, t := range trials {
		at := d.Position(slices.Concat(path, []string{t.problem.key}, segments(t.problem.Path))...)
		message := strings.TrimPrefix(t.problem.Path+": "+t.problem.Message, ": ")
		if t.count == tried || t.problem.Message == endless {
			findings.Add(at, t.problem.Code, fmt.Sprintf("%s: %s", c.Kind.Kind, message), t.problem.Hint)
			continue
		}
		findings.Warn(at, t.problem.Code, fmt.Sprintf("%s: %s, where the custom resource has %s", c.Kind.Kind, message, specOf(t.example)),
			"restrict the field in the schema (minLength, pattern, maximum …), or guard against the value in the expression")
	}
	return findings
}

// patience is how long a program may take for one sample. A Sensor has no such
// limit: there, a program that does not end holds up every custom resource.
const patience = 250 * time.Millisecond

// doubt is how much longer a program may take that seemed not to end: the
// machine may be busy with something else.
const doubt = 10

// maxItems of a forEach are judged; the others are alike.
const maxItems = 8

// jury says what is wrong with objects. Many samples make the same one.
type jury struct {
	crd   *apiextensionsv1.CustomResourceDefinition // nil for a built-in kind
	known map[string][]check.Problem                // by their JSON
}

func (j jury) problems(object map[string]any) []check.Problem {
	data, err := json.Marshal(object)
	if err != nil {
		return check.Child(object, j.crd) // which says why
	}
	id := string(data)
	if _, known := j.known[id]; !known {
		j.known[id] = check.Child(object, j.crd)
	}
	return j.known[id]
}

// problemsOf renders the child for one custom resource, if it is wanted at all.
func problemsOf(jury jury, c plan.Child, cr map[string]any) (problems []trouble, wanted bool) {
	vars := expression.Vars{Children: map[string]any{}}
	if readsChildren(c.When) || readsChildren(c.Object) {
		return nil, false // there is nothing live to read
	}
	if c.When != nil {
		if yes, err := bounded(c.When, cr, vars); err != nil {
			return failed("when", err), true
		} else if yes != true {
			return nil, false
		}
	}
	items := []any{nil}
	if c.Each != nil {
		list, err := bounded(c.Each, cr, vars)
		if err != nil {
			return failed("forEach", err), true
		}
		items, _ = list.([]any)
		items = items[:min(len(items), maxItems)]
	}
	for i, item := range items {
		vars.Item, vars.Index = item, i
		object, err := bounded(c.Object, cr, vars)
		if err != nil {
			problems = append(problems, failed("template", err)...)
		} else if object, ok := object.(map[string]any); ok {
			for _, p := range jury.problems(object) {
				problems = append(problems, trouble{p, "template"})
			}
		}
	}
	return problems, len(items) > 0
}

// bounded runs a program that may never end by itself.
func bounded(program *expression.Program, cr map[string]any, vars expression.Vars) (any, error) {
	for _, limit := range []time.Duration{patience, doubt * patience} {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		value, err := program.RunContext(ctx, cr, vars)
		over := ctx.Err() != nil
		cancel()
		if !over {
			return value, err
		}
	}
	return nil, errors.New(endless)
}

func readsChildren(program *expression.Program) bool {
	return program != nil && len(program.ReadsChildren()) > 0
}

// failed is the problem of an expression at a key of the child.
func failed(key string, err error) []trouble {
	return []trouble{{check.Problem{Code: diag.BadExpression, Message: err.Error()}, key}}
}

// specOf shows what distinguishes a custom resource, in short.
func specOf(cr map[string]any) string {
	fields := map[string]any{}
	for key, value := range cr {
		if key != "apiVersion" && key != "kind" && key != "metadata" && key != "status" {
			fields[key] = value
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return "a value that JSON cannot hold"
	}
	const limit = 160
	if text := []rune(string(data)); len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return string(data)
}
