package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Draft compiles the expressions of a definition that has errors, as far as it is
// understood what they depend on. The plan has the kind of the custom resource, and the
// children. A child whose Object cannot even be guessed has none.
func Draft(d *definition.Definition) (*Plan, diag.List) {
	p := &Plan{}
	p.API.Kind = draftKind(d)
	if e := d.Operator.Spec.API.Existing; e != nil && !d.Rejected("spec", "api", "existing") {
		p.API.SelectorJQ = selectorJQ(e)
	}
	c := newCompiler(d, p.API)
	c.draft, c.scope.Draft = true, true
	c.scope.Name = strings.TrimSpace(cmp.Or(p.API.Kind.Kind, "the custom resource") + " " + p.API.Kind.Version)
	c.scope.OpenChildren, c.scope.OpenRelated = !d.ChildrenKnown(), !d.RelatedKnown()
	if !d.SchemaKnown() {
		c.scope.Input = nil
	}
	c.define()
	p.Children, p.Patches, p.Related, p.Schedules = c.children(), c.patches(), c.related(), c.schedules()
	c.status()
	for i := range p.Children {
		switch child := &p.Children[i]; {
		case !d.SchemaKnown():
			child.Object = nil
		case child.Guessed == nil && readsDoubtful(d, *child):
			child.Guessed = [][]string{}
		}
	}
	return p, c.findings
}

// draftKind returns what is known of the custom resource's kind.
func draftKind(d *definition.Definition) Kind {
	a := d.Operator.Spec.API
	switch {
	case a.Existing != nil:
		return Kind{
			Group: a.Existing.Group, Version: a.Existing.Version, Kind: a.Existing.Kind, Plural: a.Existing.Plural,
			Namespaced: a.Existing.Scope != "Cluster", StatusSubresource: a.Existing.Status,
		}
	case d.CRD != nil:
		kind, _, _ := givenCRD(d)
		return kind
	}
	return Kind{
		Group:             a.Group,
		Version:           d.WorkingVersion(),
		Kind:              a.Kind,
		Plural:            a.Plural,
		Namespaced:        a.Scope != "Cluster",
		StatusSubresource: true,
	}
}

// sound compiles a child or a patch. In a draft, one with keys that are not understood has
// no warnings, which may follow from that.
func (c *compiler) sound(path []string, compile func() Child) Child {
	before := len(c.findings)
	child := compile()
	if !c.draft {
		return child
	}
	found := c.findings[before:]
	if c.d.Doubtful(path...) {
		c.findings = append(c.findings[:before], found.Only(diag.Error)...)
	}
	if child.Guessed == nil && (c.d.Doubtful(path...) || found.HasErrors()) {
		child.Guessed = [][]string{}
	}
	return child
}

// guess compiles a template that has errors, with the fixes that are known, and without the
// other values that have errors. It returns the paths of both.
func (c *compiler) guess(
	template map[string]any,
	problems []expression.Problem,
	scope expression.Scope,
	want schema.Type,
) (*expression.Program, [][]string) {
	mended, _ := cloned(template).(map[string]any)
	guessed := [][]string{}
	for _, p := range slices.Backward(problems) { // the last of a value first, as a fix moves what follows
		if p.Warning {
			continue
		}
		guessed = append(guessed, p.Path)
		edit(mended, p.Path, func(value any) any {
			text, ok := value.(string)
			if !ok || p.Fix == "" || p.FixEnd > len(text) {
				return nil
			}
			return text[:p.FixAt] + p.Fix + text[p.FixEnd:]
		})
	}
	program, _ := expression.Template(mended, scope, want)
	return program, guessed
}

// cloned copies maps and lists.
func cloned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, v := range value {
			out[key] = cloned(v)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = cloned(v)
		}
		return out
	}
	return value
}

// edit changes the value at a path; nil removes a key.
func edit(value any, path []string, change func(any) any) {
	switch value := value.(type) {
	case map[string]any:
		if len(path) > 1 {
			edit(value[path[0]], path[1:], change)
		} else if len(path) == 1 {
			if value[path[0]] = change(value[path[0]]); value[path[0]] == nil {
				delete(value, path[0])
			}
		}
	case []any:
		i, err := strconv.Atoi(append(path, "")[0])
		switch {
		case err != nil || i >= len(value):
		case len(path) > 1:
			edit(value[i], path[1:], change)
		default:
			value[i] = change(value[i])
		}
	}
}

// named reports whether the name of a template's object has an expression.
func named(template map[string]any) bool {
	metadata, _ := template["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return schema.IsComputed(name)
}

// readsDoubtful reports whether a child reads a field whose type has an error.
func readsDoubtful(d *definition.Definition, child Child) bool {
	return slices.ContainsFunc([]*expression.Program{child.Object, child.When, child.ForEach}, func(p *expression.Program) bool {
		return p != nil && slices.ContainsFunc(p.Reads(), d.DoubtfulField)
	})
}
