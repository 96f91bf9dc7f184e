package argoperator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

// program is the size of a Sensor's program.
type program struct {
	Nodes int `json:"nodes"` // in its syntax tree
	Bytes int `json:"bytes"`
}

// TestNodes compares the programs of some operators with testdata/nodes.json: Argo
// Events parses and compiles a program for every event and every trigger, so each
// node costs some microseconds every time. Counting nodes is fast and
// machine-independent, so it is a unit test and not a part of make perf. UPDATE=1
// rewrites the table.
func TestNodes(t *testing.T) {
	got := map[string]map[string]program{}
	for _, file := range []string{
		"examples/memcached", "examples/webapp", "examples/website",
		"testdata/behaviour/observed-annotations", "testdata/behaviour/failing-template", "testdata/behaviour/listed",
	} {
		got[file] = programsOf(t, filepath.Join(root, filepath.FromSlash(file), "operator.yaml"))
	}
	table := filepath.Join(root, "testdata", "nodes.json")
	if goldenfile.Update() {
		data, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(table, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]program
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got, UPDATE=1 rewrites it):\n%s", table, diff)
	}
}

// programsOf returns the programs of an operator by dependency; the workers of a
// child share one.
func programsOf(t *testing.T, file string) map[string]program {
	t.Helper()
	out := map[string]program{}
	for _, o := range resultOf(t, file).Objects() {
		sensor, ok := o.(*eventsv1.Sensor)
		if !ok {
			continue
		}
		for _, d := range sensor.Spec.Dependencies {
			query, err := gojq.Parse(d.Transform.JQ)
			if err != nil {
				t.Fatal(err)
			}
			out[d.Name] = program{nodes(reflect.ValueOf(query)), len(d.Transform.JQ)}
		}
	}
	return out
}

// nodes counts the values in a syntax tree.
func nodes(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = 1 + nodes(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += nodes(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += nodes(v.Index(i))
		}
	}
	return n
}
