package simulate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/manifest"
)

const shownWorkflows = "/apis/argoproj.io/v1alpha1/namespaces/argo-events/workflows"

// widgetsOn generates an operator for Widgets with an engine.
func widgetsOn(t *testing.T, engine, rest string) []manifest.Object {
	t.Helper()
	return widgets(t, `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: widgets}
spec:
  api: {group: acme.io, kind: Widget, versions: [{name: v1, schema: {spec: {v: string}}}]}
  reconcile: {engine: `+engine+`}
`+rest).Objects()
}

// shownSpec generates an operator with a worker, and returns the spec of the Workflows in which
// it runs a reconcile to show it.
func shownSpec(t *testing.T, rest string) ([]manifest.Object, wfv1.WorkflowSpec) {
	t.Helper()
	objects := widgetsOn(t, "worker", rest)
	spec, found := argo.NewObjects(objects).Workers()[0].Shown()["widgets"]
	if !found {
		t.Fatal("the worker has no spec of a Workflow")
	}
	return objects, spec
}

// TestShownWorkflow runs the Workflow in which a worker shows a reconcile: its pod has all
// modules that it imports, and does what the worker does.
func TestShownWorkflow(t *testing.T) {
	t.Parallel()
	const child = `{apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}, data: {v: "${ .spec.v }"}}`
	for name, tt := range map[string]struct{ rest, until, want string }{
		"template": {"  children: [{name: map, template: " + child + "}]\n", "2999-01-01T00:00:00Z", "applied ConfigMap default/a"},
		"logic": {
			"  children: [{name: map, apiVersion: v1, kind: ConfigMap}]\n" +
				`  logic: {image: "busybox:1", files: [sitecustomize.py], command: [sh, -c, 'echo "{\"children\": [{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}]}" > $ARGOPERATOR_RESPONSE']}` + "\n",
			"2999-01-01T00:00:00Z", "applied ConfigMap default/a",
		},
		"too late": {"  children: [{name: map, template: " + child + "}]\n", "2020-01-01T00:00:00Z", "began too late"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, spec := shownSpec(t, tt.rest)
			template := &wfv1.WorkflowTemplate{Spec: spec}
			template.Namespace, template.Name = "argo-events", "shown"
			s, err := New(Inputs{Objects: append(objects, template), Runner: local()})
			if err != nil {
				t.Fatal(err)
			}
			cr := map[string]any{"apiVersion": "acme.io/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"v": "1"}}
			apply(t, s, cr)
			if err := s.Delete(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "default"}}); err != nil {
				t.Fatal(err)
			}
			s.trace = nil
			apply(t, s, map[string]any{
				"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]any{"name": "one", "namespace": "argo-events"},
				"spec": map[string]any{"workflowTemplateRef": map[string]any{"name": "shown"}, "arguments": map[string]any{"parameters": []any{
					map[string]any{"name": "key", "value": "default.a"}, map[string]any{"name": "until", "value": tt.until},
				}}},
			})
			var said strings.Builder
			for _, step := range s.Trace() {
				if step.Workflow != nil && step.Workflow.Name == "one" {
					for _, c := range step.Workflow.Containers {
						fmt.Fprintf(&said, "%s: exit code %d: %s\n", c.Name, c.ExitCode, c.Output)
					}
				}
			}
			if !strings.Contains(said.String(), tt.want) {
				t.Errorf("got\n%s, want %q", said.String(), tt.want)
			}
		})
	}
}

// TestShownPolicy lets the worker's account create the Workflow that shows a reconcile, and
// none that runs something else.
func TestShownPolicy(t *testing.T) {
	t.Parallel()
	const rest = "  children: [{name: map, apiVersion: v1, kind: ConfigMap}]\n" +
		`  logic: {image: "busybox:1", files: [sitecustomize.py], command: [sh, -c, 'x=$(date) "it''s"'], env: [{name: A, value: "b\\c\n"}, {name: S, secret: s, key: k}]}` + "\n"
	objects, spec := shownSpec(t, rest)
	spec.Arguments.Parameters = []wfv1.Parameter{{Name: "key", Value: wfv1.AnyStringPtr("default.a")}}
	for i, tt := range []struct {
		reason  string
		account string
		change  func(*wfv1.WorkflowSpec)
		allowed bool
	}{
		{"it is what the worker makes", "widgets-worker", func(*wfv1.WorkflowSpec) {}, true},
		{"others are not restricted", "other", func(s *wfv1.WorkflowSpec) { s.ServiceAccountName = "other" }, true},
		{"another account may do more", "widgets-worker", func(s *wfv1.WorkflowSpec) { s.ServiceAccountName = "widgets-sensor" }, false},
		{"a template may choose an account", "widgets-worker", func(s *wfv1.WorkflowSpec) { s.Templates[0].ServiceAccountName = "widgets-sensor" }, false},
		{"it is another program", "widgets-worker", func(s *wfv1.WorkflowSpec) {
			s.Templates[0].ContainerSet.Containers[0].Command = []string{"sh"}
		}, false},
		{"it mounts a Secret", "widgets-worker", func(s *wfv1.WorkflowSpec) {
			s.Templates[0].ContainerSet.Containers[2].Env[4].ValueFrom.SecretKeyRef.Name = "other"
		}, false},
		{"it runs another template, too", "widgets-worker", func(s *wfv1.WorkflowSpec) {
			s.Templates = append(s.Templates, wfv1.Template{Name: "more"})
		}, false},
		{"a template of others may choose all", "widgets-worker", func(s *wfv1.WorkflowSpec) {
			s.WorkflowTemplateRef = &wfv1.WorkflowTemplateRef{Name: "other"}
		}, false},
		{"it stays longer", "widgets-worker", func(s *wfv1.WorkflowSpec) { *s.ActiveDeadlineSeconds++ }, false},
		{"it has no arguments", "widgets-worker", func(s *wfv1.WorkflowSpec) { s.Arguments = wfv1.Arguments{} }, false},
	} {
		changed := *spec.DeepCopy()
		tt.change(&changed)
		workflow := map[string]any{"spec": asSent(fieldsOf(t, changed))}
		if allowed := createsWorkflow(t, objects, tt.account, workflow); allowed != tt.allowed {
			t.Errorf("%d, %s: %t", i, tt.reason, allowed)
		}
	}
}

// TestWorkflowStatus lets no account create a Workflow with a status: Argo would run the spec in it.
func TestWorkflowStatus(t *testing.T) {
	t.Parallel()
	const child = `  children: [{name: map, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]` + "\n"
	shown, spec := shownSpec(t, child)
	spec.Arguments.Parameters = []wfv1.Parameter{{Name: "key", Value: wfv1.AnyStringPtr("default.a")}}
	direct := widgetsOn(t, "direct", child)
	for name, tt := range map[string]struct {
		objects []manifest.Object
		account string
		spec    any
	}{
		"worker": {shown, "widgets-worker", asSent(fieldsOf(t, spec))},
		"direct": {direct, "widgets-sensor", map[string]any{"workflowTemplateRef": map[string]any{"name": "widgets-diagnose"}}},
	} {
		if !createsWorkflow(t, tt.objects, tt.account, map[string]any{"spec": tt.spec}) {
			t.Errorf("%s: a Workflow without a status is rejected", name)
		}
		status := map[string]any{"storedWorkflowTemplateSpec": map[string]any{"serviceAccountName": "other"}}
		if createsWorkflow(t, tt.objects, tt.account, map[string]any{"spec": tt.spec, "status": status}) {
			t.Errorf("%s: a Workflow with a status is accepted", name)
		}
	}
}

// fieldsOf returns a spec as plain data.
func fieldsOf(t *testing.T, spec wfv1.WorkflowSpec) map[string]any {
	t.Helper()
	fields := map[string]any{}
	data, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// createsWorkflow reports whether an account can create a Workflow where an operator is installed.
func createsWorkflow(t *testing.T, objects []manifest.Object, account string, workflow map[string]any) bool {
	t.Helper()
	s, err := New(Inputs{Objects: append(slices.Clone(objects), workflowCRD())})
	if err != nil {
		t.Fatal(err)
	}
	workflow["apiVersion"], workflow["kind"], workflow["metadata"] = "argoproj.io/v1alpha1", "Workflow", map[string]any{"name": "one"}
	body, err := json.Marshal(workflow)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, shownWorkflows, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	reply, err := (&cluster.Recorder{Cluster: s.api, Account: "argo-events/" + account}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	return reply.StatusCode == http.StatusCreated
}

// workflowCRD is that of Argo Workflows, in which the status is not a subresource.
func workflowCRD() *apiextensionsv1.CustomResourceDefinition {
	open := true
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "argoproj.io", Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Workflow", Plural: "workflows"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1alpha1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open},
			},
		}},
	}}
	crd.Name = "workflows.argoproj.io"
	return crd
}

// TestNotShown covers the workers that start no Workflow: their manifests contain no part of it.
func TestNotShown(t *testing.T) {
	t.Parallel()
	const template = `  children: [{name: map, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]` + "\n"
	for name, tt := range map[string]struct {
		more string
		want bool
	}{
		"by default":       {"  reconcile: {engine: worker}\n" + template, true},
		"turned off":       {"  reconcile: {engine: worker, diagnose: false}\n" + template, false},
		"without policies": {"  reconcile: {engine: worker}\n  install: {admissionPolicies: false}\n" + template, false},
		"a server as logic": {"  reconcile: {engine: worker}\n  children: [{name: map, apiVersion: v1, kind: ConfigMap}]\n" +
			`  logic: {image: "busybox:1", files: [sitecustomize.py], command: [sh], hook: {port: 8000, path: /}}` + "\n", false},
	} {
		objects := widgets(t, `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: widgets}
spec:
  api: {group: acme.io, kind: Widget, versions: [{name: v1, schema: {spec: {v: string}}}]}
`+tt.more).Objects()
		all, err := json.Marshal(objects)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{
			"the spec": manifest.ShownVariable + `"`, "the policy": "argo-events.widgets.shown", "the rights": `"workflowtaskresults"`, "the program": `"reconcile.py"`,
		} {
			if got := strings.Contains(string(all), text); got != tt.want {
				t.Errorf("%s: %s is in the manifests: %t", name, what, got)
			}
		}
	}
}

// asSent removes the empty values that only the Go types have, and keeps those that mean
// something: the worker sends plain JSON.
func asSent(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			empty, isMap := item.(map[string]any)
			if item == nil || key == "name" && item == "" || isMap && len(empty) == 0 && key != "emptyDir" {
				delete(v, key)
				continue
			}
			v[key] = asSent(item)
		}
	case []any:
		for i := range v {
			v[i] = asSent(v[i])
		}
	}
	return value
}
