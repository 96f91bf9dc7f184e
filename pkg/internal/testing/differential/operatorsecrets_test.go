package differential_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/testing/differential"
	"github.com/argoperator/argoperator/pkg/internal/testing/scaffoldtest"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// programs runs argoperator's own programs in one interpreter, and those of definitions on this
// machine.
type programs struct {
	*differential.Python
	machine simulate.Runner
}

// Run implements simulate.Runner.
func (p programs) Run(ctx context.Context, program simulate.Program) ([]byte, int, error) {
	if program.Digest != "" {
		return p.machine.Run(ctx, program)
	}
	return p.Python.Run(ctx, program)
}

// TestSecretsOfOperatorsStaySecret does the same with the operators of the examples and of
// testdata that have Secrets: with the objects of their tests, and with other values in their
// Secrets.
func TestSecretsOfOperatorsStaySecret(t *testing.T) {
	runner := programs{start(t), scaffoldtest.Machine()}
	played, told := map[plan.Engine]int{}, 0
	for _, pattern := range []string{"examples/*", "testdata/behaviour/*", "testdata/ports/*"} {
		dirs, err := filepath.Glob("../../../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			text, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
			if err != nil {
				continue // another file
			}
			for _, engine := range []plan.Engine{plan.Direct, plan.Worker, plan.Workflow} {
				p, findings := planOf(dir, text, engine)
				switch {
				case p == nil:
				case slices.ContainsFunc(findings, func(f diag.Finding) bool { return f.Code == diag.SecretExposed }):
					told++
				default:
					for _, test := range testsOf(t, dir) {
						if found := secretsIn(t, p, test, runner); len(found) > 0 {
							t.Errorf("%s, %s, test %s: the value of a Secret is in\n%s", dir, engine, test.Metadata.Name, strings.Join(found, "\n"))
						}
						played[engine]++
					}
				}
			}
		}
	}
	t.Logf("tests played: %v; %d operators write values of Secrets by their authors' wish", played, told)
	if len(played) < 3 {
		t.Error("an engine has no test")
	}
}

// planOf plans a definition for an engine; nil if it has no Secrets, or the engine does not
// support it.
func planOf(dir string, text []byte, engine plan.Engine) (*plan.Plan, diag.List) {
	text = bytes.ReplaceAll(text, []byte("ENGINE"), []byte(engine))
	definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: text, Dir: os.DirFS(dir)})
	if findings.HasErrors() || len(definitions) != 1 {
		return nil, findings
	}
	d := definitions[0]
	if d.Operator.Spec.Install.Group != "" || d.Operator.Spec.Reconcile.Engine == "steps" {
		return nil, nil // made for one engine
	}
	d.Operator.Spec.Reconcile.Engine = string(engine)
	p, findings := plan.New(d)
	if p == nil {
		return nil, findings
	}
	d.Operator.Spec.Install.NetworkPolicies = true // lint also warns of Secrets on the bus, where this test does not look
	_, findings = plan.New(d)
	kinds := []plan.Kind{p.API.Kind}
	for _, c := range p.Children {
		kinds = append(kinds, c.Kind)
	}
	for _, r := range p.Related {
		kinds = append(kinds, r.Kind)
	}
	if !slices.ContainsFunc(kinds, func(k plan.Kind) bool { return k.Kind == "Secret" }) {
		return nil, nil
	}
	return p, findings
}

func testsOf(t *testing.T, dir string) []*definition.Test {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "tests", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*definition.Test
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests, _ := definition.ParseTests(source.Input{Name: filepath.Base(file), Data: data, Dir: os.DirFS(dir), Lenient: true}, "tests")
		out = append(out, tests...)
	}
	return out
}

// secretsIn plays the objects, the edits and the other objects of a test, and returns where
// values of Secrets are.
func secretsIn(t *testing.T, p *plan.Plan, test *definition.Test, runner simulate.Runner) []string {
	t.Helper()
	l := &leaks{}
	s, err := simulate.New(simulate.Inputs{Objects: manifest.Build(p), Runner: runner, Requests: l.request})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, s)
	value := base64.StdEncoding.EncodeToString([]byte(marker))
	apply := func(object map[string]any) {
		t.Helper()
		if object == nil {
			return
		}
		_ = s.Apply(marked(object, value)) // the API server may reject it, as the test wants
		if err := settled(s, value); err != nil {
			t.Fatalf("test %s: %v", test.Metadata.Name, err)
		}
	}
	for _, object := range test.Objects {
		apply(object)
	}
	apply(test.Resource)
	for i, step := range test.Spec.Steps {
		for _, object := range test.Applied[i] {
			apply(object)
		}
		if step.Edit != nil {
			_ = s.Patch(test.Resource, "", "user", step.Edit)
			apply(nil)
		}
	}
	if err := settled(s, value); err != nil {
		t.Fatalf("test %s: %v", test.Metadata.Name, err)
	}
	l.everything(s)
	return slices.Concat(l.found, l.written)
}

// marked returns an object, a Secret with another value for each of its keys.
func marked(object map[string]any, value string) map[string]any {
	if object["kind"] != "Secret" {
		return object
	}
	data := map[string]any{}
	for _, field := range []string{"data", "stringData"} {
		fields, _ := object[field].(map[string]any)
		for key := range fields {
			data[key] = value
		}
	}
	out := map[string]any{"data": data}
	for key, field := range object {
		if key != "data" && key != "stringData" {
			out[key] = field
		}
	}
	return out
}
