//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputs installs an operator by each format that writes files, with the
// program that the format is for. Helm is built from e2e/tools. Each has a kind
// of its own, and waits for no other.
func TestOutputs(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	t.Parallel()
	byFiles := func(apply, format string) func(*testing.T, string, func(*operator)) {
		return func(t *testing.T, definition string, works func(*operator)) {
			works(connect(t).installBy(t, "as "+format, definition, func([]byte) {
				run(t, nil, "kubectl", "apply", apply, written(t, definition, format))
			}))
		}
	}
	for kind, deliver := range map[string]func(t *testing.T, definition string, works func(*operator)){
		"Memdir":  byFiles("-f", "dir"),
		"Memkust": byFiles("-k", "kustomize"),
		"Memhelm": byHelm,
	} {
		t.Run(strings.TrimPrefix(kind, "Mem"), func(t *testing.T) {
			t.Parallel()
			deliver(t, memcachedAs(t, kind), func(o *operator) {
				cr := o.create(t, "cache.example.com/v1alpha1", ofKind(kind).Resource, nsA, strings.ToLower(kind), map[string]any{"size": int64(1)})
				o.awaitServers(t, cr, 1)
				o.remove(t, cr)
			})
		})
	}
	for name, definition := range map[string]string{
		"direct":    memcachedAs(t, "Memapply"),
		"pods":      logicFor(t, "Memlogapply"),
		"templates": tutorialFor(t, "Memstepapply"),
	} {
		t.Run("server-side/"+name, func(t *testing.T) {
			t.Parallel()
			apply := func(manifest []byte) { run(t, manifest, "kubectl", "apply", "--server-side", "-f", "-") }
			o := connect(t).installBy(t, "server-side, "+name, definition, apply)
			apply(o.manifest) // a conflict, had Argo Events written into what was given
		})
	}
}

// written is the directory of an operator in a format.
func written(t *testing.T, definition, format string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, nil, binary(t), "generate", "-f", definition, "-o", format, "--output-dir", dir)
	return dir
}

func byHelm(t *testing.T, definition string, works func(*operator)) {
	helm := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "helm"}, args...)...)
		cmd.Dir = "tools"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	chart := filepath.Join(written(t, definition, "helm"), "memhelm")
	o := connect(t).installBy(t, "by Helm", definition, func([]byte) { helm("install", "delivered", chart, "-n", operators) })
	works(o)
	helm("upgrade", "delivered", chart, "-n", operators, "--set", "crd.keep=false")
	works(o)
	o.audit.close() // Helm takes the rights first
	helm("uninstall", "delivered", "-n", operators, "--wait")
	if left := run(t, o.manifest, "kubectl", "get", "--ignore-not-found", "-o", "name", "-f", "-"); len(left) > 0 {
		t.Errorf("left behind:\n%s", left)
	}
}
