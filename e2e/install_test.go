//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestWatchNamespaces installs an operator that may see one namespace only.
func TestWatchNamespaces(t *testing.T) {
	c := connectLong(t)
	definition := variant(t, logicFor(t, "Memwatch"), "  install: {watchNamespaces: ["+nsA+"]}\n")
	o := c.install(t, "memcached in one namespace", definition)
	for _, object := range o.objects {
		if kind := object.GetKind(); kind == "ClusterRole" || kind == "ClusterRoleBinding" {
			t.Errorf("%s %s gives rights in the whole cluster", kind, object.GetName())
		}
	}
	outside := o.create(t, "cache.example.com/v1alpha1", o.resource().Resource, nsB, "outside", map[string]any{"size": int64(1)})
	inside := o.create(t, "cache.example.com/v1alpha1", o.resource().Resource, nsA, "inside", map[string]any{"size": int64(1)})
	o.awaitServers(t, inside, 1)
	o.awaitIdle(t)
	c.await(t, "the Memcached outside to be left alone", time.Minute, o.resource(), nsB, func(s seen) bool {
		cr := s.by(outside.GetUID())
		return cr != nil && cr.Object["status"] == nil
	})
	o.remove(t, inside)
	c.await(t, "no Deployment outside", time.Minute, deployments, nsB, func(s seen) bool { return len(s.ownedBy(outside)) == 0 })
}

// variant copies an example into a new directory and adds lines to its definition.
func variant(t *testing.T, example, more string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "operator.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(data, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rewritten copies a definition into a new directory with another word in all
// of its files.
func rewritten(t *testing.T, from, old, by string) string {
	t.Helper()
	dir, found := variant(t, from, ""), 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".pyc" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found += strings.Count(string(data), old)
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, by)), 0o600)
	})
	if err != nil || found == 0 {
		t.Fatalf("%q is %d times in %s: %v", old, found, from, err)
	}
	return dir
}

// replaceOnce puts a word in the place of another that must be there.
func replaceOnce(t *testing.T, text, old, by string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q has no %q", text, old)
	}
	return strings.Replace(text, old, by, 1)
}

// TestFullCRDs lets the API server validate all output against the full schemas of
// Argo Workflows. Clusters mostly have the minimal ones, which accept anything;
// they are put back at the end.
func TestFullCRDs(t *testing.T) {
	c := connect(t)
	module := strings.TrimSpace(string(run(t, nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-workflows/v3")))
	base := filepath.Join(module, "manifests", "base", "crds")
	replace := func(kind string) error {
		_, err := try(nil, "kubectl", "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(base, kind))
		return err
	}
	t.Cleanup(func() {
		if err := replace("minimal"); err != nil {
			t.Error(err)
		}
	})
	if err := replace("full"); err != nil {
		t.Fatal(err)
	}
	c.awaitSchema(t, "workflowtemplates.argoproj.io")
	for name, definition := range map[string]string{
		"memcached":          "../examples/memcached",
		"memcached-logic":    "../examples/memcached-logic",
		"webapp":             "../examples/webapp",
		"configwatcher":      variant(t, "../examples/configwatcher", "  reconcile: {engine: workflow}\n"),
		"at":                 variant(t, "../examples/at", "  reconcile: {engine: workflow}\n"),
		"worker, shards":     variant(t, "../examples/memcached", "  install: {watchNamespaces: ["+nsA+", "+nsB+"]}\n  reconcile: {engine: worker, shards: 3}\n"),
		"templates in a pod": variant(t, "../examples/memcached", "  reconcile: {engine: workflow}\n"),
		"memcached-tutorial": "../examples/memcached-tutorial",
		"mouse":              "testdata/mouse",
		"watchNamespaces":    variant(t, "../examples/memcached-logic", "  install: {watchNamespaces: ["+nsA+", "+nsB+"]}\n"),
		"managed bus":        variant(t, "../examples/memcached-logic", "  install: {replicas: 2, eventBus: {mode: managed, name: own}}\n"),
		"finalizer":          variant(t, "../examples/memcached-logic", "  finalizer: {}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := run(t, generate(t, definition), "kubectl", "apply", "--dry-run=server", "--validate=strict", "-f", "-")
			t.Logf("%d objects accepted", strings.Count(string(out), "\n"))
		})
	}
}

// awaitSchema waits until the API server refuses what only the full schema
// knows to be wrong: it takes a moment to serve a new one.
func (c *cluster) awaitSchema(t *testing.T, crd string) {
	t.Helper()
	wrong := []byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"WorkflowTemplate","metadata":{"name":"wrong"},"spec":{"entrypoint":1}}`)
	c.await(t, "the full schema of "+crd, time.Minute, crds, "", func(s seen) bool {
		for _, o := range s {
			if o.GetName() == crd {
				return established(o)
			}
		}
		return false
	})
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if _, err := try(wrong, "kubectl", "create", "-n", operators, "--dry-run=server", "--validate=strict", "-f", "-"); err != nil {
			return
		}
		pause(t.Context())
	}
	t.Fatalf("the full schema of %s never came into force", crd)
}

func established(crd *unstructured.Unstructured) bool {
	status, _, _ := condition(crd, "Established")
	return status == "True"
}
