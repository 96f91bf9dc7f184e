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

// Policy is a ValidatingAdmissionPolicy as it is bound.
type Policy struct {
	name       string
	rules      []admissionregistrationv1.NamedRuleWithOperations
	namespaces labels.Selector
	programs   func() (policyPrograms, error) // compiled when a request matches: most never do
}

// policyPrograms are the expressions of a policy, which are CEL.
type policyPrograms struct {
	conditions []cel.Program
	checks     []policyCheck
}

type policyCheck struct {
	program cel.Program
	message string
}

// policyEnvironment is that in which the API server evaluates CEL, with the
// variables of a policy. Objects are of no type: a
// policy sees all their fields.
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

// NewPolicy is a policy with its binding.
func NewPolicy(p *admissionregistrationv1.ValidatingAdmissionPolicy, b *admissionregistrationv1.ValidatingAdmissionPolicyBinding) (Policy, error) {
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
		out.checks = append(out.checks, policyCheck{program, v.Message})
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

// denied is the answer to a write that a policy refuses, or nil.
func (c *Cluster) denied(req Request, old, o Object) error {
	for _, p := range c.Policies {
		if !p.matches(req, old != nil) {
			continue
		}
		input := map[string]any{"object": o.Object, "oldObject": nil, "request": map[string]any{
			"operation": operationOf(old != nil), "namespace": req.Namespace, "name": req.Name, "userInfo": map[string]any{"username": req.user},
		}}
		if old != nil {
			input["oldObject"] = old.Object
		}
		message, err := p.refuses(input)
		if err != nil {
			return err
		}
		if message != "" {
			return apierrors.NewForbidden(req.Kind.Resource(), req.Name, fmt.Errorf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", p.name, p.name, message))
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

// matches tells whether a policy is about a request. A namespace's only label that
// counts here is its name.
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

// metav1NameLabel is the label that every namespace has with its name.
const metav1NameLabel = "kubernetes.io/metadata.name"

// refuses is the message of the first check that fails. What cannot be evaluated
// is refused.
func (p Policy) refuses(input map[string]any) (string, error) {
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
	for _, check := range programs.checks {
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
