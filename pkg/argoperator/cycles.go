package argoperator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// making is a child by which an operator makes custom resources of a kind.
type making struct {
	operator string
	from, to string // group/kind
	kind     string // of to
	at       diag.Position

	conditional  bool
	object       *expression.Program
	when, items  *expression.Program // nil: none
	api          plan.Kind
	schemaOfFrom *resource.Schema // nil: the fields are unknown
}

// cycles collects which operators make custom resources of others.
type cycles []*making

func (c *cycles) add(o Operator) {
	api, d := o.plan.API.Kind, o.definition
	for i, child := range o.plan.Children {
		m := &making{
			operator: o.Name, from: api.Group + "/" + api.Kind, to: child.Kind.Group + "/" + child.Kind.Kind, kind: child.Kind.Kind,
			at: d.Position("spec", "children", strconv.Itoa(i)), conditional: child.When != nil,
		}
		if child.Kind.Custom() { // there are few, so they need little memory
			m.object, m.when, m.items, m.api = child.Object, child.When, child.ForEach, api
			m.schemaOfFrom, _ = resource.New(resource.Kind{ // one with errors is reported elsewhere
				Group: api.Group, Version: api.Version, Kind: api.Kind, Namespaced: api.Namespaced, Status: api.StatusSubresource,
			}, d.Schema(d.WorkingVersion()))
		}
		*c = append(*c, m)
	}
}

// findings reports operators of which each makes custom resources of the next, and the last of
// the first.
func (c cycles) findings() diag.List {
	always := slices.DeleteFunc(slices.Clone(c), func(m *making) bool { return m.conditional })
	var findings diag.List
	reported := map[*making]bool{}
	for _, first := range c {
		loop := always.from(first)
		if first.conditional || loop == nil {
			if loop = c.from(first); loop == nil || !goesOn(loop) {
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
			steps = append(steps, "operator "+m.operator+" makes a "+m.kind)
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

// goesOn reports whether the conditions of a loop stay true for a sample custom resource.
func goesOn(loop []*making) bool {
	for _, sample := range loop[0].samples() {
		for i := 0; sample != nil; i++ {
			if i == rounds*len(loop) {
				return true
			}
			sample = loop[i%len(loop)].child(sample)
		}
	}
	return false
}

// samples returns custom resources that the child is made for.
func (m *making) samples() []map[string]any {
	if m.schemaOfFrom == nil {
		return []map[string]any{{"metadata": map[string]any{}}}
	}
	var out []map[string]any
	for _, sample := range []func() (map[string]any, error){m.schemaOfFrom.Start, m.schemaOfFrom.Full} {
		if object, err := sample(); err == nil {
			out = append(out, object)
		}
	}
	return out
}

// child returns what the operator makes for a custom resource; nil: nothing, or it cannot be
// computed from that alone. With forEach it is the first one.
func (m *making) child(of map[string]any) map[string]any {
	if m.object == nil {
		return nil
	}
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
	if m.when != nil {
		if wanted, err := m.when.Run(of, expression.Vars{}); err != nil || wanted != true {
			return nil
		}
	}
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
	object, _ := made.(map[string]any)
	if err != nil {
		return nil
	}
	return object
}
