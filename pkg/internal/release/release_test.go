package release

import (
	"os"
	"strings"
	"testing"
)

// TestKnown: a release tells the versions that go.mod requires.
func TestKnown(t *testing.T) {
	data, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	f := Known()
	for module, version := range map[string]string{
		"github.com/argoproj/argo-events": f.ArgoEvents, "github.com/argoproj/argo-workflows/v3": f.ArgoWorkflows,
	} {
		if !strings.Contains(string(data), "\t"+module+" "+version+"\n") {
			t.Errorf("go.mod requires another version of %s than %s", module, version)
		}
	}
}
