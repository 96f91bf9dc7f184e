package dev

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// sessionFile has commands after "$ ", each with its output on a cluster.
const sessionFile = "testdata/session.txt"

// TestSameAsCluster plays a session with kubectl, whose output must be that of a cluster.
// With CLUSTER, a kubeconfig, it plays it on that cluster, which has Argo and an EventBus;
// UPDATE=1 then records the output.
func TestSameAsCluster(t *testing.T) {
	kubeconfig := os.Getenv("CLUSTER")
	if kubeconfig == "" {
		kubeconfig = start(t, "-f", memcached).kubeconfig
	}
	before, err := os.ReadFile(sessionFile)
	if err != nil {
		t.Fatal(err)
	}
	var after bytes.Buffer
	for line := range strings.Lines(string(before)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		after.WriteString(line)
		after.WriteString(normalized(play(t, kubeconfig, command)))
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(sessionFile, after.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got := t.TempDir() + "/got"
	if err := os.WriteFile(got, after.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff, err := exec.Command("diff", "-u", sessionFile, got).CombinedOutput(); err != nil {
		t.Errorf("the output differs from that of a cluster:\n%s", diff)
	}
}

// play runs a command of a shell, in which kubectl and argoperator are those of this clone.
func play(t *testing.T, kubeconfig, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH=bin:"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Errorf("%s: %v", command, err)
	}
	return string(out)
}

// varying is what differs between two runs.
var varying = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`(memcached)-[0-9a-f]{9,10}\b`), "$1-HASH"},
	{regexp.MustCompile(`-HASH-[0-9a-z]{5}\b`), "-HASH-POD"},
	{regexp.MustCompile(`(?m)\b(\d+m)?\d+s( ago)?$`), "AGE"},
	{regexp.MustCompile(`(?m)^(  *Resource Version: *)\d+$`), "${1}VERSION"},
	{regexp.MustCompile(`(?m)^((?:  Normal|  Warning) +\w+ +)\S+( \(x\d+ over \S+\))?`), "${1}AGE"},
	{regexp.MustCompile(`(?m)^\S+( +(?:Normal|Warning) )`), "AGE$1"},
	{regexp.MustCompile(`(?m)  +`), "  "},
}

func normalized(out string) string {
	for _, v := range varying {
		out = v.pattern.ReplaceAllString(out, v.by)
	}
	return out
}
