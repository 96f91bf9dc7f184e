package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// operator reads the objects of a file in testdata.
func operator(t *testing.T, name string) []manifest.Object {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	documents, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[any]func() manifest.Object{
		"EventSource":              func() manifest.Object { return &eventsv1.EventSource{} },
		"Sensor":                   func() manifest.Object { return &eventsv1.Sensor{} },
		"ConfigMap":                func() manifest.Object { return &corev1.ConfigMap{} },
		"WorkflowTemplate":         func() manifest.Object { return &wfv1.WorkflowTemplate{} },
		"CustomResourceDefinition": func() manifest.Object { return &apiextensionsv1.CustomResourceDefinition{} },
	}
	var out []manifest.Object
	for _, fields := range documents {
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		o := kinds[fields["kind"]]()
		if err := json.Unmarshal(text, o); err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

// start prepares the operator of a file; programs run on this machine.
func start(t *testing.T, name string) *Simulation {
	t.Helper()
	s, err := New(Inputs{Objects: operator(t, name), Runner: local()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func local() Runner {
	return Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}}
}

// memcached returns a custom resource of the operators in testdata.
func memcached(spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
		"metadata": map[string]any{"name": "sample"}, "spec": spec,
	}
}

func settle(t *testing.T, s *Simulation) {
	t.Helper()
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func apply(t *testing.T, s *Simulation, fields map[string]any) {
	t.Helper()
	if err := s.Apply(fields); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
}

// ask sends a request to a cluster and decodes the answer.
func ask(t *testing.T, c http.Handler, method, path, contentType, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequest(method, path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	reply, err := (&cluster.Recorder{Cluster: c}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, answer
}
