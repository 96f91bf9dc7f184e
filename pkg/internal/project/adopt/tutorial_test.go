package adopt_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/project/adopt"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/testing/scaffoldtest"
)

func greeter(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/byhand/greeter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func fromTutorial(text string) (scaffold.Project, []string, diag.List) {
	p, findings := adopt.FromTutorial(scaffold.Options{Name: "greeter"}, []source.Input{{Name: "greeter.yaml", Data: []byte(text)}})
	var notes []string
	for _, f := range findings {
		notes = append(notes, fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message))
	}
	return p, notes, findings
}

// TestTutorialGolden compares the project of a hand-written operator with testdata,
// and runs its test with the original program.
func TestTutorialGolden(t *testing.T) {
	p, notes, _ := fromTutorial(greeter(t))
	result, err := scaffold.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	operator := scaffoldtest.Generated(t, result)
	scaffoldtest.Play(t, operator, result.Files)
	scaffoldtest.Fails(t, result, map[string]string{`"kind": "ConfigMap"`: `"kind": "Secret"`})
	dir := scaffold.Directory(result.Files)
	out, err := simulate.Render(t.Context(), simulate.Inputs{Objects: operator.Objects(), Kinds: operator.Kinds(), Runner: scaffoldtest.Machine()},
		[]simulate.Action{{Event: simulate.Added, Object: scaffoldtest.Decoded(t, dir[result.Sample].Data)}})
	if err != nil {
		t.Fatal(err)
	}
	page := fmt.Sprint(out.Objects[0]["data"])
	if page != "map[greeting:hello, all]" {
		t.Errorf("the page has %s; failures: %v", page, out.Trace.Failures())
	}
	got := &txtar.Archive{Comment: []byte(strings.Join(append(notes, result.Notes...), "\n") + "\n")}
	for _, f := range result.Files {
		scaffoldtest.Sound(t, f)
		got.Files = append(got.Files, txtar.File{Name: f.Path, Data: f.Data})
	}
	scaffoldtest.CompareGolden(t, "testdata/byhand.txtar", got)
}

// TestTutorialVariants covers other forms of the same operator.
func TestTutorialVariants(t *testing.T) {
	tests := []struct {
		name, reason, old, new string
		command, parameters    string
		finding                string
	}{
		{name: "unchanged", reason: "the notes list omitted fields only", command: "[python3, greet.py]", parameters: "page=logic/page.json"},
		{
			name: "mounted program", reason: "the program can be mounted instead of passed as text",
			old: `command: [python3, -c, "{{workflow.parameters.program}}"]`, new: "command: [python3, /program/greet.py]\n      volumeMounts: [{name: p, mountPath: /program}]",
			command: "[python3, greet.py]", parameters: "page=logic/page.json",
		},
		{
			name: "source", reason: "a script template contains its program", old: "    container:\n      image: python:3.13-slim\n      command: [python3, -c, \"{{workflow.parameters.program}}\"]",
			new: "    script:\n      image: python:3.13-slim\n      command: [python3]\n      source: print('{{workflow.parameters.greeting}}')", command: "[python3, main.py]", parameters: "page=logic/page.json",
			finding: "the program contains {{workflow.…, which Argo no longer replaces",
		},
		{
			name: "another flag", reason: "the engine's flag is fixed", old: "--greeting-manifest={{", new: "--for={{", command: "[python3, greet.py]", parameters: "page=logic/page.json",
			finding: "argoperator passes the custom resource as --greeting-manifest, not as --for",
		},
		{
			name: "another file", reason: "the engine's file is fixed", old: "path: /output-manifest.json", new: "path: /tmp/out", command: "[python3, greet.py]", parameters: "page=logic/page.json",
			finding: "argoperator reads the result from /output-manifest.json, not from /tmp/out",
		},
		{
			name: "standard output", reason: "the engine reads a file", old: "tasks.make.outputs.parameters.made", new: "tasks.make.outputs.result", command: "[python3, greet.py]", parameters: "page=logic/page.json",
			finding: "argoperator reads the result from /output-manifest.json, not from standard output",
		},
		{
			name: "operation", reason: "the engine has no operations", old: "      - --page\n", new: "      - --what={{workflow.parameters.what-happened}}\n      - --page\n",
			command: "[python3, greet.py]", parameters: "page=logic/page.json", finding: "--what, the operation, is no longer passed",
		},
		{
			name: "unknown parameter", reason: "the value is not guessed", old: "      - --page\n", new: "      - --x={{workflow.parameters.x}}\n      - x{{workflow.name}}\n      - --page\n",
			command: "[python3, greet.py]", parameters: "page=logic/page.json", finding: "--x is left out: the origin of the parameter x is unknown",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(greeter(t), tt.old, tt.new, 1)
			if strings.Contains(tt.new, "volumeMounts") {
				text = strings.Replace(text, "  templates:\n", "  volumes: [{name: p, configMap: {name: greet-files}}]\n  templates:\n", 1)
			}
			p, notes, _ := fromTutorial(text)
			if p.Logic == nil {
				t.Fatalf("%s: %q", tt.reason, notes)
			}
			var parameters []string
			for _, parameter := range p.Logic.Parameters {
				parameters = append(parameters, parameter.Name+"="+parameter.File)
			}
			if diff := cmp.Diff([]string{tt.command, tt.parameters}, []string{p.Logic.Command, strings.Join(parameters, " ")}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			all := strings.Join(notes, "\n")
			if !strings.Contains(all, tt.finding) || tt.finding == "" && len(notes) != 2 {
				t.Errorf("%s: notes are\n%s", tt.reason, all)
			}
			if result, err := scaffold.Files(p); err != nil || result.Findings.HasErrors() {
				t.Errorf("%v %+v", err, result.Findings)
			}
		})
	}
}

// TestTutorialErrors requires that unsupported input is reported with its position.
func TestTutorialErrors(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"nothing", "", "", ":0:0: no EventSource watches a kind whose CustomResourceDefinition is in these files"},
		{"other group", "      group: hello.example.org", "      group: other.example.org", "greeter.yaml:0:0: no EventSource watches"},
		{"other event", "eventName: greeting-changed", "eventName: other", "greeter.yaml:20:7: no Sensor depends on the event greeting-changed of EventSource greeting-watch"},
		{"other template", "workflowTemplateRef: {name: greet}", "workflowTemplateRef: {name: other}", "greeter.yaml:37:3: no trigger of Sensor greeting-listener starts a Workflow"},
		{"no resource", "    resource:\n      action", "    other:\n      action", "greeter.yaml:71:3: WorkflowTemplate greet has no resource template"},
		{"fixed manifest", "{{tasks.make.outputs.parameters.made}}", "x", "the manifest is not the output of another step"},
		{"no such step", "template: make-page}", "template: other}", `the step make runs a template "other", which WorkflowTemplate greet does not have`},
		{"no program", "{{workflow.parameters.program}}", "print(1)", "the container has no script to copy"},
		{"no container", "    container:\n", "    http:\n", "the template make-page runs no program"},
		{"no kind", `"kind": "ConfigMap"`, `"kinds": "x"`, "the kind of the program's object is unknown"},
		{"broken CRD", "names: {kind: Greeting,", "names: {kind: Greeting, nope: x,", `greeter.yaml:7:27: unknown key "nope"`},
		{"no YAML", "kind: Sensor", "kind: [", "invalid YAML"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(greeter(t), tt.old, tt.new, 1)
			if tt.old == "" {
				text = ""
			}
			_, notes, findings := fromTutorial(text)
			if all := strings.Join(notes, "\n"); !strings.Contains(all, tt.want) || !findings.HasErrors() {
				t.Errorf("notes are\n%s\nwant %s", all, tt.want)
			}
		})
	}
}
