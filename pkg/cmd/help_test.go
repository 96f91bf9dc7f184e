package cmd

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/internal/testing/apiservertest"
)

// TestHelpExamples runs the examples of each command as a user types them, in a new
// project of argoperator init that is a Git repository.
func TestHelpExamples(t *testing.T) {
	server := apiservertest.Start(apiservertest.Script{})
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := server.Kubeconfig(kubeconfig, "default"); err != nil {
		t.Fatal(err)
	}
	project, programs := helpProject(t)
	environment := "export XDG_CACHE_HOME='" + t.TempDir() + "' KUBECONFIG='" + kubeconfig + "' PATH='" + programs + "':\"$PATH\"\n"
	lines := 0
	for _, cmd := range allCommands(newRoot(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard})) {
		examples := exampleLines(cmd)
		lines += len(examples)
		if len(examples) == 0 && cmd.Runnable() && !ofCobra(cmd) {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
				t.Fatal(err)
			}
			if out, err := shell(dir, environment+"set -x\n"+strings.Join(examples, "\n")); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	if lines < 35 {
		t.Errorf("only %d lines of examples", lines)
	}
}

// failsOffline lists the examples that fail without a cluster, a registry or Helm. Those that
// only pass objects to or from kubectl, kustomize or kpt run with the programs of
// helpPrograms.
var failsOffline = []string{
	"argoperator doctor memcached/example -n team",
	"argoperator doctor -f .",
	"argoperator doctor -f . -n platform --context staging -o json",
	"argoperator lock -f .",
	"argoperator init shop --group example.com --kind Shop --from-chart ./chart",
}

// TestHelpStyle checks that all commands have help of the same form.
func TestHelpStyle(t *testing.T) {
	root := newRoot(streams{})
	short := regexp.MustCompile(`^[A-Z][a-z]+ .*[^.]$`)
	for _, cmd := range allCommands(root) {
		if !short.MatchString(cmd.Short) {
			t.Errorf("%s: the short text %q is not a phrase without a full stop", cmd.CommandPath(), cmd.Short)
		}
		if cmd.Parent() == root && cmd.GroupID == "" {
			t.Errorf("%s is in no group", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long) {
			if len(strings.TrimSuffix(line, "\n")) > 84 && !ofCobra(cmd) {
				t.Errorf("%s: the line is too long: %s", cmd.CommandPath(), line)
			}
		}
		if flag := cmd.Flag("filename"); flag != nil && cmd.Name() != "test" && flag.Usage != newGenerate(streams{}).Flag("filename").Usage {
			t.Errorf("%s describes -f in another way: %s", cmd.CommandPath(), flag.Usage)
		}
	}
}

// allCommands returns a command and all commands below it.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, child := range cmd.Commands() {
		out = append(out, allCommands(child)...)
	}
	return out
}

// ofCobra reports whether cobra brings a command.
func ofCobra(cmd *cobra.Command) bool {
	return strings.Contains(cmd.CommandPath()+" ", " completion ") || cmd.Name() == "help"
}

var endless = regexp.MustCompile(`^argoperator (.* --watch|dev .*)$`)

// exampleLines returns the commands in the examples, so that each terminates.
func exampleLines(cmd *cobra.Command) []string {
	var out []string
	for line := range strings.Lines(cmd.Example) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case slices.Contains(failsOffline, line):
			line += " || test $? = 1"
		case endless.MatchString(line):
			line = "timeout --foreground --preserve-status -s INT 5 " + line
		}
		out = append(out, line)
	}
	return out
}

// helpProject returns a new project, and a directory with the programs of helpPrograms.
func helpProject(t *testing.T) (project, programs string) {
	t.Helper()
	dir, programs := t.TempDir(), t.TempDir()
	for name, text := range helpPrograms {
		if err := os.WriteFile(filepath.Join(programs, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := `
argoperator init guestbook --group example.com --kind Guestbook
cd guestbook
git init -q
git add .
git -c user.name=a -c user.email=a@example.com commit -q -m "Add an operator"
`
	if out, err := shell(dir, script); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "guestbook"), programs
}

// helpPrograms replace programs that need a cluster or may not be installed.
var helpPrograms = map[string]string{
	"kubectl": `#!/bin/sh
case "$*" in
*"-f -"*) test -n "$(cat)" ;;
"get crd "*) cat <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: Certificate, plural: certificates}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {dnsName: {type: string}}}}}}
END
;;
"get deployment,service web "*) cat <<'END'
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'nginx:1.29'}]}
END
;;
"get eventsources,sensors "*) argoperator generate -f . -o json ;;
"get guestbooks "*) cat samples/guestbook.yaml ;;
*"api-resources "*) echo sensors.argoproj.io ;;
*"--selector "*) echo '{"items":[{"apiVersion":"argoproj.io/v1alpha1","kind":"Sensor","metadata":{"namespace":"argo-events","name":"guestbook-2"}}]}' ;;
diff*) cat > diff.txt ;;
*) exit 1 ;;
esac
`,
	"kustomize": "#!/bin/sh\ntest \"$1\" = build\n",
	"kpt": `#!/bin/sh
test "$1 $2 $4" = 'fn eval --exec' && exec $5 <<'END'
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
functionConfig:
  apiVersion: argoperator.dev/v1alpha1
  kind: Operator
  metadata: {name: a}
  spec:
    api: {group: example.com, kind: A, versions: [{name: v1, schema: {spec: {text: string}}}]}
    children: [{name: config, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]
END
`,
}
