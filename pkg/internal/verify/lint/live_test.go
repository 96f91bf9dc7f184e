package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

func liveObjects(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(samples, "live", "all.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestLive lints objects of a cluster in several namespaces, as kubectl prints them.
// Findings name the object. There is none about a field that a server set, about objects
// of other kinds, and about objects that a controller or the API server made.
func TestLive(t *testing.T) {
	data := liveObjects(t)
	list := lintText(t, "-", string(data), nil)
	var out bytes.Buffer
	if err := diag.Text(&out, list, func(string) []byte { return data }); err != nil {
		t.Fatal(err)
	}
	goldenfile.Compare(t, filepath.Join(samples, "live", "all.out"), out.String())
	for _, f := range list {
		if f.Object == "" {
			t.Errorf("line %d: a finding names no object: %s", f.Line, f.Message)
		}
	}
}

// TestLiveJSON requires the same findings for the objects as JSON in one line.
func TestLiveJSON(t *testing.T) {
	data, err := yaml.YAMLToJSON(liveObjects(t))
	if err != nil {
		t.Fatal(err)
	}
	said := func(list diag.List) []string {
		var out []string
		for _, f := range list {
			out = append(out, f.Object+": "+f.Code)
		}
		slices.Sort(out)
		return out
	}
	config := &Config{Rules: []RuleConfig{{Code: "retry-strategy-ignored", Severity: "off", Objects: []string{"Sensor/orders"}}}}
	want := said(lintText(t, "-", string(liveObjects(t)), config))
	if diff := cmp.Diff(want, said(lintText(t, "-", string(data), config))); diff != "" {
		t.Errorf("findings (-YAML +JSON):\n%s", diff)
	}
	if slices.ContainsFunc(want, func(s string) bool { return strings.HasSuffix(s, "retry-strategy-ignored") }) {
		t.Errorf("the configuration turns the rule off for Sensor/orders, got %q", want)
	}
}

func TestLiveSkipsWhatUsersCannotChange(t *testing.T) {
	const workflow = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
spec: {entrypoint: main, templates: [{name: main, container: {image: busybox}}]}
metadata:
  name: work
`
	const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
metadata:
  name: role
`
	const sensor = "apiVersion: argoproj.io/v1alpha1\nkind: Sensor\nmetadata: {name: s, uid: u}\nspec: {dependencies: [{name: d, eventSourceName: e, eventName: e}], triggers: [{template: {name: t, log: {}}}]}\n"
	for _, test := range []struct {
		name, text string
		want       bool // any finding
	}{
		{"reports a Workflow that a user submitted", workflow + "  uid: u\n", true},
		{"skips a Workflow of a CronWorkflow", workflow + "  uid: u\n  ownerReferences: [{kind: CronWorkflow, controller: true}]\n", false},
		{"reports a Workflow with an owner that does not control it", workflow + "  uid: u\n  ownerReferences: [{kind: ConfigMap}]\n", true},
		{"skips a Workflow of a Sensor", workflow + "  uid: u\n  labels: {events.argoproj.io/sensor: s}\n", false},
		{"reports a manifest with the label of a Sensor", workflow + "  labels: {events.argoproj.io/sensor: s}\n", true},
		{"reports a role", role + "  uid: u\n", true},
		{"skips a role of Kubernetes", role + "  uid: u\n  labels: {kubernetes.io/bootstrapping: rbac-defaults}\n", false},
		{"skips an aggregated role", role + "  uid: u\naggregationRule: {}\n", false},
		{"skips fields of newer versions of Kubernetes", strings.Replace(role, "kind:", "new: field\nkind:", 1) + "  uid: u\naggregationRule: {}\n", false},
		{"skips a status of another version of Argo", sensor + "status: {new: field, conditions: text}\n", false},
		{"reports fields that Argo does not have", strings.Replace(sensor, "log: {}", "log: {x: y}", 1), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if list := lintText(t, "-", test.text, &Config{Profile: strict}); (len(list) > 0) != test.want {
				t.Errorf("findings %v, want any: %v", list, test.want)
			}
		})
	}
}

// TestNamespaces requires that objects of the same name in different namespaces do not
// affect each other.
func TestNamespaces(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(samples, "injection.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, template, _ := strings.Cut(string(data), "---\n")
	source := "---\napiVersion: argoproj.io/v1alpha1\nkind: EventSource\nmetadata: {name: source, namespace: other}\n" +
		"spec: {template: {serviceAccountName: sensor}, resource: {wrong: {group: a.b, version: v1, resource: things, eventTypes: [ADD]}}}\n"
	text := string(data) + "---\n" + strings.ReplaceAll(template, "namespace: events", "namespace: other") + source
	var got []string
	for _, f := range lintText(t, "-", text, nil) {
		got = append(got, f.Object+": "+f.Code)
	}
	want := []string{
		"sensor/sensor in namespace events: misspelled-reference", // its EventSource is in the other namespace
		"workflowtemplate/work in namespace events: injection",
		"workflowtemplate/work in namespace other: template-tag-in-script",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestWorkflowDefaults requires that settings of the controller's ConfigMap count for
// every Workflow.
func TestWorkflowDefaults(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(samples, "no-ttl-strategy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const controller = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: workflow-controller-configmap, namespace: argo}\ndata:\n" +
		"  workflowDefaults: |\n    spec: {ttlStrategy: {secondsAfterCompletion: 60}}\n"
	if list := lintText(t, "x.yaml", string(data)+controller, nil); len(list) > 0 {
		t.Errorf("findings: %v", list)
	}
}

func TestClusterWorkflowTemplate(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(samples, "injection.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("{name: work}", "{name: work, clusterScope: true}", "kind: WorkflowTemplate\nmetadata: {name: work, namespace: events}",
		"kind: ClusterWorkflowTemplate\nmetadata: {name: work}").Replace(string(data))
	list := lintText(t, "x.yaml", text, nil)
	if len(list) != 1 || list[0].Code != "injection" {
		t.Errorf("findings %v, want one injection", list)
	}
}

// TestNameOf covers objects without a name or a namespace.
func TestNameOf(t *testing.T) {
	for text, want := range map[string]string{
		"kind: Workflow\nmetadata: {generateName: work-}\n":             "workflow/work-*",
		"kind: Sensor\nmetadata: {name: s, namespace: team}\n":          "sensor/s in namespace team",
		"kind: ClusterRole\nmetadata: {name: r, generateName: ignored}": "clusterrole/r",
	} {
		objects, _ := source.Objects(source.Input{Name: "-", Data: []byte(text)}, source.NotEmpty)
		if got := nameOf(objects[0]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
