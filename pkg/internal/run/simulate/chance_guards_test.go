package simulate_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestChanceFindsMissingGuards removes one safeguard of the direct engine at a
// time. The pinned sequence must then fail, and must pass with the safeguard. If it
// no longer does, the test fails and names another sequence to pin.
func TestChanceFindsMissingGuards(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for _, tt := range []struct {
		name, file, guard, instead string
		attacked                   bool
		seed                       uint64 // of a sequence that goes wrong without the guard alone
	}{
		{"place", "memcached", `or ({apiVersion: "cache.example.com/v1alpha1", kind: "Memcached", metadata: $owner} | (try (.metadata.name == $new.metadata.name and .metadata.namespace == $new.metadata.namespace) catch false) | not)`, ``, true, 100},
		{"generation", "memcached", `or $seen.generation != $before.generation and $seen.generation < $new.metadata.generation`, ``, false, 2},
		{"older memory", "webapp", `or $stale`, ``, false, 18},
		{"sign of life", "webapp", `if $seen.failed or $stale then {`, `if $seen.failed then {`, false, 18},
		{"failed", "memcached", `or $seen.failed != null and $seen.failed != $before.failed and ($seen.failed.attempts | . < 5 or . == 5 + 1)`, ``, false, 39},
		{"drift", "memcached", `or $seen.drift != null and $seen.drift != $before.drift`, ``, false, 0},
		{"label taken away", "memcached", ` // $old.metadata.labels["argoperator.dev/child"]`, ``, false, 6},
		{"attempt", "webapp", `if $seen.failed or $stale then {`, `if $stale then {`, false, 75},
		{"older generation of a listed object", "../testdata/behaviour/listed", `.generation != $of.metadata.generation or (.drift`, `(.drift`, false, 26},
		{"drift of a listed object", "../testdata/behaviour/listed", ` or (.drift // "") != ""`, ``, false, 42},
		{"failure of a listed object", "../testdata/behaviour/listed", ` or .failed.attempts != null and (.failed.uid == null or .failed.uid == .uid)`, ``, false, 8},
		{"list before the finalizer goes", "../testdata/behaviour/listed", `elif listsUnowned then $present`, `elif false then $present`, false, 29},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, err := open(filepath.Join(root, "examples", tt.file, "operator.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			unguarded := o
			unguarded.objects = without(t, o.objects, tt.guard, tt.instead)
			with, missing := simulate.NewShared(), simulate.NewShared()
			fails := func(o operator, shared *simulate.Shared, seed uint64) bool {
				g := game{t: t, o: o, seed: seed, shared: shared, attacked: tt.attacked}
				_, err := g.play(g.length(), nil)
				return err != nil
			}
			dependsOnGuard := func(seed uint64) bool { return fails(unguarded, missing, seed) && !fails(o, with, seed) }
			if dependsOnGuard(tt.seed) {
				return
			}
			for seed := range uint64(600) {
				if dependsOnGuard(seed) {
					t.Fatalf("seed %d no longer depends on the guard, seed %d does: pin seed %[2]d", tt.seed, seed)
				}
			}
			t.Error("no sequence fails without it and passes with it")
		})
	}
}

// without replaces a part of the jq of all Sensors.
func without(t *testing.T, objects []manifest.Object, guard, instead string) []manifest.Object {
	t.Helper()
	found := false
	var out []manifest.Object
	for _, o := range objects {
		if sensor, ok := o.(*eventsv1.Sensor); ok {
			sensor = sensor.DeepCopy()
			for i := range sensor.Spec.Dependencies {
				jq := &sensor.Spec.Dependencies[i].Transform.JQ
				*jq = strings.Join(strings.Fields(*jq), " ") // wherever its lines are broken
				found = found || strings.Contains(*jq, guard)
				*jq = strings.ReplaceAll(*jq, guard, instead)
			}
			o = sensor
		}
		out = append(out, o)
	}
	if !found {
		text, _ := json.Marshal(guard)
		t.Fatalf("no jq contains %s", text)
	}
	return out
}
