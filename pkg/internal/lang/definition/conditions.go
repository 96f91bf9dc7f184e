package definition

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
)

func observedGeneration() props {
	return props{
		Type:        "integer",
		Format:      "int64",
		Minimum:     new(0.0),
		Description: "The generation of the spec that the status is about.",
	}
}

// conditions returns the schema of a list of metav1.Condition, as controller-tools
// generates it.
func conditions() props {
	condition := props{
		Type:        "object",
		Description: "One aspect of the current state.",
		Required:    []string{"lastTransitionTime", "message", "reason", "status", "type"},
		Properties: map[string]props{
			"lastTransitionTime": {Type: "string", Format: "date-time", Description: "When the status last changed."},
			"message":            {Type: "string", MaxLength: new(int64(32768)), Description: "What a person should know about it."},
			"observedGeneration": {
				Type:        "integer",
				Format:      "int64",
				Minimum:     new(0.0),
				Description: "The generation that the condition is about.",
			},
			"reason": {
				Type: "string", MinLength: new(int64(1)), MaxLength: new(int64(1024)),
				Pattern: `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`, Description: "The cause, in CamelCase.",
			},
			"status": {
				Type: "string", Description: "True, False or Unknown.",
				Enum: []apiextensionsv1.JSON{shortschema.RawJSON("True"), shortschema.RawJSON("False"), shortschema.RawJSON("Unknown")},
			},
			"type": {
				Type: "string", MaxLength: new(int64(316)), Description: "What the condition is about, in CamelCase.",
				Pattern: `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
			},
		},
	}
	return props{
		Type:         "array",
		Description:  "The current state, one condition for each of its aspects.",
		Items:        &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &condition},
		XListType:    new("map"),
		XListMapKeys: []string{"type"},
	}
}
