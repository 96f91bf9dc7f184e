package schema

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// Reports names the fields of a kind's status by which its controller reports
// that it has seen an object, as far as the schema has them.
func Reports(resource *apiextensionsv1.JSONSchemaProps) []string {
	if resource == nil {
		return nil
	}
	var out []string
	for _, field := range []string{"conditions", "observedGeneration"} {
		if _, ok := resource.Properties["status"].Properties[field]; ok {
			out = append(out, field)
		}
	}
	return out
}

// RequiredOfConditions names the fields that each of the status conditions of a
// kind must have.
func RequiredOfConditions(resource *apiextensionsv1.JSONSchemaProps) []string {
	if resource == nil {
		return nil
	}
	items := resource.Properties["status"].Properties["conditions"].Items
	if items == nil || items.Schema == nil {
		return nil
	}
	return items.Schema.Required
}
