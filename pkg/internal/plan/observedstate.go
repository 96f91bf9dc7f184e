package plan

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/definition"
)

// stateLocation returns where the direct engine stores the observed state. It is the
// status if argoperator generates the schema, because only the operator writes the
// status. Other schemas have no field for it, so annotations are used.
func stateLocation(p *Plan, d *definition.Definition) StateLocation {
	switch {
	case !p.Reconcile.Execution.ObservedOnParent:
		return ""
	case len(p.API.Versions) == 0 || p.Reconcile.Trigger == "k8s":
		return InAnnotations
	}
	for _, v := range d.Schemas {
		if _, taken := v.Properties["status"].Properties["children"]; taken {
			return InAnnotations
		}
	}
	return InStatus
}

// addStateToSchema adds status.children to the schema of every version of the API.
func addStateToSchema(p *Plan) {
	for i := range p.API.Versions {
		v := &p.API.Versions[i]
		var schema apiextensionsv1.JSONSchemaProps
		if err := json.Unmarshal(v.Schema, &schema); err != nil {
			panic(fmt.Sprintf("plan: a schema of ours does not decode: %v", err)) // unreachable
		}
		status := schema.Properties["status"]
		if len(status.Properties) == 0 {
			continue // it preserves unknown fields
		}
		status.Properties["children"] = childrenSchema()
		schema.Properties["status"] = status
		v.Schema = encode(schema)
	}
}

func childrenSchema() apiextensionsv1.JSONSchemaProps {
	open := true
	text := func(description string) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "string", Description: description}
	}
	number := func(description string) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int64", Description: description}
	}
	child := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"ready":      {Type: "boolean", Description: "Whether the child is as it should be."},
		"message":    text("Why it is not."),
		"generation": number("The generation of this object that the child was made from."),
		"owner":      text("The uid of the object that the child names as its owner. What is observed counts only if it is this object's."),
		"uid":        text("The uid of the child."),
		"gone":       text("The uid of the object that was deleted last at the place of the child."),
		"version":    text("The resource version of the child that this was seen at."),
		"drift":      text("The resource version at which somebody else last changed a field of the operator's."),
		"failed": {Type: "object", Description: "The attempts to write the child that failed.", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"generation": number("The generation of this object that they were for."),
			"attempts":   number("How many there were."),
			"uid":        text("The uid that the child had then, if it was seen. They count as long as it has that one."),
			"message":    text("Why they failed."),
		}},
		"found": text("A value that differs after each time that the child was looked for by its owner."),
		"error": {Type: "object", Description: "Why the template of the child cannot be evaluated.", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"generation": number("The generation of this object that it was evaluated for."),
			"message":    text("What the template reported."),
		}},
		"known": {
			Type: "array", Description: "The fields of other children that had a value when the child was written.",
			Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}},
		},
		"live": {
			Type: "array", Description: "The fields of the child that the status is computed from.",
			Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}},
		},
	}}
	return apiextensionsv1.JSONSchemaProps{
		Type: "object", Description: "What the operator has seen of the children, by name.",
		AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &child},
	}
}
