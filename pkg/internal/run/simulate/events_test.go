package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// web is an operator whose template fails if the text is not JSON, with a long
// message if the text is long.
const web = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api: {group: example.com, kind: Web, versions: [{name: v1, schema: {spec: {text: string}}}]}
  children:
  - name: deployment
    template:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: "${ .metadata.name }", labels: {text: "${ .spec.text | if length > 1000 then error(.) else fromjson end | tostring }"}}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "docker.io/nginx:1"}]}}
  reconcile: {engine: ENGINE}
`

// spaces is an operator of cluster-scoped custom resources.
const spaces = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: spaces}
spec:
  api: {group: example.com, kind: Space, scope: Cluster, versions: [{name: v1, schema: {spec: {text: string}}}]}
  children:
  - name: namespace
    template: {apiVersion: v1, kind: Namespace, metadata: {name: "${ .metadata.name }"}}
  reconcile: {engine: ENGINE}
`

// lifecycle is a cluster that records the Events about one object.
type lifecycle struct {
	*simulate.Simulation
	t    *testing.T
	seen map[string]bool // by name
}

func newLifecycle(t *testing.T, text, engine string) *lifecycle {
	t.Helper()
	data := strings.Replace(text, "ENGINE", engine, 1)
	definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(data)})
	if len(definitions) != 1 || findings.HasErrors() {
		t.Fatal(findings)
	}
	p, findings := plan.New(definitions[0])
	if p == nil {
		t.Fatal(findings)
	}
	runner := simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}}
	s, err := simulate.New(simulate.Inputs{Objects: manifest.Build(p), Runner: runner})
	if err != nil {
		t.Fatal(err)
	}
	return &lifecycle{Simulation: s, t: t, seen: map[string]bool{}}
}

func (l *lifecycle) do(method, path, body string) map[string]any {
	l.t.Helper()
	req, err := http.NewRequest(method, path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := l.Do(req)
	if err != nil {
		l.t.Fatalf("%s %s: %v", method, path, err)
	}
	if err := l.Run(context.Background()); err != nil {
		l.t.Fatal(err)
	}
	return answer
}

func (l *lifecycle) apply(kind, text string) {
	l.t.Helper()
	metadata := map[string]any{"name": "one"}
	check(l.t, l.Apply(map[string]any{"apiVersion": "example.com/v1", "kind": kind, "metadata": metadata, "spec": map[string]any{"text": text}}))
	check(l.t, l.Run(context.Background()))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newEvents returns the new Events: type, reason and the first words.
func (l *lifecycle) newEvents() []string {
	l.t.Helper()
	items := l.do(http.MethodGet, "/api/v1/namespaces/default/events", "")["items"].([]any)
	var out []string
	for _, item := range items {
		e := item.(map[string]any)
		name := e["metadata"].(map[string]any)["name"].(string)
		if l.seen[name] {
			continue
		}
		l.seen[name] = true
		words := strings.SplitAfterN(e["message"].(string), ":", 2)
		out = append(out, fmt.Sprintf("%v %v %v", e["type"], e["reason"], words[0]))
	}
	return out
}

// rolledOut writes the final status of the Deployment's controller.
func (l *lifecycle) rolledOut() {
	l.t.Helper()
	path := "/apis/apps/v1/namespaces/default/deployments/one"
	generation := l.do(http.MethodGet, path, "")["metadata"].(map[string]any)["generation"]
	l.do(http.MethodPatch, path+"/status", fmt.Sprintf(
		`{"status": {"observedGeneration": %v, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}}`, generation))
}

// replicas writes the status of a rollout in progress.
func (l *lifecycle) replicas(n int) {
	l.t.Helper()
	l.do(http.MethodPatch, "/apis/apps/v1/namespaces/default/deployments/one/status", fmt.Sprintf(`{"status": {"readyReplicas": %d, "availableReplicas": %[1]d}}`, n))
}

// redeliver delivers the latest events of custom resources again if the direct
// engine created an Event for them or a Workflow handled them.
func (l *lifecycle) redeliver() {
	l.t.Helper()
	var last *simulate.Event
	var all []simulate.Event
	for _, step := range l.Trace() {
		if step.Event != nil {
			last = step.Event
		}
		created := step.Delivery != nil && createsEvent(step.Delivery)
		if created || step.Workflow != nil {
			all = append(all, *last)
		}
	}
	for _, e := range all[max(0, len(all)-2):] {
		check(l.t, l.Publish(context.Background(), e))
		check(l.t, l.Run(context.Background()))
	}
}

// createsEvent reports whether a delivery created an Event.
func createsEvent(d *simulate.Delivery) bool {
	return slices.ContainsFunc(d.Attempts, func(a simulate.Attempt) bool {
		return slices.ContainsFunc(a.Calls, func(c cluster.Call) bool { return c.Method == http.MethodPost })
	})
}

// TestEvents checks that all engines create the same Events in the life of a custom
// resource.
func TestEvents(t *testing.T) {
	failed := "Warning ReconcileFailed "
	for engine, words := range map[string]string{"direct": "deployment:", "workflow": "template deployment:"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			l := newLifecycle(t, web, engine)
			for _, step := range []struct {
				name string
				act  func()
				want []string
			}{
				{"created", func() { l.apply("Web", "1") }, nil},
				{"progresses", func() { l.replicas(1) }, nil},
				{"is ready", l.rolledOut, []string{"Normal Ready all children are ready (1)"}},
				{"delivered again", l.redeliver, nil},
				{"applied as it is", func() { l.apply("Web", "1") }, nil},
				{"fails", func() { l.apply("Web", "no JSON") }, []string{failed + words}},
				{"delivered again, failed", l.redeliver, nil},
				{"fails at another generation", func() { l.apply("Web", "nor this") }, []string{failed + words}},
				{"is mended", func() { l.apply("Web", "2"); l.rolledOut() }, []string{"Normal Ready all children are ready (1)"}},
				{"loses a replica", func() { l.replicas(0) }, nil},
				{"is ready again", l.rolledOut, []string{"Normal Ready all children are ready (1)"}},
				{"is deleted", func() {
					check(t, l.Delete(map[string]any{"apiVersion": "example.com/v1", "kind": "Web", "metadata": map[string]any{"name": "one"}}))
					check(t, l.Run(context.Background()))
				}, nil},
			} {
				step.act()
				if diff := cmp.Diff(step.want, l.newEvents()); diff != "" {
					t.Errorf("%s (-want +got)\n%s", step.name, diff)
				}
			}
			for _, failure := range simulate.Texts(l.Trace().Failures()) {
				if !strings.Contains(failure, "Workflow") || engine == "direct" {
					t.Errorf("failed: %s", failure)
				}
			}
		})
	}
}

// TestEventsOfClusterScoped checks that Events of cluster-scoped objects are in the
// namespace default.
func TestEventsOfClusterScoped(t *testing.T) {
	for _, engine := range []string{"direct", "workflow"} {
		t.Run(engine, func(t *testing.T) {
			l := newLifecycle(t, spaces, engine)
			l.apply("Space", "x")
			if diff := cmp.Diff([]string{"Normal Ready all children are ready (1)"}, l.newEvents()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestEventFields checks one whole Event of each engine.
func TestEventFields(t *testing.T) {
	for engine, related := range map[string]string{"direct": "", "workflow": `"related": {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "namespace": "argo-events", "name": "WORKFLOW"},`} {
		t.Run(engine, func(t *testing.T) {
			l := newLifecycle(t, web, engine)
			l.apply("Web", "no JSON")
			got := l.do(http.MethodGet, "/api/v1/namespaces/default/events", "")["items"].([]any)[0].(map[string]any)
			cr := l.do(http.MethodGet, "/apis/example.com/v1/namespaces/default/webs/one", "")["metadata"].(map[string]any)
			instance := "web"
			if engine == "workflow" {
				instance = got["related"].(map[string]any)["name"].(string)
			}
			want := map[string]any{}
			check(t, json.Unmarshal([]byte(strings.ReplaceAll(fmt.Sprintf(`{
				%s
				"involvedObject": {"apiVersion": "example.com/v1", "kind": "Web", "namespace": "default", "name": "one", "uid": %q, "resourceVersion": %q},
				"type": "Warning", "reason": "ReconcileFailed", "action": "Reconcile", "count": 1,
				"source": {"component": "web"}, "reportingComponent": "web", "reportingInstance": %q
			}`, related, cr["uid"], cr["resourceVersion"], instance), "WORKFLOW", instance)), &want))
			if name := got["metadata"].(map[string]any)["name"]; name != fmt.Sprintf("one.00000000.%v", cr["resourceVersion"]) {
				t.Errorf("the name is %v", name)
			}
			if message := got["message"].(string); !strings.Contains(message, "fromjson cannot be applied") && !strings.Contains(message, "invalid") {
				t.Errorf("the message is %q", message)
			}
			if time := got["firstTimestamp"].(string); got["lastTimestamp"] != time || got["eventTime"] != strings.TrimSuffix(time, "Z")+".000000Z" {
				t.Errorf("the times are %v, %v, %v", time, got["lastTimestamp"], got["eventTime"])
			}
			for _, name := range []string{"metadata", "message", "firstTimestamp", "lastTimestamp", "eventTime"} {
				delete(got, name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestLongEvent checks the size limits of messages and names.
func TestLongEvent(t *testing.T) {
	l := newLifecycle(t, web, "direct")
	long := strings.Repeat("a", 198) + "--" + strings.Repeat("b", 40) // cut right after the hyphens
	spec := map[string]any{"text": strings.Repeat("\U0001d11e", 3000)}
	check(t, l.Apply(map[string]any{"apiVersion": "example.com/v1", "kind": "Web", "metadata": map[string]any{"name": long}, "spec": spec}))
	check(t, l.Run(context.Background()))
	if events := l.newEvents(); len(events) != 1 {
		t.Fatalf("Events %v; %v", events, l.Trace().Failures())
	}
	items := l.do(http.MethodGet, "/api/v1/namespaces/default/events", "")["items"].([]any)
	message := items[0].(map[string]any)["message"].(string)
	if n := len(message); n > 1024 || n < 1000 || !utf8.ValidString(message) || !strings.HasSuffix(message, "\U0001d11e") {
		t.Errorf("the message has %d bytes: %s", n, message)
	}
	for name := range l.seen {
		if !strings.HasPrefix(name, long[:198]+".00000000.") {
			t.Errorf("the name is %s", name)
		}
	}
}
