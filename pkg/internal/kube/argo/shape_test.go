package argo

import (
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

func TestShapeOfNumbers(t *testing.T) {
	for _, tt := range []struct {
		value any
		fits  []any // of each type
		not   []any
	}{
		{int64(1), []any{int32(0), int64(0), uint32(0), uint64(0), float64(0)}, []any{"", false}},
		{int64(math.MaxInt32 + 1), []any{int64(0), uint32(0), uint64(0), float64(0)}, []any{int32(0)}},
		{int64(-1), []any{int32(0), int64(0), float64(0)}, []any{uint32(0), uint64(0)}},
		{uint64(math.MaxInt64 + 1), []any{uint64(0), float64(0)}, []any{int32(0), int64(0)}},
		{1.5, []any{float64(0), float32(0)}, []any{int32(0), int64(0), uint64(0)}},
	} {
		for _, of := range tt.fits {
			if flaws := (shaper{}).value(reflect.TypeOf(of), tt.value); flaws != nil {
				t.Errorf("%v as %T: %s, want none", tt.value, of, flaws[0].message)
			}
		}
		for _, of := range tt.not {
			if flaws := (shaper{}).value(reflect.TypeOf(of), tt.value); flaws == nil {
				t.Errorf("%v as %T: no flaw", tt.value, of)
			}
		}
	}
}

// TestShapePaths requires the path of every flaw from the root, in a fixed order.
func TestShapePaths(t *testing.T) {
	value := map[string]any{
		"nodeSelector": map[string]any{"disk.type": int64(1)},
		"containers":   []any{map[string]any{"name": "a"}, map[string]any{"Name": "b", "ports": []any{map[string]any{"containerPort": "80"}}}},
	}
	r := problem.About(&corev1.Pod{})
	Shape(r, problem.CodeChild, field.NewPath("spec"), reflect.TypeFor[corev1.PodSpec](), value)
	var got []string
	for _, p := range r.Problems {
		got = append(got, p.Path+": "+p.Message)
	}
	want := []string{
		`spec.containers[1].Name: unknown field "Name" of Container`,
		`spec.containers[1].ports[0].containerPort: must be a number, is "80"`,
		`spec.nodeSelector[disk.type]: must be a string, is 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
