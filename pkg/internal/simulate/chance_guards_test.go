package simulate_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	"github.com/argoperator/argoperator/pkg/internal/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestChanceFindsMissingGuards removes one safeguard of the direct engine at a
// time; some sequence must then fail.
func TestChanceFindsMissingGuards(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	for _, tt := range []struct {
		name, file, guard, instead string
		attacked                   bool
	}{
		{"place", "memcached", `or ({apiVersion: "cache.example.com/v1alpha1", kind: "Memcached", metadata: $owner} | (try (.metadata.name == $new.metadata.name and .metadata.namespace == $new.metadata.namespace) catch false) | not)`, ``, true},
		{"generation", "memcached", `or $seen.generation != $before.generation and $seen.generation < $new.metadata.generation`, ``, false},
		{"older memory", "webapp", `or $stale`, ``, false},
		{"sign of life", "webapp", `if $seen.failed or $stale then {`, `if $seen.failed then {`, false},
		{"failed", "memcached", `or $seen.failed != null and $seen.failed != $before.failed and $seen.failed.attempts < 5`, ``, false},
		{"failure forgotten", "memcached", `or $before.failed != null and $seen.failed == null and ($before.uid == null or $seen.generation < $new.metadata.generation)`, ``, false},
		{"drift", "memcached", `or $seen.drift != null and $seen.drift != $before.drift`, ``, false},
		{"change of owner", "webapp", `(.metadata.labels | .["argoperator.dev/owner-uid"], .["argoperator.dev/child"])`, `0`, false},
		{"label taken away", "memcached", ` // $old.metadata.labels["argoperator.dev/child"]`, ``, false},
		{"attempt", "webapp", `if $seen.failed or $stale then {`, `if $stale then {`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, err := open(filepath.Join(root, "examples", tt.file, "operator.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			o.objects = without(t, o.objects, tt.guard, tt.instead)
			shared := simulate.NewShared()
			for seed := range uint64(600) {
				g := game{t: t, o: o, seed: seed, shared: shared, attacked: tt.attacked}
				if _, err := g.play(g.length(), nil); err != nil {
					first, _, _ := strings.Cut(fmt.Sprint(err), "\n")
					t.Logf("seed %d: %.120s", seed, first)
					return
				}
			}
			t.Error("no sequence fails without it")
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
		t.Fatalf("no jq has %s", text)
	}
	return out
}
