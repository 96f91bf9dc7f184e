package schema

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestChangeOf covers which rules forbid every change of a field.
func TestChangeOf(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		rule     string // of spec.class
		ofSpec   string // a rule of spec
		ofRoot   string // a rule of the custom resource
		required bool
		standard bool // class has a default
		want     Change
	}{
		{reason: "no rule", want: Changes},
		{reason: "required and the same", rule: "self == oldSelf", required: true, want: NoChange},
		{reason: "the other way round", rule: "oldSelf==self", required: true, want: NoChange},
		{reason: "in parentheses, with another condition", rule: "(self == oldSelf) && self.size() > 0", required: true, want: NoChange},
		{reason: "with a default", rule: "self == oldSelf", standard: true, want: NoChange},
		{reason: "optional", rule: "self == oldSelf", want: Appears},
		{reason: "may grow", rule: "self.size() >= oldSelf.size()", required: true, want: Changes},
		{reason: "one of two conditions", rule: "self == oldSelf || self == 'a'", required: true, want: Changes},
		{reason: "an operator in a text", rule: "self == oldSelf || self == '&&self==oldSelf&&'", required: true, want: Changes},
		{reason: "all of the object", ofSpec: "self == oldSelf", want: NoChange},
		{reason: "the field of the object", ofSpec: "self.class == oldSelf.class", want: NoChange},
		{reason: "another field of the object", ofSpec: "self.classes == oldSelf.classes", required: true, want: Changes},
		{reason: "the same if it was there", ofSpec: "!has(oldSelf.class) || self.class == oldSelf.class", want: Appears},
		{
			reason: "the same, and there if it was there", want: NoChange,
			ofSpec: "has(self.class) == has(oldSelf.class) && (!has(self.class) || self.class == oldSelf.class)",
		},
		{reason: "there if it was there", ofSpec: "has(self.class) == has(oldSelf.class)", rule: "self == oldSelf", want: NoChange},
		{reason: "there if it was there, by a rule of the custom resource", ofRoot: "has(self.spec.class) == has(oldSelf.spec.class)", rule: "self == oldSelf", want: NoChange},
		{reason: "another field there if it was there", ofRoot: "has(self.class) == has(oldSelf.class)", rule: "self == oldSelf", want: Appears},
		{reason: "only there", ofSpec: "has(self.class) == has(oldSelf.class)", want: Changes},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			class, spec := apiextensionsv1.JSONSchemaProps{Type: "string"}, apiextensionsv1.JSONSchemaProps{Type: "object"}
			if tt.rule != "" {
				class.XValidations = apiextensionsv1.ValidationRules{{Rule: tt.rule}}
			}
			if tt.standard {
				class.Default = &apiextensionsv1.JSON{Raw: []byte(`"a"`)}
			}
			if tt.ofSpec != "" {
				spec.XValidations = apiextensionsv1.ValidationRules{{Rule: tt.ofSpec}}
			}
			if tt.required {
				spec.Required = []string{"class"}
			}
			spec.Properties = map[string]apiextensionsv1.JSONSchemaProps{"class": class, "other": {Type: "string"}}
			root := apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}
			if tt.ofRoot != "" {
				root.XValidations = apiextensionsv1.ValidationRules{{Rule: tt.ofRoot}}
			}
			if got := ChangeOf(&root, []string{"spec", "class"}); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
