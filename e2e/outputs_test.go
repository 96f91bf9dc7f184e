//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputs installs an operator by each format that writes files, with the
// program that the format is for. Helm is built from e2e/peers.
func TestOutputs(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	t.Parallel()
	const definition = "../examples/memcached"
	written := func(t *testing.T, format string) string {
		t.Helper()
		dir := t.TempDir()
		run(t, nil, binary(t), "generate", "-f", definition, "-o", format, "--output-dir", dir)
		return dir
	}
	works := func(t *testing.T, o *operator) {
		t.Helper()
		cr := o.create(t, "cache.example.com/v1alpha1", memcacheds.Resource, nsA, "delivered", map[string]any{"size": int64(1)})
		o.awaitServers(t, cr, 1)
		o.remove(t, cr)
	}
	t.Run("dir", func(t *testing.T) {
		works(t, connect(t).installBy(t, "by files", definition, func([]byte) {
			run(t, nil, "kubectl", "apply", "-f", written(t, "dir"))
		}))
	})
	t.Run("kustomize", func(t *testing.T) {
		works(t, connect(t).installBy(t, "by kustomize", definition, func([]byte) {
			run(t, nil, "kubectl", "apply", "-k", written(t, "kustomize"))
		}))
	})
	t.Run("helm", func(t *testing.T) {
		helm := func(args ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "helm"}, args...)...)
			cmd.Dir = "peers"
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
			}
		}
		o := connect(t).installBy(t, "by Helm", definition, func([]byte) {
			helm("install", "delivered", filepath.Join(written(t, "helm"), "memcached"), "-n", operators)
		})
		works(t, o)
		helm("upgrade", "delivered", filepath.Join(written(t, "helm"), "memcached"), "-n", operators, "--set", "crd.keep=false")
		works(t, o)
		helm("uninstall", "delivered", "-n", operators, "--wait")
		if left := run(t, o.manifest, "kubectl", "get", "--ignore-not-found", "-o", "name", "-f", "-"); len(left) > 0 {
			t.Errorf("left behind:\n%s", left)
		}
	})
	for name, definition := range map[string]string{
		"direct":    definition,
		"patches":   "testdata/patched",
		"pods":      "../examples/memcached-logic",
		"templates": "../examples/memcached-tutorial",
	} {
		t.Run("server-side/"+name, func(t *testing.T) {
			apply := func(manifest []byte) { run(t, manifest, "kubectl", "apply", "--server-side", "-f", "-") }
			o := connect(t).installBy(t, "server-side, "+name, definition, apply)
			apply(o.manifest) // a conflict, had Argo Events written into what was given
		})
	}
}
