package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/expression"
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// immutable warns of immutable fields of a child that are computed from fields of
// the custom resource that may change: the API server would refuse the change. A
// name that follows them makes another object instead.
func (c *compiler) immutable(child *Child, in v1alpha1.Child, scope expression.Scope, path []string) {
	if child.Object == nil || child.Named == nil {
		return
	}
	if _, changes := mayChange(child.Object.Reads()); !changes {
		return
	}
	named := child.Named.Reads()
	if child.Namespace != nil {
		named = slices.Concat(named, child.Namespace.Reads())
	}
	fixed := schema.ImmutableFields(child.Kind.Group, child.Kind.Kind)
	if s := c.d.ChildSchema(in.Name); s != nil {
		fixed = immutableBySchema(s, nil)
	}
	for _, f := range fixed {
		if f.Grows || f.While != nil && !f.While(in.Template) {
			continue
		}
		for _, wrong := range c.following(f, in.Template, scope, named) {
			c.findings.Warn(c.d.Position(append(path, wrong.at...)...), diag.ImmutableField,
				fmt.Sprintf("%s of a %s is immutable, and %s may change: the API server refuses the update",
					wrong.field, child.Kind.Kind, strings.Join(wrong.reads, " and ")),
				c.makeImmutable(child.Kind.Kind, wrong.reads))
		}
	}
}

// follower is an immutable field of a template that follows fields which may change.
type follower struct {
	field string
	at    []string // the first expression in it
	reads []string
}

func (c *compiler) following(f schema.Immutable, template map[string]any, scope expression.Scope, named [][]string) []follower {
	depth := len(f.Path)
	if len(f.Free) > 0 {
		depth++ // some of it may change: say which may not
	}
	var out []follower
	for _, leaf := range leaves(schema.ValueAt(template, f.Path...), f.Path, f.Free) {
		field := strings.Join(leaf.path[:min(depth, len(leaf.path))], ".")
		for _, read := range c.changeable(leaf.text, scope, named) {
			i := slices.IndexFunc(out, func(o follower) bool { return o.field == field })
			if i < 0 {
				i, out = len(out), append(out, follower{field: field, at: leaf.path})
			}
			if !slices.Contains(out[i].reads, read) {
				out[i].reads = append(out[i].reads, read)
			}
		}
	}
	return out
}

// immutableBySchema are the fields of a custom kind that its rules keep as they are.
func immutableBySchema(s *apiextensionsv1.JSONSchemaProps, path []string) []schema.Immutable {
	if slices.ContainsFunc(s.XValidations, func(r apiextensionsv1.ValidationRule) bool { return condensed(r.Rule) == sameAsBefore }) {
		return []schema.Immutable{{Path: path}}
	}
	var out []schema.Immutable
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		out = append(out, immutableBySchema(&p, append(slices.Clone(path), name))...)
	}
	return out
}

// sameAsBefore is the rule of an immutable field, condensed.
const sameAsBefore = "self==oldSelf"

func condensed(rule string) string { return strings.Join(strings.Fields(rule), "") }

// makeImmutable is what to do about fields that may change.
func (c *compiler) makeImmutable(kind string, fields []string) string {
	read := fields[0]
	if len(fields) > 1 {
		read = "[" + strings.Join(fields, ", ") + "]"
	}
	renamed := fmt.Sprintf("let a change make another %s, by a fingerprint in metadata.name: ${ .metadata.name }-${ %s | fingerprint }", kind, read)
	inSpec := !slices.ContainsFunc(fields, func(f string) bool { return !strings.HasPrefix(f, ".spec.") })
	if c.api.Existing || c.api.CRD != nil || !inSpec {
		return renamed
	}
	return fmt.Sprintf("write immutable=true to %s in the schema; or %s", strings.Join(fields, " and "), renamed)
}

// changeable are the fields that an expression reads, that may change, and that
// no part of the child's name follows.
func (c *compiler) changeable(text string, scope expression.Scope, named [][]string) []string {
	program, _ := expression.Template(text, scope, schema.Any())
	if program == nil {
		return nil // it was reported
	}
	var out []string
	for _, path := range program.Reads() {
		_, changes := mayChange([][]string{path})
		follows := slices.ContainsFunc(named, func(by []string) bool {
			generation := slices.Equal(by, []string{"metadata", "generation"}) && len(path) > 0 && path[0] != "metadata"
			return generation || len(by) <= len(path) && slices.Equal(by, path[:len(by)])
		})
		if changes && !follows && !c.keeps(path) {
			out = append(out, "."+strings.Join(path, "."))
		}
	}
	return out
}

// keeps tells whether the API server refuses a change of a field of the custom
// resource: by a rule of its schema, or because its built-in kind says so.
func (c *compiler) keeps(path []string) bool {
	if s := c.d.Schema(c.d.WorkingVersion()); s != nil {
		return unchanging(s, path)
	}
	return slices.ContainsFunc(schema.ImmutableFields(c.api.Kind.Group, c.api.Kind.Kind), func(f schema.Immutable) bool {
		return f.While == nil && len(f.Free) == 0 && len(f.Path) <= len(path) && slices.Equal(f.Path, path[:len(f.Path)])
	})
}

// unchanging tells whether the transition rules of a schema mention a field, or
// everything in it. What exactly a rule says is not read.
func unchanging(s *apiextensionsv1.JSONSchemaProps, path []string) bool {
	for _, rule := range s.XValidations {
		text := condensed(rule.Rule)
		whole := len(path) == 0 || text == sameAsBefore
		if strings.Contains(text, "oldSelf") && (whole || strings.Contains(text, "oldSelf."+path[0])) {
			return true
		}
	}
	if len(path) == 0 {
		return len(s.Properties) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(s.Properties)), func(p apiextensionsv1.JSONSchemaProps) bool {
			return !unchanging(&p, nil)
		})
	}
	if p, known := s.Properties[path[0]]; known {
		return unchanging(&p, path[1:])
	}
	return s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && unchanging(s.AdditionalProperties.Schema, path[1:])
}

// leaf is a text of a template that holds an expression.
type leaf struct {
	text string
	path []string
}

// leaves are those of a value, without the ones below the free paths.
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
