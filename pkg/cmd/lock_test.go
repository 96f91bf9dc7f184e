package cmd

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	image "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const locked = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api: {group: example.com, kind: Web, versions: [{name: v1, schema: {spec: {image: string}}}]}
  children:
  - name: pod
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: "${ .metadata.name }"}
      spec:
        containers:
        - {name: fixed, image: "REGISTRY/web:1.2"}
        - {name: chosen, image: "${ .spec.image }"}
  install: {tokenRotation: 8h, imagesLock: images.lock.yaml, runtimeImage: "REGISTRY/python:3.13"}
`

// TestLock runs the command with a registry in memory.
func TestLock(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	dir := t.TempDir()
	definition, lock := filepath.Join(dir, "operator.yaml"), filepath.Join(dir, "images.lock.yaml")
	if err := os.WriteFile(definition, []byte(strings.ReplaceAll(locked, "REGISTRY", host)), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(code int, args ...string) (string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if got := run(args, streams{in: strings.NewReader(""), out: &stdout, err: &stderr}); got != code {
			t.Fatalf("argoperator %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, &stderr)
		}
		return stdout.String(), stderr.String()
	}

	python := push(t, host+"/python:3.13")
	out, stderr := call(exitFindings, "lock", "-f", dir)
	if want := "operator.yaml:14:32: error: no digest of the image " + host + "/web:1.2: " + host + " answers 404 Not Found [missing-image-digest]"; out != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "error:") != 1 {
		t.Errorf("%s\n%s\nwant %s alone", out, stderr, want)
	}
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("the lock is incomplete: %v", err)
	}

	web := push(t, host+"/web:1.2")
	out, stderr = call(exitOK, "lock", "-f", dir)
	if want := host + "/python:3.13 " + python + "\n" + host + "/web:1.2 " + web + "\n"; out != want {
		t.Errorf("got %s, want %s", out, want)
	}
	if !strings.Contains(stderr, "wrote ") || !strings.Contains(stderr, "operator.yaml:15:33: no digest for the image ${ .spec.image }, which an expression computes") {
		t.Error(stderr)
	}
	if _, stderr = call(exitOK, "lock", "-f", dir); !strings.Contains(stderr, "is up to date") {
		t.Error(stderr)
	}

	server.Close() // only lock needs the registry
	generated, _ := call(exitOK, "generate", "-f", dir)
	rendered, _ := call(exitOK, "render", "--run-logic", "-f", dir, sampled(t, dir))
	for pinned, in := range map[string]string{host + "/web:1.2@" + web: rendered, host + "/python:3.13@" + python: generated} {
		if !strings.Contains(in, pinned) {
			t.Errorf("no %s in\n%s", pinned, in)
		}
	}
}

func sampled(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "cr.json")
	if err := os.WriteFile(file, []byte(`{"apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "one"}, "spec": {"image": "x:1"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// push pushes an image to a registry and returns its digest.
func push(t *testing.T, reference string) string {
	t.Helper()
	content, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := image.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, content); err != nil {
		t.Fatal(err)
	}
	digest, err := content.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}
