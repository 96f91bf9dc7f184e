package cmd

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mistake is a common error of new users: it replaces a text in a project that init
// created.
type mistake struct {
	title    string
	file     string
	old, by  string
	command  string
	logic    bool // in a project with logic
	accepted bool // with a warning, which lint shows
}

const (
	toGenerate = "generate -f ."
	toLint     = "lint -f ."
	toValidate = "validate -f . samples/hello.yaml"
	toRender   = "render -f . samples/hello.yaml"
	toTest     = "test -f ."
	toTestCode = "test -f . --run-logic"
)

var mistakes = []mistake{
	{title: "A line is indented too far", file: "operator.yaml", old: "    versions:", by: "     versions:"},
	{title: "A tab indents", file: "operator.yaml", old: "    kind: Hello", by: "\tkind: Hello"},
	{title: "A key is misspelled", file: "operator.yaml", old: "  children:\n", by: "  childern:\n"},
	{title: "A key is written twice", file: "operator.yaml", old: "  name: hello\n", by: "  name: hello\n  name: hello2\n"},
	{title: "The name of the operator has capitals", file: "operator.yaml", old: "  name: hello\n", by: "  name: Hello_World\n"},
	{title: "The group has no dot", file: "operator.yaml", old: "group: example.com", by: "group: example"},
	{title: "A version looks like a number", file: "operator.yaml", old: "name: v1alpha1", by: "name: 1.0"},
	{title: "A type from another language", file: "operator.yaml", old: "replicas: integer |", by: "replicas: int |"},
	{title: "A string as the default of a number", file: "operator.yaml", old: "default=1", by: `default="one"`},
	{title: "A marker is abbreviated", file: "operator.yaml", old: "minimum=0", by: "min=0"},
	{title: "The path of a column has no dot", file: "operator.yaml", old: "path: .spec.replicas}", by: "path: spec.replicas}"},
	{title: "An unknown engine", file: "operator.yaml", old: "  install:", by: "  reconcile: {engine: fast}\n  install:"},
	{title: "A number in place of a duration", file: "operator.yaml", old: "  install:", by: "  reconcile: {resync: 60}\n  install:"},
	{title: "The file of a child is misspelled", file: "operator.yaml", old: "children/deployment.yaml", by: "children/deploy.yaml"},
	{title: "A condition is a number", file: "operator.yaml", old: "file: children/deployment.yaml", by: "file: children/deployment.yaml\n    when: .spec.replicas"},
	{title: "A status field is misspelled", file: "operator.yaml", old: "readyReplicas: ${", by: "readyReplica: ${"},
	{title: "The name of a child is misspelled in an expression", file: "operator.yaml", old: "$children.deployment.", by: "$children.deploymnet."},
	{title: "A namespace of Kubernetes itself", file: "operator.yaml", old: "namespace: argo-events", by: "namespace: kube-system", accepted: true},
	{title: "A field is misspelled in an expression", file: "children/deployment.yaml", old: ".spec.replicas", by: ".spec.replica"},
	{title: "An expression has no closing brace", file: "children/deployment.yaml", old: ".spec.replicas }", by: ".spec.replicas"},
	{title: "An expression is incomplete", file: "children/deployment.yaml", old: ".spec.replicas }", by: ".spec.replicas + }"},
	{title: "A path has no dot", file: "children/deployment.yaml", old: "${ .spec.image }", by: "${ spec.image }"},
	{title: "Single quotes in an expression", file: "children/deployment.yaml", old: "${ .spec.image }", by: "${ .spec.image + ':1' }"},
	{title: "Braces of Helm", file: "children/deployment.yaml", old: "${ .spec.image }", by: "{{ .Values.image }}"},
	{title: "Quoted braces of Helm", file: "children/deployment.yaml", old: "${ .spec.image }", by: `"{{ .Values.image }}"`, accepted: true},
	{title: "Parentheses of a shell", file: "children/deployment.yaml", old: "${ .spec.image }", by: "$(spec.image)", accepted: true},
	{title: "A function of Helm", file: "children/deployment.yaml", old: "${ .spec.image }", by: `${ default "nginx" .spec.image }`},
	{title: "A container has no image", file: "children/deployment.yaml", old: "        image: ${ .spec.image }\n", by: ""},
	{title: "A string in place of a number in a child", file: "children/deployment.yaml", old: "containerPort: 8080", by: `containerPort: "8080"`},
	{title: "A field of a child is misspelled", file: "children/deployment.yaml", old: "readinessProbe", by: "readynessProbe"},
	{title: "The selector does not match the Pods", file: "children/deployment.yaml", old: "    matchLabels:\n      app.kubernetes.io/instance", by: "    matchLabels:\n      app"},
	{title: "An old apiVersion", file: "children/deployment.yaml", old: "apps/v1", by: "extensions/v1beta1"},
	{title: "All children have the same name", file: "children/deployment.yaml", old: "metadata:\n  name: ${ .metadata.name }", by: "metadata:\n  name: web"},
	{title: "A string in place of a number in a custom resource", file: "samples/hello.yaml", old: "replicas: 1", by: "replicas: three", command: toValidate},
	{title: "A custom resource of another version", file: "samples/hello.yaml", old: "example.com/v1alpha1", by: "example.com/v1", command: toValidate},
	{title: "A field of a custom resource is misspelled", file: "samples/hello.yaml", old: "replicas:", by: "replica:", command: toValidate},
	{title: "The kind of a custom resource is misspelled", file: "samples/hello.yaml", old: "kind: Hello", by: "kind: Helo", command: toRender},
	{title: "A test expects something else", file: "tests/first-steps.yaml", old: "replicas: 3", by: "replicas: 4", command: toTest},
	{title: "The program of the logic is missing", file: "operator.yaml", old: "- logic/main.py", by: "- main.py", logic: true},
	{title: "The command names another file", file: "operator.yaml", old: "command: [python3, main.py]", by: "command: [python3, run.py]", logic: true, accepted: true},
	{title: "The logic returns an undeclared kind", file: "logic/main.py", old: `"kind": "Deployment"`, by: `"kind": "StatefulSet"`, command: toTestCode, logic: true},
	{title: "The logic fails", file: "logic/main.py", old: `resource["spec"]["replicas"]`, by: `resource["spec"]["size"]`, command: toTestCode, logic: true},
	{title: "The directory is misspelled", command: "generate -f nowhere"},
	{title: "A path is given to test without -f", command: "test operator.yaml"},
	{title: "A command is misspelled", command: "generat"},
}

// took matches the duration of a test.
var took = regexp.MustCompile(`(?m)  [0-9.]+m?s$`)

// mistakesPage makes every mistake and returns the page with the output.
func mistakesPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Common mistakes\n\n" + generatedNote)
	b.WriteString("Each mistake is made in a new project of `argoperator init hello --group example.com --kind Hello`, or with\n" +
		"`--logic python` if it concerns logic. After an error, argoperator prints no manifests. The exit code is 1, or 2 for an\n" +
		"invalid command line.\n")
	projects := map[bool]fs.FS{false: project(t), true: project(t, "--logic", "python")}
	t.Run("mistakes", func(t *testing.T) {
		for _, m := range mistakes {
			t.Run(m.title, func(t *testing.T) { b.WriteString(m.play(t, projects[m.logic])) })
		}
	})
	return b.String()
}

// project returns the files that init creates.
func project(t *testing.T, flags ...string) fs.FS {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"init", "hello", "--dir", dir, "--group", "example.com", "--kind", "Hello"}, flags...)
	var problems bytes.Buffer
	if code := run(args, streams{out: &bytes.Buffer{}, err: &problems}); code != exitOK {
		t.Fatalf("init: exit code %d: %s", code, &problems)
	}
	return os.DirFS(dir)
}

func (m mistake) play(t *testing.T, project fs.FS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, project); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n", m.title)
	if m.file != "" {
		b.WriteString(m.make(t))
	}
	if m.command == "" {
		m.command = toGenerate
		if m.accepted {
			m.command = toLint
		}
	}
	var out, problems bytes.Buffer
	code := run(strings.Fields(m.command), streams{out: &out, err: &problems})
	stderr := problems.String()
	switch m.command {
	case toTest, toTestCode, toValidate:
		stderr += out.String()
	case toLint:
		stderr = out.String() + stderr
	}
	switch {
	case m.accepted && code != exitOK, !m.accepted && code == exitOK:
		t.Errorf("exit code %d", code)
	case !m.accepted && m.command == toGenerate && out.Len() > 0:
		t.Errorf("stdout: %s", &out)
	case !regexp.MustCompile(`hint: |want |did you mean|as in |run argoperator `).MatchString(stderr):
		t.Errorf("the output has no hint:\n%s", stderr)
	}
	fmt.Fprintf(&b, "```text\n$ argoperator %s\n%s```\n", m.command, took.ReplaceAllString(stderr, ""))
	return b.String()
}

// make replaces the text and returns a description of the change.
func (m mistake) make(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if !strings.Contains(text, m.old) {
		t.Fatalf("%s does not contain %q", m.file, m.old)
	}
	if err := os.WriteFile(filepath.FromSlash(m.file), []byte(strings.Replace(text, m.old, m.by, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "In `%s`:\n\n```diff\n", m.file)
	for _, side := range []struct{ sign, text string }{{"-", m.old}, {"+", m.by}} {
		for line := range strings.Lines(side.text) {
			b.WriteString(side.sign + strings.TrimRight(line, "\n") + "\n")
		}
	}
	b.WriteString("```\n\n")
	return b.String()
}
