package manifest

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// admissionPolicies returns the policies that reject writes which RBAC allows to users
// or to the operator's own accounts.
func admissionPolicies(p *plan.Plan) []Object {
	var out []Object
	for _, policy := range p.Policies {
		if policy.Shown {
			policy.Rule = onlyShown(p) + " && " + policy.Rule
		}
		fail := admissionregistrationv1.Fail
		m := clusterMeta(p, PolicyName(p, policy))
		out = append(out,
			&admissionregistrationv1.ValidatingAdmissionPolicy{
				TypeMeta:   admissionType("ValidatingAdmissionPolicy"),
				ObjectMeta: m,
				Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
					FailurePolicy:    &fail,
					MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: resourceRules(policy)},
					MatchConditions:  []admissionregistrationv1.MatchCondition{{Name: "account", Expression: accountRule(p, policy)}},
					Validations:      []admissionregistrationv1.Validation{{Expression: policy.Rule, Message: policy.Message}},
				},
			},
			&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
				TypeMeta:   admissionType("ValidatingAdmissionPolicyBinding"),
				ObjectMeta: *m.DeepCopy(),
				Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
					PolicyName:        m.Name,
					MatchResources:    inNamespaces(policy.Namespaces),
					ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
				},
			})
	}
	return out
}

// PolicyName returns the name of a policy's objects. It includes the namespace, because
// operators in several namespaces may have the same name.
func PolicyName(p *plan.Plan, policy plan.Policy) string {
	return strings.Join([]string{p.Shared.Namespace, p.Operator.Name, policy.Name}, ".")
}

func admissionType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: kind}
}

// resourceRules match each kind with all of its subresources, because some accept
// metadata too.
func resourceRules(policy plan.Policy) []admissionregistrationv1.NamedRuleWithOperations {
	operations := []admissionregistrationv1.OperationType{admissionregistrationv1.Update}
	if policy.Creates {
		operations = append([]admissionregistrationv1.OperationType{admissionregistrationv1.Create}, operations...)
	}
	var out []admissionregistrationv1.NamedRuleWithOperations
	for _, k := range policy.Kinds {
		out = append(out, admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: operations,
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{k.Group}, APIVersions: []string{"*"}, Resources: []string{k.Plural, k.Plural + "/*"},
			},
		}})
	}
	return out
}

// accountRule returns the CEL that matches the accounts of a policy.
func accountRule(p *plan.Plan, policy plan.Policy) string {
	var users []string
	for _, a := range policy.Accounts {
		users = append(users, fmt.Sprintf("'system:serviceaccount:%s:%s'", p.Shared.Namespace, p.ServiceAccount(a)))
	}
	rule := fmt.Sprintf("request.userInfo.username in [%s]", strings.Join(users, ", "))
	if policy.Exempt {
		return "!(" + rule + ")"
	}
	return rule
}

func inNamespaces(names []string) *admissionregistrationv1.MatchResources {
	if len(names) == 0 {
		return nil
	}
	return &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: names,
		}},
	}}
}
