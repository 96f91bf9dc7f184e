package argoperator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/argoperator/argoperator"

// prometheusTypes are the Go types of the Prometheus Operator's objects.
const prometheusTypes = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"

// internal is the path of the packages for this module only, one folder for each wing.
// The public packages are the library (pkg/argoperator), its inputs and results, and the
// commands.
const internal = "pkg/internal/"

// wing is a part of the architecture: a folder of pkg/internal, or public packages.
type wing struct {
	name   string
	on     string   // the wing that it stands on: its parts may import all of that wing and of the wings below
	others []string // modules that its parts may import, by prefix; nil allows the standard library only
	parts  []part
}

// part is a package of a wing.
type part struct {
	path    string
	inside  []string // packages of its own wing that it may import
	engines bool     // it may link Argo's engine code
}

// at returns a part of a folder below pkg/internal. It may import the named packages of
// its wing.
func at(path string, inside ...string) part { return part{path: internal + path, inside: inside} }

// linking returns such a part whose dependencies contain Argo's engine code.
func linking(path string, inside ...string) part {
	return part{path: internal + path, inside: inside, engines: true}
}

// wings lists the wings from the bottom up, and in each its parts. A new package is a new
// line in its wing, after the packages that it imports.
var wings = []wing{
	{
		name: "base", // knows nothing of Kubernetes
		parts: []part{
			{path: "templates"},
			at("base/terminal"),
			at("base/release"),
			at("base/place"),
			at("base/process", "base/place"),
			at("base/imagename"),
			at("base/article"),
			{path: "pkg/diag", inside: []string{"base/terminal"}},
		},
	},
	{
		name: "lang", on: "base", // what users may write
		others: []string{"go.yaml.in/yaml/v3", "sigs.k8s.io/", "k8s.io/"},
		parts: []part{
			{path: "pkg/apis/v1alpha1"},
			at("lang/source", "pkg/apis/v1alpha1"),
			at("lang/coretypes", "lang/source"),
			at("lang/shortschema", "lang/source", "lang/coretypes"),
			at("lang/schema"),
			at("lang/chart"),
			at("lang/definition", "pkg/apis/v1alpha1", "lang/source", "lang/shortschema", "lang/schema", "lang/chart"),
		},
	},
	{
		name: "jq", on: "lang", // the expressions of definitions
		others: []string{"github.com/itchyny/gojq"},
		parts: []part{
			at("jq/jq"),
			at("jq/jqhint", "jq/jq"),
			at("jq/jqfile", "jq/jq"),
			at("jq/expression", "jq/jq", "jq/jqhint"),
		},
	},
	{
		name: "operator", on: "jq", // the decisions about an operator, its objects, and views of them
		others: []string{
			"go.yaml.in/yaml/v2", "k8s.io/", "sigs.k8s.io/yaml", "sigs.k8s.io/crdify/pkg/", "github.com/itchyny/gojq", "github.com/rogpeppe/go-internal/diff",
			"github.com/argoproj/argo-events/pkg/apis/", "github.com/argoproj/argo-workflows/v3/pkg/apis/", prometheusTypes,
		},
		parts: []part{
			at("operator/plan/monitoring"),
			at("operator/plan", "operator/plan/monitoring"),
			{path: "pkg/manifest", inside: []string{"operator/plan", "operator/plan/monitoring"}},
			at("operator/output", "pkg/manifest"),
			at("operator/rights"),
			at("operator/explain", "operator/plan", "pkg/manifest", "operator/rights"),
			at("operator/graph", "operator/plan"),
			at("operator/diff", "operator/output"),
		},
	},
	{
		name: "kube", on: "operator", // what Kubernetes and Argo do
		others: []string{
			"k8s.io/", "sigs.k8s.io/", "go.yaml.in/yaml/v3", "github.com/argoproj/", "github.com/google/cel-go", "github.com/itchyny/gojq",
			"github.com/robfig/cron/v3", "gopkg.in/evanphx/json-patch.v4", prometheusTypes,
		},
		parts: []part{
			at("kube/problem"),
			at("kube/resource"),
			at("kube/resource/sample", "kube/resource"),
			at("kube/builtin"),
			at("kube/cluster", "kube/resource", "kube/builtin"),
			linking("kube/argo", "kube/problem"),
			at("kube/admission/eventsrules"),
			linking("kube/admission", "kube/problem", "kube/resource", "kube/builtin", "kube/argo", "kube/admission/eventsrules"),
		},
	},
	{
		name: "verify", on: "kube", // judgements of definitions, of manifests and of clusters
		others: []string{
			"go.yaml.in/yaml/v3", "k8s.io/", "sigs.k8s.io/", "github.com/argoproj/", "github.com/itchyny/gojq", prometheusTypes,
			// what Argo compiles the texts in its objects with
			"github.com/Knetic/govaluate", "github.com/Masterminds/sprig/v3", "github.com/expr-lang/expr", "github.com/expr-lang/expr/",
			"github.com/yuin/gopher-lua", "github.com/yuin/gopher-lua/",
		},
		parts: []part{
			linking("verify/childcheck"),
			at("verify/lint/accept"),
			linking("verify/lint", "verify/lint/accept"),
			at("verify/dryrun"),
			at("verify/doctor"),
		},
	},
	{
		name: "library", on: "verify",
		others: []string{
			"k8s.io/api/core/v1", "k8s.io/apiextensions-apiserver/pkg/apis", "k8s.io/apimachinery/pkg/runtime/schema", "k8s.io/apimachinery/pkg/util/json",
		},
		parts: []part{{path: "pkg/argoperator", engines: true}},
	},
	{
		name: "run", on: "library", // operators at work
		others: []string{
			"k8s.io/", "sigs.k8s.io/", "github.com/argoproj/", "github.com/cloudevents/sdk-go", "go.uber.org/zap", "github.com/itchyny/gojq", "github.com/robfig/cron/v3",
		},
		parts: []part{
			linking("run/simulate"),
			linking("run/testsuite", "run/simulate"),
			at("run/devcluster"),
			linking("run/apiserver"),
			linking("run/live", "run/simulate"),
			linking("run/page", "run/simulate", "run/testsuite", "run/devcluster", "run/live"),
		},
	},
	{
		name: "project", on: "library", // the projects of users
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis", "sigs.k8s.io/yaml", "go.yaml.in/yaml/v3", "github.com/google/go-containerregistry/"},
		parts: []part{
			linking("project/scaffold"),
			linking("project/adopt", "project/scaffold"),
			linking("project/krm"),
			at("project/registry"),
		},
	},
	{
		name: "commands", on: "run and project",
		others: []string{
			"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term",
			"k8s.io/apimachinery/pkg/util/validation", "k8s.io/apimachinery/pkg/util/version",
			"github.com/sirupsen/logrus", // to silence Argo's validators
		},
		parts: []part{
			{path: "pkg/cmd", engines: true},
			{path: "cmd/argoperator", inside: []string{"pkg/cmd"}, engines: true},
		},
	},
	{
		name: testWing, on: "run and project", // for tests, and the programs that generate and measure
		others: []string{
			"go.yaml.in/yaml/v3", "sigs.k8s.io/", "k8s.io/", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal/txtar", "github.com/invopop/jsonschema", "golang.org/x/tools/go/packages",
			"github.com/argoproj/", "github.com/itchyny/gojq", prometheusTypes, "github.com/prometheus/common/model",
			"github.com/prometheus/prometheus/model/labels", "github.com/prometheus/prometheus/promql/parser",
		},
		parts: []part{
			linking("testing/selfcheck"),
			at("testing/apiservertest"),
			at("testing/edited"),
			at("testing/goldenfile"),
			at("testing/need"),
			at("testing/pythontest/client"),
			at("testing/pythontest"),
			at("testing/realcrds"),
			linking("testing/scaffoldtest"),
			linking("testing/differential"),
			at("testing/parts"),
			linking("testing/verdicts"),
			at("testing/generate/coretypes"),
			at("testing/generate/gosource"),
			at("testing/generate/direct", "testing/generate/gosource"),
			at("testing/generate/applied", "testing/generate/gosource"),
			at("testing/generate/schemagen/schema"),
			at("testing/generate/schemagen", "testing/generate/schemagen/schema"),
			{path: "e2e"},
			{path: "e2e/bench"},
			{path: "e2e/bench/floor"},
			{path: "e2e/pages"},
			{path: "e2e/reference"},
			{path: "e2e/report"},
			{path: "e2e/words"},
		},
	},
}

// testWing is the name of the wing that only tests and programs of development import.
const testWing = "testing"

// engines are the packages of Argo with engine code instead of types. They are
// large and have global state: only these packages may import them.
var engines = []string{
	"github.com/argoproj/argo-events/pkg/reconciler", "github.com/argoproj/argo-events/pkg/sensors",
	"github.com/argoproj/argo-events/pkg/eventsources", "github.com/argoproj/argo-events/pkg/eventbus",
	"github.com/argoproj/argo-workflows/v3/workflow",
}

// pkg is the output of `go list` for a package.
type pkg struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
	Deps       []string
	GoFiles    []string
}

func TestLayers(t *testing.T) {
	listed := list(t)
	for _, p := range listed {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours {
			continue
		}
		w, r, known := find(path)
		if !known {
			t.Errorf("%s is in no wing: add a line for it in %s", path, "pkg/argoperator/layers_test.go")
			continue
		}
		if folder, below := strings.CutPrefix(path, internal); below && !strings.HasPrefix(folder, w.name+"/") {
			t.Errorf("%s is a part of the wing %s, but not in its folder", path, w.name)
		}
		for _, imported := range p.Imports {
			if refusal := w.refusal(r, imported, listed); refusal != "" {
				t.Errorf("%s imports %s: %s", path, imported, refusal)
			}
		}
		for _, dependency := range p.Deps {
			if hasPrefix(dependency, engines) && !r.engines {
				t.Errorf("%s links Argo's engine code: %s", path, dependency)
			}
		}
	}
}

// TestOnlyTestsImportTestingWing requires that TestLayers refuses an import of the testing
// wing by any package but those of the wing itself. It sees no files of tests, so they may.
func TestOnlyTestsImportTestingWing(t *testing.T) {
	for _, w := range wings {
		for _, r := range w.parts {
			for _, helper := range wings[len(wings)-1].parts {
				refused := w.refusal(r, module+"/"+helper.path, nil) != ""
				if w.name != testWing && !refused {
					t.Errorf("%s may import %s, which is for tests", r.path, helper.path)
				}
			}
		}
	}
	if w := wings[len(wings)-1]; w.name != testWing {
		t.Errorf("the last wing is %s, not %s", w.name, testWing)
	}
}

// TestLayersAreOrdered requires that each wing stands on wings before it, and that each
// part imports parts before it.
func TestLayersAreOrdered(t *testing.T) {
	var above []string
	for _, w := range wings {
		for _, under := range w.under() {
			if !slices.Contains(above, under) {
				t.Errorf("the wing %s stands on %s, which is not before it in the list", w.name, under)
			}
		}
		above = append(above, w.name)
		var before []string
		for _, r := range w.parts {
			for _, inside := range r.inside {
				if !slices.Contains(before, inside) {
					t.Errorf("%s imports %s, which is not before it in the wing %s", r.path, inside, w.name)
				}
			}
			before = append(before, strings.TrimPrefix(r.path, internal))
		}
	}
}

// linked is the number of external packages in the command. Each is initialized at
// every start, so a new one must be worth its cost: see docs/contributing/speed.md.
const linked = 1140

func TestLinkedPackages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems need other packages")
	}
	listed, n := list(t), 0
	for _, dependency := range listed[module+"/cmd/argoperator"].Deps {
		if !listed[dependency].Standard && !strings.HasPrefix(dependency, module+"/") {
			n++
		}
	}
	if n > linked {
		t.Errorf("%d external packages are linked, was %d: find a smaller dependency, or update the number here", n, linked)
	}
	if n < linked-10 {
		t.Errorf("%d external packages are linked, was %d: update the number here", n, linked)
	}
}

// unlinked are packages that the command does not need, and that once took a part of
// each start. Tests may import them.
var unlinked = []string{
	"sigs.k8s.io/controller-runtime", // of Argo's controllers; pkg/internal/kube/admission/eventsrules restates their validation
	"github.com/distribution/reference",
	"github.com/gobuffalo/flect", // sorts its rules; pkg/internal/lang/definition has them in order
}

func TestUnlinkedPackages(t *testing.T) {
	for _, dependency := range list(t)[module+"/cmd/argoperator"].Deps {
		for _, forbidden := range unlinked {
			if dependency == forbidden || strings.HasPrefix(dependency, forbidden+"/") {
				t.Errorf("the command links %s: find who imports it with go list -deps ./cmd/argoperator", dependency)
			}
		}
	}
}

// TestOnlyCmdTouchesTheProcess requires that only the commands use streams,
// arguments and exit codes.
func TestOnlyCmdTouchesTheProcess(t *testing.T) {
	for _, p := range list(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		w, _, _ := find(path)
		if !ours || slices.Contains([]string{"commands", testWing}, w.name) || path == internal+"base/release" {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "os" && slices.Contains([]string{"Stdin", "Stdout", "Stderr", "Args", "Exit", "Getenv", "LookupEnv"}, name) {
				t.Errorf("%s: os.%s belongs to pkg/cmd", at, name)
			}
		})
	}
}

// starters are functions of the standard library that start a program, by package.
var starters = map[string][]string{
	"os":      {"StartProcess"},
	"syscall": {"Exec", "ForkExec", "StartProcess", "CreateProcess", "CreateProcessAsUser"},
}

// TestOnlyProcessStartsPrograms requires that only pkg/internal/base/process starts
// programs, because it finds them outside of projects and the documentation has its list.
func TestOnlyProcessStartsPrograms(t *testing.T) {
	starts := func(p pkg) {
		for _, name := range []string{"os/exec", "plugin", "golang.org/x/sys/execabs", "golang.org/x/sys/unix", "golang.org/x/sys/windows"} {
			if slices.Contains(p.Imports, name) {
				t.Errorf("%s imports %s, which starts programs: use pkg/internal/base/process", p.ImportPath, name)
			}
		}
		selected(t, p, func(at token.Position, from, name string) {
			if slices.Contains(starters[from], name) {
				t.Errorf("%s: %s.%s starts a program: use pkg/internal/base/process", at, from, name)
			}
		})
	}
	for _, p := range list(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if w, _, _ := find(path); ours && w.name != testWing && path != internal+"base/process" {
			starts(p)
		}
	}
	server, err := filepath.Glob("../../cmd/argoperator-dev/*.go") // a module of its own
	if err != nil || len(server) == 0 {
		t.Fatal(server, err)
	}
	for _, file := range server {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		p := pkg{ImportPath: "cmd/argoperator-dev", Dir: filepath.Dir(file), GoFiles: []string{filepath.Base(file)}}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range tree.Imports {
			p.Imports = append(p.Imports, strings.Trim(imported.Path.Value, `"`))
		}
		starts(p)
	}
}

// libraries are the linked packages of others that can start a program, and when they do.
// docs/explanation/programs.md has those that do.
var libraries = map[string]string{
	"k8s.io/client-go/plugin/pkg/client/auth/exec":        "the credential plugin that the kubeconfig of the user names, with --server",
	"github.com/docker/cli/cli/config/credentials":        "looks for a default credential helper of docker, with lock",
	"github.com/docker/docker-credential-helpers/client":  "the credential helper that the docker configuration of the user names, with lock",
	"github.com/mitchellh/go-homedir":                     "a system program or a shell, to find the home directory if HOME is not set, with lock",
	"github.com/google/gnostic-models/compiler":           "extensions of gnostic, which nobody registers",
	"github.com/argoproj/argo-workflows/v3/util/errors":   "only reads the exit codes of others",
	"github.com/yuin/gopher-lua":                          "scripts of simulated Sensors, and emitted Sensors have none",
	"github.com/minio/minio-go/v7/pkg/credentials":        "triggers of Sensors from a bucket, and emitted Sensors have none",
	"github.com/go-git/go-git/v5/plumbing/transport/file": "triggers of Sensors from Git, and emitted Sensors have none",
	"golang.org/x/sys/execabs":                            "only what imports it",
}

// TestLibrariesThatStartPrograms requires that each linked package that can start a program
// has a reason.
func TestLibrariesThatStartPrograms(t *testing.T) {
	listed, found := list(t), map[string]bool{}
	for _, path := range listed[module+"/cmd/argoperator"].Deps {
		p := listed[path]
		if p.Standard || strings.HasPrefix(path, module+"/") {
			continue
		}
		if slices.ContainsFunc(p.Imports, func(i string) bool {
			return slices.Contains([]string{"os/exec", "plugin", "golang.org/x/sys/execabs"}, i)
		}) {
			found[path] = true
			if libraries[path] == "" {
				t.Errorf("the command links %s, which can start programs: say here when it does", path)
			}
		}
	}
	for path := range libraries {
		if !found[path] {
			t.Errorf("the command no longer links %s: remove the line", path)
		}
	}
}

// TestOnlyJQRunsJQ requires that only pkg/internal/jq/jq runs programs, because it
// limits their cost. Other packages may parse and print jq.
func TestOnlyJQRunsJQ(t *testing.T) {
	const library = "github.com/itchyny/gojq"
	for _, p := range list(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours || path == "pkg/internal/jq/jq" || !slices.Contains(p.Imports, library) {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "gojq" && slices.Contains([]string{"Compile", "Code", "Iter"}, name) || name == "RunWithContext" {
				t.Errorf("%s: %s.%s belongs to pkg/internal/jq/jq", at, from, name)
			}
		})
	}
}

// selected visits the selectors of a package, such as os.Exit.
func selected(t *testing.T, p pkg, visit func(at token.Position, from, name string)) {
	t.Helper()
	for _, file := range p.GoFiles {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				from, _ := selector.X.(*ast.Ident)
				if from == nil {
					from = &ast.Ident{}
				}
				visit(set.Position(n.Pos()), from.Name, selector.Sel.Name)
			}
			return true
		})
	}
}

// TestPrintersEscape requires that pkg/internal/base/terminal prints all text for users,
// so that no input can control the terminal. (testsuite encodes responses of an API
// server.)
func TestPrintersEscape(t *testing.T) {
	printers := []string{"pkg/cmd", "pkg/diag", internal + "operator/diff", internal + "operator/explain", internal + "run/testsuite", internal + "verify/doctor"}
	for _, p := range list(t) {
		path, _ := strings.CutPrefix(p.ImportPath, module+"/")
		if !slices.Contains(printers, path) {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "fmt" && strings.HasPrefix(name, "Fprint") || from == "json" && name == "NewEncoder" && path != internal+"run/testsuite" {
				t.Errorf("%s: %s.%s prints text without escaping; use pkg/internal/base/terminal", at, from, name)
			}
		})
	}
}

// refusal returns why a part of the wing may not import a package; empty if it may.
func (w wing) refusal(r part, imported string, listed map[string]pkg) string {
	path, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		if listed[imported].Standard || hasPrefix(imported, w.others) {
			return ""
		}
		return "not a module in the list of the wing " + w.name
	}
	from, _, _ := find(path)
	switch {
	case from.name == w.name && !slices.Contains(r.inside, strings.TrimPrefix(path, internal)):
		return "not in its list"
	case from.name != w.name && !slices.Contains(w.reach(), from.name):
		return "the wing " + w.name + " does not stand on the wing " + from.name
	}
	return ""
}

// under returns the names of the wings that a wing stands on directly.
func (w wing) under() []string {
	if w.on == "" {
		return nil
	}
	return strings.Split(w.on, " and ")
}

// reach returns the names of all wings below a wing.
func (w wing) reach() []string {
	var all []string
	for _, name := range w.under() {
		i := slices.IndexFunc(wings, func(w wing) bool { return w.name == name })
		all = append(append(all, name), wings[i].reach()...)
	}
	return all
}

// find returns the wing and the part of a package.
func find(path string) (wing, part, bool) {
	for _, w := range wings {
		for _, r := range w.parts {
			if r.path == path {
				return w, r, true
			}
		}
	}
	return wing{}, part{}, false
}

func hasPrefix(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// list asks the go command for every package of the module and its imports.
func list(t *testing.T) map[string]pkg {
	t.Helper()
	var problems bytes.Buffer
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,Deps,GoFiles", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	packages := map[string]pkg{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("reading go list: %v", err)
		}
		packages[p.ImportPath] = p
	}
}
