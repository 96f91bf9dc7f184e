package cmd

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/internal/apiservertest"
)

// TestHelpExamples runs every example in the help texts, in a project with the
// files that the examples name.
func TestHelpExamples(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on the PATH")
	}
	examples := helpExamples(newRoot(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}))
	if len(examples) < 35 {
		t.Errorf("only %d examples", len(examples))
	}
	project := helpProject(t)
	server := apiservertest.Start(apiservertest.Script{})
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := server.Kubeconfig(kubeconfig, "default"); err != nil {
		t.Fatal(err)
	}
	for _, line := range examples {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(line, "-f operators") { // an operator with the same name
				if err := os.RemoveAll(filepath.Join(dir, "operators")); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(line, "-f examples") {
				if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(repository, "examples"))); err != nil {
					t.Fatal(err)
				}
			}
			out, err := shell(dir, "export PATH=\"$PWD/bin:$PATH\" KUBECONFIG='"+kubeconfig+"'\n"+runsHere(line))
			exit, failed := err.(*exec.ExitError)
			withoutCluster := strings.HasPrefix(line, "argoperator doctor") || strings.HasPrefix(line, "argoperator lock") // without a cluster and a registry
			unready := failed && exit.ExitCode() == exitFindings && withoutCluster
			if err != nil && !unready {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// helpExamples returns the lines of all examples, and the lines of Long texts that
// start with the program's name.
func helpExamples(cmd *cobra.Command) []string {
	var out []string
	for line := range strings.Lines(cmd.Example + "\n" + cmd.Long) {
		line = strings.TrimSuffix(line, "\n")
		example := strings.Contains(line, "argoperator ") || strings.HasPrefix(line, "  k")
		if indented := strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   "); indented && example && !strings.HasPrefix(line, "  #") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	for _, child := range cmd.Commands() {
		out = append(out, helpExamples(child)...)
	}
	return out
}

var endless = regexp.MustCompile(`argoperator (.* --watch)`)

// runsHere reports whether an example only writes in the current directory and
// terminates.
func runsHere(line string) string {
	line = strings.ReplaceAll(line, "/usr/local/", "local/")
	return endless.ReplaceAllString(line, "timeout --foreground --preserve-status -s INT 5 argoperator $1")
}

// helpProject returns a git repository with the files that the examples name.
func helpProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bin/kubectl": `#!/bin/sh
case "$*" in
*"-f -"*) test -n "$(cat)" ;;
"get deployment,service web "*) cat web.yaml ;;
"get memcacheds "*) cat sample.yaml ;;
*"api-resources "*) echo sensors.argoproj.io ;;
*"--selector "*) echo '{"items":[{"apiVersion":"argoproj.io/v1alpha1","kind":"Sensor","metadata":{"namespace":"argo-events","name":"old"}}]}' ;;
diff*) cat > diff.txt ;;
*) exit 1 ;;
esac
`,
		"bin/kustomize": "#!/bin/sh\ntest \"$1\" = build\n",
		"bin/kpt":       "#!/bin/sh\ntest \"$1 $2 $4\" = 'fn eval --exec' && exec $5 < list.yaml\n",
		"list.yaml":     "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig: " + definitionAsJSON + "\n",
		"web.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n---\n" +
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n" +
			"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: 'nginx:1.29'}]}\n",
		"cert-manager.crds.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: certificates.cert.example.com}\n" +
			"spec:\n  group: cert.example.com\n  scope: Namespaced\n  names: {kind: Certificate, plural: certificates}\n  versions:\n" +
			"  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {dnsName: {type: string}}}}}\n",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repository, "examples", "memcached"))); err != nil {
		t.Fatal(err)
	}
	script := `
for name in sample before after; do cp samples/memcached.yaml $name.yaml; done
sed -i 's/size: 3/size: 4/' after.yaml
mkdir operators
cp operator.yaml operators/
argoperator generate -f operator.yaml -o dir --output-dir manifests
git init -q -b main .
git add .
git -c user.name=a -c user.email=a@example.com commit -q -m "Add an operator"
git tag v1.2.0
`
	if out, err := shell(dir, script); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

const definitionAsJSON = `{"apiVersion": "argoperator.dev/v1alpha1", "kind": "Operator", "metadata": {"name": "a"}, "spec": {` +
	`"api": {"group": "example.com", "kind": "A", "versions": [{"name": "v1", "schema": {"spec": {"text": "string"}}}]},` +
	`"children": [{"name": "config", "template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "${ .metadata.name }"}}}]}}`

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
