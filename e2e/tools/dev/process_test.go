package dev

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingIsLeft ends the command in the ways that users and machines do. The API
// server must end too, and its directory must go.
func TestNothingIsLeft(t *testing.T) {
	for name, signal := range map[string]os.Signal{"Ctrl-C": os.Interrupt, "terminated": syscall.SIGTERM, "hang-up": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			s := start(t, "-f", memcached)
			dir := filepath.Dir(s.kubeconfig)
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the directory of the kubeconfig: %v, %v, want 0700", info, err)
			}
			if info, err := os.Stat(s.kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the kubeconfig: %v, %v, want 0600", info, err)
			}
			server := s.server()
			s.stop(signal)
			if code := s.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit code %d, want 0:\n%s", code, s.said())
			}
			s.left(t, s.kubeconfig)
			if runs(server) {
				t.Error("the API server runs on")
			}
		})
	}
}

// TestKilled kills the command, which cannot clean up. The API server notices it.
func TestKilled(t *testing.T) {
	s := start(t, "-f", memcached)
	server := s.server()
	s.stop(os.Kill)
	eventually(t, "the API server runs", "false", func() string { return fmt.Sprint(runs(server)) })
	s.left(t)
}

// left fails if one of the files is left, or a directory of the API server.
func (s *session) left(t *testing.T, files ...string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(s.temporary, "argoperator-dev*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(dirs, files...) {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
}

// TestServerKilled kills the API server, as a machine without memory does. Its keys must not stay.
func TestServerKilled(t *testing.T) {
	s := start(t, "-f", memcached)
	if out, err := exec.Command("kill", "-9", s.server()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	select {
	case <-s.ended:
	case <-time.After(patience):
		t.Fatal("the command runs on")
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3:\n%s", code, s.said())
	}
	s.left(t, s.kubeconfig)
}

// server returns the number of the process with the API server.
func (s *session) server() string {
	s.t.Helper()
	out, err := exec.Command("pgrep", "-P", fmt.Sprint(s.cmd.Process.Pid)).Output()
	if err != nil {
		s.t.Fatalf("finding the API server: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// runs reports whether a process runs. One that has ended and waits for its parent does not.
func runs(pid string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(string(out), "Z")
}

// TestReload changes a definition while its operator runs.
func TestReload(t *testing.T) {
	dir := copyOf(t, "examples/memcached")
	file := filepath.Join(dir, "operator.yaml")
	s := start(t, "-f", dir)
	s.kubectl("apply", "-f", dir+"/samples/memcached.yaml")
	s.ready("memcached/memcached")
	replace := func(old, now string) {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), old) {
			t.Fatalf("the definition has no %q", old)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(data), old, now, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said := func(text string) {
		t.Helper()
		eventually(t, "the log has "+text, "true", func() string {
			return map[bool]string{true: "true", false: "false"}[strings.Contains(s.said(), text)]
		})
	}

	replace("replicas: ${ .spec.size }", "replicas: ${ .spec.size + 1 }")
	s.kubectl("wait", "--for=jsonpath={.spec.replicas}=4", "--timeout=120s", "deployment/memcached")
	replace("maximum=100", "maximum=3")
	eventually(t, "the new limit", "true", func() string {
		out, err := s.try("", "patch", "memcached", "memcached", "--type=merge", "-p", `{"spec":{"size":4}}`, "--dry-run=server")
		return map[bool]string{true: "true", false: out}[err != nil && strings.Contains(out, "less than or equal to 3")]
	})
	replace("${ .spec.size + 1 }", "${ .spec.syze }")
	said("operator.yaml:")
	said("the definition changed and has errors")
	s.kubectl("delete", "deployment", "memcached")
	s.kubectl("wait", "--for=create", "--timeout=120s", "deployment/memcached") // the operator runs on
	replace("${ .spec.syze }", "${ .spec.size }")
	s.kubectl("wait", "--for=jsonpath={.spec.replicas}=3", "--timeout=120s", "deployment/memcached")
}

// TestConsent does not run the programs of a definition unless the user allows it.
func TestConsent(t *testing.T) {
	s := start(t, "-f", "../../../examples/memcached-logic")
	if !strings.Contains(s.said(), "python3 main.py") {
		t.Errorf("the programs are not named:\n%s", s.said())
	}
	s.kubectl("apply", "-f", "../../../examples/memcached-logic/samples/memcached.yaml")
	eventually(t, "the condition Ready", "true", func() string {
		out := s.kubectl("get", "memcached", "memcached", "-o", "jsonpath={.status.conditions}")
		return map[bool]string{true: "true", false: out}[strings.Contains(out, "--run-logic")]
	})
	if out := s.kubectl("get", "deployments", "-o", "name"); out != "" {
		t.Errorf("without the program there is %s", out)
	}
}

// TestWithoutControllers leaves the status of workloads to the user.
func TestWithoutControllers(t *testing.T) {
	s := start(t, "-f", memcached, "--controllers=false")
	s.kubectl("apply", "-f", memcached+"/samples/memcached.yaml")
	s.kubectl("wait", "--for=create", "--timeout=120s", "deployment/memcached")
	s.kubectl("wait", "--for=condition=Ready=False", "--timeout=120s", "memcached/memcached")
	status := `{"status":{"observedGeneration":1,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3,"conditions":[{"type":"Available","status":"True","reason":"MinimumReplicasAvailable","message":""}]}}`
	s.kubectl("patch", "deployment", "memcached", "--subresource=status", "--type=merge", "-p", status)
	s.ready("memcached/memcached")
	s.kubectl("delete", "memcached", "memcached")
	s.kubectl("wait", "--for=delete", "--timeout=120s", "deployment/memcached")
}

// TestBrokenDefinition starts with findings, and goes on when they are corrected.
func TestBrokenDefinition(t *testing.T) {
	dir := copyOf(t, "examples/memcached")
	file := filepath.Join(dir, "operator.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(string(data), "kind: Memcached", "kindd: Memcached", 1))
	s := start(t, "-f", dir)
	for _, want := range []string{"operator.yaml:", `unknown key "kindd"`, "the operator starts when they are corrected"} {
		eventually(t, want, "true", func() string { return fmt.Sprint(strings.Contains(s.said(), want)) })
	}
	write(string(data))
	eventually(t, "the operator runs", "true", func() string {
		return fmt.Sprint(strings.Contains(s.said(), "the operator runs with it"))
	})
	s.kubectl("apply", "-f", dir+"/samples/memcached.yaml")
	s.ready("memcached/memcached")
}
