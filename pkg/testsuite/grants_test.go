package testsuite_test

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/explain"
	"github.com/argoperator/argoperator/pkg/simulate"
	"github.com/argoperator/argoperator/pkg/testsuite"
)

// excuse is why permissions stay unused in the simulator.
type excuse struct{ account, verbs, resource, reason string }

// unobserved are permissions for requests that the simulator does not make.
var unobserved = []excuse{
	{"source", "list watch", "*", "informers of Argo Events list and watch; the simulator publishes the events itself"},
	{"*", "get create update", "leases.coordination.k8s.io", "Argo Events elects a leader"},
	{"*", "create patch", "workflowtaskresults.argoproj.io", "Argo's executor reports the outcome of a step"},
	{"token", "create", "serviceaccounts/token", "the simulated API server issues no tokens"},
	{"token", "patch", "secrets", "it writes that token"},
	{"resync", "patch", "eventsources.argoproj.io", "it repairs an EventSource whose Sensors stopped receiving events; simulated Sensors never do"},
	{"resync", "patch", "sensors.argoproj.io", "so it does with the Sensors"},
	{"sensor", "patch", "workflows.argoproj.io", "one Workflow for several changes at once; in the simulator it ends before the next change"},
}

// granted is one permission: a verb on a resource, and why the account has it.
type granted struct{ account, verb, resource, why string }

// observations are the permissions that operators used, of those that they have.
type observations struct {
	mu   sync.Mutex
	used map[granted]bool
	seen map[granted]string // an operator that has it
}

// TestOperators runs the tests of the examples and of testdata/behaviour, which
// show how operators behave where it is easy to get wrong. A definition of
// `engine: ENGINE` is for both engines that have templates.
//
// It also holds the permissions of these operators to the requests that they make:
// every request is granted, and every permission is used by one of the operators
// that have it for the same reason. A permission that pkg/plan forgets or no longer
// needs fails here.
func TestOperators(t *testing.T) {
	all := &observations{used: map[granted]bool{}, seen: map[granted]string{}}
	t.Run("each", func(t *testing.T) {
		for name, dir := range operatorsUnderTest(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				all.observe(t, name, dir)
			})
		}
	})
	for g, name := range all.seen {
		if !all.used[g] && !excused(g) {
			t.Errorf("%s: account %s never uses %s on %s: %s", name, g.account, g.verb, g.resource, g.why)
		}
	}
	for _, u := range unobserved {
		if u.account != "*" && u.account != "token" && !slices.ContainsFunc(slices.Collect(maps.Keys(all.seen)), func(g granted) bool { return u.covers(g) && !all.used[g] }) {
			t.Errorf("account %s needs no excuse for %s on %s", u.account, u.verbs, u.resource)
		}
	}
}

func excused(g granted) bool {
	return slices.ContainsFunc(unobserved, func(u excuse) bool { return u.covers(g) })
}

func (u excuse) covers(g granted) bool {
	return (u.account == "*" || u.account == g.account) && (u.resource == "*" || u.resource == g.resource) && slices.Contains(strings.Fields(u.verbs), g.verb)
}

// operatorsUnderTest are directories with operator.yaml and tests, by name.
func operatorsUnderTest(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"../../examples/*/tests", "../../testdata/behaviour/*/tests"} {
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
			if !bytes.Contains(definition, []byte("ENGINE")) {
				out[filepath.Base(dir)] = dir
				continue
			}
			for _, engine := range []string{"direct", "workflow"} {
				copied := t.TempDir()
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(copied, "operator.yaml"), bytes.ReplaceAll(definition, []byte("ENGINE"), []byte(engine)), 0o600); err != nil {
					t.Fatal(err)
				}
				out[filepath.Base(dir)+"-"+engine] = copied
			}
		}
	}
	return out
}

// observe runs the tests of an operator and compares its requests with its permissions.
func (all *observations) observe(t *testing.T, name, dir string) {
	t.Helper()
	definition, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	explained, err := argoperator.Explain([]argoperator.Source{{Name: "operator.yaml", Data: definition, Dir: os.DirFS(dir)}}, argoperator.Options{})
	if err != nil || len(explained.Reports) == 0 {
		t.Fatal(err, explained.Findings)
	}
	results, err := testsuite.Run(context.Background(), []testsuite.Suite{suiteOf(t, dir)}, testsuite.Options{Runner: local(), Parallel: 2, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) == 0 {
		t.Error("no tests")
	}
	_, err = os.Stat(filepath.Join(dir, "logic"))
	for _, r := range results {
		if err != nil && r.State() != testsuite.Passed { // make examples runs those with programs, which may need more than this machine has
			t.Error(printed(t, r, dir))
		}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, report := range explained.Reports {
		for _, p := range report.Permissions {
			for _, verb := range p.Verbs {
				all.seen[grantedBy(report, p, verb)] = name
			}
		}
	}
	for _, r := range results {
		for _, step := range r.Steps {
			for _, c := range calls(step.Trace) {
				all.check(t, explained.Reports, c)
			}
		}
	}
}

// grantedBy is a permission of an operator, with kinds by the role that they play.
func grantedBy(report explain.Report, p explain.Permission, verb string) granted {
	resource := p.Resource
	if rest, ok := strings.CutPrefix(resource, report.API.Resource); ok && (rest == "" || rest[0] == '/') {
		resource = "custom resource" + rest
	} else if strings.Contains(p.Why, "child") {
		resource = "child"
	}
	return granted{p.Account, verb, resource, p.Why}
}

func (all *observations) check(t *testing.T, reports []explain.Report, c simulate.Call) {
	t.Helper()
	if c.Account == "" {
		return
	}
	r := requested(t, c)
	var matching []granted
	for _, report := range reports {
		for _, p := range report.Permissions {
			if report.Namespace+"/"+p.ServiceAccount == c.Account && p.Resource == r.resource && slices.Contains(p.Verbs, r.verb) &&
				(len(p.Namespaces) == 0 || slices.Contains(p.Namespaces, r.namespace)) && (len(p.Names) == 0 || slices.Contains(p.Names, r.name)) {
				matching = append(matching, grantedBy(report, p, r.verb))
			}
		}
	}
	if len(matching) == 0 {
		t.Errorf("%s may not %s %s %s/%s: %s %s", c.Account, r.verb, r.resource, r.namespace, r.name, c.Method, c.Path)
	}
	for _, g := range matching {
		all.used[g] = true
	}
	if strings.HasPrefix(c.ContentType, "application/apply-patch") && c.Status == http.StatusCreated {
		created := c // server-side apply of an object that is not there needs create, too
		created.Method, created.ContentType = http.MethodPost, ""
		all.check(t, reports, created)
	}
}

// request is what the API server's authorizer looks at.
type request struct{ verb, resource, namespace, name string }

func requested(t *testing.T, c simulate.Call) request {
	t.Helper()
	at, err := url.Parse(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.Trim(at.Path, "/"), "/")
	group := ""
	if parts[0] == "apis" {
		group, parts = parts[1], parts[3:]
	} else {
		parts = parts[2:]
	}
	var r request
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" {
		r.namespace, parts = parts[1], parts[2:]
	}
	resource, subresource := parts[0], ""
	if len(parts) > 1 {
		r.name = parts[1]
	}
	if len(parts) > 2 {
		subresource = "/" + parts[2]
	}
	r.resource = resource
	if group != "" {
		r.resource += "." + group
	}
	r.resource += subresource
	r.verb = map[string]string{"GET": "get", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}[c.Method]
	if c.Method == http.MethodGet && r.name == "" {
		r.verb = "list"
	}
	return r
}

// calls are all requests of a trace.
func calls(trace simulate.Trace) []simulate.Call {
	var out []simulate.Call
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
