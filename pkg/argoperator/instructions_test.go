//go:build perf

package argoperator_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/testing/need"
)

// TestInstructions limits the instructions of commands, including their start, with
// one thread, without the garbage collector and with a fixed environment. These
// vary between runs and machines. The remaining noise, the runtime's waiting on a
// busy machine, is about 2 % of `version`.
func TestInstructions(t *testing.T) {
	valgrind := need.Program(t, "valgrind")
	if runtime.GOARCH != "amd64" {
		t.Skip("the counts are for amd64")
	}
	binary := filepath.Join(t.TempDir(), "argoperator")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-X "+module+"/pkg/internal/base/release.Version=v1.0.0", "-o", binary, "./cmd/argoperator")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0") // as released
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	project := filepath.Join(t.TempDir(), "guestbook")
	create := exec.Command(binary, "init", "guestbook", "--dir", project, "--group", "example.com", "--kind", "Guestbook")
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	count := func(line string) float64 {
		args := strings.Fields(strings.ReplaceAll(line, "NEW", project))
		cmd := exec.Command(valgrind, append([]string{"--tool=callgrind", "--callgrind-out-file=/dev/null", binary}, args...)...)
		cmd.Dir = root
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off"}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, stderr.String())
		}
		return counted(t, stderr.String())
	}
	guard(t, "instructions.json", "million instructions", "docs/contributing/speed.md", []string{
		"version", "generate -f examples/memcached", "lint -f examples/memcached", "test -f NEW", // a project of init
		"render -f examples/memcached examples/memcached/samples/memcached.yaml",
	}, count)
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// counted returns valgrind's count in millions.
func counted(t *testing.T, report string) float64 {
	found := collected.FindStringSubmatch(report)
	if found == nil {
		t.Fatalf("valgrind did not count: %s", report)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return math.Round(n/1e4) / 100
}
