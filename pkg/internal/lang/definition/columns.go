package definition

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// columns checks the columns of every version and derives their types.
func (c *checker) columns() {
	for i := range c.op.Spec.API.Versions {
		v := &c.op.Spec.API.Versions[i]
		p := versionPath(i).To("columns")
		if !c.Written(p) || c.wasRejected(p) {
			continue
		}
		var names []string
		for j := range v.Columns {
			c.column(v, &v.Columns[j], p.To(j))
			names = append(names, v.Columns[j].Name)
		}
		c.unique(names, func(j int) source.Path { return p.To(j, "name") })
	}
}

func (c *checker) column(v *v1alpha1.Version, col *v1alpha1.Column, p source.Path) {
	c.has(col.Name, p.To("name"))
	if col.Priority < 0 {
		c.add(p.To("priority"), diag.BadValue, fmt.Sprintf("priority is %d, want 0 or more", col.Priority), "")
	}
	if c.has(col.Path, p.To("path")) && !c.def.infers(col.Path) {
		schema, _ := c.schemaAt(v, col.Path, p.To("path"))
		col.Type = cmp.Or(col.Type, columnType(schema))
	}
}

// columnType returns the column type of a field for `kubectl get`.
func columnType(s *props) string {
	if s == nil {
		return "string"
	}
	if s.Type == "string" && s.Format == "date-time" {
		return "date"
	}
	if slices.Contains([]string{"integer", "number", "boolean"}, s.Type) {
		return s.Type
	}
	return "string"
}

// schemaAt returns the schema at a JSON path, and reports a path that does not exist.
// It returns nil and true if the schema is open, and false if it reported the path.
func (c *checker) schemaAt(v *v1alpha1.Version, text string, p source.Path) (*props, bool) {
	path, err := source.ParseJSONPath(text)
	if err != nil {
		c.add(p, diag.BadPath, fmt.Sprintf("%s: %v", text, err), "")
		return nil, false
	}
	root := c.def.Schemas[v.Name]
	if root == nil {
		return nil, true
	}
	r := resolve(root, path, cmp.Or(c.op.Spec.API.Kind, "the schema")+" "+v.Name)
	if r.fail != "" {
		c.add(p, diag.UnknownField, r.fail, r.hint)
	}
	return r.schema, r.fail == "" && !c.doubtful[v.Name]
}

// maxSelectable is the API server's limit of selectable fields.
const maxSelectable = 8

// subresources checks the scale subresource and the selectable fields.
func (c *checker) subresources() {
	for i := range c.op.Spec.API.Versions {
		v, p := &c.op.Spec.API.Versions[i], versionPath(i)
		if s := v.Scale; s != nil {
			c.scalePath(v, s.SpecReplicasPath, []string{"spec"}, "integer", p.To("scale", "specReplicasPath"))
			c.scalePath(v, s.StatusReplicasPath, []string{"status"}, "integer", p.To("scale", "statusReplicasPath"))
			if s.LabelSelectorPath != "" || c.Written(p.To("scale", "labelSelectorPath")) {
				c.scalePath(v, s.LabelSelectorPath, []string{"spec", "status"}, "string", p.To("scale", "labelSelectorPath"))
			}
		}
		for j, field := range v.SelectableFields {
			c.selectable(v, field, p.To("selectableFields", j))
		}
		if n := len(v.SelectableFields); n > maxSelectable {
			c.addKey(p.To("selectableFields"), diag.BadValue, fmt.Sprintf("%d selectable fields are more than %d", n, maxSelectable), "")
		}
		c.unique(v.SelectableFields, func(j int) source.Path { return p.To("selectableFields", j) })
	}
}

func (c *checker) scalePath(v *v1alpha1.Version, text string, under []string, kind string, p source.Path) {
	if !c.has(text, p) {
		return
	}
	path, err := source.ParseJSONPath(text)
	if err == nil && !source.FieldsOnly(path) {
		c.add(p, diag.BadPath, fmt.Sprintf("%s: a scale path cannot point into a list", text), "")
		return
	}
	if err == nil && (len(path) < 2 || !slices.Contains(under, path[0].Field)) {
		c.add(p, diag.BadPath, fmt.Sprintf("%s is not below %s", text, source.Either(under)), "")
		return
	}
	if c.def.infers(text) {
		return
	}
	of, ok := c.schemaAt(v, text, p)
	switch {
	case !ok || of == nil:
	case of.Type != kind:
		c.add(p, diag.BadPath, wrongType(text, of, kind), "")
	case path[0].Field == "spec" && kind == "integer" && !schema.IsSet(c.def.Schemas[v.Name], fieldsOf(path)):
		c.warn(p, diag.BadPath, fmt.Sprintf("%s may be missing, and kubectl scale and autoscalers then fail", text),
			"give the field a default")
	}
}

// fieldsOf returns the fields of a path that has only such.
func fieldsOf(path []source.JSONPathStep) []string {
	var out []string
	for _, step := range path {
		out = append(out, step.Field)
	}
	return out
}

func wrongType(path string, schema *props, want string) string {
	return fmt.Sprintf("%s is %s, want %s", path, article.With(shortschema.KindOf(schema)), article.With(want))
}

func (c *checker) selectable(v *v1alpha1.Version, text string, p source.Path) {
	if !c.has(text, p) {
		return
	}
	path, err := source.ParseJSONPath(text)
	if err == nil && (!source.FieldsOnly(path) || path[0].Field == "metadata") {
		c.add(
			p,
			diag.BadPath,
			fmt.Sprintf("%s cannot be a selectable field", text),
			"a selectable field is one of spec or status, outside of lists",
		)
		return
	}
	if c.def.infers(text) {
		return
	}
	schema, ok := c.schemaAt(v, text, p)
	if ok && !isSelectable(schema) {
		c.add(p, diag.BadPath, fmt.Sprintf("%s cannot be a selectable field", text), selectableTypes)
	}
}

const selectableTypes = "a selectable field is a string, an integer or a boolean"

func isSelectable(s *props) bool {
	return s != nil && slices.Contains([]string{"string", "integer", "boolean"}, s.Type)
}

// infers reports whether a JSON path leads to a field of the status whose type follows from what
// is computed for it.
func (d *Definition) infers(text string) bool {
	path, err := source.ParseJSONPath(text)
	return err == nil && slices.ContainsFunc(d.InferredStatus, func(inferred []string) bool {
		under := func(i int, field string) bool { return path[i].Field == field && !path[i].Element }
		if len(path) <= len(inferred) || !under(0, "status") {
			return false
		}
		for i, field := range inferred {
			if !under(i+1, field) {
				return false
			}
		}
		return true
	})
}

// CheckInferred sets the types of columns that show fields of the status with inferred types, and
// reports other uses of such fields that their types do not permit. It is for after
// [Definition.InferStatus].
func (d *Definition) CheckInferred() diag.List {
	var out diag.List
	for i := range d.Operator.Spec.API.Versions {
		v, p := &d.Operator.Spec.API.Versions[i], versionPath(i)
		at := func(text string) *props {
			path, _ := source.ParseJSONPath(text) // infers has parsed it
			if r := resolve(d.Schemas[v.Name], path, ""); r.schema != nil {
				return r.schema
			}
			return shortschema.Anything()
		}
		for j := range v.Columns {
			if col := &v.Columns[j]; d.infers(col.Path) {
				col.Type = cmp.Or(col.Type, columnType(at(col.Path)))
			}
		}
		scale := func(key, text, want string) {
			if schema := at(text); d.infers(text) && schema.Type != want {
				out.Add(d.Position(p.To("scale", key)...), diag.BadPath, wrongType(text, schema, want),
					"declare the type of the field under schema.status")
			}
		}
		if v.Scale != nil {
			scale("statusReplicasPath", v.Scale.StatusReplicasPath, "integer")
			scale("labelSelectorPath", v.Scale.LabelSelectorPath, "string")
		}
		for j, field := range v.SelectableFields {
			if d.infers(field) && !isSelectable(at(field)) {
				out.Add(d.Position(p.To("selectableFields", j)...), diag.BadPath,
					fmt.Sprintf("%s cannot be a selectable field", field), selectableTypes)
			}
		}
	}
	return out
}
