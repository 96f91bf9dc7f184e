package testsuite_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

// metacontroller is the directory with definitions for the examples of Metacontroller.
const metacontroller = "../../../../testdata/metacontroller"

// metacontrollerHooks are the files of the examples that a definition uses, by their names there.
var metacontrollerHooks = map[string]map[string]string{
	"bluegreen":         {"server.js": "nodejs/server.js", "hooks/sync.js": "bluegreen/manifest/sync.js"},
	"catset":            {"server.js": "nodejs/server.js", "hooks/sync.js": "catset/manifest/sync.js"},
	"clusteredparent":   {"sync.py": "clusteredparent/manifest/sync.py"},
	"configmap-list-v2": {"sync.py": "configmap-list-v2/manifest/sync.py"},
	"daemonjob":         {"sync.py": "daemonjob/manifest/sync.py"},
	"globalconfigmap":   {"sync.py": "globalconfigmap/manifest/sync.py"},
	"indexedjob":        {"sync.py": "indexedjob/manifest/sync.py"},
	"service-per-pod": {
		"sync-service-per-pod.jsonnet":     "service-per-pod/manifest/sync-service-per-pod.jsonnet",
		"finalize-service-per-pod.jsonnet": "service-per-pod/manifest/finalize-service-per-pod.jsonnet",
	},
}

// TestMetacontroller runs unchanged hooks of Metacontroller. They are not part of this
// repository: without the directory of its examples in METACONTROLLER_EXAMPLES, it only
// checks the definitions.
func TestMetacontroller(t *testing.T) {
	sums, err := os.ReadFile(filepath.Join(metacontroller, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	from := os.Getenv("METACONTROLLER_EXAMPLES")
	for name, files := range metacontrollerHooks {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(metacontroller, name))); err != nil {
				t.Fatal(err)
			}
			for place, file := range files {
				var content []byte
				if from != "" {
					content = published(t, string(sums), from, file)
				}
				place = filepath.Join(dir, place)
				if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(place, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			playMetacontroller(t, dir, from != "")
		})
	}
}

// published returns a file of the examples as it was published.
func published(t *testing.T, sums, from, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(from, file))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(content); !strings.Contains(sums, hex.EncodeToString(sum[:])+"  "+file+"\n") {
		t.Fatalf("%s differs from the file of testdata/metacontroller/SHA256SUMS", file)
	}
	return content
}

// playMetacontroller checks a definition, and runs its tests if it has the hooks.
func playMetacontroller(t *testing.T, dir string, hooks bool) {
	t.Helper()
	definition, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	checked, err := argoperator.Explain([]argoperator.Source{{Name: "operator.yaml", Data: definition, Dir: os.DirFS(dir)}}, argoperator.Options{})
	if err != nil || len(checked.Findings) > 0 {
		t.Fatal(err, checked.Findings)
	}
	if !hooks {
		t.Skip("METACONTROLLER_EXAMPLES is not set: the directory examples of Metacontroller")
	}
	needLogic(t, definition)
	results, err := testsuite.Run(context.Background(), []testsuite.Suite{suiteOf(t, dir)}, testsuite.Options{Runner: local(), Trace: true})
	if err != nil || len(results) == 0 {
		t.Fatal(len(results), err)
	}
	for _, r := range results {
		if r.State() != testsuite.Passed {
			t.Error(printed(t, r, dir))
		}
	}
}
