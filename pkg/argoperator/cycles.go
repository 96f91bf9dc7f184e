package argoperator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/verify/childcheck"
)

// making is a child by which an operator makes custom resources of a kind.
type making struct {
	operator string
	from, to string // group/kind
	kind     string // of to
	at       diag.Position

	conditional bool
	definition  diag.Position // of the operator
	child       int           // its number
	*made                     // nil: not read again
}

// made is what a child is made of, and from.
type made struct {
	object       *expression.Program
	when, items  *expression.Program // nil: none
	api          plan.Kind
	schemaOfFrom *resource.Schema // nil: the fields are unknown
}

// cycles collects which operators make custom resources of others. They need little memory: the
// few definitions whose conditions decide about a loop are read again.
type cycles []*making

func (c *cycles) add(o Operator) {
	api, d := o.plan.API.Kind, o.definition
	for i, child := range o.plan.Children {
		*c = append(*c, &making{
			operator: o.Name, from: api.Group + "/" + api.Kind, to: child.Kind.Group + "/" + child.Kind.Kind, kind: child.Kind.Kind,
			at: d.Position("spec", "children", strconv.Itoa(i)), conditional: child.When != nil,
			definition: d.Position(), child: i,
		})
	}
}

// read reads the definition of a child again.
func (m *making) read(sources []Source) *made {
	for _, s := range sources {
		if s.Name != m.definition.File {
			continue
		}
		for _, d := range parser(sources)(s).definitions {
			if d.Position() != m.definition {
				continue
			}
			p, _ := plan.New(d)
			if p == nil || m.child >= len(p.Children) {
				continue
			}
			child := p.Children[m.child]
			return &made{child.Object, child.When, child.ForEach, p.API.Kind, childcheck.Schema(d, p)}
		}
	}
	return &made{}
}

// findings reports operators of which each makes custom resources of the next, and the last of
// the first.
func (c cycles) findings(sources []Source) diag.List {
	always := slices.DeleteFunc(slices.Clone(c), func(m *making) bool { return m.conditional })
	var findings diag.List
	reported := map[*making]bool{}
	for _, first := range c {
		loop := always.from(first)
		if first.conditional || loop == nil {
			if loop = c.from(first); loop == nil || !goesOn(loop, sources) {
				continue
			}
		}
		if slices.ContainsFunc(loop, func(m *making) bool { return reported[m] }) {
			continue
		}
		var steps []string
		held := ""
		for _, m := range loop {
			reported[m] = true
			steps = append(steps, "operator "+m.operator+" makes "+article.With(m.kind))
			if m.conditional {
				held = fmt.Sprintf("; the conditions were true %d times in a row", rounds)
			}
		}
		findings.Warn(
			first.at,
			diag.EndlessChildren,
			strings.Join(steps, ", and for it ")+", and so on: one custom resource makes others without an end"+held,
			"give one of these children a condition that becomes false, such as when: .spec.depth < 3",
		)
	}
	return findings
}

// from returns the shortest loop that begins with a child; nil if there is none. An operator
// does not act on custom resources that it has made itself, so each of them is of another
// operator than the one before.
func (c cycles) from(first *making) []*making {
	paths, seen := [][]*making{{first}}, map[*making]bool{}
	for len(paths) > 0 {
		path := paths[0]
		paths = paths[1:]
		last := path[len(path)-1]
		if last.to == first.from && last.operator != first.operator {
			return path
		}
		for _, next := range c {
			if next.from == last.to && next.operator != last.operator && !seen[next] {
				seen[next] = true
				paths = append(paths, append(slices.Clone(path), next))
			}
		}
	}
	return nil
}

// rounds is how often the conditions of a loop are tried: one that counts ends before.
const rounds = 300

// goesOn reports whether the conditions of a loop stay true for a sample object, wherever the
// loop begins.
func goesOn(loop []*making, sources []Source) bool {
	for _, m := range loop {
		if m.made == nil {
			m.made = m.read(sources)
		}
	}
	for start := range loop {
		for _, sample := range samples(loop, start) {
			for i := start; sample != nil; i++ {
				if i == start+rounds*len(loop) {
					return true
				}
				sample = loop[i%len(loop)].of(sample)
			}
		}
	}
	return false
}

// samples returns objects that one of a loop may be made for: of an unknown kind one without
// fields, and what the one before makes for such an object.
func samples(loop []*making, start int) []map[string]any {
	first, before := loop[start], loop[(start+len(loop)-1)%len(loop)]
	if first.schemaOfFrom == nil {
		bare := func() map[string]any { return map[string]any{"metadata": map[string]any{}} }
		return []map[string]any{bare(), before.make(bare())}
	}
	var out []map[string]any
	for _, sample := range []func() (map[string]any, error){first.schemaOfFrom.Start, first.schemaOfFrom.Full} {
		if object, err := sample(); err == nil {
			out = append(out, object)
		}
	}
	return out
}

// of returns what the operator makes for an object; nil: nothing, or it cannot be computed from
// that alone. With forEach it is the first one.
func (m *making) of(object map[string]any) map[string]any {
	if m.when != nil {
		if wanted, err := m.when.Run(m.completed(object), expression.Vars{}); err != nil || wanted != true {
			return nil
		}
	}
	return m.make(object)
}

// make is of without the condition.
func (m *making) make(of map[string]any) map[string]any {
	if m.object == nil {
		return nil
	}
	of = m.completed(of)
	var vars expression.Vars
	if m.items != nil {
		list, err := m.items.Run(of, expression.Vars{})
		items, _ := list.([]any)
		if err != nil || len(items) == 0 {
			return nil
		}
		vars.Item, vars.Index = items[0], 0
	}
	made, err := m.object.Run(of, vars)
	if err != nil {
		return nil
	}
	data, err := json.Marshal(made)
	if err != nil {
		return nil
	}
	var object map[string]any // with numbers as the API server has them
	if err := json.Unmarshal(data, &object); err != nil {
		return nil
	}
	return object
}

// completed returns an object as the API server does.
func (m *making) completed(of map[string]any) map[string]any {
	if m.schemaOfFrom != nil {
		of = m.schemaOfFrom.Defaulted(of)
	}
	metadata, _ := of["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"], metadata["uid"], metadata["generation"] = "sample", "00000000-0000-4000-8000-000000000000", int64(1)
	if m.api.Namespaced && metadata["namespace"] == nil {
		metadata["namespace"] = "default"
	}
	of["metadata"] = metadata
	return of
}
