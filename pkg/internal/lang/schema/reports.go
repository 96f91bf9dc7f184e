package schema

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// Reports returns the status fields by which a kind's controller reports that it has
// observed an object, if the schema has them.
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

// RequiredOfConditions returns the required fields of a kind's status conditions.
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
