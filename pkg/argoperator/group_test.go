package argoperator_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

// member returns a small operator; more is added to its spec.
func member(name, install, more string) argoperator.Source {
	return argoperator.Source{Name: name + ".yaml", Data: []byte(fmt.Sprintf(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: %[1]s}
spec:
  api:
    group: example.com
    kind: %[2]s
    versions: [{name: v1, schema: {spec: {text: string | maxLength=20}, status: {text: string}}}]
  children:
  - name: map
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }-%[1]s"}
      data: {text: "${ .spec.text }"}
  status: {text: '${ $children.map.data.text }'}
  install: %[3]s
%[4]s`, name, strings.ToUpper(name[:1])+name[1:], install, more))}
}

// renamed replaces texts of a definition.
func renamed(s argoperator.Source, replacements ...string) argoperator.Source {
	s.Data = []byte(strings.NewReplacer(replacements...).Replace(string(s.Data)))
	return s
}

// TestGroup covers what operators of one install.group share.
func TestGroup(t *testing.T) {
	var sources []argoperator.Source
	for i := range 20 {
		sources = append(sources, member(fmt.Sprintf("op%02d", i), "{group: platform}", ""))
	}
	result, err := argoperator.Generate(sources, argoperator.Options{})
	if err != nil || len(result.Findings) > 0 {
		t.Fatal(err, result.Findings)
	}
	identities, sensors, workers, triggers := map[string]bool{}, 0, 0, map[string]bool{}
	for _, o := range result.Objects() {
		id := o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetNamespace() + "/" + o.GetName()
		if identities[id] {
			t.Errorf("%s is there twice", id)
		}
		identities[id] = true
		switch o := o.(type) {
		case *eventsv1.EventSource:
			if len(o.Spec.Resource) != 40 || len(o.Spec.Calendar) != 1 {
				t.Errorf("the EventSource has %d entries and %d timers", len(o.Spec.Resource), len(o.Spec.Calendar))
			}
		case *rbacv1.ClusterRole:
			if o.Name == "argo-events:platform-worker" && len(o.Rules) != 42 { // 20 kinds, their status, their children and Events
				t.Errorf("the worker has %d rules", len(o.Rules))
			}
		case *appsv1.Deployment:
			workers++
			if configs := strings.Count(o.Spec.Template.Spec.Containers[0].Env[0].Value, ":") + 1; configs != 20 {
				t.Errorf("the worker runs %d operators", configs)
			}
		case *eventsv1.Sensor:
			sensors++
			for _, trigger := range o.Spec.Triggers {
				if name := trigger.Template.Name; name != "heartbeat" && triggers[name] {
					t.Errorf("two triggers are named %s", name)
				}
				triggers[trigger.Template.Name] = true
			}
			data, err := json.Marshal(eventsv1.Sensor{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}, Spec: o.Spec})
			if err != nil {
				t.Fatal(err)
			}
			if size := len("SENSOR_OBJECT=") + base64.StdEncoding.EncodedLen(len(data)) + 1; size > 128<<10 {
				t.Errorf("Sensor %s takes %d bytes of an environment variable", o.Name, size)
			}
		}
	}
	if sensors != 1 || workers != 1 || len(triggers) != 41 {
		t.Errorf("%d Sensors, %d workers, %d triggers", sensors, workers, len(triggers))
	}
}

// TestGroupDedicatedWorker covers a worker that an operator of a group has for itself: its service account has the rights of
// this operator alone, and the other workers do not change with it.
func TestGroupDedicatedWorker(t *testing.T) {
	card, note := member("card", "{group: all, networkPolicies: true}", ""), member("note", "{group: all, networkPolicies: true}", "")
	shared := member("vault", "{group: all, networkPolicies: true}", "")
	vault := renamed(shared, "{group: all", "{group: all, dedicatedWorker: true")
	result, err := argoperator.Generate([]argoperator.Source{vault, card, note}, argoperator.Options{})
	if err != nil || len(result.Findings) > 0 {
		t.Fatal(err, result.Findings)
	}
	passesChecks(t, "group", []argoperator.Operator{{Bundle: argoperator.Bundle{Name: "all", Objects: result.Objects()}}})
	var got []string
	for _, o := range result.Objects() {
		kind := o.GetObjectKind().GroupVersionKind().Kind
		text := kind + " " + o.GetName()
		switch o := o.(type) {
		case *appsv1.Deployment:
			pod := o.Spec.Template.Spec
			text += " of " + pod.ServiceAccountName + " runs " + pod.Containers[0].Env[0].Value
		case *rbacv1.ClusterRole:
			var resources []string
			for _, r := range o.Rules {
				if r.APIGroups[0] == "example.com" {
					resources = append(resources, r.Resources...)
				}
			}
			text += " " + strings.Join(resources, " ")
		case *rbacv1.Role:
			for _, r := range o.Rules {
				text += " " + strings.Join(r.Resources, " ")
			}
		case *rbacv1.ClusterRoleBinding:
			text += " " + o.Subjects[0].Name
		case *eventsv1.Sensor:
			for _, trigger := range o.Spec.Triggers {
				if trigger.Template.HTTP.URL == "http://all-worker-vault.argo-events.svc:7778/vault" {
					text += " " + trigger.Template.Name
				}
			}
		case *corev1.ConfigMap:
			for name, config := range o.Data {
				if strings.Contains(config, `"first": "all-worker"`) {
					text += " " + name + " leaves the Sensors to another worker"
				}
			}
		case *corev1.Service, *corev1.ServiceAccount, *networkingv1.NetworkPolicy:
		default:
			continue
		}
		if o.GetLabels()["app.kubernetes.io/name"] == "all" {
			got = append(got, text)
		}
	}
	if diff := cmp.Diff([]string{
		"ServiceAccount all-source", "ServiceAccount all-sensor", "ServiceAccount all-worker", "ServiceAccount all-worker-vault",
		"ClusterRole argo-events:all-source vaults cards notes",
		"ClusterRole argo-events:all-worker cards cards/status notes notes/status",
		"ClusterRole argo-events:all-worker.vault vaults vaults/status",
		"ClusterRoleBinding argo-events:all-source all-source",
		"ClusterRoleBinding argo-events:all-worker all-worker",
		"ClusterRoleBinding argo-events:all-worker.vault all-worker-vault",
		"Role all-worker eventsources sensors leases", "Role all-worker.vault sensors leases",
		"NetworkPolicy all", "NetworkPolicy all-eventbus", "NetworkPolicy all-worker", "NetworkPolicy all-worker-vault",
		"ConfigMap all-operators", "ConfigMap all-operators-vault vault.json leaves the Sensors to another worker", "ConfigMap all-runtime",
		"ConfigMap all-worker",
		"Service all-worker", "Service all-worker-vault",
		"Deployment all-worker of all-worker runs /operator/operators/card.json:/operator/operators/note.json",
		"Deployment all-worker-vault of all-worker-vault runs /operator/operators/vault.json",
		"Sensor all vault-vault vault-child-configmaps heartbeat-2",
	}, got); diff != "" {
		t.Error(diff)
	}

	explained, err := argoperator.Explain([]argoperator.Source{vault, card, note}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range explained.Reports {
		accounts := map[string]bool{}
		for _, p := range r.Permissions {
			accounts[p.ServiceAccount] = true
		}
		want := map[string]bool{"all-source": true, "all-worker": r.Operator != "vault", "all-worker-vault": r.Operator == "vault"}
		maps.DeleteFunc(want, func(_ string, has bool) bool { return !has })
		if diff := cmp.Diff(want, accounts); diff != "" || r.Group.Pods != 4 {
			t.Errorf("%s, %d pods: %s", r.Operator, r.Group.Pods, diff)
		}
	}
	for _, tt := range []struct {
		name   string
		before []argoperator.Source
		want   string
	}{
		{"it joins", []argoperator.Source{card, note}, "all-worker-vault created"},
		{"it leaves the shared worker", []argoperator.Source{shared, card, note}, "all-worker configured, all-worker-vault created"},
		{"its schema changes", []argoperator.Source{renamed(vault, "maxLength=20", "maxLength=30"), card, note}, ""},
		{"its child changes", []argoperator.Source{renamed(vault, "-vault\"", "-v\""), card, note}, "all-worker-vault configured"},
		{"another changes", []argoperator.Source{vault, renamed(card, "-card\"", "-c\""), note}, "all-worker configured"},
		{"another joins", []argoperator.Source{vault, card}, "all-worker configured"},
	} {
		earlier, findings, err := argoperator.Earlier(tt.before, argoperator.Options{})
		if err != nil || findings.HasErrors() {
			t.Fatal(err, findings)
		}
		comparison, err := result.Compare(earlier)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range comparison.Objects {
			if c.Kind == "Deployment" {
				got = append(got, strings.TrimPrefix(c.String(), "Deployment argo-events/"))
			}
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestGroupGrants requires that an operator has the same permissions in a group as alone,
// held ones included.
func TestGroupGrants(t *testing.T) {
	const definition = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: team}
spec:
  api: {group: example.com, kind: Team, versions: [{name: v1, schema: {spec: {user: string, parts: "[]name | maxItems=3"}}}]}
  finalizer: {}
  children:
  - name: role
    when: .spec.user != null
    template:
      apiVersion: rbac.authorization.k8s.io/v1
      kind: Role
      metadata: {name: "${ .metadata.name }"}
      rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
  - name: viewer
    template:
      apiVersion: rbac.authorization.k8s.io/v1
      kind: RoleBinding
      metadata: {name: "${ .metadata.name }"}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
      subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "${ .spec.user // \"nobody\" }"}]
  - name: part
    forEach: .spec.parts
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-${ $item }"}}
  install: {permissions: [{apiGroups: [apps], resources: [deployments], verbs: [list]}]GROUP}
  reconcile: {engine: worker, diagnose: false}
`
	permissions := func(group string, others ...argoperator.Source) map[string]bool {
		source := argoperator.Source{Name: "operator.yaml", Data: []byte(strings.ReplaceAll(definition, "GROUP", group))}
		explained, err := argoperator.Explain(append([]argoperator.Source{source}, others...), argoperator.Options{})
		if err != nil || len(explained.Reports) == 0 {
			t.Fatal(err, explained.Findings)
		}
		out := map[string]bool{}
		for _, p := range explained.Reports[0].Permissions {
			for _, verb := range p.Verbs {
				out[fmt.Sprint(p.Account, " ", verb, " ", p.Resource, " ", p.Names, p.Namespaces, p.Held)] = true
			}
		}
		return out
	}
	alone, together := permissions(""), permissions(", group: platform", member("other", "{group: platform}", ""))
	held := 0
	for permission := range alone {
		if strings.HasSuffix(permission, "true") {
			held++
		}
		if !together[permission] && !strings.Contains(permission, "argoproj.io [team") { // objects with the name of the group
			t.Errorf("in a group it may not: %s", permission)
		}
	}
	if held != 3 {
		t.Errorf("%d permissions are held", held)
	}
}

// TestGroupLogic covers that each operator of a group with logic has a container, a
// workspace and a ConfigMap of its own.
func TestGroupLogic(t *testing.T) {
	const logic = "  logic: {image: 'python:3.13-slim', command: [python3, -c, pass], files: []}"
	result, err := argoperator.Generate([]argoperator.Source{
		member("one", "{group: all}", ""), member("two", "{group: all}", logic), member("three", "{group: all}", strings.Replace(logic, "3.13", "3.12", 1)),
	}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		t.Fatal(err, result.Findings)
	}
	var got []string
	for _, o := range result.Objects() {
		switch o := o.(type) {
		case *corev1.ConfigMap:
			got = append(got, "ConfigMap "+o.Name)
		case *appsv1.Deployment:
			for _, c := range o.Spec.Template.Spec.Containers {
				text := c.Name
				for _, m := range c.VolumeMounts {
					if strings.HasPrefix(m.Name, "workspace") {
						text += " " + m.Name
					}
				}
				got = append(got, text)
			}
		}
	}
	if diff := cmp.Diff([]string{
		"ConfigMap all-logic-two", "ConfigMap all-logic-three", "ConfigMap all-operators", "ConfigMap all-runtime", "ConfigMap all-worker",
		"runtime workspace-two workspace-three", "logic-two workspace-two", "logic-three workspace-three",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestGroupAlerts requires that the alerts of a group are about metrics of its operators, whose
// worker counts reconciles by operator.
func TestGroupAlerts(t *testing.T) {
	const install = "{group: all, monitoring: {prometheusRule: true}}"
	result, err := argoperator.Generate([]argoperator.Source{member("one", install, ""), member("two", install, "")}, argoperator.Options{})
	if err != nil || len(result.Findings) > 0 {
		t.Fatal(err, result.Findings)
	}
	var found bool
	for _, o := range result.Objects() {
		rule, ok := o.(*monitoringv1.PrometheusRule)
		if !ok {
			continue
		}
		for _, r := range rule.Spec.Groups[0].Rules {
			if r.Alert == "ArgoperatorReconcilesFailing" {
				found = true
				if expr := r.Expr.String(); strings.Count(expr, `operator=~"one|two"`) != 2 {
					t.Errorf("the alert is about %s", expr)
				}
			}
		}
	}
	if !found {
		t.Error("there is no such alert")
	}
}

// TestGroupFindings covers what operators of a group must not differ in, and what cannot
// be in one.
func TestGroupFindings(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		sources      []argoperator.Source
		want         string
	}{
		{"two groups", "they share nothing", []argoperator.Source{member("one", "{group: left}", ""), member("two", "{group: right, watchNamespaces: [a]}", "")}, ""},
		{"two namespaces", "they share nothing", []argoperator.Source{member("one", "{group: all}", ""), member("two", "{group: all, namespace: other, networkPolicies: true}", "")}, ""},
		{"other namespaces", "the roles of the shared accounts are in these", []argoperator.Source{member("one", "{group: all}", ""), member("two", "{group: all, watchNamespaces: [a]}", "")}, "two.yaml:18: error: install.watchNamespaces of operator two differs"},
		{"another resync", "there is one for all", []argoperator.Source{member("one", "{group: all}", ""), member("two", "{group: all}", "  reconcile: {resync: 1h}")}, "two.yaml:19: error: reconcile.resync of operator two differs"},
		{"the name of an operator", "both would have an EventSource of the name", []argoperator.Source{member("one", "{group: two}", ""), member("two", "{}", "")}, "one.yaml:18: error: the group has the name of operator two at two.yaml:4:18"},
		{"a Workflow", "the workflow engine has a WorkflowTemplate of its own", []argoperator.Source{member("one", "{group: all}", "  reconcile: {engine: workflow}")}, "one.yaml:18: error: install.group needs the worker engine"},
		{"no pod", "a Sensor has its own programs", []argoperator.Source{member("one", "{group: all}", "  reconcile: {engine: direct}")}, "one.yaml:18: error: install.group needs the worker engine"},
		{"a name of another", "both have an event one-child-configmaps", []argoperator.Source{renamed(member("one-child", "{group: all}", ""), "One-child", "Configmaps"), member("one", "{group: all}", "")}, "one.yaml:4: error: operators one-child and one of group all both have an event or trigger one-child-configmaps"},
		{"a hook", "the programs of a pod share its ports", []argoperator.Source{member("one", "{group: all}", "  logic: {image: 'python:3.13-slim', command: [python3, -c, pass], files: [], hook: {port: 9000}}")}, "one.yaml:18: error: install.group and logic.hook cannot be combined"},
		{"a rotated token", "it is for Sensors that write", []argoperator.Source{member("one", "{group: all, tokenRotation: 8h}", "")}, "one.yaml:18: error: tokenRotation needs the direct engine, and install.group the worker engine"},
		{"shards", "they have workers of their own", []argoperator.Source{member("one", "{group: all}", "  reconcile: {shards: 2}")}, "one.yaml:18: error: install.group and reconcile.shards cannot be combined"},
		{"names", "the group names what is shared", []argoperator.Source{member("one", "{group: all, names: {sensor: mine}}", "")}, "one.yaml:18: error: this object is shared by the operators of install.group, which names it"},
		{"a dedicated worker", "the others share theirs", []argoperator.Source{member("one", "{group: all, dedicatedWorker: true}", ""), member("two", "{group: all}", "")}, ""},
		{"a dedicated worker without a group", "it has one anyway", []argoperator.Source{member("one", "{dedicatedWorker: true}", "")}, "one.yaml:18: error: dedicatedWorker needs install.group"},
		{"not a name", "Kubernetes refuses it", []argoperator.Source{member("one", "{group: A_b}", "")}, "one.yaml:18: error: spec.install.group: \"A_b\" is not a DNS label"},
		{"a long name", "Argo Events derives longer ones", []argoperator.Source{member("one", "{group: "+strings.Repeat("a", 41)+"}", "")}, "one.yaml:18: error: spec.install.group has 41 characters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := argoperator.Generate(tt.sources, argoperator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range result.Findings {
				got = append(got, fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Severity, f.Message))
			}
			matches := func(text string) bool { return strings.HasPrefix(text, tt.want) }
			if (tt.want == "") != (len(got) == 0) || tt.want != "" && !slices.ContainsFunc(got, matches) {
				t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
			}
			if tt.want != "" && len(result.Objects()) > 0 {
				t.Error("there are objects")
			}
		})
	}
}
