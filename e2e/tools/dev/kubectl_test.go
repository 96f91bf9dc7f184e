package dev

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKubectl uses the operator with kubectl as on a cluster.
func TestKubectl(t *testing.T) {
	s := start(t, "-f", memcached)
	useKubectl(t, s)
	s.kubectlIn("apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: memcached}\nspec: {size: 3}\n", "apply", "-f", "-")
	s.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=120s", "memcached/memcached")
	if out := s.kubectl("get", "deployment", "memcached"); !strings.Contains(out, "3/3") {
		t.Errorf("kubectl get deployment: %s", out)
	}
	s.kubectl("delete", "memcached", "--all")
	eventually(t, "Pods", "", func() string { return s.kubectl("get", "pods", "-o", "name") })
}

// TestMemory does the same on the API server in memory.
func TestMemory(t *testing.T) {
	s := start(t, "-f", memcached, "--api-server", "memory")
	useKubectl(t, s)
	s.kubectlIn("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x}]}\n", "apply", "-f", "-")
	if out, err := s.try("", "logs", "p"); err == nil || !strings.Contains(out, "runs no containers") {
		t.Errorf("kubectl logs: %v\n%s", err, out)
	}
}

func useKubectl(t *testing.T, s *session) {
	t.Helper()
	sample := memcached + "/samples/memcached.yaml"
	contains := func(want string, args ...string) {
		t.Helper()
		if out := s.kubectl(args...); !strings.Contains(out, want) {
			t.Errorf("kubectl %s: want %q in\n%s", strings.Join(args, " "), want, out)
		}
	}

	contains("memcached.cache.example.com/memcached created", "apply", "-f", sample)
	s.ready("memcached/memcached")
	contains("SIZE   READY REPLICAS   READY", "get", "memcached")
	contains("all children are ready", "describe", "memcached", "memcached")
	contains("Ready", "events", "--for", "memcached/memcached")
	contains("unchanged", "apply", "-f", sample)
	contains("serverside-applied", "apply", "--server-side", "--force-conflicts", "-f", sample)

	// changes
	s.kubectl("patch", "memcached", "memcached", "--type=merge", "-p", `{"spec":{"size":4}}`)
	s.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=4", "--timeout=120s", "memcached/memcached")
	s.kubectl("scale", "memcached", "memcached", "--replicas=2")
	s.kubectl("wait", "--for=jsonpath={.spec.replicas}=2", "--timeout=120s", "deployment/memcached")
	s.kubectl("patch", "memcached", "memcached", "--type=json", "-p", `[{"op":"replace","path":"/spec/memory","value":128}]`)
	t.Setenv("KUBE_EDITOR", writeEditor(t))
	s.kubectl("edit", "memcached", "memcached")
	s.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=1", "--timeout=120s", "memcached/memcached")
	s.kubectl("label", "memcached", "memcached", "team=web")
	contains("team=web", "get", "memcached", "memcached", "--show-labels")

	// the API
	contains("How many memcached servers run", "explain", "memcached.spec.size")
	contains("memcacheds", "api-resources", "--api-group=cache.example.com")
	contains("yes", "auth", "can-i", "create", "memcacheds")
	contains("yes", "auth", "can-i", "patch", "deployments.apps", "--as=system:serviceaccount:argo-events:memcached-sensor", "-A")
	if out, err := s.try("", "auth", "can-i", "delete", "secrets", "--as=system:serviceaccount:argo-events:memcached-sensor", "-A"); err == nil {
		t.Errorf("the Sensors may delete Secrets: %s", out)
	}
	contains("memcached", "get", "--raw", "/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds/memcached/scale")
	contains("EventSource", "get", "eventsource,sensor,cronworkflow", "-n", "argo-events", "-o", "jsonpath={.items[*].kind}")

	// validation and defaults
	resource := func(name, spec string) string {
		return "apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
	}
	s.refusedIn(resource("large", "{size: 101}"), "should be less than or equal to 100", "apply", "-f", "-")
	s.refusedIn(resource("text", "{size: many}"), "must be of type integer", "apply", "-f", "-")
	s.refusedIn(resource("none", "{}"), "Required value", "apply", "-f", "-")
	s.refusedIn(resource("typo", "{size: 1, sise: 2}"), `unknown field "spec.sise"`, "apply", "-f", "-")
	s.kubectlIn(resource("small", "{size: 1}"), "apply", "-f", "-")
	contains("64", "get", "memcached", "small", "-o", "jsonpath={.spec.memory}")
	if out, err := s.try(resource("small", "{size: 3}"), "diff", "-f", "-"); err == nil || !strings.Contains(out, "+  size: 3") {
		t.Errorf("kubectl diff: %v\n%s", err, out)
	}

	// others change and delete children; the operator restores them
	s.kubectl("scale", "deployment", "memcached", "--replicas=5")
	s.kubectl("wait", "--for=jsonpath={.spec.replicas}=1", "--timeout=120s", "deployment/memcached")
	uid := s.kubectl("get", "deployment", "memcached", "-o", "jsonpath={.metadata.uid}")
	s.kubectl("delete", "deployment", "memcached", "--wait=false")
	eventually(t, "the Deployment is created again", "true", func() string {
		now, err := s.try("", "get", "deployment", "memcached", "-o", "jsonpath={.metadata.uid}")
		return map[bool]string{true: "true", false: now}[err == nil && now != uid && now != ""]
	})

	// deletion
	s.kubectl("delete", "memcached", "--all")
	s.kubectl("wait", "--for=delete", "--timeout=120s", "deployment/memcached")
	s.kubectl("create", "namespace", "team")
	s.kubectlIn(resource("cache", "{size: 1}"), "apply", "-n", "team", "-f", "-")
	s.kubectl("wait", "--for=condition=Ready", "--timeout=120s", "memcached/cache", "-n", "team")
	s.kubectl("delete", "namespace", "team", "--timeout=120s")
}

// writeEditor returns a program that sets the size to 1.
func writeEditor(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nsed -i 's/  size: .*/  size: 1/' \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPermissions takes a permission of the operator away, which must show where it does
// on a cluster.
func TestPermissions(t *testing.T) {
	s := start(t, "-f", memcached)
	s.kubectl("patch", "clusterrole", "argo-events:memcached-sensor", "--type=json", "-p", `[{"op":"replace","path":"/rules","value":[]}]`)
	s.kubectl("apply", "-f", memcached+"/samples/memcached.yaml")
	want := "403 Forbidden: deployments.apps is forbidden"
	eventually(t, "the log has the refusal", "true", func() string {
		if strings.Contains(s.said(), `cannot patch resource "deployments" in API group "apps"`) || strings.Contains(s.said(), want) {
			return "true"
		}
		return "false"
	})
	if out := s.kubectl("get", "deployments", "-o", "name"); out != "" {
		t.Errorf("without the permission there is %s", out)
	}
}

// TestExamples runs each example on each API server until its samples are there and nothing
// failed; the short run on the one in memory only.
func TestExamples(t *testing.T) {
	definitions, err := filepath.Glob("../../../examples/*/operator.yaml")
	if err != nil || len(definitions) == 0 {
		t.Fatalf("no example: %v", err)
	}
	servers := []string{"memory", "kubernetes"}
	if testing.Short() {
		servers = servers[:1]
	}
	for _, server := range servers {
		for _, file := range definitions {
			dir := filepath.Dir(file)
			t.Run(server+"/"+filepath.Base(dir), func(t *testing.T) { runExample(t, dir, server) })
		}
	}
}

func runExample(t *testing.T, dir, server string) {
	if _, err := os.Stat(filepath.Join(dir, "chart")); err == nil {
		if _, err := exec.LookPath("helm"); err != nil {
			t.Skip("helm is not on the PATH")
		}
	}
	s := start(t, "-f", dir, "--run-logic", "--api-server", server)
	samples, err := filepath.Glob(dir + "/samples/*.yaml")
	if err != nil || len(samples) == 0 {
		t.Fatalf("no sample: %v", err)
	}
	for _, sample := range samples {
		s.kubectl("apply", "-f", sample)
	}
	for _, sample := range samples {
		eventually(t, sample, "done", func() string {
			status, err := s.try("", "get", "-f", sample, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
			switch {
			case err != nil || status != "" && status != "True":
				return status
			case !strings.Contains(s.said(), "PATCH ") && !strings.Contains(s.said(), "POST "):
				return "the operator wrote nothing"
			}
			return "done"
		})
	}
	for line := range strings.Lines(s.said()) {
		if strings.Contains(line, "  failed  ") || strings.Contains(line, "  lost  ") {
			t.Error(line)
		}
	}
}
