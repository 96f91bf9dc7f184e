package definition

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
)

// schemas expands or decodes the schema of every version.
func (c *checker) schemas() {
	api := &c.op.Spec.API
	if api.CRD != nil || api.Existing != nil {
		return
	}
	form := newShort(c)
	c.doubtful = map[string]bool{}
	c.def.Schemas = map[string]*apiextensionsv1.JSONSchemaProps{}
	for i := range api.Versions {
		v, p := &api.Versions[i], versionPath(i)
		var schema *props
		before := len(c.found)
		switch inShort, inFull := c.written(p.to("schema")), c.written(p.to("openAPIV3Schema")); {
		case inShort && inFull:
			c.addKey(p.to("openAPIV3Schema"), diag.ConflictingKeys, "schema and openAPIV3Schema exclude each other", "keep one")
		case inShort && v.Schema != nil:
			schema = c.shortSchema(form, p.to("schema"))
		case inFull && v.OpenAPIV3Schema != nil:
			schema = c.fullSchema(p.to("openAPIV3Schema"))
		case !inShort && !inFull:
			c.missing(p, "schema", "the short form is schema: {spec: {size: integer}}; openAPIV3Schema takes a full one")
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
}

func versionPath(i int) steps { return pathOf("spec", "api", "versions", i) }

// shortSchema expands the schema of a version from the short form.
func (c *checker) shortSchema(form *short, p steps) *props {
	out := &props{Type: "object", Properties: map[string]props{}}
	for _, part := range []string{"spec", "status"} {
		if !c.written(p.to(part)) {
			continue
		}
		if c.dealtWith(p.to(part)) {
			out.Properties[part] = *anything()
			continue
		}
		schema := form.object(c.node(p.to(part)...))
		if part == "spec" {
			completeDefault(schema)
			if len(schema.Required) > 0 {
				out.Required = []string{"spec"}
			}
		}
		out.Properties[part] = *schema
	}
	return out
}

// addStatus adds what every operator reports, unless the user wrote it.
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
