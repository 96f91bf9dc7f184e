package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// stateLocation returns where the direct engine stores the observed state. It is the
// status if argoperator generates the schema, because only the operator writes the
// status. Other schemas have no field for it, so annotations are used.
func stateLocation(p *declared, d *definition.Definition, e Execution) StateLocation {
	switch {
	case !e.ObservedOnParent:
		return ""
	case p.hasStateField(d):
		return InStatus
	}
	return InAnnotations
}

// takesStateField reports whether the status of the definition has a field children of
// its own.
func takesStateField(d *definition.Definition) bool {
	for _, v := range d.Schemas {
		if _, taken := v.Properties["status"].Properties["children"]; taken {
			return true
		}
	}
	return false
}

// withStateField returns the versions of the API with the field status.children.
func withStateField(versions []Version) []Version {
	out := slices.Clone(versions)
	for i, v := range out {
		var schema apiextensionsv1.JSONSchemaProps
		if err := json.Unmarshal(v.Schema, &schema); err != nil {
			panic(fmt.Sprintf("plan: an embedded schema does not decode: %v", err)) // unreachable
		}
		status := schema.Properties["status"]
		if len(status.Properties) == 0 {
			continue // it preserves unknown fields
		}
		status.Properties["children"] = childrenSchema()
		schema.Properties["status"] = status
		out[i].Schema = encode(schema)
	}
	return out
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
		"ready":      {Type: "boolean", Description: "Whether the child is ready."},
		"message":    text("Why the child is not ready."),
		"generation": number("The generation of this object that the child was created or updated for."),
		"ownerUID": text(
			"The uid of the object that the child names as its owner. The observation counts only if it is the uid of this object.",
		),
		"uid":             text("The uid of the child."),
		"deletedUID":      text("The uid of the object of the name of the child that was deleted last."),
		"resourceVersion": text("The resource version at which the child was observed."),
		"drift":           text("The resource version at which another field manager last changed a field that the operator manages."),
		"failed": {
			Type:        "object",
			Description: "The failed attempts to write the child.",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"generation": number("The generation of this object that the attempts were for."),
				"attempts":   number("The number of failed attempts."),
				"uid": text(
					"The uid of the child at that time, if it was observed. The attempts count as long as the child has this uid.",
				),
				"message": text("Why the attempts failed."),
			},
		},
		"unwanted":  {Type: "boolean", Description: "Whether the operator deletes the child because it is no longer desired."},
		"decided":   text("The generation and the labels of this object when the child became unwanted."),
		"deleting":  {Type: "boolean", Description: "Whether the child is being deleted."},
		"missing":   number("How often in a row the child was not found when it was to be deleted."),
		"inputs":    text("A digest of the fields outside the spec that the child was made from."),
		"fixed":     text("A digest of the fields of the child whose change replaces it."),
		"verify":    number("The position of the objects that are applied although they seem as they were written."),
		"reclaimed": text("A value that differs each time that the operator reclaimed the child."),
		"error": {
			Type:        "object",
			Description: "Why the template of the child cannot be evaluated.",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"generation": number("The generation of this object that the template was evaluated for."),
				"message":    text("The error message of the template."),
			},
		},
		"fields": {
			Type: "array", Description: "The fields of the child that expressions read.",
			Items: &apiextensionsv1.JSONSchemaPropsOrArray{
				Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open},
			},
		},
	}}
	atomic := "atomic" // managedFields, which is part of every event, would have each of its fields
	return apiextensionsv1.JSONSchemaProps{
		Type: "object", Description: "The observed state of the children, by name.", XMapType: &atomic,
		AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &child},
	}
}
