package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// immutable warns of immutable fields of a child that are computed from fields that can
// change: the API server would reject the change, or it would replace the child, and delete
// its data. If the name is computed from them too, a change creates another object instead.
func (c *compiler) immutable(child Child, in v1alpha1.Child, scope expression.Scope, children []Child, path []string) {
	lost := replacedData(child.Kind, in.Template)
	if child.Object == nil || child.ObjectName == nil || child.Update == Never || child.Update == Recreate && lost == "" {
		return
	}
	names := []*expression.Program{child.ObjectName.Shown()}
	if child.Namespace != nil {
		names = append(names, child.Namespace.Shown())
	}
	changes := &changes{c: c, children: children, optional: scope.Optional}
	for _, n := range child.needs {
		changes.awaited = append(append(changes.awaited, n.Children...), relatedIn(n.Text)...)
	}
	for _, f := range c.fixedFields(child.Kind, in) {
		for _, wrong := range c.immutableFields(f, child, in.Template, scope, names, changes) {
			at := c.d.Position(append(path, wrong.at...)...)
			if child.Update == Recreate {
				c.findings.Warn(at, diag.DataLoss, fmt.Sprintf("a change of %s replaces the %s%s", wrong.names(), child.Kind.Kind, lost),
					"add the marker immutable=true to it in the schema")
				continue
			}
			c.findings.Warn(at, diag.ImmutableField, wrong.message(child.Kind.Kind, f.Ignored), c.immutableHint(child, in, wrong.reads))
		}
	}
}

// fixedFields returns the fields of a child that no update can change.
func (c *compiler) fixedFields(k Kind, in v1alpha1.Child) []schema.Immutable {
	fixed := schema.ImmutableFields(k.Group, k.Kind)
	if s := c.d.ChildSchema(in.Name); s != nil {
		fixed = schema.ImmutableByRules(s, nil)
	}
	return slices.DeleteFunc(fixed, func(f schema.Immutable) bool {
		return f.Usual || f.While != nil && !f.While(in.Template, in.Template)
	})
}

// immutableField is an immutable field of a template that is computed from fields that can
// change.
type immutableField struct {
	field string
	at    []string // the first expression in it
	reads []changing
}

// changing is a field that an expression reads and that can change.
type changing struct {
	name string
	how  schema.Change // of a field of the custom resource
	item bool          // below $item
	of   bool          // of other objects, or of the list
	set  bool          // every custom resource has it
}

// names lists what can change.
func (f immutableField) names() string {
	var names []string
	for _, r := range f.reads {
		names = append(names, r.name)
	}
	return strings.Join(names, " and ")
}

func (f immutableField) message(kind string, ignored bool) string {
	can := "can be set later"
	for _, r := range f.reads {
		if r.how != schema.Appears {
			can = "can change"
		}
	}
	then := "rejects"
	if ignored {
		then = "ignores"
	}
	return fmt.Sprintf("%s of %s is immutable, but %s %s: the API server %s the update",
		f.field, article.With(kind), f.names(), can, then)
}

func (c *compiler) immutableFields(
	f schema.Immutable, child Child, template map[string]any, scope expression.Scope, names []*expression.Program, changes *changes,
) []immutableField {
	depth := len(f.Path)
	if len(f.Free) > 0 {
		depth++ // a part of the field is mutable: report the immutable part
	}
	var out []immutableField
	for _, leaf := range leaves(schema.ValueAt(template, f.Path...), f.Path, f.Free) {
		field := strings.Join(leaf.path[:min(depth, len(leaf.path))], ".")
		for _, read := range c.changingReads(leaf.text, child, scope, names, changes) {
			i := slices.IndexFunc(out, func(o immutableField) bool { return o.field == field })
			if i < 0 {
				i, out = len(out), append(out, immutableField{field: field, at: leaf.path})
			}
			if !slices.Contains(out[i].reads, read) {
				out[i].reads = append(out[i].reads, read)
			}
		}
	}
	return out
}

// immutableHint returns how to handle fields that can change.
func (c *compiler) immutableHint(child Child, in v1alpha1.Child, reads []changing) string {
	if slices.ContainsFunc(reads, func(r changing) bool { return r.of }) {
		const hint = "replace the %s with update: Recreate%s, or keep the value out of the field"
		return fmt.Sprintf(hint, child.Kind.Kind, replacedData(child.Kind, in.Template))
	}
	for _, r := range reads {
		if slices.Contains([]string{".", ".metadata", ".status"}, r.name) {
			return fmt.Sprintf("read the fields that the %s needs, and not %s, which changes with every write", child.Kind.Kind, r.name)
		}
	}
	var names, changing, optional []string
	marked := !c.api.Existing && c.api.CRD == nil
	for _, r := range reads {
		names = append(names, r.name)
		marked = marked && !r.item && strings.HasPrefix(r.name, ".spec.")
		if r.how == schema.Changes {
			changing = append(changing, r.name)
		}
		if !r.set {
			optional = append(optional, r.name)
		}
	}
	if given, ok := schema.ValueAt(in.Template, "metadata", "name").(string); ok && strings.Contains(given, "fingerprint") {
		for _, path := range slices.Backward(child.ObjectName.Reads()) {
			if field := "." + strings.Join(path, "."); path[0] != "metadata" && !slices.Contains(names, field) {
				names = slices.Insert(names, 0, field) // one fingerprint of both
			}
		}
	}
	read := names[0]
	if len(names) > 1 {
		read = "[" + strings.Join(names, ", ") + "]"
	}
	name := "${ .metadata.name }"
	if given, ok := schema.ValueAt(in.Template, "metadata", "name").(string); ok && in.ForEach != "" {
		name = given
	}
	renamed := fmt.Sprintf(
		"create a new %s%s for each value with a fingerprint in metadata.name: %s-${ %s | fingerprint }; "+
			"or replace the %[1]s with update: Recreate%[5]s",
		child.Kind.Kind,
		renamedData(child.Kind, in.Template),
		name,
		read,
		replacedData(child.Kind, in.Template),
	)
	if !marked {
		return renamed
	}
	var markers []string
	if len(changing) > 0 {
		markers = append(markers, "the marker immutable=true to "+strings.Join(changing, " and "))
	}
	if len(optional) > 0 {
		markers = append(markers, "required=true or a default to "+strings.Join(optional, " and "))
	}
	return fmt.Sprintf("add %s in the schema; or %s", strings.Join(markers, ", and "), renamed)
}

// claimKind is the kind of objects that are deleted with the data in them.
const claimKind = "PersistentVolumeClaim"

// renamedData says what happens to the data of an object that gets another name.
func renamedData(kind Kind, template map[string]any) string {
	switch {
	case kind.Group == "" && kind.Kind == claimKind,
		kind.Group == "apps" && schema.ValueAt(template, "spec", "volumeClaimTemplates") != nil:
		return ", without the data of the old one,"
	}
	return ""
}

// replacedData says what happens to the data of an object that is replaced.
func replacedData(kind Kind, template map[string]any) string {
	switch {
	case kind.Group == "" && kind.Kind == claimKind,
		kind.Group == "apps" && schema.ValueAt(template, "spec", "volumeClaimTemplates") != nil &&
			schema.ValueAt(template, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted") == "Delete":
		return ", which deletes its data"
	}
	return ""
}

// changingReads returns the fields that an expression reads, that can change, and that
// the child's name does not depend on.
func (c *compiler) changingReads(
	text string, child Child, scope expression.Scope, names []*expression.Program, changes *changes,
) []changing {
	program, _ := expression.Template(text, scope, schema.Any())
	if program == nil {
		return nil // reported elsewhere
	}
	var out []changing
	for _, path := range program.Reads() {
		how := c.changeOf(path)
		if how != schema.NoChange && !slices.ContainsFunc(names, func(p *expression.Program) bool { return follows(path, p.Reads()) }) {
			s := c.d.Schema(c.d.WorkingVersion())
			out = append(out, changing{name: "." + strings.Join(path, "."), how: how, set: s != nil && schema.IsSet(s, path)})
		}
	}
	out = append(out, changes.reads(program, names)...)
	if !changes.listChanges(child) {
		return out
	}
	for _, path := range program.ReadsItem() {
		if !slices.ContainsFunc(names, func(p *expression.Program) bool { return covered(path, p.ReadsItem()) }) {
			out = append(out, changing{name: strings.Join(append([]string{"$item"}, path...), "."), item: true})
		}
	}
	if program.ReadsIndex() && !slices.ContainsFunc(names, (*expression.Program).ReadsIndex) { // an item before this one goes
		out = append(out, changing{name: "$index", of: true})
	}
	return out
}

// follows reports whether a name that reads these fields changes with a field.
func follows(path []string, reads [][]string) bool {
	return covered(path, reads) || len(path) > 0 && path[0] != "metadata" && slices.ContainsFunc(reads, func(by []string) bool {
		return slices.Equal(by, []string{"metadata", "generation"})
	})
}

// covered reports whether a path, or one above it, is in a list.
func covered(path []string, list [][]string) bool {
	return slices.ContainsFunc(list, func(by []string) bool { return len(by) <= len(path) && slices.Equal(by, path[:len(by)]) })
}

// changeOf returns how a field of the custom resource can change.
func (c *compiler) changeOf(path []string) schema.Change {
	if _, changes := mutableField([][]string{path}); !changes {
		return schema.NoChange
	}
	if s := c.d.Schema(c.d.WorkingVersion()); s != nil {
		return schema.ChangeOf(s, path)
	}
	if keepsField(c.api.Kind.Group, c.api.Kind.Kind, path) {
		return schema.NoChange
	}
	return schema.Changes
}

// keepsField reports whether no update can change a field of a built-in kind.
func keepsField(group, kind string, path []string) bool {
	return slices.ContainsFunc(schema.ImmutableFields(group, kind), func(f schema.Immutable) bool {
		return f.While == nil && f.Allows == nil && len(f.Free) == 0 && covered(path, [][]string{f.Path})
	})
}

// leaf is a string of a template that holds an expression.
type leaf struct {
	text string
	path []string
}

// leaves returns the leaves of a value except those below the free paths.
func leaves(value any, at []string, free [][]string) []leaf {
	below := func(step string) (rest [][]string, all bool) {
		for _, path := range free {
			if path[0] == step || path[0] == "*" {
				if len(path) == 1 {
					return nil, true
				}
				rest = append(rest, path[1:])
			}
		}
		return rest, false
	}
	var out []leaf
	visit := func(step string, value any) {
		if rest, all := below(step); !all {
			out = append(out, leaves(value, append(slices.Clone(at), step), rest)...)
		}
	}
	switch value := value.(type) {
	case string:
		if schema.IsComputed(value) {
			out = append(out, leaf{value, at})
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			visit(key, value[key])
		}
	case []any:
		for i, entry := range value {
			visit(strconv.Itoa(i), entry)
		}
	}
	return out
}
