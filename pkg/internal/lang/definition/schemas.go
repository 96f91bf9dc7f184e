package definition

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// schemas expands or decodes the schema of every version.
func (c *checker) schemas() {
	api := &c.op.Spec.API
	if api.CRD != nil || api.Existing != nil {
		return
	}
	var types *yaml.Node
	if p := source.PathOf("spec", "api", "types"); c.Written(p) && !c.wasRejected(p) {
		types = c.node(p...)
	}
	form := shortschema.New(c.Positions, types, &c.found)
	c.doubtful = map[string]bool{}
	c.def.Schemas = map[string]*apiextensionsv1.JSONSchemaProps{}
	for i := range api.Versions {
		v, p := &api.Versions[i], versionPath(i)
		var schema *props
		before := len(c.found)
		switch inShort, inFull := c.Written(p.To("schema")), c.Written(p.To("openAPIV3Schema")); {
		case inShort && inFull:
			c.addKey(p.To("openAPIV3Schema"), diag.ConflictingKeys, "schema and openAPIV3Schema cannot be combined", "remove one of them")
		case inShort && v.Schema != nil:
			schema = c.shortSchema(form, p.To("schema"))
		case inFull && v.OpenAPIV3Schema != nil:
			schema = c.fullSchema(p.To("openAPIV3Schema"))
		case !inShort && !inFull:
			c.missing(p, "schema", "write schema: {spec: {size: integer}}, or a full schema under openAPIV3Schema")
		}
		if schema != nil {
			addStatus(schema)
			for _, rule := range v.Validations {
				schema.XValidations = append(schema.XValidations, validationRule(rule))
			}
			c.def.Schemas[v.Name] = schema
			c.doubtful[v.Name] = len(c.found) > before
		}
	}
	c.contradictions()
	c.losses()
}

// contradictions reports fields whose types exclude each other in two versions. There
// is no conversion webhook, so a value written in one version is served unchanged in
// the others.
func (c *checker) contradictions() {
	versions := c.op.Spec.API.Versions
	used := func(v v1alpha1.Version) bool {
		return (v.Served == nil || *v.Served || v.Storage != nil && *v.Storage) && c.def.Schemas[v.Name] != nil && !c.doubtful[v.Name]
	}
	for i, v := range versions {
		for _, earlier := range versions[:i] {
			if !used(v) || !used(earlier) {
				continue
			}
			for _, found := range contradiction(c.def.Schemas[earlier.Name], c.def.Schemas[v.Name], nil) {
				at := c.schemaField(versionPath(i), found.path)
				c.add(
					at,
					diag.BadSchema,
					fmt.Sprintf(
						"%s is %s in %s and %s in %s: objects are not converted between versions, so one with this field is invalid in "+
							"one of them",
						strings.ReplaceAll(
							found.path,
							".[]",
							"[]",
						),
						article.With(found.before),
						earlier.Name,
						article.With(found.after),
						v.Name,
					),
					"give it one type in all versions that are served, use another name for the new field, or stop serving one version: "+
						"served: false",
				)
			}
		}
	}
}

// schemaField returns the path of a field in a version's schema, or of its nearest
// existing ancestor.
func (c *checker) schemaField(version source.Path, path string) source.Path {
	at := version
	for _, part := range []string{"schema", "openAPIV3Schema"} {
		if c.Written(version.To(part)) {
			at = version.To(part)
		}
	}
	for name := range strings.SplitSeq(path, ".") {
		if !c.Written(at.To(name)) {
			break
		}
		at = at.To(name)
	}
	return at
}

// contradicting is a field with two types.
type contradicting struct{ path, before, after string }

// contradiction returns the fields for which no value is valid in both schemas.
func contradiction(a, b *props, path []string) []contradicting {
	if a == nil || b == nil {
		return nil
	}
	before, after := shortschema.KindOf(a), shortschema.KindOf(b)
	if !compatible(before, after) {
		return []contradicting{{strings.Join(path, "."), before, after}}
	}
	var out []contradicting
	for _, name := range source.SortedKeys(a.Properties) {
		one := a.Properties[name]
		if other, both := b.Properties[name]; both {
			out = append(out, contradiction(&one, &other, append(slices.Clone(path), name))...)
		}
	}
	if a.Items != nil && b.Items != nil {
		out = append(out, contradiction(a.Items.Schema, b.Items.Schema, append(slices.Clone(path), "[]"))...)
	}
	if a.AdditionalProperties != nil && b.AdditionalProperties != nil {
		out = append(out, contradiction(a.AdditionalProperties.Schema, b.AdditionalProperties.Schema, append(slices.Clone(path), "*"))...)
	}
	return out
}

// compatible reports whether a value can be of both kinds.
func compatible(a, b string) bool {
	fits := map[string][]string{"any": {a, b}, "int-or-string": {"integer", "number", "string"}, "number": {"integer"}, "map": {"object"}}
	return a == b || slices.Contains(fits[a], b) || slices.Contains(fits[b], a)
}

func versionPath(i int) source.Path { return source.PathOf("spec", "api", "versions", i) }

// shortSchema expands the schema of a version from the short form.
func (c *checker) shortSchema(form *shortschema.Form, p source.Path) *props {
	out := &props{Type: "object", Properties: map[string]props{}}
	if c.dec.Unknown[p.ID()] { // fields may be under such a key
		out.XPreserveUnknownFields = new(true)
	}
	for _, part := range []string{"spec", "status"} {
		if !c.Written(p.To(part)) {
			continue
		}
		if c.wasRejected(p.To(part)) {
			out.Properties[part] = *shortschema.Anything()
			continue
		}
		form.Read = part == "status"
		schema := form.Object(c.node(p.To(part)...))
		if part == "spec" {
			shortschema.CompleteDefault(schema)
			if len(schema.Required) > 0 {
				out.Required = []string{"spec"}
			}
		}
		out.Properties[part] = *schema
	}
	return out
}

// addStatus adds the status fields that every operator reports, unless the schema has
// them.
func addStatus(root *props) {
	if root.Properties == nil {
		root.Properties = map[string]props{}
	}
	status, ok := root.Properties["status"]
	if !ok {
		status = props{Type: "object"}
	}
	if ok && len(status.Properties) == 0 && (status.XPreserveUnknownFields != nil || status.AdditionalProperties != nil) {
		return
	}
	fields := map[string]props{"observedGeneration": observedGeneration(), "conditions": conditions()}
	for name, field := range status.Properties {
		fields[name] = field
	}
	status.Properties = fields
	slices.Sort(status.Required)
	root.Properties["status"] = status
}
