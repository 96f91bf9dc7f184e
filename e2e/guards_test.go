//go:build e2e

package e2e

import (
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// guard is a setting or a piece of code that a guarantee rests on: without it
// the scenario fails.
type guard struct {
	name     string // what is taken away
	scenario string // of TestScenarios
	operator string
	old, by  string // in what is generated
	test     string // that plays the scenario; "": TestScenarios or TestIncidents, with the operator
	patience string // of a scenario that takes long also with the guard
	once     bool   // without the second look of a worker at all custom resources, which would repair what the guard breaks
}

// theHeartbeat is what the first installation needs already, as any change of a
// Sensor does.
const theHeartbeat = "the liveness check"

var guards = []guard{
	{name: "no afterStart", scenario: "source-down", operator: "direct/memcached", old: "      group: cache.example.com\n", by: "      group: cache.example.com\n      filter: {afterStart: true}\n"},
	{name: "drift in the observed state", scenario: "child-edited", operator: "direct/memcached", old: `{drift: $new.metadata.resourceVersion}`, by: `{}`},
	{name: "create-only requests", scenario: "child-foreign", operator: "direct/memcached", old: `else {resourceVersion: "1"} end`, by: `else {} end`},
	{name: "failures in the observed state", scenario: "refusals", operator: "direct/memcached", old: `$seen.failed.attempts | . < 5 or`, by: `$seen.failed.attempts | . < 0 or`},
	{name: theHeartbeat, scenario: "redefined", operator: "direct/memcached", old: "{go: true,\n         call: {method: \"PATCH\", path: \"/apis/argoproj.io", by: "{go: false,\n         call: {method: \"PATCH\", path: \"/apis/argoproj.io"},
	{name: "replacement of disconnected Sensors", scenario: "bus-store-lost", operator: "direct/memcached", old: "(max | fromdate? // 0) < now - 180", by: "(max | fromdate? // 0) < 0"},
	{name: "replay by the resync", scenario: "bus-down", operator: "direct/memcached", old: `"argoperator.dev/resync": "{{workflow.name}}"`, by: `"argoperator.dev/resync": null`},
	{name: "no afterStart, workflow", scenario: "source-down", operator: "workflow/memcached-logic", old: "      group: cache.example.com\n", by: "      group: cache.example.com\n      filter: {afterStart: true}\n"},
	{name: "changes of children, workflow", scenario: "child-edited", operator: "workflow/memcached-logic", old: `or $old != null and if (`, by: `or false and if (`},
	{name: "the resync checks every custom resource", scenario: "bus-down", operator: "workflow/memcached-logic", old: "return (outdated(run, cr, children)", by: `return "" and (outdated(run, cr, children)`},
	{name: "the ownership check", scenario: "child-foreign", operator: "workflow/memcached-logic", old: "def check_owner(run, cr, child, live):", by: "def check_owner(run, cr, child, live):\n        return"},
	{name: "changes of children, worker", scenario: "child-edited", operator: "worker/memcached-logic", old: `or $old != null and if (`, by: `or false and if (`, once: true},
	{name: "the ownership check, worker", scenario: "child-foreign", operator: "worker/memcached-logic", old: "def check_owner(run, cr, child, live):", by: "def check_owner(run, cr, child, live):\n        return"},
	{name: "retries, worker", scenario: "refusals", operator: "worker/memcached-logic", old: `self.keys.later(key, min(FIRST_RETRY << min(failed, 20), LAST_RETRY), "tried again")`, by: "pass", once: true},
	{name: "the look at all when a worker starts", scenario: "bus-down", operator: "worker/memcached-logic", old: "self.keys.give_way((operator.name, key_of(cr)), reason)", by: "pass"},
	{name: "one process has the Lease", test: "TestWorker/pods", scenario: "worker-twice", operator: "worker/memcached-logic", old: `return self.holder in ("", self.identity) or self.clock() - self.since > DURATION`, by: "return True"},
	{name: "a thread without keys that fail", patience: "3m", test: "TestWorker/pods", scenario: "key-fails", operator: "worker/memcached-logic", old: "full = 1 < self.threads <= 1 + sum(key in self.failed for key in self.running)", by: "full = False"},
	{name: "the look at its Sensor", patience: "3m", test: "TestWorker", scenario: "engine-changed", operator: "worker/templates", old: "wanted = any(sends_to(run, sensor) for sensor in self.heard)", by: "wanted = True"},
}

// path is the test that plays the scenario of a guard.
func (g guard) path() string {
	return cmp.Or(g.test, "Test(Scenarios|Incidents)/"+g.operator+`/\w+`) + "/" + g.scenario
}

// twoLooks has a worker look at all custom resources twice after the Sensor has subscribed, as its
// subscriptions begin one after the other.
const twoLooks, oneLook = "self.looks = 2", "self.looks = 1"

// sabotage is the guard that is taken away in this process, if any.
func sabotage(t *testing.T, manifest []byte) []byte {
	t.Helper()
	name := os.Getenv("E2E_WITHOUT")
	for _, g := range guards {
		if g.name == name {
			text := strings.ReplaceAll(replaceOnce(t, string(manifest), g.old, g.by), g.old, g.by)
			if g.once {
				text = replaceOnce(t, text, twoLooks, oneLook)
			}
			return []byte(text)
		}
	}
	if name != "" {
		t.Fatalf("E2E_WITHOUT: there is no guard %q", name)
	}
	return manifest
}

// TestGuardsAreThere: the generated manifests contain everything that the guards remove. It needs
// no cluster.
func TestGuardsAreThere(t *testing.T) {
	for _, g := range guards {
		i := slices.IndexFunc(subjects, func(s subject) bool { return s.name == g.operator })
		if i < 0 {
			t.Fatalf("%s: there is no operator %s", g.name, g.operator)
		}
		manifest := string(generate(t, subjects[i].definition(t)))
		if !strings.Contains(manifest, g.old) {
			t.Errorf("%s: %s has no %q", g.name, g.operator, g.old)
		}
		if g.once && !strings.Contains(manifest, twoLooks) {
			t.Errorf("%s: %s has no %q", g.name, g.operator, twoLooks)
		}
	}
}

// asked reports whether $E2E_GUARDS asks for a guard or a right: all of them, or those that
// have its text in their name.
func asked(name string) bool {
	text := os.Getenv("E2E_GUARDS")
	return text == "all" || strings.Contains(name, text)
}

// TestGuards takes each guard away and plays the scenario that rests on it, in a
// process of its own: it has to fail. Not part of the suite: $E2E_GUARDS asks
// for it, as it waits for what never comes.
func TestGuards(t *testing.T) {
	if os.Getenv("E2E_GUARDS") == "" {
		t.Skip("E2E_GUARDS is not set")
	}
	for _, g := range guards {
		if !asked(g.name) {
			continue
		}
		t.Run(strings.ReplaceAll(g.name, " ", "-"), func(t *testing.T) {
			measured := record(t, "guard: "+g.scenario, g.operator+": "+g.name)
			began := time.Now()
			test := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.run", "^"+strings.ReplaceAll(g.path(), "/", "$/^")+"$") //nolint:gosec // ourselves
			test.Env = append(os.Environ(), "E2E_WITHOUT="+g.name, "E2E_RESULTS=", "E2E_PATIENCE="+cmp.Or(g.patience, os.Getenv("E2E_PATIENCE"), "45s"))
			out, err := test.CombinedOutput()
			failed := regexp.MustCompile("FAIL: " + g.path())
			if g.name == theHeartbeat {
				failed = regexp.MustCompile(`waiting for: the replay for the Sensors`)
			}
			if err == nil || !failed.Match(out) {
				t.Fatalf("the scenario does not fail without it: %v\n%s", err, out)
			}
			measured("without %s the scenario fails (%s)", g.name, seconds(time.Since(began)))
		})
	}
}
