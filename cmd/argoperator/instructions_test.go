package main

import (
	"encoding/json"
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

// TestInstructions is the guard against slower commands: the instructions of
// one, its start included, are the same on every machine to within half a
// percent. 3 % more fail, and 10 % less are to be written down. In one thread
// and without the garbage collector, since those differ from run to run.
func TestInstructions(t *testing.T) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Skip("valgrind is not installed")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("counted on amd64")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "argoperator")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-X github.com/argoperator/argoperator/cmd/argoperator/internal/release.Version=v1.0.0", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root := filepath.Join("..", "..")
	file := filepath.Join(root, "testdata", "instructions.json")
	known, now := map[string]float64{}, map[string]float64{}
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &known); err != nil {
			t.Fatal(err)
		}
	}
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
		switch was := known[line]; {
		case os.Getenv("UPDATE") != "":
		case now[line] > was*1.03:
			t.Errorf("%s: %.1f million instructions, were %.1f: see docs/speed.md", line, now[line], was)
		case now[line] < was*0.9:
			t.Errorf("%s: %.1f million instructions, were %.1f: write that down with UPDATE=1 go test ./cmd/argoperator -run TestInstructions", line, now[line], was)
		}
	}
	if os.Getenv("UPDATE") != "" {
		data, err := json.MarshalIndent(now, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
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
