package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Policy is a ValidatingAdmissionPolicy with its binding.
type Policy struct {
	name       string
	rules      []admissionregistrationv1.NamedRuleWithOperations
	namespaces labels.Selector
	programs   func() (policyPrograms, error) // compiled on the first matching request, because most policies never match
}

// policyPrograms are the compiled CEL expressions of a policy.
type policyPrograms struct {
	conditions  []cel.Program
	validations []policyValidation
}

type policyValidation struct {
	program cel.Program
	message string
}

// policyEnvironment returns the API server's CEL environment with the variables of
// a policy. Objects are untyped, so a policy can read all their fields.
var policyEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion(), true).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType), cel.Variable("request", cel.DynType),
		},
	})
	if err != nil {
		return nil, err
	}
	return set.Env(environment.StoredExpressions)
})

// NewPolicy returns a policy with its binding.
func NewPolicy(
	p *admissionregistrationv1.ValidatingAdmissionPolicy,
	b *admissionregistrationv1.ValidatingAdmissionPolicyBinding,
) (Policy, error) {
	out := Policy{name: p.Name, namespaces: labels.Everything()}
	if p.Spec.MatchConstraints != nil {
		out.rules = p.Spec.MatchConstraints.ResourceRules
	}
	if m := b.Spec.MatchResources; m != nil && m.NamespaceSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(m.NamespaceSelector)
		if err != nil {
			return Policy{}, fmt.Errorf("ValidatingAdmissionPolicyBinding %s: %w", b.Name, err)
		}
		out.namespaces = selector
	}
	out.programs = sync.OnceValues(func() (policyPrograms, error) { return compilePolicy(p) })
	return out, nil
}

func compilePolicy(p *admissionregistrationv1.ValidatingAdmissionPolicy) (policyPrograms, error) {
	var out policyPrograms
	for _, c := range p.Spec.MatchConditions {
		program, err := compileCEL(c.Expression)
		if err != nil {
			return out, fmt.Errorf("ValidatingAdmissionPolicy %s, condition %s: %w", p.Name, c.Name, err)
		}
		out.conditions = append(out.conditions, program)
	}
	for _, v := range p.Spec.Validations {
		program, err := compileCEL(v.Expression)
		if err != nil {
			return out, fmt.Errorf("ValidatingAdmissionPolicy %s: %w", p.Name, err)
		}
		out.validations = append(out.validations, policyValidation{program, v.Message})
	}
	return out, nil
}

func compileCEL(expression string) (cel.Program, error) {
	env, err := policyEnvironment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	return env.Program(ast)
}

// validate returns the error of a write that a policy denies, or nil.
func (c *Cluster) validate(req Request, old, o Object) error {
	for _, p := range c.Policies {
		if !p.matches(req, old != nil) {
			continue
		}
		input := map[string]any{"object": o.Object, "oldObject": nil, "request": map[string]any{
			"operation": operationOf(
				old != nil,
			), "namespace": req.Namespace, "name": req.Name, "userInfo": map[string]any{"username": req.user},
		}}
		if old != nil {
			input["oldObject"] = old.Object
		}
		message, err := p.denial(input)
		if err != nil {
			return err
		}
		if message != "" {
			return apierrors.NewForbidden(
				req.Kind.Resource(),
				req.Name,
				fmt.Errorf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", p.name, p.name, message),
			)
		}
	}
	return nil
}

func operationOf(update bool) string {
	if update {
		return string(admissionregistrationv1.Update)
	}
	return string(admissionregistrationv1.Create)
}

// matches reports whether a policy applies to a request. The only namespace label
// supported is the one with its name.
func (p Policy) matches(req Request, update bool) bool {
	if req.Namespace != "" && !p.namespaces.Matches(labels.Set{metav1NameLabel: req.Namespace}) {
		return false
	}
	resource := req.Kind.Resource().Resource
	if req.Subresource != "" {
		resource += "/" + req.Subresource
	}
	return slices.ContainsFunc(p.rules, func(r admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(r.APIGroups, req.Kind.Group) &&
			slices.Contains(r.Operations, admissionregistrationv1.OperationType(operationOf(update))) &&
			slices.ContainsFunc(r.Resources, func(pattern string) bool {
				prefix, all := strings.CutSuffix(pattern, "*")
				return pattern == resource || all && strings.HasPrefix(resource, prefix)
			})
	})
}

// metav1NameLabel is the label with the name of a namespace.
const metav1NameLabel = "kubernetes.io/metadata.name"

// denial returns the message of the first validation that fails. An evaluation
// error denies the request.
func (p Policy) denial(input map[string]any) (string, error) {
	programs, err := p.programs()
	if err != nil {
		return "", err
	}
	for _, condition := range programs.conditions {
		if holds, err := evaluate(condition, input); err != nil {
			return err.Error(), nil
		} else if !holds {
			return "", nil
		}
	}
	for _, check := range programs.validations {
		if holds, err := evaluate(check.program, input); err != nil {
			return err.Error(), nil
		} else if !holds {
			return check.message, nil
		}
	}
	return "", nil
}

func evaluate(program cel.Program, input map[string]any) (bool, error) {
	result, _, err := program.Eval(input)
	if err != nil {
		return false, err
	}
	holds, ok := result.Value().(bool)
	if !ok {
		return false, errors.New("the expression yields no boolean")
	}
	return holds, nil
}
