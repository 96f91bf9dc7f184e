//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestLives plays the scripts of testdata/lives: each is what a custom resource of
// the definition beside it goes through.
func TestLives(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	for name, engines := range map[string][]string{
		"readers":  {"direct", "worker", "workflow"},
		"existing": {"direct", "worker", "workflow"},
		"related":  {"worker", "workflow"},
		"renamed":  {"direct", "worker", "workflow"},
		"texts":    {"direct", "worker", "workflow"},
		"roles":    {"direct", "worker", "workflow"},
		// Attacks, each on an object that stays as it is, byte for byte.
		"adopting": {"worker", "workflow"},
		"state":    {"direct"},
		"secret":   {"worker", "workflow"},
		"copier":   {"worker", "workflow"},
	} {
		for _, engine := range engines {
			t.Run(name+"/"+engine, func(t *testing.T) {
				t.Parallel()
				playLife(t, name, engine)
			})
		}
	}
}

func playLife(t *testing.T, name, engine string) {
	t.Helper()
	c := connect(t)
	namespace := "e2e-" + name + "-" + engine
	c.namespace(t, namespace, "restricted")
	dir := forEngine(t, filepath.Join("testdata/lives", name), engine, "")
	o := c.install(t, name+"/"+engine, dir)
	script, err := os.ReadFile(filepath.Join(dir, "life.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if said, err := o.bash(t, namespace, string(script), "ENGINE="+engine, "DIR="+dir, "ARGOPERATOR="+binary(t)); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	o.awaitEnd(t, "all Workflows to end", func(w *unstructured.Unstructured) bool { return w.GetLabels()["argoperator.dev/timer"] == "" })
}
