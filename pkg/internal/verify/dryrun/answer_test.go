package dryrun

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAnswers covers answers that a Kubernetes 1.34 API server gave.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, reason, status string
		want                 answer
	}{
		{
			"invalid fields", "each cause is a problem",
			`{"message":"Deployment.apps \"x\" is invalid: [...]","reason":"Invalid","details":{"name":"x","group":"apps","kind":"Deployment","causes":[
				{"reason":"FieldValueInvalid","message":"Invalid value: -1: must be greater than or equal to 0","field":"spec.replicas"},
				{"reason":"FieldValueRequired","message":"Required value","field":"spec.template.spec.containers[0].image"}]},"code":422}`,
			answer{problems: []Problem{
				{Path: "spec.replicas", Message: "Invalid value: -1: must be greater than or equal to 0", cause: metav1.CauseTypeFieldValueInvalid},
				{Path: "spec.template.spec.containers[0].image", Message: "Required value", cause: metav1.CauseTypeFieldValueRequired},
			}},
		},
		{
			"admission policy", "its cause has no field, and the object is named in the finding",
			`{"message":"deployments.apps \"x\" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: every container needs a memory limit",
			  "reason":"Invalid","details":{"name":"x","group":"apps","kind":"deployments","causes":[
			    {"message":"ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: every container needs a memory limit"}]},"code":422}`,
			answer{problems: []Problem{{Message: "ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: every container needs a memory limit"}}},
		},
		{
			"webhook", "the server adds the name of the webhook",
			`{"message":"admission webhook \"validate.kyverno.svc-fail\" denied the request: \n\nresource Deployment/default/x was blocked","code":400}`,
			answer{problems: []Problem{{Message: "admission webhook \"validate.kyverno.svc-fail\" denied the request: \n\nresource Deployment/default/x was blocked"}}},
		},
		{
			"quota", "admission answers Forbidden as the authorizer does",
			`{"message":"services \"x\" is forbidden: exceeded quota: small, requested: services=1, used: services=0, limited: services=0","reason":"Forbidden","details":{"name":"x","kind":"services"},"code":403}`,
			answer{problems: []Problem{{Message: "exceeded quota: small, requested: services=1, used: services=0, limited: services=0"}}},
		},
		{
			"field of another type", "server-side apply answers with an internal error",
			`{"message":"failed to create typed patch object (default/x; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string","code":500}`,
			answer{problems: []Problem{{Path: "spec.replicas", Message: "expected numeric (int or float), got string"}}},
		},
		{
			"unknown field in a list", "the item is named by its key",
			`{"message":"failed to create typed patch object (default/x; apps/v1, Kind=Deployment): .spec.template.spec.containers[name=\"a b\"].imag: field not declared in schema","code":500}`,
			answer{problems: []Problem{{Path: `spec.template.spec.containers[name="a b"].imag`, Message: "field not declared in schema"}}},
		},
		{
			"several fields", "each line is a problem",
			`{"message":"failed to create typed patch object (default/x; v1, Kind=ConfigMap): errors:\n  .dat: field not declared in schema\n  .data.x: expected string, got 1","code":500}`,
			answer{problems: []Problem{{Path: "dat", Message: "field not declared in schema"}, {Path: "data.x", Message: "expected string, got 1"}}},
		},
		{
			"strict decoding", "each unknown field is a problem",
			`{"message":"Web in version \"v1\" cannot be handled as a Web: strict decoding error: unknown field \"spec.a\", unknown field \"spec.b\"","reason":"BadRequest","code":400}`,
			answer{problems: []Problem{{Path: "spec.a", Message: "unknown field"}, {Path: "spec.b", Message: "unknown field"}}},
		},
		{
			"no right", "it says something about the user, not about the object",
			`{"message":"deployments.apps \"x\" is forbidden: User \"ann\" cannot patch resource \"deployments\" in API group \"apps\" in the namespace \"team\"","reason":"Forbidden","details":{"name":"x","group":"apps","kind":"deployments"},"code":403}`,
			answer{skipped: reason{
				`the user of the kubeconfig does not have permission to patch deployments.apps in namespace "team"`,
				"a server-side apply needs the verbs patch and create, also as a dry run: kubectl auth can-i patch deployments.apps -n team",
			}},
		},
		{
			"no right to a status", "kubectl names a subresource in a flag",
			`{"message":"webs.example.com \"x\" is forbidden: User \"ann\" cannot patch resource \"webs/status\" in API group \"example.com\" at the cluster scope","reason":"Forbidden","details":{"name":"x","group":"example.com","kind":"webs"},"code":403}`,
			answer{skipped: reason{
				"the user of the kubeconfig does not have permission to patch webs/status.example.com",
				"a server-side apply needs the verbs patch and create, also as a dry run: kubectl auth can-i patch webs.example.com --subresource=status",
			}},
		},
		{
			"a policy quotes the authorizer", "only the text of the authorizer counts",
			`{"message":"pods \"x\" is forbidden: users cannot patch resources here","reason":"Forbidden","details":{"name":"x","kind":"pods"},"code":403}`,
			answer{problems: []Problem{{Message: "users cannot patch resources here"}}},
		},
		{
			"rights in a role", "the operator may hold rights that the user does not",
			`{"message":"roles.rbac.authorization.k8s.io \"x\" is forbidden: user \"ann\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}","reason":"Forbidden","code":403}`,
			answer{skipped: reason{"you may not grant these permissions, so the server does not check whether the operator may", "use a kubeconfig of a user who has these permissions"}},
		},
		{
			"no namespace", "the object may be legal in another one",
			`{"message":"namespaces \"nowhere\" not found","reason":"NotFound","details":{"name":"nowhere","kind":"namespaces"},"code":404}`,
			answer{skipped: reason{`namespace "nowhere" does not exist`, "kubectl create namespace nowhere"}},
		},
		{
			"namespace that is being deleted", "nothing can be created in it",
			`{"message":"configmaps \"x\" is forbidden: unable to create new content in namespace team because it is being terminated","reason":"Forbidden","details":{"name":"x","kind":"configmaps","causes":[{"reason":"NamespaceTerminating","message":"namespace team is being terminated","field":"metadata.namespace"}]},"code":403}`,
			answer{skipped: reason{"the namespace is being deleted", "choose another: kubectl config set-context --current --namespace=NAME"}},
		},
		{
			"webhook without dry run", "it cannot be asked without a write",
			`{"message":"admission webhook \"sizes.example.com\" does not support dry run","reason":"BadRequest","code":400}`,
			answer{skipped: reason{`admission webhook "sizes.example.com" does not support dry run`, "the configuration of the webhook must set sideEffects to None or NoneOnDryRun"}},
		},
		{
			"webhook that is down", "the answer is not about the object",
			`{"message":"Internal error occurred: failed calling webhook \"sizes.example.com\": connection refused","reason":"InternalError","code":500}`,
			answer{skipped: reason{`response: Internal error occurred: failed calling webhook "sizes.example.com": connection refused`, ""}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status := metav1.Status{Status: metav1.StatusFailure}
			if err := json.Unmarshal([]byte(tt.status), &status); err != nil {
				t.Fatal(err)
			}
			got := answerOf(&apierrors.StatusError{ErrStatus: status})
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(answer{}, Problem{}, reason{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestSteps covers the notations of paths in answers.
func TestSteps(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a.b/c": "x"}},
		"spec": map[string]any{"containers": []any{
			map[string]any{"name": "a"},
			map[string]any{"name": "b", "ports": []any{
				map[string]any{"containerPort": int64(80), "protocol": "UDP"}, map[string]any{"containerPort": int64(80), "protocol": "TCP"},
			}},
		}},
	}
	for path, want := range map[string][]string{
		"":                                nil,
		"spec.containers[1].name":         {"spec", "containers", "1", "name"},
		"metadata.labels[a.b/c]":          {"metadata", "labels", "a.b/c"},
		`spec.containers[name="b"].image`: {"spec", "containers", "1", "image"},
		`spec.containers[name="b"].ports[containerPort=80,protocol="TCP"].hostPort`:        {"spec", "containers", "1", "ports", "1", "hostPort"},
		`spec.containers[name="none"].image`:                                               {"spec", "containers"},
		`spec.containers[name="b"].ports[containerPort=8080,protocol="TCP"].containerPort`: {"spec", "containers", "1", "ports"},
	} {
		if diff := cmp.Diff(want, steps(object, path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
