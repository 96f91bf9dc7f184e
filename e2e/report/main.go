// Command report makes docs/explanation/guarantees.md of the results of the cluster suite,
// docs/explanation/operators.md of those of make operators, and docs/explanation/performance.md of those
// of make bench and make bench-cluster:
//
//	go run ./e2e/report bin/e2e-results.json
//
// It keeps the results beside the page, in docs/explanation/guarantees.json: those of a run
// take the place of older ones of the same scenario and operator, as no run plays
// all of them. Without an argument it makes the page of those that are kept.
//
// The rule of this package: what passed is said by the results, never here. A
// scenario without a result says so.
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
	{"source-down", "Custom resources created, edited and deleted while the EventSource is down are made up for when it is back", "no `afterStart`: a new EventSource announces everything there is; deletion by owner references"},
	{"sensor-down", "… while the Sensors are down", "durable consumers of the bus: what was announced waits"},
	{"bus-down", "… while the event bus is down: made up for by the resync", "the resync, which does not travel over the bus"},
	{"bus-store-lost", "The event bus loses its store: the resync replaces the pods of the Sensors, which are deaf, and events arrive again", "the heartbeat"},
	{"bus-lost-by-itself", "… with nobody's help", "the schedule of the resync"},
	{"api-restart", "The API server restarts: everything that happens then is done", "retries; watches that begin anew"},
	{"controller-down", "The controller of Argo Workflows is down: `direct` goes on, the others make up for it", "no pod in `direct`; Workflows wait as objects"},
	{"leader-killed", "With `install.replicas: 2` a second pod takes over when the leader is killed", "leader election by Lease"},
	{"quick-edits", "20 quick edits of one custom resource: the last one is in force, and stays", "order in each trigger and the generation in the memory; a mutex and a fresh read in Workflows"},
	{"burst", "Many at once, then all edited", "lanes in the Sensor; one Workflow an event"},
	{"child-edited", "A child edited by hand is as it was", "field managers: drift is seen in them"},
	{"child-deleted", "A child deleted by hand is back", "children are watched"},
	{"child-foreign", "An object of others in the place of a child stays as it is, and the custom resource says so", "force on known children only"},
	{"quota", "What the API server refuses (a quota) is on the status, holds nobody up, and is made up for by the resync", "failures are remembered on the custom resource and are events"},
	{"refusals", "403, 409, 429 and 500 are tried again; what is refused for ever is on the status and holds nobody up", "short retries in the trigger, more by events"},
	{"namespace-deleted", "A namespace goes with all that is in it, and the operator goes on", "nothing is created where a custom resource is going"},
	{"redefined", "Another definition is applied while events are in flight: all custom resources follow", "a Sensor that begins to listen has everything announced to it"},
	{"upgrade", "An operator of an earlier version and definition is applied over: children stay, what is left over is named", "labels, and the same names for what is the same"},
	{"group", "Operators of one `install.group` in one Sensor; another one is added while custom resources of the others change", "each Sensor has everything announced to it when its programs change"},
	{"listed-rename", "A child gets another name or namespace: the new object is made, the old one is deleted", "the list of the objects in the observed state"},
	{"listed-many", "`forEach` grows to 200 items and shrinks to 20", "the same; one request of a trigger after the other"},
	{"listed-foreign-namespace", "A child in another namespace, and a cluster-scoped one, are back when they are deleted by hand, and go with their custom resource", "the list, and a finalizer"},
	{"listed-contention", "Two custom resources want one object: the first has it, the other one says so, and takes nothing with it", "an object that was not observed is only ever created"},
	{"listed-hostile-items", "Names of `forEach` with slashes, Unicode, quotes or 253 characters are refused one by one; the others are there", "a name with a slash is never sent; failures are kept for each object"},
	{"listed-state-edited", "A user who edits the observed state is refused", "an admission policy"},
	{"listed-copies", "A copy of a child, with its owner, is not touched", "only listed objects count"},
	{"listed-operator-away", "Custom resources deleted, renamed and shrunk, and children deleted, while the operator is away", "the finalizer; the list is compared at the first event"},
	{"listed-finalizer-removed", "The finalizer is removed by force: what is left is not taken over by the next custom resource of the name until somebody deletes it", "an object that was not observed is only ever created"},
	{"listed-namespace-deleted", "The namespace of a custom resource is deleted: its objects in other namespaces, and the cluster-scoped ones, go too", "the finalizer holds the namespace until the last of them is gone"},
	{"clean-up-fails", "A clean-up that fails keeps the custom resource and says so; one that succeeds lets it go", "the finalizer is removed last"},
	{"uninstall", "Uninstalled with live custom resources: nothing hangs, nothing is left", "two stages: the API while the operator runs, then the operator"},
	{"chance", "What happens by chance (seeded) ends as the last state asks for", "all of the above"},
	{"hostile", "Hostile text arrives in the child byte for byte, or is refused; nothing in it is evaluated", "jq and server-side apply; names and base64 only in Workflows"},
	{"greedy", "One custom resource that is edited without a pause does not hold up another for long; a large one does, as long as it is edited", "lanes in the Sensor, by uid; limits in the schema"},
	{"token-rotation", "With `install.tokenRotation` the token is replaced, and ended, while the operator goes on", "Secret volumes, which Kubernetes keeps up to date"},
	{"least-privilege", "No request is denied, and every right is missed when it is taken away", "permissions are derived from the calls"},
}

// engines are the columns.
var engines = []struct{ prefix, title string }{
	{"direct/", "direct"}, {"workflow/", "workflow"}, {"steps/", "steps"}, {"tutorial", "the tutorial, as published"},
}

const intro = `# Guarantees

<!-- Made by go run ./e2e/report from guarantees.json, the results of the cluster suite. Do not edit. -->

What an operator does on a bad day, as the cluster suite plays it: ` + "`make e2e`" + ` on one machine with two cores, API server,
kubelet, both Argos and NATS on it. The times are those of that machine under that load. How to run one of them alone is in the
[README](../../README.md).

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
	b.WriteString("| guarantee | " + strings.Join(titles(), " | ") + " | rests on |\n|---" + strings.Repeat("|---", len(engines)) + "|---|\n")
	for _, g := range guarantees {
		b.WriteString("| " + g.promise)
		for _, e := range engines {
			b.WriteString(" | " + verdict(list, g.scenario, e.prefix))
		}
		b.WriteString(" | " + g.rests + " |\n")
	}
	b.WriteString("\n## What was measured\n\n| scenario | operator | | seconds | |\n|---|---|---|---|---|\n")
	for _, r := range list {
		if !strings.HasPrefix(r.Scenario, "guard: ") {
			fmt.Fprintf(&b, "| %s | %s | %s | %.0f | %s |\n", r.Scenario, r.Operator, word(r.Passed), r.Seconds, cell(r.Measured))
		}
	}
	without(&b, list)
	return b.String()
}

// without lists what fails without each safeguard.
func without(b *strings.Builder, list []result) {
	b.WriteString("\n## What breaks them\n\nA setting or a piece of code is taken away, and the scenario that rests on it is played again (`make e2e-guards`). It has to fail.\n\n| without | scenario | operator | |\n|---|---|---|---|\n")
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

// cell escapes a text for a table cell.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "{{", "{ {").Replace(text)
}
