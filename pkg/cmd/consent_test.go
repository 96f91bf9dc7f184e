package cmd

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// ran is a runner that records what runs. It implements simulate.Runner.
type ran struct{ commands []string }

func (*ran) Isolated() bool { return false }

func (r *ran) Run(_ context.Context, p simulate.Program) ([]byte, int, error) {
	if p.Digest != "" {
		r.commands = append(r.commands, strings.Join(p.Command, " "))
	}
	return nil, 0, nil
}

// branches are definitions that differ in what runs. The first one has no programs.
var branches = map[string]string{
	"templates": "children: [{name: config, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }\"}}}]\n" +
		"  reconcile: {engine: workflow}",
	"program":  withLogic("logic: {image: \"busybox:1.37\", command: [sh, main.sh], files: [main.sh]}"),
	"argument": withLogic("logic: {image: \"busybox:1.37\", command: [sh, main.sh, x], files: [main.sh]}"),
	"files":    withLogic("logic: {image: \"busybox:1.37\", command: [sh, main.sh], files: [main.sh, more.sh]}"),
	"variable": withLogic("logic: {image: \"busybox:1.37\", command: [sh, main.sh], files: [main.sh], env: [{name: LD_PRELOAD, value: x}]}"),
}

func withLogic(logic string) string {
	return "children: [{name: config, apiVersion: v1, kind: ConfigMap}]\n  reconcile: {engine: workflow}\n  " + logic
}

// objectsOf generates the operator of a branch with a script.
func objectsOf(t *testing.T, branch, script string) argoperator.Result {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"operator.yaml": "apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: plain}\nspec:\n  api:\n    group: example.com\n" +
			"    kind: Plain\n    versions: [{name: v1, schema: {spec: {text: string}}}]\n  " + branches[branch] + "\n",
		"main.sh": script, "more.sh": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	from := sourceFlags{names: []string{dir}}
	var problems bytes.Buffer
	result, _, err := from.operators(streams{err: &problems}, argoperator.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, &problems)
	}
	return result
}

// TestConsentIsForContent requires that consent for what a definition has does not hold for
// what it has later: after git pull, on another branch, or after somebody else saved a file.
func TestConsentIsForContent(t *testing.T) {
	for _, tt := range []struct {
		name          string
		logic         string // --run-logic
		answers       string // on a terminal; empty: there is none
		first, second string // branches
		script        string // of the second branch
		runs          bool   // the program of the second branch
		asks          int
	}{
		{"no programs at first", askLogic, "", "templates", "program", "", false, 0},
		{"no programs at first, with the flag", currentLogic, "", "templates", "program", "", false, 0},
		{"the same programs", currentLogic, "", "program", "program", "", true, 0},
		{"another content of the file", currentLogic, "", "program", "program", "evil", false, 0},
		{"another argument", currentLogic, "", "program", "argument", "", false, 0},
		{"another file", currentLogic, "", "program", "files", "", false, 0},
		{"another variable", currentLogic, "", "program", "variable", "", false, 0},
		{"whatever the programs are", anyLogic, "", "program", "program", "evil", true, 0},
		{"yes once", askLogic, "y\n", "program", "program", "", true, 1},
		{"yes, then no", askLogic, "y\nn\n", "program", "program", "evil", false, 2},
		{"yes, then an end", askLogic, "y\n", "program", "program", "evil", false, 2},
		{"yes twice", askLogic, "y\nyes\n", "program", "program", "evil", true, 2},
		{"no, then yes", askLogic, "\nY\n", "program", "program", "", true, 2},
		{"the flag, then yes", currentLogic, "y\n", "program", "program", "evil", true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said bytes.Buffer
			r := &ran{}
			c := &consent{Runner: r, s: streams{err: &said}, logic: tt.logic, allowed: map[string]bool{}}
			if tt.answers != "" {
				c.input = bufio.NewReader(strings.NewReader(tt.answers))
			}
			for _, branch := range []argoperator.Result{objectsOf(t, tt.first, ""), objectsOf(t, tt.second, tt.script)} {
				r.commands = nil
				c.note(branch.Objects())
				if _, err := c.given(t.Context()); err != nil {
					t.Fatal(err)
				}
				s, err := simulate.New(simulate.Inputs{Objects: branch.Objects(), Runner: c})
				if err != nil {
					t.Fatal(err)
				}
				cr := map[string]any{
					"apiVersion": "example.com/v1", "kind": "Plain", "metadata": map[string]any{"name": "a", "namespace": "default"}, "spec": map[string]any{},
				}
				if err := s.Apply(cr); err != nil {
					t.Fatal(err)
				}
				if err := s.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if runs := len(r.commands) > 0; runs != tt.runs {
				t.Errorf("ran %q, want %t; said:\n%s", r.commands, tt.runs, &said)
			}
			if asks := strings.Count(said.String(), "[y/N]"); asks != tt.asks {
				t.Errorf("asked %d times, want %d:\n%s", asks, tt.asks, &said)
			}
		})
	}
}

// TestOwnProgramIsRecognised requires that argoperator's own program needs no consent, and
// that a definition which replaces a file of it does.
func TestOwnProgramIsRecognised(t *testing.T) {
	for name, change := range map[string]func(data map[string]string){
		"nothing":          func(map[string]string) {},
		"another file":     func(data map[string]string) { data["reconcile.py"] = "evil" },
		"another module":   func(data map[string]string) { data["api.py"] += "\nevil" },
		"one more module":  func(data map[string]string) { data["json.py"] = "evil" },
		"all that it has":  func(data map[string]string) { clear(data); data["reconcile.py"] = "evil" },
		"only its options": func(data map[string]string) { data["config.json"] = "{}" },
	} {
		t.Run(name, func(t *testing.T) {
			objects := objectsOf(t, "templates", "").Objects()
			for _, o := range objects {
				if c, ok := o.(*corev1.ConfigMap); ok {
					change(c.Data)
				}
			}
			found := simulate.UserPrograms(objects, &ran{})
			if brought := len(found) > 0; brought != (name != "nothing" && name != "only its options") {
				t.Errorf("got %v", found)
			}
		})
	}
}
