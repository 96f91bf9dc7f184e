package childcheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

const (
	// fewItems and manyItems are the sizes whose costs are compared.
	fewItems, manyItems = 100, 1000
	// largestObject is the size in bytes of the largest custom resource that etcd stores.
	largestObject = 1.5e6
	// stepTime is the time of a step of jq.
	stepTime = 50 * time.Nanosecond
)

// growth reports expressions whose cost grows faster than the custom resource: a single one
// may keep a Sensor busy, which has no limits, and with it the events of all others.
func (f *family) growth() diag.List {
	s := f.samples
	if s.schema == nil || len(s.plausible) == 0 {
		return nil
	}
	var findings diag.List
	largest := sync.OnceValue(func() customResource { return s.served(s.schema.Largest(s.full().written)) })
	for i, t := range f.runs {
		if t == nil || slices.ContainsFunc(t.groups, func(g *group) bool { return g.problem.exceedsLimit }) {
			continue
		}
		at := []string{"spec", "children", strconv.Itoa(i)}
		c := t.child
		w := newWeighing(s, c.ForEach, []weighed{
			{key: "when", program: c.When},
			{key: "forEach", program: c.ForEach},
			{key: "template", program: c.Object},
		})
		if w == nil {
			continue
		}
		if slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return len(p.ReadsChildren()) > 0 }) {
			w.vars.Children = t.otherChildren(s.full())
		}
		if exceeding := w.exceeding(f.d, largest(), at); exceeding != nil {
			findings = append(findings, exceeding...)
		} else if g := w.grows(s); g != nil {
			findings = append(findings, g.finding(t.position(at, w.costliest(g.large))))
		}
	}
	for _, field := range f.p.Status.Fields {
		w := newWeighing(s, nil, []weighed{{key: field.Name, program: field.Value}})
		if w == nil {
			continue
		}
		if g := w.grows(s); g != nil {
			findings = append(findings, g.finding(f.d.Position("spec", "status", field.Name)))
		}
	}
	return findings
}

// costlyRules reports validation rules that take so long that the search for samples gave up.
func costlyRules(d *definition.Definition, s *samples) diag.List {
	if s.schema == nil || !s.schema.Costly() {
		return nil
	}
	var findings diag.List
	findings.Warn(
		d.Position("spec", "api", "versions"),
		diag.ExpressionCost,
		"the validation rules take so long that the children were not tried with custom resources that pass them",
		"nest fewer loops in the rules, or give the lists that they loop over a limit",
	)
	return findings
}

// weighing are programs that are evaluated together.
type weighing struct {
	forEach  *expression.Program
	programs []weighed
	reads    [][]string
	vars     expression.Vars
}

// weighed is a program at a key of the definition.
type weighed struct {
	key     string
	program *expression.Program
	scale   *expression.Weighed // nil if the program costs little in any case
}

// newWeighing returns nil for programs that read nothing without a limit.
func newWeighing(s *samples, forEach *expression.Program, programs []weighed) *weighing {
	w := &weighing{forEach: forEach}
	for _, one := range programs {
		if one.program != nil {
			w.reads = append(w.reads, one.program.Reads()...)
			w.programs = append(w.programs, one)
		}
	}
	if !s.schema.Unlimited(s.full().written, w.reading) {
		return nil
	}
	loops := 2
	if forEach != nil {
		loops = 1 // for each item
	}
	for i, one := range w.programs {
		w.programs[i].scale = one.program.Weighed(loops)
	}
	return w
}

// exceeding reports an expression that exceeds a limit for a custom resource with everything at its limit.
func (w *weighing) exceeding(d *definition.Definition, largest customResource, at []string) diag.List {
	vars, _ := w.first(largest.served)
	in := input{largest.served, vars, largest.written}
	for _, one := range w.programs {
		path := slices.Concat(at, []string{one.key})
		if findings := cost(d, one.program, []input{in}, path...); findings != nil {
			if failing, _, found := one.program.Failing(in.value, in.vars); found && one.key == "template" {
				findings[0].Position = d.Position(append(path, failing...)...)
			}
			return findings
		}
	}
	return nil
}

// first returns the variables of the first object, and how many objects there are.
func (w *weighing) first(cr map[string]any) (vars expression.Vars, objects int) {
	vars = w.vars
	if w.forEach == nil {
		return vars, 1
	}
	value, _ := w.forEach.Run(cr, vars)
	items, _ := value.([]any)
	if len(items) > 0 {
		vars.Item, vars.Index = items[0], 0
	}
	return vars, len(items)
}

// costs returns the cost of each program for a custom resource.
func (w *weighing) costs(cr map[string]any) []int {
	vars, objects := w.first(cr)
	out := make([]int, len(w.programs))
	for i, one := range w.programs {
		if one.scale == nil {
			continue
		}
		out[i] = one.scale.Cost(cr, vars)
		if one.key == "template" {
			out[i] *= objects
		}
	}
	return out
}

func (w *weighing) cost(cr map[string]any) (sum int) {
	for _, cost := range w.costs(cr) {
		sum += cost
	}
	return sum
}

// costliest is the place of the expression that costs most.
func (w *weighing) costliest(cr map[string]any) childProblem {
	costs := w.costs(cr)
	one := w.programs[slices.Index(costs, slices.Max(costs))]
	if one.key != "template" {
		return childProblem{key: one.key}
	}
	vars, _ := w.first(cr)
	path, offset := one.program.Costliest(cr, vars)
	return childProblem{key: one.key, at: path, offset: offset}
}

// grown is a growth that is too fast.
type grown struct {
	large map[string]any // the custom resource with manyItems
	by    []string       // the fields
	takes time.Duration  // for the largest custom resource
}

// grows returns what makes the cost grow too fast: fields of the custom resource, or fields in
// its lists.
func (w *weighing) grows(s *samples) *grown {
	if !slices.ContainsFunc(w.programs, func(one weighed) bool { return one.scale != nil }) {
		return nil
	}
	for _, outer := range []bool{true, false} {
		among := func(place string) bool { return resource.OuterPlace(place) == outer && w.reading(place) }
		large, takes, open := w.takes(s, among)
		if takes == 0 {
			continue
		}
		by := slices.DeleteFunc(slices.Clone(open), func(place string) bool {
			_, still, _ := w.takes(s, func(other string) bool { return among(other) && other != place })
			return still > 0
		})
		if len(by) == 0 {
			by = open
		}
		return &grown{large, by, takes}
	}
	return nil
}

// takes returns how long the largest custom resource takes in which these places grow; 0 for
// less than the limit, or if the time does not grow faster than the size.
func (w *weighing) takes(s *samples, grows func(place string) bool) (large map[string]any, takes time.Duration, open []string) {
	at := func(n int) (map[string]any, []string) {
		object, open := s.schema.Grown(s.full().written, n, grows)
		return s.served(object).served, open
	}
	large, open = at(manyItems)
	if len(open) == 0 {
		return nil, 0, nil
	}
	small, _ := at(fewItems)
	few, many := float64(w.cost(small)), float64(w.cost(large))
	square := (many/manyItems - few/fewItems) / (manyItems - fewItems)
	data, err := json.Marshal(large)
	if err != nil {
		return nil, 0, nil
	}
	size := manyItems * largestObject / float64(len(data))
	if square*size*size < jq.MaxSteps || square*manyItems*manyItems < many/20 {
		return nil, 0, nil
	}
	seconds := (square*size*size + few/fewItems*size) * stepTime.Seconds()
	return large, time.Duration(min(seconds, (100*24*time.Hour).Seconds()) * float64(time.Second)), open
}

// reading reports whether the programs read a place, or a part of it.
func (w *weighing) reading(place string) bool {
	steps := strings.Split(place, ".")
	return slices.ContainsFunc(w.reads, func(path []string) bool {
		for i := range min(len(steps), len(path)) {
			name, _, _ := strings.Cut(steps[i], "[")
			if name != path[i] {
				return false
			}
			if name != steps[i] {
				return true // below an item
			}
		}
		return true
	})
}

func (g *grown) finding(at diag.Position) diag.Finding {
	var names []string
	for _, place := range g.by {
		if name := "." + strings.ReplaceAll(place, "[0]", "[]"); !strings.ContainsAny(place, "123456789") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	of := "the square of the size of " + strings.Join(names, "")
	if len(names) > 1 {
		of = "the product of the sizes of " + strings.Join(names, " and ")
	}
	var list diag.List
	list.Warn(
		at,
		diag.ExpressionCost,
		fmt.Sprintf("its steps grow with %s: for the largest custom resource they take about %s", of, rough(g.takes)),
		"give the fields a limit in the schema: maxItems, maxProperties, maxLength, maximum",
	)
	return list[0]
}

// rough returns a duration in words.
func rough(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d seconds", max(1, int(d.Seconds())))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return "days"
}
