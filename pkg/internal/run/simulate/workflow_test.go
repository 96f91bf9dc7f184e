package simulate

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
	"github.com/argoperator/argoperator/pkg/manifest"
)

func config(name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"watched": ""}},
	}
}

// TestWorkflow runs the programs of a pod in order, with their files and variables,
// until one fails; then the exit handler.
func TestWorkflow(t *testing.T) {
	tests := []struct {
		name, reason string
		change       func(*wfv1.WorkflowSpec)
	}{
		{"failing", "what depends on the one that failed does not run, the exit handler does", func(*wfv1.WorkflowSpec) {}},
		{"working", "all run, and the exit handler has nothing to say", func(s *wfv1.WorkflowSpec) {
			s.Arguments.Parameters[2].Value = wfv1.AnyStringPtr("nobody")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objects := operator(t, "pods.yaml")
			tt.change(&objects[3].(*wfv1.WorkflowTemplate).Spec)
			r, err := Render(context.Background(), Inputs{Objects: objects, Runner: local()}, []Action{{Event: Added, Object: config("one")}})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := r.Trace.Print(&out); err != nil {
				t.Fatal(err)
			}
			goldenfile.Compare(t, filepath.Join("testdata", "trace", "pods-"+tt.name+".txt"), out.String())
			if len(r.Objects) > 0 {
				t.Errorf("the operator created nothing; the trace contains %v", r.Objects)
			}
		})
	}
}

// TestRunnerFails checks the errors for programs that cannot run.
func TestRunnerFails(t *testing.T) {
	tests := []struct {
		name   string
		change func([]manifest.Object)
		runner Runner
		want   string
	}{
		{"no program", func(o []manifest.Object) {
			o[3].(*wfv1.WorkflowTemplate).Spec.Templates[0].ContainerSet.Containers[2].Command = []string{"no-such-program"}
		}, local(), "no-such-program is not on the PATH: install it, or run the program in its image busybox"},
		{"no program in a shell", func(o []manifest.Object) {
			o[3].(*wfv1.WorkflowTemplate).Spec.Templates[0].ContainerSet.Containers[2].Command = []string{"sh", "-c", "exec no-such-program"}
		}, local(), "a program is not on the PATH"},
		{"fixed file", func(o []manifest.Object) {
			mounts := o[3].(*wfv1.WorkflowTemplate).Spec.Templates[0].ContainerSet.Containers[2].VolumeMounts
			mounts[0] = corev1.VolumeMount{Name: "workspace", MountPath: "/result.json", SubPath: "result.json"}
		}, local(), "/result.json"},
		{"no runner", func([]manifest.Object) {}, nil, "no runner for the programs"},
		{"no file", func(o []manifest.Object) { o[2].SetName("other") }, local(), "ConfigMap scripts does not exist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objects := operator(t, "pods.yaml")
			tt.change(objects)
			_, err := Render(context.Background(), Inputs{Objects: objects, Runner: tt.runner}, []Action{{Event: Added, Object: config("one")}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error about %q", err, tt.want)
			}
		})
	}
}

// TestSecret checks that a variable reads its value from a Secret in the cluster.
func TestSecret(t *testing.T) {
	s := start(t, "pods.yaml")
	apply(t, s, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "greeting", "namespace": "argo-events"},
		"data": map[string]any{"text": "aGVsbG8="},
	})
	apply(t, s, config("one"))
	for _, step := range s.Trace() {
		if step.Workflow != nil {
			first := step.Workflow.Containers[0]
			if !strings.Contains(first.Output, "first: hello one") || len(first.Missing) > 0 {
				t.Errorf("got %q, missing %q", first.Output, first.Missing)
			}
			return
		}
	}
	t.Error("no Workflow ran")
}
