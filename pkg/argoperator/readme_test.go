package argoperator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme compares the definition in the README with the example.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	definition, err := os.ReadFile(filepath.Join(root, "examples", "memcached", "operator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```yaml\n"+string(definition)+"```\n") {
		t.Error("README.md does not contain examples/memcached/operator.yaml unchanged")
	}
}
