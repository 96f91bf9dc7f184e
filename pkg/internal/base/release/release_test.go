package release

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// TestVersions requires the versions of go.mod.
func TestVersions(t *testing.T) {
	data, err := os.ReadFile("../../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	f := Read()
	for module, version := range map[string]string{
		"github.com/argoproj/argo-events": f.ArgoEvents, "github.com/argoproj/argo-workflows/v3": f.ArgoWorkflows,
	} {
		if !strings.Contains(string(data), "\t"+module+" "+version+"\n") {
			t.Errorf("go.mod requires another version of %s than %s", module, version)
		}
	}
}

// TestBuildInfo compares with runtime/debug.
func TestBuildInfo(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		t.Fatal("the test has no build information")
	}
	if got := Read().Version; got != info.Main.Version {
		t.Errorf("version %q, want %q", got, info.Main.Version)
	}
	var f Facts
	marker := strings.Repeat("x", 16)
	f.addBuildInfo(marker + "path\texample.com/a\nmod\texample.com/a\tv1.2.3\th1:x\ndep\tb\tv2\nbuild\tvcs.revision=abc\nbuild\tvcs.time=2026-01-02T03:04:05Z\nbuild\tvcs.modified=true\n" + marker)
	if want := (Facts{Version: "v1.2.3", Commit: "abc", Date: "2026-01-02T03:04:05Z", Modified: true}); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}
