package selfcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// direct is an operator, as the builders generate it.
type direct struct{ objects []manifest.Object }

// The parts of definitions from which the tests build operators.
const (
	directHead = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
`
	directAPI  = "  api: {group: example.com, kind: Web, versions: [{name: v1, schema: {spec: {size: integer}, status: {ready: integer}}}]}\n"
	deployment = `
  - name: deployment
    template:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: "${ .metadata.name }"}
      spec:
        replicas: ${ .spec.size // 1 }
        selector: {matchLabels: {app: "${ .metadata.name }"}}
        template: {metadata: {labels: {app: "${ .metadata.name }"}}, spec: {containers: [{name: main, image: "docker.io/nginx:1"}]}}
`
	settings = `
  - name: settings
    when: (.spec.size // 1) > 2
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}, data: {a: b}}
`
	directStatus = "  status: {ready: \"${ $children.deployment.status.readyReplicas // 0 }\"}\n"

	directRotation = "  install: {tokenRotation: 8h}\n"
)

func newDirect(t *testing.T, parts ...string) *direct {
	t.Helper()
	text := directHead + strings.Join(parts, "")
	definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(text)})
	if len(definitions) != 1 || findings.HasErrors() {
		t.Fatalf("%v\n%s", findings, text)
	}
	p, findings := plan.New(definitions[0])
	if p == nil {
		t.Fatalf("%v\n%s", findings, text)
	}
	return &direct{manifest.Build(p)}
}

func goodDirect(t *testing.T) *direct {
	t.Helper()
	return newDirect(t, directAPI, "  children:", deployment, settings, directStatus)
}

func TestObjectsAcceptsDirectOperators(t *testing.T) {
	const children = "  children:"
	for _, c := range []struct {
		name, reason string
		parts        []string
	}{
		{"two children", "each child has requests", []string{directAPI, children, deployment, settings, directStatus}},
		{"two namespaces", "each trigger has several dependencies", []string{directAPI, children, deployment, "  install: {watchNamespaces: [blue, green], replicas: 2}\n"}},
		{"a rotated token", "a CronWorkflow writes its Secret", []string{directAPI, children, deployment, settings, directStatus, directRotation}},
		{"an existing kind", "the observed state is stored in annotations", []string{"  api: {existing: {version: v1, kind: Secret}}\n", children, deployment[:strings.Index(deployment, "        replicas")] + deployment[strings.Index(deployment, "        selector"):]}},
		{"children of the watched kind", "the kind is watched twice", []string{"  api: {existing: {version: v1, kind: ConfigMap}}\n", children, "\n  - name: copy\n    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }-copy\"}}\n"}},
		{"cluster-scoped kinds", "their paths have no namespace", []string{strings.Replace(directAPI, "kind: Web,", "kind: Web, scope: Cluster,", 1), children, "\n  - name: space\n    template: {apiVersion: v1, kind: Namespace, metadata: {name: \"${ .metadata.name }\"}}\n"}},
		{"templates in Workflows", "the Sensor computes children and the pod applies them", []string{directAPI, children, deployment, settings, directStatus, "  reconcile: {engine: workflow}\n"}},
		{"cluster-scoped kinds in Workflows", "their Events are in the namespace default", []string{strings.Replace(directAPI, "kind: Web,", "kind: Web, scope: Cluster,", 1), children, "\n  - name: space\n    template: {apiVersion: v1, kind: Namespace, metadata: {name: \"${ .metadata.name }\"}}\n", "  reconcile: {engine: workflow}\n"}},
		{"a worker", "the Sensor posts to it", []string{directAPI, children, deployment, settings, directStatus, workerMonitored}},
		{"a worker of two namespaces", "each trigger has several dependencies", []string{directAPI, children, deployment, "  finalizer: {}\n  reconcile: {engine: worker}\n  install: {watchNamespaces: [blue, green], replicas: 2}\n"}},
		{"a worker with related objects", "their events name them", []string{directAPI, children, deployment, "  related: [{name: defaults, apiVersion: v1, kind: ConfigMap, names: [defaults]}]\n  reconcile: {engine: worker}\n"}},
		{"templates in Workflows with a finalizer", "the pod patches the custom resource", []string{directAPI, children, deployment, "  finalizer: {}\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems, err := Objects(newDirect(t, c.parts...).objects)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) > 0 {
				t.Errorf("%s:%s", c.reason, formatProblems(problems))
			}
		})
	}
}

// directMutation introduces one error into a valid operator, as the builders generate it.
type directMutation struct {
	name, reason string
	pods         bool // uses the workflow engine, whose Sensor writes the heartbeat by a k8s trigger
	rotatesToken bool // rotates the token
	worker       bool // uses the worker engine
	mutate       func(*direct)
	code         string
	object, path string
}

// operator returns the operator without the error.
func (m directMutation) operator(t *testing.T) *direct {
	t.Helper()
	switch {
	case m.pods:
		return newDirect(t, directAPI, "  children:", deployment, "  reconcile: {engine: workflow}\n")
	case m.worker:
		return newDirect(t, directAPI, "  children:", deployment, workerMonitored)
	case m.rotatesToken:
		return newDirect(t, directAPI, "  children:", deployment, directRotation)
	}
	return goodDirect(t)
}

func TestObjectsReportsDirectMutations(t *testing.T) {
	for _, m := range directMutations() {
		t.Run(m.name, func(t *testing.T) {
			d := m.operator(t)
			m.mutate(d)
			problems, err := Objects(d.objects)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				if p.Code == m.code && p.Object == m.object && strings.HasPrefix(p.Path, m.path) {
					return
				}
			}
			t.Errorf("%s: no %s on %s at %q\ngot %v", m.reason, m.code, m.object, m.path, formatProblems(problems))
		})
	}
}

func (d *direct) sensor() *eventsv1.Sensor {
	return argo.All[*eventsv1.Sensor](argo.NewObjects(d.objects))[0]
}

func (d *direct) http() *eventsv1.HTTPTrigger {
	return d.sensor().Spec.Triggers[0].Template.HTTP
}

func (d *direct) secret() *corev1.Secret {
	return argo.All[*corev1.Secret](argo.NewObjects(d.objects))[0]
}

// role returns the Sensors' ClusterRole, the only one that allows writing children.
func (d *direct) role() *rbacv1.ClusterRole {
	for _, r := range argo.All[*rbacv1.ClusterRole](argo.NewObjects(d.objects)) {
		if strings.HasSuffix(r.Name, "-sensor") {
			return r
		}
	}
	panic("the Sensor has no role")
}

func (d *direct) resync() *wfv1.CronWorkflow {
	return argo.All[*wfv1.CronWorkflow](argo.NewObjects(d.objects))[0]
}

// replaceJQ changes the program of the first dependency.
func (d *direct) replaceJQ(old, with string) {
	jq := &d.sensor().Spec.Dependencies[0].Transform.JQ
	*jq = strings.Join(strings.Fields(*jq), " ") // ignore line breaks
	if !strings.Contains(*jq, old) {
		panic(fmt.Sprintf("the program does not contain %s:\n%s", old, *jq))
	}
	*jq = strings.Replace(*jq, old, with, 1)
}

// parameter finds a parameter of the first trigger by its destination.
func (d *direct) parameter(dest string) *eventsv1.TriggerParameter {
	t := &d.sensor().Spec.Triggers[0]
	list := t.Parameters
	if t.Template.HTTP != nil {
		list = t.Template.HTTP.Parameters
	}
	return &list[slices.IndexFunc(list, func(p eventsv1.TriggerParameter) bool { return p.Dest == dest })]
}

func (d *direct) serviceAccountLast() {
	i := slices.IndexFunc(d.objects, func(o manifest.Object) bool {
		sa, ok := o.(*corev1.ServiceAccount)
		return ok && sa.Name == "web-sensor"
	})
	sa := d.objects[i]
	d.objects = append(slices.Delete(d.objects, i, i+1), sa)
}

func resyncRole(d *direct) *rbacv1.Role { return roleNamed(d, "web-resync") }

func sensorRole(d *direct) *rbacv1.Role { return roleNamed(d, "web-sensor") }

func roleNamed(d *direct, name string) *rbacv1.Role {
	roles := argo.All[*rbacv1.Role](argo.NewObjects(d.objects))
	return roles[slices.IndexFunc(roles, func(r *rbacv1.Role) bool { return r.Name == name })]
}

func replaced(text, old, with string) string {
	text = strings.Join(strings.Fields(text), " ") // ignore line breaks
	if !strings.Contains(text, old) {
		panic(fmt.Sprintf("no %s in %s", old, text))
	}
	return strings.Replace(text, old, with, 1)
}
