package cmd

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// devOutput is what a dev command prints.
type devOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *devOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *devOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// runningDev is a dev command with the API server in memory.
type runningDev struct {
	t        *testing.T
	out, err devOutput
	stop     context.CancelFunc
	ended    chan error
}

func startDev(t *testing.T, dir string) *runningDev {
	t.Helper()
	d := &runningDev{t: t, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	d.stop = cancel
	cmd := newDev(streams{in: strings.NewReader(""), out: &d.out, err: &d.err})
	cmd.SetArgs([]string{"--api-server", "memory", "-f", dir})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	go func() { d.ended <- cmd.ExecuteContext(ctx) }()
	t.Cleanup(d.end)
	d.await("the addresses", func() bool { return strings.Contains(d.out.String(), "export KUBECONFIG=") })
	return d
}

// end ends the command, once.
func (d *runningDev) end() {
	d.stop()
	if err, open := <-d.ended; open {
		close(d.ended)
		if err != nil {
			d.t.Errorf("dev: %v", err)
		}
	}
}

func (d *runningDev) await(what string, met func() bool) {
	d.t.Helper()
	for limit := time.Now().Add(time.Minute); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			d.t.Fatalf("timeout: %s\n%s%s", what, d.out.String(), d.err.String())
		}
	}
}

// after returns the text behind a word in the output.
func (d *runningDev) after(word string) string {
	_, rest, _ := strings.Cut(d.out.String(), word)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

const devDefinition = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: note}
spec:
  api:
    group: example.com
    kind: Note
    versions: [{name: v1, schema: {spec: {text: string}}}]
  children:
  - name: config
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }"}
      data: {text: "${ .spec.text }"}
`

// TestDev develops an operator on the API server in memory: it starts with a broken definition,
// becomes ready, and is there again at the same address.
func TestDev(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, "operator.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(devDefinition, "kind: Note", "kindd: Note", 1))
	d := startDev(t, dir)
	if !strings.Contains(d.err.String(), "the operator starts when they are corrected") {
		t.Errorf("it does not say that it waits:\n%s", d.err.String())
	}
	write(devDefinition)
	d.await("the operator runs", func() bool { return strings.Contains(d.out.String(), "the operator runs with it") })

	page, kubeconfig := d.after("page:"), d.after("export KUBECONFIG=")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	notes := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "notes"}).Namespace("default")
	note := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Note", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"text": "hello"},
	}}
	if _, err := notes.Create(t.Context(), note, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	d.await("the Note is ready", func() bool {
		o, err := notes.Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			return false
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		return len(conditions) == 1 && conditions[0].(map[string]any)["status"] == "True"
	})
	config2 := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	made, err := config2.Get(t.Context(), "a", metav1.GetOptions{})
	if text, _, _ := unstructured.NestedString(made.Object, "data", "text"); err != nil || text != "hello" {
		t.Errorf("the child is %v: %v", made, err)
	}
	write(strings.Replace(devDefinition, "name: v1,", "name: v2,", 1))
	d.await("the API server rejects another version", func() bool { return strings.Contains(d.err.String(), "missing from spec.versions") })
	write(devDefinition)

	d.end()
	if _, err := os.Stat(kubeconfig); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig is left behind: %v", err)
	}
	again := startDev(t, dir)
	if got := again.after("page:"); got != page {
		t.Errorf("the page is at %s, and was at %s", got, page)
	}
	if got := again.after("export KUBECONFIG="); got != kubeconfig {
		t.Errorf("the kubeconfig is %s, and was %s", got, kubeconfig)
	}
	beside := startDev(t, dir)
	if got := beside.after("page:"); got == page || beside.after("export KUBECONFIG=") == kubeconfig {
		t.Errorf("two commands share %s", got)
	}
}
