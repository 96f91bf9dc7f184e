// Command report generates docs/explanation/guarantees.md from the results of the cluster suite,
// docs/explanation/operators.md from those of make operators, and docs/explanation/performance.md
// from those of make bench and make bench-cluster:
//
//	go run ./e2e/report bin/e2e-results.json
//
// It keeps the results next to the page, in docs/explanation/guarantees.json. The results of a
// run replace older ones of the same scenario and operator, because no run includes all of
// them. Without an argument it generates the pages from the kept results.
//
// The rule of this package: only the results say what passed. A scenario without a result
// shows a dash.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// result is a line of the results.
type result struct {
	Scenario string  `json:"scenario"`
	Operator string  `json:"operator"`
	Passed   bool    `json:"passed"`
	Seconds  float64 `json:"seconds"`
	Measured string  `json:"measured,omitempty"`
	Problem  string  `json:"problem,omitempty"`
}

// guarantee is what a scenario demonstrates.
type guarantee struct{ scenario, promise, rests string }

// guarantees in the order of the page.
var guarantees = []guarantee{
	{"source-down", "The EventSource is down: custom resources that are created, edited and deleted meanwhile are reconciled when it is back", "no `afterStart`: a new EventSource replays all objects; deletion by owner references"},
	{"sensor-down", "The Sensors are down: the same", "durable consumers of the EventBus, which keep the events"},
	{"bus-down", "The EventBus is down: the resync reconciles what changed", "the resync, which starts without the EventBus"},
	{"bus-store-lost", "The EventBus loses its store: a resync replaces the pods of the disconnected Sensors, and events arrive again", "the liveness check"},
	{"bus-lost-by-itself", "The same, with nobody starting the resync", "the schedule of the resync"},
	{"api-restart", "The API server restarts: all changes are reconciled", "retries; watches that begin again"},
	{"controller-down", "The Workflow controller is down: `direct` continues, the others reconcile when it is back", "no pod in `direct`; Workflows wait as objects"},
	{"leader-killed", "With `install.replicas: 2`, a second pod takes over when the leader is killed", "leader election by Lease"},
	{"worker-killed", "All pods of a worker are killed between two writes of a reconcile: the next pod completes it", "a fresh read in each reconcile; a look at all custom resources at the start"},
	{"worker-out-of-memory", "The worker runs out of memory: the same", "the same"},
	{"worker-node-gone", "With `install.replicas: 2`, the pod that works disappears without releasing its Lease, as when its node fails: the other one takes over", "the Lease"},
	{"worker-lease-taken", "Another process takes the Lease of a worker: the worker stops writing, and ends", "each write asks for the Lease"},
	{"worker-twice", "A copy of the worker's Deployment runs: one process works, the others wait", "the Lease"},
	{"worker-restarts", "A worker is restarted while many custom resources change: no event is lost", "a look at all custom resources at the start"},
	{"api-away", "Nobody can reach the API server for two minutes: all changes are reconciled", "failed reconciles are tried again; the look at the start"},
	{"key-fails", "40 custom resources fail repeatedly: they do not delay another one", "retries with growing delays; a thread that takes no failed custom resources"},
	{"logic-hangs", "Logic hangs: the worker stops it, the status reports it, and other custom resources are reconciled", "`reconcile.timeout`; a session for each call"},
	{"logic-forks", "Logic starts processes that leave its session, and hangs: the same", "the same; what is left ends when no call runs"},
	{"logic-fills", "Logic writes without end: the same", "limits of the volumes; a directory for each call"},
	{"logic-devours", "Logic exhausts its memory: the same", "limits of the logic's container"},
	{"logic-fails", "Logic fails: the status has its last output, and other custom resources are reconciled", "an exit code for each call"},
	{"thousand-at-once", "1,000 custom resources are created at once, then all are edited", "a queue with one turn for each custom resource"},
	{"engine-changed", "The definition gets another engine, and the worker's Deployment remains: it stops by itself", "a worker works while a Sensor sends events to it"},
	{"quick-edits", "20 quick edits of one custom resource: the last one is applied, and stays", "order in each trigger, and the generation in the observed state; a mutex and a fresh read in Workflows"},
	{"burst", "Many custom resources are created at once, then all are edited", "parallel triggers in the Sensor; one Workflow per event"},
	{"child-edited", "A child that someone edits is restored", "field managers, which show the drift"},
	{"child-deleted", "A child that someone deletes is created again", "watches of the children"},
	{"child-foreign", "An object of others in the place of a child stays as it is, and the custom resource reports it", "create-only requests; force on known children only"},
	{"quota", "The API server rejects a child (a quota): the status reports it, other custom resources continue, and the resync reconciles it later", "failures in the observed state, which are events"},
	{"refusals", "Answers 403, 409, 429 and 500 are retried; a permanent rejection is in the status and does not delay others", "quick retries in the trigger, slower ones by events"},
	{"namespace-deleted", "A namespace is deleted with everything in it, and the operator continues", "nothing is created for a custom resource that is being deleted"},
	{"redefined", "Another definition is applied while events are in flight: all custom resources follow it", "a replay when a Sensor subscribes"},
	{"upgrade", "An operator is applied over one of an earlier version and definition: children stay, leftovers are listed", "labels, and the same names for the same objects"},
	{"group", "Operators of one `install.group` share a Sensor; one joins while custom resources of the others change", "a replay for each Sensor whose programs change"},
	{"platform", "Twenty operators of one `install.group` run in three pods with at most 250 MiB; another one joins, and gets a dedicated worker, while custom resources of the others change", "a shared worker; the same replay"},
	{"listed-rename", "A child gets another name or namespace: the new object is created, the old one is deleted", "the list of the objects in the observed state"},
	{"listed-many", "`forEach` grows to 200 items and shrinks to 20", "the same; one request of a trigger after the other"},
	{"listed-foreign-namespace", "A child in another namespace and a cluster-scoped one are created again when someone deletes them, and are deleted with their custom resource", "the list, and a finalizer"},
	{"listed-contention", "Two custom resources want one object: the first gets it; the other reports it, and deletes nothing with it", "create-only requests for objects that were not observed"},
	{"listed-hostile-items", "Names of `forEach` with slashes, Unicode, quotes or 253 characters are rejected one by one; the other objects are created", "a name with a slash is never sent; failures per object"},
	{"listed-state-edited", "A user who edits the observed state is rejected", "an admission policy"},
	{"listed-copies", "A copy of a child, with its owner, is left alone", "only listed objects count"},
	{"listed-operator-away", "Custom resources are deleted, renamed and shrunk, and children deleted, while the operator is down", "the finalizer; the list is compared at the first event"},
	{"listed-finalizer-removed", "Someone removes the finalizer by force: the next custom resource of that name does not take over what is left", "create-only requests for objects that were not observed"},
	{"listed-namespace-deleted", "The namespace of a custom resource is deleted: its objects in other namespaces and its cluster-scoped ones are deleted too", "the finalizer, which keeps the namespace until the last of them is gone"},
	{"cleanup-fails", "A cleanup that fails keeps the custom resource, and the status reports it; a cleanup that succeeds releases it", "the finalizer is removed last"},
	{"uninstall", "Uninstall with custom resources: nothing hangs, nothing is left", "two stages: the API while the operator runs, then the operator"},
	{"random-actions", "Random sequences of actions, from a seed, end in the desired state", "all of the above"},
	{"hostile", "Hostile text arrives in the child byte for byte, or is rejected; nothing in it is evaluated", "jq and server-side apply; names and base64 only in Workflows"},
	{"greedy", "A custom resource that is edited all the time does not delay another for long; a large one does while it is edited", "parallel triggers in the Sensor; limits in the schema"},
	{"token-rotation", "With `install.tokenRotation` the token is replaced, and revoked, while the operator continues", "Secret volumes, which Kubernetes updates"},
	{"least-privilege", "No request is denied, and each permission is needed", "permissions derived from the requests"},
}

// engines are the columns.
var engines = []struct{ prefix, title string }{
	{"direct/", "direct"}, {"worker/", "worker"}, {"workflow/", "workflow"}, {"steps/", "steps"}, {"tutorial", "the tutorial, as published"},
}

const intro = `# Guarantees

<!-- Generated by go run ./e2e/report from guarantees.json, the results of the cluster suite. Do not edit. -->

Each row is a failure that the cluster suite causes on purpose, and the result for each engine. Example: the suite stops the EventBus,
changes custom resources, starts the bus again, and waits until the resync reconciled them.

- **pass** and **fails** are results of a run. A dash means that there is no result: the scenario does not apply, or was not run.
- The last column names the mechanism. [Reliability](reliability.md) explains them.
- The column of the tutorial is the operator of the Argo tutorial as published, for comparison.
- ` + "`make e2e`" + ` ran on one machine with two cores, with API server, kubelet, Argo Events, Argo Workflows and NATS on it. The
  [page about tests](../contributing/tests.md#the-cluster-suite) says how to run one of them.

`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	const kept, page = "docs/explanation/guarantees.json", "docs/explanation/guarantees.md"
	var list, fresh []result
	if err := readIfThere(kept, &list); err != nil {
		return err
	}
	if len(args) > 0 {
		if err := read(args[0], &fresh); err != nil {
			return err
		}
		list = merge(list, fresh)
		data, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(kept, append(data, '\n'), 0o644); err != nil { //nolint:gosec // documentation
			return err
		}
	}
	if err := os.WriteFile(page, []byte(render(list)), 0o644); err != nil { //nolint:gosec // documentation
		return err
	}
	if _, err := fmt.Fprintf(out, "%s: %d results\n", page, len(list)); err != nil {
		return err
	}
	if err := operatorsPage(); err != nil {
		return err
	}
	return performancePage(out)
}

func read(file string, into any) error {
	data, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// readIfThere is read for an optional file.
func readIfThere(file string, into any) error {
	if err := read(file, into); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// merge updates the kept results with new ones, in the order of scenarios and
// operators.
func merge(kept, fresh []result) []result {
	again := func(old result) bool {
		return slices.ContainsFunc(fresh, func(r result) bool { return r.Scenario == old.Scenario && r.Operator == old.Operator })
	}
	list := append(slices.DeleteFunc(slices.Clone(kept), again), fresh...)
	slices.SortStableFunc(list, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Operator, b.Operator))
	})
	return list
}

// render returns the page.
func render(list []result) string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("| guarantee | " + strings.Join(titles(), " | ") + " | because of |\n|---" + strings.Repeat("|---", len(engines)) + "|---|\n")
	for _, g := range guarantees {
		b.WriteString("| " + g.promise)
		for _, e := range engines {
			b.WriteString(" | " + verdict(list, g.scenario, e.prefix))
		}
		b.WriteString(" | " + g.rests + " |\n")
	}
	b.WriteString("\n## Measurements\n\nThe duration is that of the whole scenario. The times are those of that machine under that load.\n\n| scenario | operator | result | seconds | measured |\n|---|---|---|---|---|\n")
	for _, r := range list {
		if !strings.HasPrefix(r.Scenario, "guard: ") {
			fmt.Fprintf(&b, "| %s | %s | %s | %.0f | %s |\n", r.Scenario, r.Operator, word(r.Passed), r.Seconds, condition.ReplaceAllString(cell(r.Measured), "`$1`$2"))
		}
	}
	without(&b, list)
	return b.String()
}

// without lists what fails without each mechanism.
func without(b *strings.Builder, list []result) {
	b.WriteString("\n## Each mechanism is needed\n\n`make e2e-guards` removes one mechanism and runs the scenario that depends on it again. The scenario must fail.\n\n| without | scenario | operator | result |\n|---|---|---|---|\n")
	for _, r := range list {
		if scenario, ok := strings.CutPrefix(r.Scenario, "guard: "); ok {
			operator, name, _ := strings.Cut(r.Operator, ": ")
			verdict := "fails"
			if !r.Passed {
				verdict = "**does not fail**"
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", name, scenario, operator, verdict)
		}
	}
}

func titles() []string {
	var out []string
	for _, e := range engines {
		out = append(out, e.title)
	}
	return out
}

// verdict returns the result of a scenario with all operators of an engine.
func verdict(list []result, scenario, prefix string) string {
	var of []result
	for _, r := range list {
		if r.Scenario == scenario && strings.HasPrefix(r.Operator, prefix) {
			of = append(of, r)
		}
	}
	switch {
	case len(of) == 0:
		return "–"
	case slices.ContainsFunc(of, func(r result) bool { return !r.Passed }):
		return "**fails**"
	}
	return "pass"
}

func word(passed bool) string {
	if passed {
		return "pass"
	}
	return "**fails**"
}

// condition matches the condition of a custom resource, with its message, at the end of a
// measurement.
var condition = regexp.MustCompile(`((?:Ready=|reconcile failed: ).*?)(; reconciled by the resync)?$`)

// cell escapes a text for a table cell.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "{{", "{ {").Replace(text)
}
