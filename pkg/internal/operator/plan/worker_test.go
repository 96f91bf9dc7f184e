package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workerPlan returns the plan of an operator whose custom resources several workers share.
func workerPlan(shards int) *configured {
	p := testPlan("")
	p.Names.Sensor, p.Names.Worker = "memcached", "memcached-worker"
	p.Reconcile = Reconcile{Engine: Worker, Execution: execution(Worker), Shards: shards, Concurrency: 4}
	p.API.Singular = "memcached"
	p.Events = events(&p.decided)
	return p
}

// TestEventsOfCustomResources requires that each event passes in one trigger, which sends it
// to the worker that reconciles its custom resource: templates/runtime/run.py computes the
// same.
func TestEventsOfCustomResources(t *testing.T) {
	for _, n := range []int{1, 2, 3, 16} {
		p, used := workerPlan(n), map[string]int{}
		for i := range 60 {
			name := fmt.Sprintf("site-%d", i)
			var got []string
			for _, s := range pack("memcached", workerParts(p)) {
				for _, d := range s.Dependencies {
					event := object{"type": "ADD", "body": object{"metadata": object{"name": name, "namespace": "shop"}}}
					if d.Event != "memcached" || evaluate(t, d.JQ, event)["go"] != true {
						continue
					}
					at := slices.IndexFunc(s.Triggers, func(one Trigger) bool { return slices.Contains(one.On, d.Name) })
					got = append(got, s.Triggers[at].Worker)
					used[s.Triggers[at].Name]++
				}
			}
			sum := 0
			for _, r := range "shop." + name {
				sum += int(r)
			}
			if diff := cmp.Diff([]string{p.Workers()[sum%n]}, got); diff != "" {
				t.Fatalf("%d workers: %s: %s", n, name, diff)
			}
		}
		if n <= 3 && len(used) != n {
			t.Errorf("%d workers: events pass in the triggers %v", n, used)
		}
	}
}

// TestEventsOfChildren requires that every worker gets the events of children and the
// heartbeat of each Sensor: which custom resource a child belongs to is in the event.
func TestEventsOfChildren(t *testing.T) {
	p := workerPlan(3)
	got := map[string][]string{}
	for _, s := range finished(p, pack("memcached", workerParts(p))) {
		for _, trigger := range s.Triggers {
			got[trigger.On[0]] = append(got[trigger.On[0]], trigger.Worker)
		}
	}
	for _, dependency := range []string{"child-deployments", "heartbeat"} {
		if diff := cmp.Diff([]string{"memcached-worker", "memcached-worker-2", "memcached-worker-3"}, got[dependency]); diff != "" {
			t.Errorf("%s: %s", dependency, diff)
		}
	}
}
