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
}

// theHeartbeat is what the first installation needs already, as any change of a
// Sensor does.
const theHeartbeat = "the liveness check"

var guards = []guard{
	{"no afterStart", "source-down", "direct/memcached", "      group: cache.example.com\n", "      group: cache.example.com\n      filter: {afterStart: true}\n"},
	{"drift in the observed state", "child-edited", "direct/memcached", `{drift: $new.metadata.resourceVersion}`, `{}`},
	{"create-only requests", "child-foreign", "direct/memcached", `else {resourceVersion: "1"} end`, `else {} end`},
	{"failures in the observed state", "refusals", "direct/memcached", `$seen.failed.attempts | . < 5 or`, `$seen.failed.attempts | . < 0 or`},
	{theHeartbeat, "redefined", "direct/memcached", "{go: true,\n         call: {method: \"PATCH\", path: \"/apis/argoproj.io", "{go: false,\n         call: {method: \"PATCH\", path: \"/apis/argoproj.io"},
	{"replacement of disconnected Sensors", "bus-store-lost", "direct/memcached", "any((max | fromdate? // 0) < now - 180)", "any((max | fromdate? // 0) < 0)"},
	{"replay by the resync", "bus-down", "direct/memcached", `"argoperator.dev/resync": "{{workflow.name}}"`, `"argoperator.dev/resync": null`},
	{"no afterStart, workflow", "source-down", "workflow/memcached-logic", "      group: cache.example.com\n", "      group: cache.example.com\n      filter: {afterStart: true}\n"},
	{"changes of children, workflow", "child-edited", "workflow/memcached-logic", `or $old != null and if (`, `or false and if (`},
	{"the resync checks every custom resource", "bus-down", "workflow/memcached-logic", "return (outdated(run, cr, children)", `return "" and (outdated(run, cr, children)`},
	{"the ownership check", "child-foreign", "workflow/memcached-logic", "def check_owner(run, cr, child, live):", "def check_owner(run, cr, child, live):\n        return"},
}

// sabotage is the guard that is taken away in this process, if any.
func sabotage(t *testing.T, manifest []byte) []byte {
	t.Helper()
	name := os.Getenv("E2E_WITHOUT")
	for _, g := range guards {
		if g.name == name {
			return []byte(strings.ReplaceAll(replaceOnce(t, string(manifest), g.old, g.by), g.old, g.by))
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
		if manifest := generate(t, subjects[i].definition(t)); !strings.Contains(string(manifest), g.old) {
			t.Errorf("%s: %s has no %q", g.name, g.operator, g.old)
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
			test := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.run", "^Test(Scenarios|Incidents)$/^"+strings.ReplaceAll(g.operator, "/", "$/^")+"$/./^"+g.scenario+"$") //nolint:gosec // ourselves
			test.Env = append(os.Environ(), "E2E_WITHOUT="+g.name, "E2E_RESULTS=", "E2E_PATIENCE="+cmp.Or(os.Getenv("E2E_PATIENCE"), "45s"))
			out, err := test.CombinedOutput()
			failed := regexp.MustCompile(`FAIL: Test(Scenarios|Incidents)/` + g.operator + `/\w+/` + g.scenario)
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
