package childcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// ambiguous warns of a child whose name is the same for two custom resources of two
// namespaces: it joins the namespace with another value, and both can contain what is
// between them. Whoever is first has the object.
func (f *family) ambiguous(child int) diag.List {
	var findings diag.List
	t := f.runs[child]
	if c := t.child; !f.p.API.Kind.Namespaced || c.ObjectName == nil || c.Kind.Namespaced && c.SameNamespace {
		return nil
	}
	if a, b, name, found := t.sharedName(); found {
		findings.Warn(
			f.at(child, "metadata", "name"),
			diag.Uniqueness,
			fmt.Sprintf(
				"metadata.name does not tell the namespace from the rest: %s and %s of two namespaces would share %s", a, b, name,
			),
			plan.JoinHint,
		)
	}
	return findings
}

// sharedName returns two custom resources of two namespaces that have an object of the
// child in common, and its name.
func (t *run) sharedName() (a, b, name string, found bool) {
	base := t.samples.full()
	for _, field := range t.joined() {
		for _, between := range t.separators(base, field) {
			join := func(left, right string) [2]string { return [2]string{left, right} }
			for _, pair := range [][2][2]string{
				{join("a", "b"+between+"c"), join("a"+between+"b", "c")}, // the namespace and the field
				{join("b"+between+"c", "a"), join("c", "a"+between+"b")}, // the field and the namespace
			} {
				if id, shared := t.shares(base, field, pair[0], pair[1]); shared {
					return described(field, pair[0]), described(field, pair[1]), id, true
				}
			}
		}
	}
	return "", "", "", false
}

// shares returns the object that two custom resources have in common, which differ in their
// namespace and in a field. Each of the two must make a difference.
func (t *run) shares(base customResource, field []string, a, b [2]string) (id string, shared bool) {
	of := func(namespace, value string) []string { return t.identities(t.with(base, namespace, field, value)) }
	one, other := of(a[0], a[1]), of(b[0], b[1])
	i := slices.IndexFunc(one, func(id string) bool { return slices.Contains(other, id) })
	if i < 0 || slices.Contains(of(b[0], a[1]), one[i]) || slices.Contains(of(a[0], b[1]), one[i]) {
		return "", false
	}
	return one[i], true
}

// described names a custom resource by its namespace and a field.
func described(field []string, values [2]string) string {
	if slices.Equal(field, []string{"metadata", "name"}) {
		return values[0] + "/" + values[1]
	}
	return fmt.Sprintf("one in %s with .%s: %s", values[0], strings.Join(field, "."), values[1])
}

// joined returns the fields of the custom resource from which the name is computed.
func (t *run) joined() [][]string {
	var out [][]string
	for _, p := range t.naming() {
		for _, path := range p.Reads() {
			server := len(path) > 1 && path[0] == "metadata" && path[1] != "name"
			if len(path) > 1 && !server && !slices.ContainsFunc(out, func(o []string) bool { return slices.Equal(o, path) }) {
				out = append(out, path)
			}
		}
	}
	return out
}

// naming returns the programs that decide which objects the child is.
func (t *run) naming() []*expression.Program {
	all := []*expression.Program{t.child.ObjectName, t.child.Namespace, t.child.ForEach}
	return slices.DeleteFunc(all, func(p *expression.Program) bool { return p == nil })
}

// inNamespace matches what the name of a namespace can contain.
var inNamespace = regexp.MustCompile(`^[-a-z0-9]*$`)

// separators returns the texts between the namespace and a field in the names of the objects.
func (t *run) separators(base customResource, field []string) []string {
	const namespace, value = "qx", "zj" // the letters are rare in names
	var out []string
	for _, id := range t.identities(t.with(base, namespace, field, value)) {
		for _, pair := range [][2]string{{namespace, value}, {value, namespace}} {
			_, rest, _ := strings.Cut(id, pair[0])
			between, _, found := strings.Cut(rest, pair[1])
			if found && inNamespace.MatchString(between) && !slices.Contains(out, between) {
				out = append(out, between)
			}
		}
	}
	return out
}

// with returns a custom resource with another namespace and another value of a field; nil if
// the schema does not allow it.
func (t *run) with(base customResource, namespace string, field []string, value string) map[string]any {
	var other any = value
	switch schema.ValueAt(base.served, field...).(type) {
	case string, nil:
	case []any:
		other = []any{value}
	default:
		return nil
	}
	changed, can := replaced(base.served, field, other)
	changed, _ = replaced(changed, []string{"metadata", "namespace"}, namespace)
	object, _ := changed.(map[string]any)
	if !can || t.samples.schema != nil && len(t.samples.schema.Validate(object, nil)) > 0 {
		return nil
	}
	return object
}

// identities returns the namespaces and names of the objects of a custom resource, as far
// as they depend on nothing else.
func (t *run) identities(object map[string]any) []string {
	if object == nil {
		return nil
	}
	cr := customResource{served: object}
	items := []any{nil}
	if t.child.ForEach != nil {
		list, err := t.evaluate(t.child.ForEach, cr, expression.Vars{})
		if err != nil {
			return nil
		}
		items, _ = list.([]any)
		items = items[:min(len(items), maxItems)]
	}
	var out []string
	for i, item := range items {
		vars := expression.Vars{Item: item, Index: i}
		name, err := t.evaluate(t.child.ObjectName, cr, vars)
		text, ok := name.(string)
		if err != nil || !ok {
			continue
		}
		if t.child.Kind.Namespaced && t.child.Namespace != nil {
			namespace, err := t.evaluate(t.child.Namespace, cr, vars)
			if err != nil {
				continue
			}
			text = fmt.Sprint(namespace) + "/" + text
		}
		out = append(out, t.child.Kind.Kind+" "+text)
	}
	return out
}
