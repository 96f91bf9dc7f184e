package argoperator_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
	"github.com/argoperator/argoperator/pkg/manifest"
	"github.com/argoperator/argoperator/templates"
)

const root = "../.."

// golden selects the objects of an operator that its golden file contains.
type golden struct {
	operator string
	why      string   // what these objects cover that no other golden file covers
	objects  []string // patterns for Kind/name in the syntax of path.Match
}

// whole selects all objects of an operator.
var whole = []string{"*/*"}

// goldens has a row for every example and every definition in testdata/operators.
// The golden files contain one complete operator of each engine; for the others,
// only the objects that differ from those four.
var goldens = []golden{
	{"memcached", "the direct engine", whole},
	{"cleanup", "the workflow engine, with logic, a finalizer and a related object", whole},
	{"memcached-tutorial", "the steps engine", whole},

	{"ansible", "the worker engine; logic files in directories, environment variables", whole},
	{"at", "resyncAfter: the worker waits", []string{"Role/at-worker", "Deployment/at-worker"}},
	{"configwatcher", "related resources, and the permissions", []string{"ClusterRole/*-worker", "EventSource/*", "Sensor/*"}},
	{"cronjob", "a custom plural, defaults and enums in the schema; logic in two files", []string{"CustomResourceDefinition/*", "ConfigMap/cronjob-logic"}},
	{"existing", "an existing kind: no CustomResourceDefinition, no user roles", []string{"ClusterRole/*", "ClusterRoleBinding/*", "EventSource/*", "Sensor/*"}},
	{"foo", "a name from the spec: objects listed in the status", []string{"CustomResourceDefinition/*", "ClusterRole/*-sensor", "ValidatingAdmissionPolicy/*.observed", "Sensor/*"}},
	{"given-crd", "a CustomResourceDefinition from a file", []string{"CustomResourceDefinition/*"}},
	{"greeting", "one watched namespace, the operator's own, and a label selector", []string{"Role/*", "RoleBinding/*", "EventSource/*"}},
	{"managed-bus", "a managed event bus, two replicas with leader election, custom names, NetworkPolicies", []string{
		"ServiceAccount/redis-runner", "Role/redis-source", "RoleBinding/redis-source", "NetworkPolicy/*", "EventBus/*", "EventSource/*", "Sensor/redis-watcher",
	}},
	{"memcached-logic", "the workflow engine without a finalizer; the scale subresource", []string{"CustomResourceDefinition/*", "ClusterRole/*:edit", "Sensor/*"}},
	{"memcached-sdk", "a finalizer with a custom name, conditions of the definition", []string{"CustomResourceDefinition/*", "ClusterRole/*-sensor", "Sensor/*"}},
	{"monitored", "metrics, alerts and the dashboard of the direct engine", []string{"ConfigMap/sites-dashboard", "CronWorkflow/sites-resync", "PodMonitor/*", "PrometheusRule/*"}},
	{"monitored-pods", "metrics and alerts of the workflow engine; forEach in the pod", []string{"ConfigMap/groups-runtime", "WorkflowTemplate/groups-reconcile", "PrometheusRule/*"}},
	{"monitored-worker", "the worker engine, with metrics and alerts", []string{"Service/*", "Sensor/*", "PodMonitor/*", "PrometheusRule/*"}},
	{"mysqlcluster", "templates and logic together, related resources, a finalizer", []string{"ClusterRole/*-worker", "ConfigMap/*-config", "Sensor/*"}},
	{"namespaces", "two watched namespaces: bindings in each, and no cluster-wide permissions", []string{"Role/*", "RoleBinding/*", "EventSource/*"}},
	{"policy", "labels and annotations, cluster scope, two versions, orphans, timeouts, retries, a Workflow that waits", []string{
		"CustomResourceDefinition/*", "ServiceAccount/*-source", "Role/platform:*", "RoleBinding/platform:*", "ValidatingAdmissionPolicy/*.children",
		"ConfigMap/*", "WorkflowTemplate/*", "CronWorkflow/*", "EventSource/*",
	}},
	{"rotated-token", "a token that a CronWorkflow rotates", []string{"*/note-token", "Secret/note-rotated-token"}},
	{"secret-copier", "a finalizer on an existing kind, an annotation selector, children in other namespaces", []string{"ClusterRole/*", "ConfigMap/*-config", "EventSource/*"}},
	{"shop", "a Helm chart, called by a worker", []string{"ConfigMap/shop-logic", "Deployment/shop-worker"}},
	{"tenant", "a cluster-scoped kind, a namespace and children in it, a permission to bind", []string{"CustomResourceDefinition/*", "ClusterRole/*", "Sensor/*"}},
	{"visitors", "children that wait for others, too many for one Sensor", []string{"ClusterRole/*-worker", "EventSource/*"}},
	{"webapp", "optional children; rules and nested fields in the schema", []string{"CustomResourceDefinition/*", "ClusterRole/*-sensor"}},
	{"website", "a template that is one expression", []string{"ClusterRole/*-sensor"}},
}

// TestGolden compares the objects selected in goldens with the files in
// testdata/golden; UPDATE=1 rewrites them. The other objects differ from those of
// the four complete operators in little more than names. They are generated twice
// here, must have no finding, and pass checkObjects. The tests of the examples and
// of testdata/behaviour cover their behavior, in memory and on a cluster.
func TestGolden(t *testing.T) {
	var names []string
	definitions := definitionsByName(t)
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		file := definitions[name]
		names = append(names, name+".yaml")
		t.Run(name, func(t *testing.T) {
			row := slices.IndexFunc(goldens, func(g golden) bool { return g.operator == name })
			if row < 0 {
				t.Fatal("missing in goldens: add a row that selects its objects, with the reason")
			}
			result, again := generated(t, file), generated(t, file)
			if diff := cmp.Diff(textOf(t, result.Objects()), textOf(t, again.Objects())); diff != "" {
				t.Fatalf("two runs differ:\n%s", diff)
			}
			checkObjects(t, name, result)
			checkPositions(t, result)
			goldenfile.Compare(t, filepath.Join(root, "testdata", "golden", name+".yaml"), textOf(t, goldens[row].of(t, result)))
		})
	}
	files, err := os.ReadDir(filepath.Join(root, "testdata", "golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(names, f.Name()) {
			t.Errorf("testdata/golden/%s has no operator: delete it", f.Name())
		}
	}
	for _, g := range goldens {
		if !slices.Contains(names, g.operator+".yaml") {
			t.Errorf("goldens has a row for %s, which is not an operator", g.operator)
		}
	}
}

// checkPositions compares the place of each object's kind with the apply order.
func checkPositions(t *testing.T, result argoperator.Result) {
	t.Helper()
	last := manifest.Position(&corev1.Pod{}) // after all: no operator has a Pod
	for _, o := range result.Operators {
		before := 0
		for _, object := range o.Objects {
			at := manifest.Position(object)
			if at < before && object.GetObjectKind().GroupVersionKind().Kind != "ClusterRole" || at >= last {
				t.Errorf("%T has the position %d after %d of %d", object, at, before, last-1)
			}
			before = at
		}
	}
}

// definitionsByName returns the definitions of the examples and of
// testdata/operators, by directory name.
func definitionsByName(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"/examples/*/operator.yaml", "/testdata/operators/*/operator.yaml"} {
		files, err := filepath.Glob(root + pattern)
		if err != nil || len(files) < 2 {
			t.Fatalf("%d definitions in %s: %v", len(files), pattern, err)
		}
		for _, file := range files {
			out[filepath.Base(filepath.Dir(file))] = file
		}
	}
	return out
}

// of returns the objects that the patterns match, in the operator's order.
func (g golden) of(t *testing.T, result argoperator.Result) []manifest.Object {
	t.Helper()
	matched := map[string]bool{}
	var out []manifest.Object
	for _, o := range result.Objects() {
		name := o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName()
		selected := false
		for _, pattern := range g.objects {
			if ok, err := path.Match(pattern, name); err != nil {
				t.Fatalf("%s: %v", pattern, err)
			} else if ok {
				matched[pattern], selected = true, true
			}
		}
		if selected {
			out = append(out, o)
		}
	}
	for _, pattern := range g.objects {
		if !matched[pattern] {
			t.Errorf("goldens: no object of %s matches %s", g.operator, pattern)
		}
	}
	return out
}

// resultOf generates the operators of a file.
func resultOf(t *testing.T, file string) argoperator.Result {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	result, err := argoperator.Generate([]argoperator.Source{{
		Name: filepath.ToSlash(file), Data: data, Dir: os.DirFS(filepath.Dir(file)),
	}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// generated is resultOf for a definition without findings.
func generated(t *testing.T, file string) argoperator.Result {
	t.Helper()
	result := resultOf(t, file)
	for _, f := range result.Findings {
		t.Errorf("%s:%d:%d: %s %s: %s", f.File, f.Line, f.Column, f.Severity, f.Code, f.Message)
	}
	return result
}

// textOf returns the YAML of objects, shortened.
func textOf(t *testing.T, objects []manifest.Object) string {
	t.Helper()
	short := slices.Clone(objects)
	for i, o := range short {
		short[i] = shortened(t, o)
	}
	data, err := output.Stream(short)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// shortened removes the pod's scripts from a ConfigMap, because they have their own
// tests.
func shortened(t *testing.T, o manifest.Object) manifest.Object {
	t.Helper()
	m, ok := o.(*corev1.ConfigMap)
	if !ok {
		return o
	}
	m = m.DeepCopy()
	for name := range m.Data {
		text, err := templates.Runtime.ReadFile("runtime/" + name)
		if err != nil || m.Data["api.py"] == "" {
			continue
		}
		if m.Data[name] != string(text) {
			t.Errorf("the emitted script is not templates/runtime/%s", name)
		}
		m.Data[name] = "# templates/runtime/" + name + "\n"
	}
	return m
}
