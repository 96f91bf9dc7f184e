package childcheck

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// environment is what a template reads apart from its custom resource: other
// children and related objects.
type environment struct {
	vars    expression.Vars
	note    string // appended to the message of a finding
	unknown bool   // the template reads values that cannot be derived
}

// environments returns the environments to check a template in: with and without
// related objects. Objects contain the fields that every object has and those from
// schemas and templates.
func (t *run) environments(cr customResource) []environment {
	known := func(root string, value map[string]any) bool {
		return !slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return !p.HasReads(root, value) })
	}
	if t.samples.schema == nil && t.readsUnknown(cr) {
		return nil
	}
	children := map[string]any{}
	if slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return len(p.ReadsChildren()) > 0 }) {
		children = t.otherChildren(cr)
	}
	if t.assuming {
		return []environment{{vars: t.assumed(children)}}
	}
	if !slices.ContainsFunc(t.programs(), (*expression.Program).UsesRelated) {
		return []environment{{vars: expression.Vars{Children: children}}}
	}
	there, none := t.related()
	without := ""
	if names := t.relatedNames(); names != "" {
		without = ", without a related " + names
	}
	return []environment{
		{vars: expression.Vars{Children: children, Related: there}, unknown: !known("$related", there)},
		{vars: expression.Vars{Children: children, Related: none}, note: without},
	}
}

// readsUnknown reports whether the child reads a field that a sample lacks, and objects may have. What metadata lacks, some
// objects lack.
func (t *run) readsUnknown(cr customResource) bool {
	return slices.ContainsFunc(t.programs(), func(p *expression.Program) bool {
		return slices.ContainsFunc(p.Reads(), func(path []string) bool {
			return (len(path) == 0 || path[0] != "metadata") && schema.ValueAt(cr.served, path...) == nil
		})
	})
}

// programs returns the child's expressions to check.
func (t *run) programs() []*expression.Program { return programsOf(t.child) }

func programsOf(c plan.Child) []*expression.Program {
	return slices.DeleteFunc([]*expression.Program{c.When, c.ForEach, c.Object}, func(p *expression.Program) bool { return p == nil })
}

// wanted reports whether a custom resource has the child, or whether evaluating
// that fails.
func (t *run) wanted(cr customResource, env environment) bool {
	if env.unknown {
		return false
	}
	items, _, err := t.items(cr, env.vars)
	return err != nil || len(items) > 0
}

// items returns the first items of forEach, one nil item without forEach, and none
// if the child is not wanted. It returns the key of an expression that fails.
func (t *run) items(cr customResource, vars expression.Vars) (items []any, key string, err error) {
	if t.child.When != nil {
		if yes, err := t.evaluate(t.child.When, cr, vars); err != nil || yes != true {
			return nil, "when", err
		}
	}
	if t.child.ForEach == nil {
		return []any{nil}, "", nil
	}
	if t.child.ForEach.Waits(cr.served, vars) {
		return nil, "", nil
	}
	list, err := t.evaluate(t.child.ForEach, cr, vars)
	items, _ = list.([]any)
	return items[:min(len(items), maxItems)], "forEach", err
}

// related returns the related objects by entry: with one object each, and with
// none. Of schedules, another one is the last to be due.
func (t *run) related() (there, none map[string]any) {
	if t.samples.there == nil { // they are the same for each child and each custom resource
		t.samples.there, t.samples.none = t.makeRelated()
	}
	return t.samples.there, t.samples.none
}

func (t *run) makeRelated() (there, none map[string]any) {
	there, none = map[string]any{}, map[string]any{}
	for _, r := range t.p.Related {
		object := t.samples.place.object(r.Kind, t.d.RelatedSchema(r.Name) != nil, func() (*resource.Schema, error) {
			return resource.FromCRD(t.d.RelatedCRDs[r.Name], r.Kind.Version)
		})
		there[r.Name], none[r.Name] = object, nil
		if r.Multiple {
			there[r.Name], none[r.Name] = []any{object}, []any{}
		}
	}
	for i, s := range t.p.Schedules {
		hours := time.Duration(i) * time.Hour
		there[s.Name], none[s.Name] = scheduled(hours), scheduled(-hours)
		if !s.Constant {
			none[s.Name] = nil
		}
	}
	return there, none
}

// scheduled returns the related value of a schedule whose last time is so long after a date.
func scheduled(after time.Duration) map[string]any {
	last := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC).Add(after)
	return map[string]any{plan.LastScheduleTime: last.Format(time.RFC3339)}
}

// relatedNames lists the related entries that the child reads and that there may be none of.
func (t *run) relatedNames() string {
	var names []string
	for _, r := range t.p.Related {
		if slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return p.ReadsRelated(r.Name) }) {
			names = append(names, r.Name)
		}
	}
	for _, s := range t.p.Schedules {
		if !s.Constant && slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return p.ReadsRelated(s.Name) }) {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, " or ")
}

// object returns an object of a kind with the metadata that the API server sets.
func (p place) object(kind plan.Kind, described bool, schemaOf func() (*resource.Schema, error)) map[string]any {
	object := required(kind)
	if described {
		if s, err := schemaOf(); err == nil {
			if full, err := s.Full(); err == nil {
				object = full
			}
		}
	}
	object["apiVersion"], object["kind"] = kind.APIVersion(), kind.Kind
	return p.served(object, kind.Namespaced)
}

// required returns an object of a built-in kind with the fields that every object has.
func required(kind plan.Kind) map[string]any {
	out := map[string]any{}
	is, _ := schema.Builtin(kind.APIVersion(), kind.Kind)
	for _, name := range is.Fields() {
		if name == "metadata" || name == "status" {
			continue
		}
		field, _ := is.Field(name)
		if example := coreExample(field); example != nil {
			out[name] = example
		}
	}
	return out
}

// otherChildren returns the other children of a custom resource as their templates
// render them. It skips those whose own templates read children or related objects.
func (t *run) otherChildren(cr customResource) map[string]any {
	out := map[string]any{}
	for _, c := range t.p.Children {
		if c.Object == nil || slices.ContainsFunc((&run{child: c}).programs(), func(p *expression.Program) bool {
			return len(p.ReadsChildren()) > 0 || p.UsesRelated()
		}) {
			continue
		}
		other := &run{d: t.d, p: t.p, child: c, samples: t.samples}
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

// rendered returns the objects of the template for a custom resource, as the API
// server would return them.
func (t *run) rendered(cr customResource) []any {
	out := []any{}
	if !t.wanted(cr, environment{}) {
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
		out = append(out, t.stored(t.child.Complete(object)))
	}
	return out
}

// stored returns an object of the child with the metadata that the API server sets.
func (t *run) stored(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	live := maps.Clone(object)
	delete(live, "metadata")
	live = t.samples.place.served(live, t.child.Kind.Namespaced)
	maps.Copy(live["metadata"].(map[string]any), metadata)
	return live
}
