package scaffold

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/simulate"
)

// variant is a project that can be asked for.
type variant struct {
	name    string
	options Options
	crd     string // in testdata; empty: a kind of one's own
}

// variants are all ways to begin.
func variants() []variant {
	var out []variant
	for _, logic := range append([]string{""}, Languages()...) {
		for _, child := range Children() {
			for _, scope := range Scopes() {
				name := strings.Join(slices.DeleteFunc([]string{child, logic, strings.ToLower(scope)}, func(s string) bool { return s == "" }), "-")
				out = append(out, variant{name: name, options: Options{
					Name: "guestbook", Group: "example.com", Kind: "Guestbook", Child: child, Scope: scope, Logic: logic, Tool: "v1.2.3",
				}})
			}
		}
		name := strings.TrimSuffix("crd-"+logic, "-")
		out = append(out, variant{name: name, options: Options{Name: "crontab", Logic: logic, Namespace: "platform"}, crd: "crontabs.yaml"})
	}
	return out
}

func (v variant) files(t *testing.T) Result {
	t.Helper()
	project := New(v.options)
	if v.crd != "" {
		data, err := os.ReadFile(filepath.Join("testdata", v.crd))
		if err != nil {
			t.Fatal(err)
		}
		p, findings := FromCRD(v.options, v.crd, data)
		for _, f := range findings {
			t.Errorf("%+v", f)
		}
		project = p
	}
	result, err := Files(project)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestGolden holds whole projects to testdata. UPDATE=1 rewrites them.
func TestGolden(t *testing.T) {
	shown := []string{"deployment-namespaced", "deployment-python-namespaced", "configmap-go-cluster", "crd"}
	for _, v := range variants() {
		if !slices.Contains(shown, v.name) {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			got := &txtar.Archive{}
			for _, f := range v.files(t).Files {
				got.Files = append(got.Files, txtar.File{Name: f.Path, Data: f.Data})
			}
			golden := filepath.Join("testdata", v.name+".txtar")
			compareGolden(t, golden, got)
		})
	}
}

// compareGolden holds a project to what a file has of it. UPDATE=1 rewrites it.
func compareGolden(t *testing.T, golden string, got *txtar.Archive) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("another project than %s (-want +got):\n%s", golden, diff)
	}
}

// TestVariants: every project is without a finding, all its YAML is YAML, and
// its tests tell what becomes of its sample.
func TestVariants(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			interpreter := map[string]string{"python": "python3", "node": "node", "sh": "jq", "go": "go"}[v.options.Logic]
			if _, err := exec.LookPath(interpreter); err != nil && interpreter != "" {
				t.Skipf("no %s on the PATH", interpreter)
			}
			result := v.files(t)
			if len(result.Notes) > 0 {
				t.Errorf("notes: %q", result.Notes)
			}
			operator := generated(t, result)
			play(t, operator, result.Files)
			for _, f := range result.Files {
				sound(t, f)
				played := f.Path == result.Sample && v.options.Logic != "" // programs take their time
				if strings.HasPrefix(f.Path, "samples/") && !played {
					rendered(t, operator, f)
				}
			}
		})
	}
}

// generated is what `argoperator generate` makes of a project.
func generated(t *testing.T, result Result) argoperator.Result {
	t.Helper()
	said := func(findings diag.List) diag.List { // rights that manifests grant are an administrator's to allow
		return slices.DeleteFunc(slices.Clone(findings), func(f diag.Finding) bool { return f.Code == diag.PrivilegeEscalation })
	}
	for _, f := range said(result.Findings) {
		t.Errorf("init says: %s:%d: %s", f.File, f.Line, f.Message)
	}
	dir := directory(result.Files)
	got, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: dir["operator.yaml"].Data, Dir: dir}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range said(got.Findings) {
		t.Errorf("lint says: %s:%d: %s", f.File, f.Line, f.Message)
	}
	return got
}

// sound is a file that is what its name says.
func sound(t *testing.T, f File) {
	t.Helper()
	text := string(f.Data)
	if strings.Contains(text, "[[") || strings.Contains(text, "<no value>") || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
		t.Errorf("%s is not filled in, or does not end as a file does", f.Path)
	}
	if strings.HasSuffix(f.Path, ".yaml") {
		var value map[string]any
		if err := yaml.UnmarshalStrict(f.Data, &value); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimRight(line, " \t") != line {
			t.Errorf("%s:%d ends with blanks", f.Path, i+1)
		}
	}
}

// rendered says that the simulated cluster takes a sample, if it is one of the
// version that the operator works with.
func rendered(t *testing.T, operator argoperator.Result, f File) {
	t.Helper()
	object := decoded(t, f.Data)
	if _, watched := simulate.Watched(operator.Objects(), operator.Kinds()).Holds(object); !watched {
		if !strings.Contains(f.Path, "v1beta1") {
			t.Errorf("the operator does not look at %s", f.Path)
		}
		return
	}
	out, err := simulate.Render(t.Context(), simulate.Inputs{Objects: operator.Objects(), Kinds: operator.Kinds(), Runner: machine()},
		[]simulate.Happening{{Event: simulate.Added, Object: object}})
	if err != nil {
		t.Fatalf("%s: %v", f.Path, err)
	}
	if failures := out.Trace.Failures(); len(failures) > 0 || len(out.Objects) != 2 {
		t.Errorf("%s becomes %d objects, want the child and itself; failures: %v", f.Path, len(out.Objects), failures)
	}
}

func machine() simulate.Runner {
	return simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}}
}

func decoded(t *testing.T, data []byte) map[string]any {
	t.Helper()
	objects, err := simulate.Decode(data)
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	return objects[0]
}

// TestMakefile: every target that the README or the workflow names is there, and
// make understands all of them.
func TestMakefile(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make on the PATH")
	}
	for _, v := range variants() {
		if v.options.Logic != "" {
			continue
		}
		dir := t.TempDir()
		result := v.files(t)
		if err := Write(dir, result.Files); err != nil {
			t.Fatal(err)
		}
		for _, target := range []string{"help", "lint", "test", "generate", "check", "deploy", "sample", "undeploy", "install", "tools"} {
			cmd := exec.Command("make", "--dry-run", "--warn-undefined-variables", target)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "warning") {
				t.Errorf("%s: make %s: %v\n%s", v.name, target, err, out)
			}
		}
	}
}

// TestVersions: what a project installs is what argoperator is made for.
func TestVersions(t *testing.T) {
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	makefile := string(directory(variants()[0].files(t).Files)["Makefile"].Data)
	for name, path := range map[string]string{
		"ARGO_EVENTS_VERSION": "github.com/argoproj/argo-events", "ARGO_WORKFLOWS_VERSION": "github.com/argoproj/argo-workflows/v3",
	} {
		_, rest, found := strings.Cut(string(module), "\t"+path+" ")
		version, _, _ := strings.Cut(rest, "\n")
		if want := fmt.Sprintf("\n%s ?= %s\n", name, version); !found || !strings.Contains(makefile, want) {
			t.Errorf("the Makefile does not say %q", want)
		}
	}
	if !strings.Contains(makefile, "\nARGOPERATOR_VERSION ?= v1.2.3\n") {
		t.Error("the Makefile does not pin argoperator")
	}
}

// TestBuiltinKind: a kind that every cluster has is legal in a group of one's
// own, and worth a word.
func TestBuiltinKind(t *testing.T) {
	result := variant{options: Options{Name: "d", Group: "example.com", Kind: "Deployment"}}.files(t)
	play(t, generated(t, result), result.Files)
	want := []string{"Deployment of apps/v1 is in every cluster too: to kubectl, the new one is deployments.example.com"}
	if diff := cmp.Diff(want, result.Notes); diff != "" {
		t.Error(diff)
	}
	if makefile := directory(result.Files)["Makefile"].Data; !strings.Contains(string(makefile), " deployments.example.com/sample ") {
		t.Error("the Makefile waits for another kind")
	}
}

// TestRefused: what the definition says of a project, with its files to point
// into.
func TestRefused(t *testing.T) {
	p := New(Options{Name: "a", Group: "example.com", Kind: "Thing"})
	p.Children[0].When = ".spec.nothing"
	result, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	if !result.Findings.HasErrors() || len(result.Files) == 0 || result.Sample != "" {
		t.Errorf("%d findings, %d files, sample %q", len(result.Findings), len(result.Files), result.Sample)
	}
}

// TestText: what another source may put into a definition comes out of it.
func TestText(t *testing.T) {
	p := New(Options{Name: "a", Group: "example.com", Kind: "Thing", Child: configMap})
	p.API.Spec = []Field{
		{Name: "on", Value: "boolean | default=true description=\"yes: no # maybe\""},
		{Name: "nested", Fields: []Field{{Name: "list", Value: "[]string"}, {Name: "inner", Fields: []Field{{Name: "x", Value: "integer"}}}}},
	}
	p.API.Columns = []Column{{"Of {all}, [one]", ".spec.nested.inner.x"}}
	p.Children[0].When = ".spec.on ==\n true # \"really\""
	p.Children[0].OnDelete = "Orphan"
	p.Parts = slices.DeleteFunc(p.Parts, func(part Part) bool { return strings.HasPrefix(part.Path, "tests/") })
	result, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Errorf("%s:%d: %s\n%s", f.File, f.Line, f.Message, result.Files[0].Data)
	}
	var got map[string]any
	if err := yaml.Unmarshal(directory(result.Files)["operator.yaml"].Data, &got); err != nil {
		t.Fatal(err)
	}
	spec := got["spec"].(map[string]any)
	want := map[string]any{"name": "configmap", "file": "children/configmap.yaml", "when": ".spec.on ==\n true # \"really\"", "onDelete": "Orphan"}
	if diff := cmp.Diff(want, spec["children"].([]any)[0]); diff != "" {
		t.Error(diff)
	}
	sample := decoded(t, directory(result.Files)["samples/thing.yaml"].Data)["spec"]
	if diff := cmp.Diff([]string{"nested", "on"}, slices.Sorted(mapKeys(sample))); diff != "" {
		t.Error(diff)
	}
}

func mapKeys(value any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range value.(map[string]any) {
			if !yield(key) {
				return
			}
		}
	}
}
