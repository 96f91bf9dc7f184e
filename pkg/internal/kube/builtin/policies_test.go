package builtin_test

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/builtin"
)

// TestAdmissionPolicies tests which CEL of a policy the API server compiles: what each field may
// read, and what its result has to be.
func TestAdmissionPolicies(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{`validations: [{expression: "object.spec.replicas < 5 && (oldObject == null || request.userInfo.username != 'x')"}]`, ""},
		{`validations: [{expression: "variables.small", messageExpression: "'of ' + request.name"}], variables: [{name: small, expression: "object.spec.replicas < 5"}]`, ""},
		{`validations: [{expression: "authorizer.requestResource.check('x').allowed() && namespaceObject.metadata.name != 'a'"}]`, ""},
		{`validations: [{expression: "params.most > 1"}], paramKind: {apiVersion: v1, kind: ConfigMap}`, ""},
		{`matchConditions: [{name: a, expression: "request.operation == 'CREATE'"}], auditAnnotations: [{key: a, valueExpression: "'x'"}]`, ""},
		{`validations: [{expression: "object.spec.replicas <"}]`, "spec.validations[0].expression: Invalid value"},
		{`validations: [{expression: "'text'"}]`, "must evaluate to bool"},
		{`validations: [{expression: "unknown > 1"}]`, "undeclared reference to 'unknown'"},
		{`validations: [{expression: "params.most > 1"}]`, "undeclared reference to 'params'"},
		{`validations: [{expression: "true"}, {expression: "variables.none"}]`, "spec.validations[1].expression"},
		{`validations: [{expression: "true", messageExpression: "1"}]`, "spec.validations[0].messageExpression"},
		{`validations: [{expression: "true", messageExpression: "authorizer.group('')"}]`, "undeclared reference to 'authorizer'"},
		{`variables: [{name: a, expression: "object.spec."}]`, "spec.variables[0].expression"},
		{`matchConditions: [{name: a, expression: "variables.small"}], variables: [{name: small, expression: "true"}]`, "spec.matchConditions[0].expression"},
		{`auditAnnotations: [{key: a, valueExpression: "1"}]`, "spec.auditAnnotations[0].valueExpression"},
	} {
		var p admissionregistrationv1.ValidatingAdmissionPolicy
		if err := yaml.UnmarshalStrict([]byte("spec: {"+tt.spec+"}"), &p); err != nil {
			t.Fatal(err)
		}
		expect(t, tt.spec, &p, tt.want)
	}
}

func TestWebhookConditions(t *testing.T) {
	for expression, want := range map[string]string{
		"object.metadata.name != 'a' && authorizer.group('').resource('pods').check('get').allowed()": "",
		"variables.a": "webhooks[0].matchConditions[0].expression", "1 + 1": "must evaluate to bool",
	} {
		condition := []admissionregistrationv1.MatchCondition{{Name: "a", Expression: expression}}
		expect(t, expression, &admissionregistrationv1.ValidatingWebhookConfiguration{
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{MatchConditions: condition}},
		}, want)
		expect(t, expression, &admissionregistrationv1.MutatingWebhookConfiguration{
			Webhooks: []admissionregistrationv1.MutatingWebhook{{MatchConditions: condition}},
		}, want)
	}
}

// expect tests that the errors about CEL in an object contain a text; if that is empty, that
// there are none.
func expect(t *testing.T, what string, object runtime.Object, want string) {
	t.Helper()
	var got []string
	for _, err := range builtin.Validate(object).Refusals {
		if text := err.Error(); strings.Contains(strings.ToLower(text), "expression") {
			got = append(got, text)
		}
	}
	if all := strings.Join(got, "\n"); want == "" && all != "" || !strings.Contains(all, want) {
		t.Errorf("%s: got %q, want %q", what, all, want)
	}
}
