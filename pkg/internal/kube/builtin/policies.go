package builtin

import (
	"errors"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apicel "k8s.io/apiserver/pkg/cel"
	celenv "k8s.io/apiserver/pkg/cel/environment"
)

// celExpression is CEL with the types that its result may have.
type celExpression struct {
	name, text string
	types      []*cel.Type
}

func (e celExpression) GetName() string          { return e.name }
func (e celExpression) GetExpression() string    { return e.text }
func (e celExpression) ReturnTypes() []*cel.Type { return e.types }

// celEnvironment returns the CEL environment of the API server.
var celEnvironment = sync.OnceValue(func() *celenv.EnvSet {
	return celenv.MustBaseEnvSet(celenv.DefaultCompatibilityVersion(), true)
})

// A compiler takes tens of milliseconds to make, so those that keep nothing of an object are
// shared: that of expressions without variables, and that of a policy that has none.
var (
	conditionCompiler = sync.OnceValue(func() plugincel.Compiler { return plugincel.NewCompiler(celEnvironment()) })
	policyCompiler    = sync.OnceValues(newPolicyCompiler)
)

func newPolicyCompiler() (*plugincel.CompositedCompiler, error) {
	return plugincel.NewCompositedCompiler(celEnvironment())
}

// admissionPolicy compiles the CEL of a ValidatingAdmissionPolicy with the compiler of the
// API server.
func admissionPolicy(o *admissionregistrationv1.ValidatingAdmissionPolicySpec, at *field.Path) field.ErrorList {
	compiler, err := policyCompiler()
	if len(o.Variables) > 0 {
		compiler, err = newPolicyCompiler()
	}
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	var errs field.ErrorList
	declared := plugincel.OptionalVariableDeclarations{HasParams: o.ParamKind != nil, HasAuthorizer: true, StrictCost: true}
	for i, v := range o.Variables {
		e := celExpression{v.Name, v.Expression, []*cel.Type{cel.AnyType, cel.DynType}}
		result := compiler.CompileAndStoreVariable(e, declared, celenv.NewExpressions)
		errs = append(errs, compiled(result, e, at.Child("variables").Index(i).Child("expression"))...)
	}
	errs = append(errs, matchConditions(o.MatchConditions, declared, at)...)
	for i, v := range o.Validations {
		at := at.Child("validations").Index(i)
		e := celExpression{text: v.Expression, types: []*cel.Type{cel.BoolType}}
		errs = append(errs, compiled(compiler.CompileCELExpression(e, declared, celenv.NewExpressions), e, at.Child("expression"))...)
		if v.MessageExpression != "" {
			e, declared := celExpression{text: v.MessageExpression, types: []*cel.Type{cel.StringType}}, declared
			declared.HasAuthorizer = false
			result := compiler.CompileCELExpression(e, declared, celenv.NewExpressions)
			errs = append(errs, compiled(result, e, at.Child("messageExpression"))...)
		}
	}
	for i, v := range o.AuditAnnotations {
		e := celExpression{text: v.ValueExpression, types: []*cel.Type{cel.StringType, cel.NullType}}
		result := compiler.CompileCELExpression(e, declared, celenv.NewExpressions)
		errs = append(errs, compiled(result, e, at.Child("auditAnnotations").Index(i).Child("valueExpression"))...)
	}
	return errs
}

// matchConditions compiles the conditions of a policy or a webhook, which read no variables.
func matchConditions(
	conditions []admissionregistrationv1.MatchCondition, declared plugincel.OptionalVariableDeclarations, at *field.Path,
) field.ErrorList {
	var errs field.ErrorList
	for i, c := range conditions {
		e := celExpression{c.Name, c.Expression, []*cel.Type{cel.BoolType}}
		result := conditionCompiler().CompileCELExpression(e, declared, celenv.NewExpressions)
		errs = append(errs, compiled(result, e, at.Child("matchConditions").Index(i).Child("expression"))...)
	}
	return errs
}

// webhookConditions compiles the conditions of a webhook.
func webhookConditions(conditions []admissionregistrationv1.MatchCondition, at *field.Path) field.ErrorList {
	return matchConditions(conditions, plugincel.OptionalVariableDeclarations{HasAuthorizer: true, StrictCost: true}, at)
}

// compiled returns the error of a compilation, as the API server words it, without the place
// that it draws.
func compiled(result plugincel.CompilationResult, e celExpression, at *field.Path) field.ErrorList {
	if result.Error == nil {
		return nil
	}
	var invalid *apicel.Error
	if errors.As(result.Error, &invalid) && invalid.Type == apicel.ErrorTypeRequired {
		return field.ErrorList{field.Required(at, invalid.Detail)}
	}
	detail, _, _ := strings.Cut(result.Error.Detail, "\n")
	return field.ErrorList{field.Invalid(at, e.text, detail)}
}
