//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const serverAccount = "e2e-server"

// TestServer lets --server check a definition with a cluster that has an admission
// policy, a quota, kinds with other schemas, and a user with few rights. By the audit
// log, every write was a dry run.
func TestServer(t *testing.T) {
	c := connect(t)
	manifests, err := os.ReadFile("testdata/server-cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = try(manifests, "kubectl", "delete", "--ignore-not-found", "--wait=false", "-f", "-") })
	run(t, manifests, "kubectl", "apply", "--server-side", "-f", "-")
	run(t, nil, "kubectl", "wait", "--for=condition=Established", "crd/shops.server.example.com", "crd/paints.server.example.com", "--timeout=60s")
	log := openAudit(t)
	s := serverChecks{c.kubeconfig(t, serverAccount, "e2e-server")}
	s.await(t, "every container needs a memory limit")

	const dir = "testdata/server"
	const memory = dir + "/operator.yaml:19:7: error: the API server rejected the Deployment: ValidatingAdmissionPolicy 'e2e-server-memory' with binding 'e2e-server-memory' denied request: every container needs a memory limit"
	children := []string{
		memory,
		dir + "/operator.yaml:44:7: error: the API server rejected the Service: exceeded quota: no-services",
		dir + "/operator.yaml:54:7: warning: the API server did not check 1 object: namespace \"e2e-server-missing\" does not exist [server-not-checked]",
		dir + "/operator.yaml:62:7: warning: the API server did not check 1 object: the user of the kubeconfig does not have permission to patch secrets in namespace \"e2e-server\" [server-not-checked]",
		dir + "/operator.yaml:77:18: error: the API server rejected the Paint: spec.layers[0].color: Unsupported value: \"blue\": supported values: \"red\", \"green\"",
	}
	const unsupported = ": the API server warns about the ConfigMap: Validation failed for ValidatingAdmissionPolicy 'e2e-server-settings' with binding 'e2e-server-settings': at most 50 are supported here"

	out, _ := s.run(t, 1, "lint", "-f", dir)
	contains(t, "lint", out, append(children, dir+"/operator.yaml:36:7: warning"+unsupported,
		dir+"/operator.yaml:13:17: warning: the API server rejected the Shop: spec.size: Invalid value: 64: spec.size in body should be less than or equal to 50")...)

	corner := ".yaml:6:9: error: the API server rejected the Shop: spec.size: Invalid value: 60: spec.size in body should be less than or equal to 50"
	out, said := s.run(t, 1, "render", "-f", dir+"/operator.yaml", dir+"/shop.yaml")
	contains(t, "render", said, append(children, dir+"/operator.yaml:36:7: warning"+unsupported, dir+"/shop"+corner)...)
	if out != "" {
		t.Errorf("render prints manifests that the API server rejects:\n%s", out)
	}

	out, said = s.run(t, 1, "test", "-f", dir)
	contains(t, "test", said, append(children, "the API server rejected the Shop: spec.size: Invalid value: 60")...)
	contains(t, "test", out, "1 test passed")

	out, _ = s.run(t, 1, "validate", "-f", dir+"/operator.yaml", dir+"/shop.yaml")
	contains(t, "validate", out, dir+"/shop"+corner)

	onlyDryRuns(t, log)
	if left := run(t, nil, "kubectl", "get", "deployments,services,configmaps,shops,paints", "-n", "e2e-server", "-o", "name"); strings.Contains(string(left), "sample") || strings.Contains(string(left), "corner") {
		t.Errorf("a dry run has stored objects:\n%s", left)
	}
}

// onlyDryRuns requires that the service account wrote, and only by dry runs.
func onlyDryRuns(t *testing.T, log *audit) {
	t.Helper()
	if log.path == "" {
		t.Log("no audit log ($LAB_AUDIT_LOG): the requests are not checked")
		return
	}
	writes := 0
	for _, e := range log.read(t, serverAccount) {
		if e.Verb == "get" || e.Verb == "list" || e.Verb == "watch" {
			continue
		}
		writes++
		if !strings.Contains(e.RequestURI, "?dryRun=All&") {
			t.Errorf("%s %s is not a dry run", e.Verb, e.RequestURI)
		}
	}
	if writes == 0 {
		t.Error("the audit log has no write of the service account")
	}
	t.Logf("%d writes, all of them dry runs", writes)
}

func contains(t *testing.T, what, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if n := strings.Count(text, want); n != 1 {
			t.Errorf("%s: %d times %s in\n%s", what, n, want, text)
		}
	}
}

// serverChecks runs commands with --server as the user of a kubeconfig.
type serverChecks struct{ kubeconfig string }

// run requires an exit code.
func (s serverChecks) run(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), append(args, "--server")...) //nolint:gosec // ourselves
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &said, append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), said.String())
	}
	return out.String(), said.String()
}

// await waits until the API server has read the policies.
func (s serverChecks) await(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(slow); time.Now().Before(deadline); {
		if out, _ := s.run(t, 1, "lint", "-f", "testdata/server"); strings.Contains(out, text) && strings.Contains(out, "at most 50") && strings.Contains(out, "exceeded quota") {
			return
		}
		pause(t.Context())
	}
	t.Fatalf("lint --server never says: %s", text)
}

// kubeconfig writes a kubeconfig for a service account, with a namespace for its context.
func (c *cluster) kubeconfig(t *testing.T, account, namespace string) string {
	t.Helper()
	token, err := c.kube.CoreV1().ServiceAccounts(operators).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	now := config.Contexts[config.CurrentContext].DeepCopy()
	now.AuthInfo, now.Namespace = account, namespace
	config.AuthInfos = map[string]*clientcmdapi.AuthInfo{account: {Token: token.Status.Token}}
	config.Contexts = map[string]*clientcmdapi.Context{config.CurrentContext: now}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}
