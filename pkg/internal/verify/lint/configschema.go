package lint

import (
	"encoding/json"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// ConfigKind is the kind of a configuration.
const ConfigKind = "LintConfig"

// property is a JSON Schema of one key.
type property struct {
	Schema      string              `json:"$schema,omitempty"`
	ID          string              `json:"$id,omitempty"`
	Type        string              `json:"type,omitempty"`
	Description string              `json:"description,omitempty"`
	Const       string              `json:"const,omitempty"`
	Enum        []string            `json:"enum,omitempty"`
	Examples    []string            `json:"examples,omitempty"`
	Default     string              `json:"default,omitempty"`
	Properties  map[string]property `json:"properties,omitempty"`
	Required    []string            `json:"required,omitempty"`
	Items       *property           `json:"items,omitempty"`
	Closed      *bool               `json:"additionalProperties,omitempty"`
}

// ConfigSchema returns the JSON Schema of a configuration, for editors.
func ConfigSchema() ([]byte, error) {
	data, err := json.MarshalIndent(configSchema(), "", "  ")
	return append(data, '\n'), err
}

func configSchema() property {
	closed := false
	object := func(description string, required []string, properties map[string]property) property {
		return property{Type: "object", Description: description, Properties: properties, Required: required, Closed: &closed}
	}
	list := func(description string, items property) property {
		return property{Type: "array", Description: description, Items: &items}
	}
	pattern := property{Type: "string", Examples: []string{"vendor/**", "charts/*.yaml"}}
	rule := object("", []string{"code", "severity", "reason"}, map[string]property{
		"code":     {Type: "string", Description: "Code of the rule, or of another finding.", Enum: configurable()},
		"severity": {Type: "string", Description: "Severity of its findings; off hides them.", Enum: []string{"error", "warning", "off"}},
		"files": list("Files to which the entry applies, from the directory of this file: * is any text without a slash, DIR/** a whole "+
			"directory. Without it: all files.", pattern),
		"objects": list("Objects to which the entry applies. Without it: all objects.",
			property{Type: "string", Examples: []string{"Sensor/orders"}}),
		"reason": {Type: "string", Description: "Why the findings are accepted."},
	})
	out := object("Configuration of argoperator lint.", []string{"apiVersion", "kind"}, map[string]property{
		"apiVersion": {Const: v1alpha1.APIVersion},
		"kind":       {Const: ConfigKind},
		"targets": object("Versions that the manifests must work with.", nil, map[string]property{
			"argoWorkflows": {Type: "string", Description: "Version of Argo Workflows.", Default: "4.0", Examples: []string{"3.7", "4.1"}},
		}),
		"profile": {
			Type: "string", Description: "Which rules apply: those that an expert would change today, or all.",
			Enum: []string{recommended, strict}, Default: recommended,
		},
		"exclude": list("Files that are not checked, as in files of a rule.", pattern),
		"rules":   list("Severities of rules. The first entry that matches applies.", rule),
	})
	out.Schema, out.ID = "https://json-schema.org/draft/2020-12/schema", "https://argoperator.dev/schema/v1alpha1/lintconfig.json"
	return out
}
