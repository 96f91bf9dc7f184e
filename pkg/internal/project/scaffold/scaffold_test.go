package scaffold_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/project/adopt"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
	"github.com/argoperator/argoperator/pkg/internal/testing/need"
	"github.com/argoperator/argoperator/pkg/internal/testing/scaffoldtest"
	"github.com/argoperator/argoperator/pkg/internal/verify/doctor"
)

// variant is a project that can be asked for.
type variant struct {
	name    string
	options scaffold.Options
	crd     string // in testdata; empty: a kind of one's own
}

// variants are all ways to begin.
func variants() []variant {
	var out []variant
	for _, logic := range append([]string{""}, scaffold.Languages()...) {
		for _, child := range scaffold.Children() {
			for _, scope := range scaffold.Scopes() {
				name := strings.Join(slices.DeleteFunc([]string{child, logic, strings.ToLower(scope)}, func(s string) bool { return s == "" }), "-")
				out = append(out, variant{name: name, options: scaffold.Options{
					Name: "guestbook", Group: "example.com", Kind: "Guestbook", Child: child, Scope: scope, Logic: logic, Tool: "v1.2.3",
				}})
			}
		}
		name := strings.TrimSuffix("crd-"+logic, "-")
		out = append(out, variant{name: name, options: scaffold.Options{Name: "crontab", Logic: logic, Namespace: "platform"}, crd: "crontabs.yaml"})
	}
	return out
}

func (v variant) files(t *testing.T) scaffold.Result {
	t.Helper()
	project := scaffold.New(v.options)
	if v.crd != "" {
		data, err := os.ReadFile(filepath.Join("testdata", v.crd))
		if err != nil {
			t.Fatal(err)
		}
		p, findings := adopt.FromCRD(v.options, v.crd, data)
		for _, f := range findings {
			t.Errorf("%+v", f)
		}
		project = p
	}
	result, err := scaffold.Files(project)
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
			file := filepath.Join("testdata", v.name+".txtar")
			goldenfile.Compare(t, file, string(txtar.Format(got)))
		})
	}
}

// TestVariants: every project is without a finding, all its YAML is YAML, and
// its tests cover its sample.
func TestVariants(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			if program := map[string]string{"node": "node", "sh": "jq"}[v.options.Logic]; program != "" {
				need.Program(t, program)
			}
			result := v.files(t)
			if len(result.Notes) > 0 {
				t.Errorf("notes: %q", result.Notes)
			}
			operator := scaffoldtest.Generated(t, result)
			scaffoldtest.Play(t, operator, result.Files)
			for _, f := range result.Files {
				scaffoldtest.Sound(t, f)
				played := f.Path == result.Sample && v.options.Logic != "" // programs are slow
				if strings.HasPrefix(f.Path, "samples/") && !played {
					scaffoldtest.Rendered(t, operator, f)
				}
			}
		})
	}
}

// TestTestsFail covers that the test of a project fails when its definition, a template or
// its program changes.
func TestTestsFail(t *testing.T) {
	const other = "  children:\n  - {name: other, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }-other'}}}\n"
	for name, changes := range map[string]map[string]string{
		"deployment-namespaced": {
			"replicas: ${ .spec.replicas }":                       "replicas: 7",
			"image: ${ .spec.image }":                             "image: nginx:9",
			"${ $children.deployment.status.readyReplicas // 0 }": "${ 0 }",
			"    file: children/deployment.yaml":                  "    file: children/deployment.yaml\n    when: .spec.replicas > 1",
			"  children:\n":                                       other,
		},
		"deployment-python-cluster": {
			`resource["spec"]["replicas"]`:                        "7",
			`pod(resource["spec"]["image"])`:                      `pod("nginx:9")`,
			`[deployment(request["parent"])]}`:                    "[]}",
			"${ $children.deployment.status.readyReplicas // 0 }": "${ 0 }",
		},
		"configmap-cluster": {
			"${ .spec // {} | tojson }":         "${ {} | tojson }",
			"    file: children/configmap.yaml": `    file: children/configmap.yaml` + "\n    when: .spec.message == \"\"",
			"  children:\n":                     strings.Replace(other, "metadata: {", "metadata: {namespace: default, ", 1),
		},
		"crd": {
			"${ .spec // {} | tojson }":         "${ {} | tojson }",
			"    file: children/configmap.yaml": `    file: children/configmap.yaml` + "\n    when: .spec.replicas > 100",
			"  children:\n":                     other,
		},
		"crd-python": {`resource.get("spec", {})`: "{}", `[configmap(request["parent"])]}`: "[]}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := variants()
			at := slices.IndexFunc(all, func(v variant) bool { return v.name == name })
			scaffoldtest.Fails(t, all[at].files(t), changes)
		})
	}
}

// TestMakefile: every target that the README or the workflow names is there, and
// make understands all of them.
func TestMakefile(t *testing.T) {
	for _, v := range variants() {
		if v.options.Logic != "" {
			continue
		}
		dir := t.TempDir()
		result := v.files(t)
		if err := scaffold.Write(dir, result.Files); err != nil {
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

// TestVersions requires that the versions that a project installs are the newest that
// `argoperator doctor` does not warn of.
func TestVersions(t *testing.T) {
	makefile := string(scaffold.Directory(variants()[0].files(t).Files)["Makefile"].Data)
	for _, want := range []string{
		"ARGO_EVENTS_VERSION ?= v" + doctor.ArgoEvents[0] + ".", "ARGO_WORKFLOWS_VERSION ?= v" + doctor.ArgoWorkflows[0] + ".", "ARGOPERATOR_VERSION ?= v1.2.3\n",
	} {
		if !strings.Contains(makefile, "\n"+want) {
			t.Errorf("the Makefile does not say %q", want)
		}
	}
}

// TestLocalCluster compares what `make install` of a project applies with what
// `make kind` of this repository does, so that a project runs on that cluster.
func TestLocalCluster(t *testing.T) {
	dir := t.TempDir()
	if err := scaffold.Write(dir, variants()[0].files(t).Files); err != nil {
		t.Fatal(err)
	}
	install := exec.Command("make", "--dry-run", "install")
	install.Dir = dir
	want := applied(t, install)
	if len(want) != 3 {
		t.Fatalf("make install applies %q, not two manifests and an EventBus", want)
	}
	if diff := cmp.Diff(want, applied(t, exec.Command("../../../../.ci/kind", "up", "--dry-run"))); diff != "" {
		t.Errorf("they apply different things (-make install +make kind):\n%s", diff)
	}
}

// applied runs a command that prints what it would apply, and returns the addresses
// and the spec of the EventBus.
func applied(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return regexp.MustCompile(`https://\S+|"spec": .*}`).FindAllString(string(out), -1)
}

// TestBuiltinKind: a kind that every cluster has is legal in a group of one's
// own, and worth a word.
func TestBuiltinKind(t *testing.T) {
	result := variant{options: scaffold.Options{Name: "d", Group: "example.com", Kind: "Deployment"}}.files(t)
	scaffoldtest.Play(t, scaffoldtest.Generated(t, result), result.Files)
	want := []string{"every cluster also has a Deployment of apps/v1; to kubectl, the new one is deployments.example.com"}
	if diff := cmp.Diff(want, result.Notes); diff != "" {
		t.Error(diff)
	}
	if makefile := scaffold.Directory(result.Files)["Makefile"].Data; !strings.Contains(string(makefile), " deployments.example.com/sample ") {
		t.Error("the Makefile waits for another kind")
	}
}

// TestRefused: what the definition says of a project, with its files to point
// into.
func TestRefused(t *testing.T) {
	p := scaffold.New(scaffold.Options{Name: "a", Group: "example.com", Kind: "Thing"})
	p.Children[0].When = ".spec.nothing"
	result, err := scaffold.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	if !result.Findings.HasErrors() || len(result.Files) == 0 || result.Sample != "" {
		t.Errorf("%d findings, %d files, sample %q", len(result.Findings), len(result.Files), result.Sample)
	}
}

// TestText: what another source may put into a definition comes out of it.
func TestText(t *testing.T) {
	p := scaffold.New(scaffold.Options{Name: "a", Group: "example.com", Kind: "Thing", Child: scaffold.ConfigMap})
	p.API.Spec = []scaffold.Field{
		{Name: "up", Value: "boolean | default=true description=\"yes: no # maybe\""},
		{Name: "nested", Fields: []scaffold.Field{{Name: "list", Value: "[]string"}, {Name: "inner", Fields: []scaffold.Field{{Name: "x", Value: "integer"}}}}},
	}
	p.API.Columns = []scaffold.Column{{Name: "Of {all}, [one]", Path: ".spec.nested.inner.x"}}
	p.Children[0].When = ".spec.up ==\n true # \"really\""
	p.Children[0].OnDelete = "Orphan"
	p.Parts = slices.DeleteFunc(p.Parts, func(part scaffold.Part) bool { return strings.HasPrefix(part.Path, "tests/") })
	result, err := scaffold.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Errorf("%s:%d: %s\n%s", f.File, f.Line, f.Message, result.Files[0].Data)
	}
	var got map[string]any
	if err := yaml.Unmarshal(scaffold.Directory(result.Files)["operator.yaml"].Data, &got); err != nil {
		t.Fatal(err)
	}
	spec := got["spec"].(map[string]any)
	want := map[string]any{"name": "configmap", "file": "children/configmap.yaml", "when": ".spec.up ==\n true # \"really\"", "onDelete": "Orphan"}
	if diff := cmp.Diff(want, spec["children"].([]any)[0]); diff != "" {
		t.Error(diff)
	}
	sample := scaffoldtest.Decoded(t, scaffold.Directory(result.Files)["samples/thing.yaml"].Data)["spec"]
	if diff := cmp.Diff([]string{"nested", "up"}, slices.Sorted(mapKeys(sample))); diff != "" {
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
