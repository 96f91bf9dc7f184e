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
)

// TestInstructions guards the instructions of commands, start included: they are
// the same on every machine to within half a percent. In one thread and without
// the garbage collector, since those differ from run to run.
func TestInstructions(t *testing.T) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Skip("valgrind is not installed")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("counted on amd64")
	}
	binary := filepath.Join(t.TempDir(), "argoperator")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-X "+module+"/cmd/argoperator/internal/release.Version=v1.0.0", "-o", binary, "./cmd/argoperator")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	now := map[string]float64{}
	for _, line := range []string{
		"version", "generate -f examples/memcached",
		"render -f examples/memcached examples/memcached/samples/memcached.yaml",
	} {
		cmd := exec.Command(valgrind, append([]string{"--tool=callgrind", "--callgrind-out-file=/dev/null", binary}, strings.Fields(line)...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off")
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, said.String())
		}
		now[line] = counted(t, said.String())
	}
	guard(t, "instructions.json", "million instructions", "docs/speed.md", now)
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// counted is what valgrind says, in millions.
func counted(t *testing.T, said string) float64 {
	found := collected.FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("valgrind did not count: %s", said)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return math.Round(n/1e5) / 10
}
