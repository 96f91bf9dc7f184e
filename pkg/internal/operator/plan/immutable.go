package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// immutable warns of immutable fields of a child that are computed from mutable fields
// of the custom resource: the API server would reject the change. If the name is
// computed from them too, a change creates another object instead.
func (c *compiler) immutable(child *Child, in v1alpha1.Child, scope expression.Scope, path []string) {
	if child.Object == nil || child.ObjectName == nil || child.Update != InPlace {
		return
	}
	if _, changes := mutableField(child.Object.Reads()); !changes {
		return
	}
	named := child.ObjectName.Reads()
	if child.Namespace != nil {
		named = slices.Concat(named, child.Namespace.Reads())
	}
	for _, f := range c.fixedFields(child.Kind, in) {
		for _, wrong := range c.immutableFields(f, in.Template, scope, named) {
			c.findings.Warn(c.d.Position(append(path, wrong.at...)...), diag.ImmutableField,
				fmt.Sprintf("%s of a %s is immutable, but %s can change: the API server rejects the update",
					wrong.field, child.Kind.Kind, strings.Join(wrong.reads, " and ")),
				c.immutableHint(child.Kind.Kind, wrong.reads))
		}
	}
}

// fixedFields returns the fields of a child that the API server lets nobody change.
func (c *compiler) fixedFields(k Kind, in v1alpha1.Child) []schema.Immutable {
	fixed := schema.ImmutableFields(k.Group, k.Kind)
	if s := c.d.ChildSchema(in.Name); s != nil {
		fixed = schema.ImmutableByRules(s, nil)
	}
	return slices.DeleteFunc(fixed, func(f schema.Immutable) bool { return f.Grows || f.While != nil && !f.While(in.Template) })
}

// immutableField is an immutable field of a template that is computed from mutable
// fields.
type immutableField struct {
	field string
	at    []string // the first expression in it
	reads []string
}

func (c *compiler) immutableFields(f schema.Immutable, template map[string]any, scope expression.Scope, named [][]string) []immutableField {
	depth := len(f.Path)
	if len(f.Free) > 0 {
		depth++ // a part of the field is mutable: report the immutable part
	}
	var out []immutableField
	for _, leaf := range leaves(schema.ValueAt(template, f.Path...), f.Path, f.Free) {
		field := strings.Join(leaf.path[:min(depth, len(leaf.path))], ".")
		for _, read := range c.mutableReads(leaf.text, scope, named) {
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

// immutableHint returns how to handle a mutable field.
func (c *compiler) immutableHint(kind string, fields []string) string {
	read := fields[0]
	if len(fields) > 1 {
		read = "[" + strings.Join(fields, ", ") + "]"
	}
	renamed := fmt.Sprintf(
		"create a new %s for each value with a fingerprint in metadata.name: ${ .metadata.name }-${ %s | fingerprint }; "+
			"or replace the %[1]s with update: Recreate",
		kind,
		read,
	)
	inSpec := !slices.ContainsFunc(fields, func(f string) bool { return !strings.HasPrefix(f, ".spec.") })
	if c.api.Existing || c.api.CRD != nil || !inSpec {
		return renamed
	}
	return fmt.Sprintf("add the marker immutable=true to %s in the schema; or %s", strings.Join(fields, " and "), renamed)
}

// mutableReads returns the fields that an expression reads, that are mutable, and that
// the child's name does not depend on.
func (c *compiler) mutableReads(text string, scope expression.Scope, named [][]string) []string {
	program, _ := expression.Template(text, scope, schema.Any())
	if program == nil {
		return nil // reported elsewhere
	}
	var out []string
	for _, path := range program.Reads() {
		_, changes := mutableField([][]string{path})
		follows := slices.ContainsFunc(named, func(by []string) bool {
			generation := slices.Equal(by, []string{"metadata", "generation"}) && len(path) > 0 && path[0] != "metadata"
			return generation || len(by) <= len(path) && slices.Equal(by, path[:len(by)])
		})
		if changes && !follows && !c.isImmutable(path) {
			out = append(out, "."+strings.Join(path, "."))
		}
	}
	return out
}

// isImmutable reports whether the API server rejects a change of a field of the custom
// resource, because of a validation rule or because of its built-in kind.
func (c *compiler) isImmutable(path []string) bool {
	if s := c.d.Schema(c.d.WorkingVersion()); s != nil {
		return schema.HasTransitionRule(s, path)
	}
	return slices.ContainsFunc(schema.ImmutableFields(c.api.Kind.Group, c.api.Kind.Kind), func(f schema.Immutable) bool {
		return f.While == nil && len(f.Free) == 0 && len(f.Path) <= len(path) && slices.Equal(f.Path, path[:len(f.Path)])
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
		if strings.Contains(value, "${") {
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
