package argoperator

import (
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/expression"
	"github.com/argoperator/argoperator/pkg/internal/plan"
	"github.com/argoperator/argoperator/pkg/internal/resource"
)

// surroundings are what a template finds beside its custom resource: other
// children and related objects.
type surroundings struct {
	vars    expression.Vars
	note    string // what to say of them in a finding
	unknown bool   // the template reads what nobody can make up
}

// around are the surroundings in which a template is tried. Related objects may
// be there or not; of those that are there, and of other children, is known what
// every object has and what a schema or a template says.
func (t *trial) around(cr customResource) []surroundings {
	known := func(root string, value map[string]any) bool {
		return !slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return !p.HasReads(root, value) })
	}
	if t.samples.schema == nil && !known(".", cr.served) {
		return nil
	}
	children := map[string]any{}
	if slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return len(p.ReadsChildren()) > 0 }) {
		if children = t.otherChildren(cr); !known("$children", children) {
			return nil
		}
	}
	if !slices.ContainsFunc(t.programs(), (*expression.Program).UsesRelated) {
		return []surroundings{{vars: expression.Vars{Children: children}}}
	}
	there, none := t.related()
	return []surroundings{
		{vars: expression.Vars{Children: children, Related: there}, unknown: !known("$related", there)},
		{vars: expression.Vars{Children: children, Related: none}, note: ", and there is no related " + t.relatedNames()},
	}
}

// programs are those of the child that are tried.
func (t *trial) programs() []*expression.Program {
	return slices.DeleteFunc([]*expression.Program{t.child.When, t.child.ForEach, t.child.Object}, func(p *expression.Program) bool { return p == nil })
}

// wants tells whether a custom resource asks for the child, or fails to say.
func (t *trial) wants(cr customResource, among surroundings) bool {
	if among.unknown {
		return false
	}
	items, _, err := t.items(cr, among.vars)
	return err != nil || len(items) > 0
}

// items are those of forEach, as far as they are judged; one without it, none
// where the child is not wanted. Of an error, the key of the expression is told.
func (t *trial) items(cr customResource, vars expression.Vars) (items []any, key string, err error) {
	if t.child.When != nil {
		if yes, err := t.child.When.Run(cr.served, vars); err != nil || yes != true {
			return nil, "when", err
		}
	}
	if t.child.ForEach == nil {
		return []any{nil}, "", nil
	}
	list, err := t.child.ForEach.Run(cr.served, vars)
	items, _ = list.([]any)
	return items[:min(len(items), maxItems)], "forEach", err
}

// related are the related objects by entry, where there are some and where there
// are none.
func (t *trial) related() (there, none map[string]any) {
	there, none = map[string]any{}, map[string]any{}
	for _, r := range t.p.Related {
		object := liveObject(r.Kind, t.d.RelatedSchema(r.Name) != nil, func() (*resource.Schema, error) {
			return resource.FromCRD(t.d.RelatedCRDs[r.Name], r.Kind.Version)
		})
		there[r.Name], none[r.Name] = object, nil
		if r.Multiple {
			there[r.Name], none[r.Name] = []any{object}, []any{}
		}
	}
	return there, none
}

// relatedNames are the entries that the child reads.
func (t *trial) relatedNames() string {
	var names []string
	for _, r := range t.p.Related {
		if slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return p.ReadsRelated(r.Name) }) {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, " or ")
}

// liveObject is an object of a kind with what the API server adds.
func liveObject(kind plan.Kind, described bool, schema func() (*resource.Schema, error)) map[string]any {
	object := map[string]any{}
	if described {
		if s, err := schema(); err == nil {
			if full, err := s.Full(); err == nil {
				object = full
			}
		}
	}
	object["apiVersion"], object["kind"] = kind.APIVersion(), kind.Kind
	return alive(object, kind.Namespaced)
}

// otherChildren are the children that a custom resource has, as their templates
// make them. Of one that reads children itself nothing is known.
func (t *trial) otherChildren(cr customResource) map[string]any {
	out := map[string]any{}
	for _, c := range t.p.Children {
		if c.Object == nil || slices.ContainsFunc((&trial{child: c}).programs(), func(p *expression.Program) bool {
			return len(p.ReadsChildren()) > 0 || p.UsesRelated()
		}) {
			continue
		}
		other := &trial{d: t.d, p: t.p, child: c, samples: t.samples}
		objects := other.rendered(cr)
		switch {
		case c.ForEach != nil:
			out[c.Name] = objects
		case len(objects) > 0:
			out[c.Name] = objects[0]
		}
	}
	return out
}

// rendered are the live objects that the template makes for a custom resource.
func (t *trial) rendered(cr customResource) []any {
	out := []any{}
	if !t.wants(cr, surroundings{}) {
		return out
	}
	items := []any{nil}
	if t.child.ForEach != nil {
		list, _ := t.child.ForEach.Run(cr.served, expression.Vars{})
		items, _ = list.([]any)
		items = items[:min(len(items), maxItems)]
	}
	for i, item := range items {
		value, err := t.child.Object.Run(cr.served, expression.Vars{Item: item, Index: i})
		object, ok := value.(map[string]any)
		if err != nil || !ok {
			continue
		}
		metadata, _ := object["metadata"].(map[string]any)
		live := maps.Clone(object)
		delete(live, "metadata")
		live = alive(live, t.child.Kind.Namespaced)
		maps.Copy(live["metadata"].(map[string]any), metadata)
		out = append(out, live)
	}
	return out
}
