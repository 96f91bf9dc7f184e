package childcheck

import (
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// failingRules warns of validation rules that read an optional field without a test: the API server rejects each custom
// resource that omits it, with a message about the rule.
func (f *family) failingRules() diag.List {
	var findings diag.List
	for i, v := range f.d.Operator.Spec.API.Versions {
		if f.samples.schema == nil || v.Served != nil && !*v.Served {
			continue
		}
		if err := f.lacking(v.Name); err != nil {
			at := []string{"spec", "api", "versions", strconv.Itoa(i)}
			if path := (problem.Problem{Path: err.Field}).Segments(); len(path) > 0 && path[0] == "spec" {
				at = slices.Concat(at, []string{"schema"}, path)
			} else {
				at = append(at, "validations")
			}
			findings.Warn(f.d.Position(at...), diag.FailedValidationRule,
				"the API server rejects custom resources that omit an optional field: "+err.Detail,
				"test the field in the rule, as in !has(self.spec.size) || self.spec.size > 1; or give it a default")
		}
	}
	return findings
}

// lacking returns the error of a rule for a custom resource that omits an optional field; nil if there is none.
func (f *family) lacking(version string) *field.Error {
	fields := f.d.Schema(version)
	if fields == nil {
		return nil
	}
	plain, ruled := withoutRules(fields)
	if !ruled {
		return nil
	}
	bare, whole := schemaOf(f.samples.api, version, plain), schemaOf(f.samples.api, version, fields)
	if bare == nil || whole == nil {
		return nil
	}
	var tried []map[string]any
	if minimal, err := bare.Minimal(); err == nil {
		tried = append(tried, minimal)
	}
	if full, err := whole.Full(); err == nil {
		spec, _ := full["spec"].(map[string]any)
		for _, name := range source.SortedKeys(spec) {
			without := runtime.DeepCopyJSON(full)
			delete(without["spec"].(map[string]any), name) //nolint:forcetypeassert // it is a copy of full
			if len(bare.Validate(bare.Defaulted(without), nil)) == 0 {
				tried = append(tried, without)
			}
		}
	}
	for _, object := range tried {
		errs := whole.Validate(whole.Defaulted(object), nil)
		if i := slices.IndexFunc(errs, admission.LacksKey); i >= 0 {
			return errs[i]
		}
	}
	return nil
}

// withoutRules returns a schema without its validation rules, and whether it had any.
func withoutRules(s *apiextensionsv1.JSONSchemaProps) (bare *apiextensionsv1.JSONSchemaProps, had bool) {
	bare = s.DeepCopy()
	had = len(s.XValidations) > 0
	bare.XValidations = nil
	inside := func(of *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
		inner, ruled := withoutRules(of)
		had = had || ruled
		return inner
	}
	for name, property := range bare.Properties {
		bare.Properties[name] = *inside(&property)
	}
	if bare.Items != nil && bare.Items.Schema != nil {
		bare.Items.Schema = inside(bare.Items.Schema)
	}
	if bare.AdditionalProperties != nil && bare.AdditionalProperties.Schema != nil {
		bare.AdditionalProperties.Schema = inside(bare.AdditionalProperties.Schema)
	}
	return bare, had
}
