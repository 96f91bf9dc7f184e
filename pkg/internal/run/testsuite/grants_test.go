package testsuite_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/explain"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
	"github.com/argoperator/argoperator/pkg/internal/testing/need"
)

// excuse explains why permissions are unused in the simulator.
type excuse struct{ account, verbs, resource, reason string }

// unobserved lists permissions for requests that the simulator does not make.
var unobserved = []excuse{
	{"source", "list watch", "*", "informers of Argo Events list and watch; the simulator publishes the events itself"},
	{"*", "get create update", "leases.coordination.k8s.io", "Argo Events elects a leader"},
	{"*", "create patch", "workflowtaskresults.argoproj.io", "Argo's executor reports the result of a step"},
	{"token", "create", "serviceaccounts/token", "the simulated API server issues no tokens"},
	{"token", "patch", "secrets", "the same script writes the token"},
	{"resync", "patch", "eventsources.argoproj.io", "it repairs an EventSource whose Sensors stopped receiving events; simulated Sensors never do"},
	{"resync", "patch", "sensors.argoproj.io", "it repairs Sensors the same way"},
	{"worker", "patch", "eventsources.argoproj.io", "so does a worker"},
	{"worker", "patch", "sensors.argoproj.io", "so does a worker"},
	{"resync", "get delete", "workflows.argoproj.io", "those that wait for their turn; in the simulator none waits"},
	{"worker", "get", "sensors.argoproj.io", "its loop asks whether it is still wanted; the simulation has no loop"},
	{"worker", "create get list", "workflows.argoproj.io", "a simulated worker starts no Workflow: the trace shows each reconcile"},
	{"worker", "get", "pods", "one to delete that has changed since it was read; in the simulator none does"},
	{"sensor", "patch", "workflows.argoproj.io", "one Workflow for several changes at once; in the simulator it ends before the next change"},
}

// granted is a permission: a verb on a resource, and why the account has it.
type granted struct{ account, verb, resource, why string }

// observed is an operator with the requests that it made in its tests.
type observed struct {
	name    string
	reports []explain.Report
	calls   []cluster.Call
}

// TestOperators runs the tests of the examples, of testdata/ports, which are operators
// of other tools in the language of this one, and of testdata/behaviour, which
// cover error-prone behavior of operators. TestDocsRun leaves the tests of the examples to
// it. A definition with `engine: ENGINE` runs with each engine that supports templates, and one
// with `engine: PODS` with those that have room for more than one Sensor's programs.
//
// It also compares the permissions of these operators with their requests: every
// request must be granted, and every permission must be used by an operator that
// has it for the same reason. The test fails if pkg/internal/operator/plan grants too little
// or too much.
func TestOperators(t *testing.T) {
	var mu sync.Mutex
	var all []observed
	t.Run("each", func(t *testing.T) {
		for name, dir := range operatorsUnderTest(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				operator := observe(t, name, dir)
				mu.Lock()
				defer mu.Unlock()
				all = append(all, operator)
			})
		}
	})
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // the permissions are those of all operators
	}
	for _, problem := range grantProblems(t, all) {
		t.Error(problem)
	}
	for _, m := range grantMutations {
		t.Run(m.name, func(t *testing.T) {
			mutated := slices.Clone(all)
			for i := range mutated {
				mutated[i].reports = slices.Clone(mutated[i].reports)
				for k, report := range mutated[i].reports {
					mutated[i].reports[k].Permissions = m.do(slices.Clone(report.Permissions))
				}
			}
			if len(grantProblems(t, mutated)) == 0 {
				t.Error("no problem was found")
			}
		})
	}
}

// grantMutations are errors that grantProblems must report.
var grantMutations = []struct {
	name string
	do   func([]explain.Permission) []explain.Permission
}{
	{"status for the reconcile", without("workflow", "patch", "/status")},
	{"delete for the reconcile", without("workflow", "delete", "")},
	{"list for the resync", without("resync", "list", "")},
	{"patch for the finalizer, or to request the children", without("workflow", "patch", "")},
	{"patch for the resync", without("resync", "patch", "")},
	{"create for Events", without("workflow", "create", "events")},
	{"create for the Sensor", without("sensor", "create", "")},
	{"get for the reconcile", without("workflow", "get", "")},
	{"get for the resync", without("resync", "get", "")},
	{"each permission twice", twice},
	{"Events that nobody creates", with(explain.Permission{Account: "resync", ServiceAccount: "x", Verbs: []string{"create"}, Resource: "events", Why: "nobody does"})},
	{"update for the reconcile", with(explain.Permission{Account: "workflow", ServiceAccount: "x", Verbs: []string{"update"}, Resource: "pods", Why: "it patches"})},
	{"create for the resync", with(explain.Permission{Account: "resync", ServiceAccount: "x", Verbs: []string{"create"}, Resource: "workflows.argoproj.io", Why: "it leaves that to the Sensor"})},
}

func twice(list []explain.Permission) []explain.Permission { return append(list, list...) }

// without removes a verb on resources with a suffix.
func without(account, verb, suffix string) func([]explain.Permission) []explain.Permission {
	return func(list []explain.Permission) []explain.Permission {
		for i, p := range list {
			if p.Account == account && strings.HasSuffix(p.Resource, suffix) {
				list[i].Verbs = slices.DeleteFunc(slices.Clone(p.Verbs), func(v string) bool { return v == verb })
			}
		}
		return list
	}
}

func with(p explain.Permission) func([]explain.Permission) []explain.Permission {
	return func(list []explain.Permission) []explain.Permission { return append(list, p) }
}

// grantProblems reports requests without a permission, and permissions without a
// request.
func grantProblems(t *testing.T, operators []observed) []string {
	t.Helper()
	var out []string
	used, has := map[granted]bool{}, map[granted]string{}
	for _, o := range operators {
		for _, report := range o.reports {
			for i, p := range report.Permissions {
				if slices.ContainsFunc(report.Permissions[:i], func(before explain.Permission) bool { return reflect.DeepEqual(before, p) }) {
					out = append(out, fmt.Sprintf("%s: %s has %v on %s twice: %s", o.name, p.Account, p.Verbs, p.Resource, p.Why))
				}
				if p.Held {
					continue // to grant it
				}
				if slices.Contains(p.Verbs, "delete") && !readsAgain(report, p) {
					out = append(out, fmt.Sprintf("%s: %s deletes %s, but cannot get one that has changed since", o.name, p.Account, p.Resource))
				}
				for _, verb := range p.Verbs {
					has[grantedBy(report, p, verb)] = o.name
				}
			}
		}
		for _, c := range o.calls {
			for _, r := range requested(t, c) {
				matching := r.grants(o.reports)
				if len(matching) == 0 {
					out = append(out, fmt.Sprintf("%s: %s may not %s %s %s/%s: %s %s", o.name, r.account, r.verb, r.resource, r.namespace, r.name, c.Method, c.Path))
				}
				for _, g := range matching {
					used[g] = true
				}
			}
		}
	}
	for g, name := range has {
		if !used[g] && !excused(g) {
			out = append(out, fmt.Sprintf("%s: account %s never uses %s on %s: %s", name, g.account, g.verb, g.resource, g.why))
		}
	}
	return out
}

// readsAgain reports whether an account may read single objects of those that it deletes: a
// program deletes the version that it has read, and reads it again if that has changed.
func readsAgain(report explain.Report, deletes explain.Permission) bool {
	return deletes.Account == "sensor" || slices.ContainsFunc(report.Permissions, func(p explain.Permission) bool {
		return p.Account == deletes.Account && p.Resource == deletes.Resource && slices.Contains(p.Verbs, "get")
	})
}

func excused(g granted) bool {
	return slices.ContainsFunc(unobserved, func(u excuse) bool { return u.covers(g) })
}

func (u excuse) covers(g granted) bool {
	return (u.account == "*" || u.account == g.account) && (u.resource == "*" || u.resource == g.resource) && slices.Contains(strings.Fields(u.verbs), g.verb)
}

// operatorsUnderTest returns the directories with operator.yaml and tests, by name.
func operatorsUnderTest(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"../../../../examples/*/tests", "../../../../testdata/behaviour/*/tests", "../../../../testdata/ports/*/tests"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, tests := range found {
			dir := filepath.Dir(tests)
			definition, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			placeholder, engines := "ENGINE", []string{"direct", "worker", "workflow"}
			if bytes.Contains(definition, []byte("engine: PODS")) {
				placeholder, engines = "PODS", engines[1:]
			}
			if !bytes.Contains(definition, []byte(placeholder)) {
				out[filepath.Base(dir)] = dir
				continue
			}
			for _, engine := range engines {
				copied := t.TempDir()
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(copied, "operator.yaml"), bytes.ReplaceAll(definition, []byte(placeholder), []byte(engine)), 0o600); err != nil {
					t.Fatal(err)
				}
				out[filepath.Base(dir)+"-"+engine] = copied
			}
		}
	}
	return out
}

// observe runs the tests of an operator.
func observe(t *testing.T, name, dir string) observed {
	t.Helper()
	definition, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	explained, err := argoperator.Explain([]argoperator.Source{{Name: "operator.yaml", Data: definition, Dir: os.DirFS(dir)}}, argoperator.Options{})
	if err != nil || len(explained.Reports) == 0 {
		t.Fatal(err, explained.Findings)
	}
	needLogic(t, definition)
	results, err := testsuite.Run(context.Background(), []testsuite.Suite{suiteOf(t, dir)}, testsuite.Options{Runner: local(), Parallel: 2, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) == 0 {
		t.Error("no tests")
	}
	out := observed{name: name, reports: explained.Reports}
	for _, r := range results {
		if r.State() != testsuite.Passed {
			t.Error(printed(t, r, dir))
		}
		for _, step := range r.Steps {
			for _, c := range calls(step.Trace) {
				if c.Account != "" {
					out.calls = append(out.calls, cluster.Call{Account: c.Account, Method: c.Method, Path: c.Path, ContentType: c.ContentType, Status: c.Status})
				}
			}
		}
	}
	return out
}

// needLogic skips an operator whose program needs an interpreter that is not installed.
func needLogic(t *testing.T, definition []byte) {
	t.Helper()
	var d struct {
		Spec struct {
			Logic struct {
				Command []string
				Chart   string
			}
		}
	}
	if err := yaml.Unmarshal(definition, &d); err != nil {
		t.Fatal(err)
	}
	if command := d.Spec.Logic.Command; len(command) > 0 {
		need.Program(t, command[0])
	}
	if d.Spec.Logic.Chart != "" {
		need.Program(t, "helm")
	}
}

// grantedBy returns a permission of an operator, with kinds replaced by their role.
func grantedBy(report explain.Report, p explain.Permission, verb string) granted {
	resource := p.Resource
	if rest, ok := strings.CutPrefix(resource, report.API.Resource); ok && (rest == "" || rest[0] == '/') {
		resource = "custom resource" + rest
	} else if strings.Contains(p.Why, "child") {
		resource = "child"
	}
	return granted{p.Account, verb, resource, p.Why}
}

// request contains the attributes that the API server's authorizer reads.
type request struct{ account, verb, resource, namespace, name string }

// grants returns the permissions that allow a request.
func (r request) grants(reports []explain.Report) []granted {
	var out []granted
	for _, report := range reports {
		for _, p := range report.Permissions {
			if report.Namespace+"/"+p.ServiceAccount == r.account && p.Resource == r.resource && slices.Contains(p.Verbs, r.verb) &&
				(len(p.Namespaces) == 0 || slices.Contains(p.Namespaces, r.namespace)) && (len(p.Names) == 0 || slices.Contains(p.Names, r.name)) {
				out = append(out, grantedBy(report, p, r.verb))
			}
		}
	}
	return out
}

// requested returns the requests of a call: server-side apply of a missing object
// needs create in addition to patch.
func requested(t *testing.T, c cluster.Call) []request {
	t.Helper()
	at, err := url.Parse(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	r := request{account: c.Account, verb: map[string]string{"GET": "get", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}[c.Method]}
	parts := strings.Split(strings.Trim(at.Path, "/"), "/")
	group := ""
	if parts[0] == "apis" {
		group, parts = "."+parts[1], parts[1:]
	}
	parts = parts[2:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		r.namespace, parts = parts[1], parts[2:]
	}
	r.resource = parts[0] + group
	if len(parts) > 1 {
		r.name = parts[1]
	}
	if len(parts) > 2 {
		r.resource += "/" + parts[2]
	}
	if c.Method == http.MethodGet && r.name == "" {
		r.verb = "list"
	}
	out := []request{r}
	if strings.HasPrefix(c.ContentType, "application/apply-patch") && c.Status == http.StatusCreated {
		r.verb = "create"
		out = append(out, r)
	}
	return out
}

// calls returns all requests of a trace.
func calls(trace simulate.Trace) []cluster.Call {
	var out []cluster.Call
	for _, step := range trace {
		if step.Delivery != nil {
			for _, a := range step.Delivery.Attempts {
				out = append(out, a.Calls...)
			}
		}
		if step.Workflow != nil {
			for _, c := range step.Workflow.Containers {
				out = append(out, c.Calls...)
			}
		}
	}
	return out
}

// TestScopes requires that permissions are limited to the namespaces that need
// them.
func TestScopes(t *testing.T) {
	const definition = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: thing}
spec:
  api: {group: example.com, kind: Thing, scope: SCOPE, versions: [{name: v1, schema: {spec: {a: string}}}]}
  reconcile: {engine: ENGINE}
  children: [{name: c, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }', namespace: NAMESPACE}}}]
  install: {replicas: 2 WATCH}
`
	for _, engine := range []string{"direct", "workflow"} {
		for _, tt := range []struct {
			scope, namespace, watch, resource string
			want                              []string
		}{
			{"Namespaced", "'${ .metadata.namespace }'", ", watchNamespaces: [a, b]", "", nil},
			{"Cluster", "x", "", "events", []string{"default"}},
		} {
			text := strings.NewReplacer("SCOPE", tt.scope, "ENGINE", engine, "NAMESPACE", tt.namespace, " WATCH", tt.watch).Replace(definition)
			explained, err := argoperator.Explain([]argoperator.Source{{Name: "operator.yaml", Data: []byte(text)}}, argoperator.Options{})
			if err != nil || len(explained.Reports) != 1 {
				t.Fatal(err, explained.Findings)
			}
			found := false
			for _, p := range explained.Reports[0].Permissions {
				if tt.resource != "" && p.Resource != tt.resource {
					continue
				}
				found = true
				if len(p.Namespaces) == 0 || tt.want != nil && !slices.Equal(p.Namespaces, tt.want) {
					t.Errorf("%s, %s: account %s may %s %s in %q, where \"\" is the whole cluster", engine, tt.scope, p.Account, p.Verbs, p.Resource, p.Namespaces)
				}
			}
			if !found {
				t.Errorf("%s, %s: no permission on %q", engine, tt.scope, tt.resource)
			}
		}
	}
}

// TestConditionalGrants covers permissions that only some operators need.
func TestConditionalGrants(t *testing.T) {
	const (
		ours     = "api: {group: example.com, kind: Thing, versions: [{name: v1, schema: {spec: {a: string}}}]}"
		existing = "api: {existing: {version: v1, kind: ServiceAccount}}"
		bare     = "api: {crd: {file: bare.yaml}}" // a kind of ours without a status
		bareCRD  = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bares.example.com}, spec: {group: example.com, " +
			"scope: Namespaced, names: {kind: Bare, plural: bares}, versions: [{name: v1, served: true, storage: true, " +
			"schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}]}}"
		child = "children: [{name: c, MORE template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }'}}}]"
		logic = "children: [{name: c, apiVersion: v1, kind: ConfigMap}]\n  logic: {image: 'python:3.13-slim', command: [python3, main.py], files: [main.py]}"
	)
	for _, tt := range []struct{ name, lines, account, verb, resource string }{
		{"a child that stays is not deleted", ours + "\n  " + strings.ReplaceAll(child, "MORE", "onDelete: Orphan,"), "workflow", "delete", "configmaps"},
		{"a kind without a status has no status to write", existing + "\n  " + strings.ReplaceAll(child, "MORE", ""), "workflow", "patch", "serviceaccounts/status"},
		{"without conditions there is no Event", bare + "\n  " + strings.ReplaceAll(child, "MORE", ""), "workflow", "create", "events"},
		{"without a finalizer and templates the custom resource stays as it is", ours + "\n  " + logic, "workflow", "patch", "things.example.com"},
		{"with logic the resync starts Workflows", ours + "\n  " + logic, "resync", "patch", "things.example.com"},
		{"with templates the resync asks the Sensor", ours + "\n  " + strings.ReplaceAll(child, "MORE", ""), "resync", "create", "workflows.argoproj.io"},
	} {
		text := "apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: thing}\nspec:\n  reconcile: {engine: workflow}\n  " + tt.lines + "\n"
		files := fstest.MapFS{"main.py": {Data: []byte("print()\n")}, "bare.yaml": {Data: []byte(bareCRD)}}
		explained, err := argoperator.Explain([]argoperator.Source{{Name: "operator.yaml", Data: []byte(text), Dir: files}}, argoperator.Options{})
		if err != nil || len(explained.Reports) != 1 {
			t.Fatal(tt.name, err, explained.Findings)
		}
		for _, p := range explained.Reports[0].Permissions {
			if p.Account == tt.account && p.Resource == tt.resource && slices.Contains(p.Verbs, tt.verb) {
				t.Errorf("%s: account %s may %s %s: %s", tt.name, p.Account, tt.verb, p.Resource, p.Why)
			}
		}
	}
}
