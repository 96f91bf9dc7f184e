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
	bare, whole := schemaOf(f.samples.api, version, withoutRules(fields)), schemaOf(f.samples.api, version, fields)
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

// withoutRules returns a schema without its validation rules.
func withoutRules(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s == nil {
		return nil
	}
	out := s.DeepCopy()
	out.XValidations = nil
	for name, property := range out.Properties {
		out.Properties[name] = *withoutRules(&property)
	}
	if out.Items != nil {
		out.Items.Schema = withoutRules(out.Items.Schema)
	}
	if out.AdditionalProperties != nil {
		out.AdditionalProperties.Schema = withoutRules(out.AdditionalProperties.Schema)
	}
	return out
}
