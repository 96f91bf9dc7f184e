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

// generator is a program of go generate, reporter creates pages from measurements,
// and parts is measured: none of them is a part of argoperator.
const (
	generator = "pkg/apis/v1alpha1/internal/schemagen"
	reporter  = "e2e/report"
	parts     = internal + "parts"
	verdicts  = internal + "verdicts"
)

// prometheusTypes are the Go types of the Prometheus Operator's objects.
const prometheusTypes = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"

// layer lists what a package may import.
type layer struct {
	path   string
	below  []string // packages of this module that it may import
	others []string // modules that it may import, by prefix; nil allows the standard library only
}

// internal is the path of the packages for this module only. The public packages
// are the library (pkg/argoperator), its inputs and results, and the commands.
const internal = "pkg/internal/"

// in returns the paths of internal packages.
func in(names ...string) []string {
	for i, name := range names {
		names[i] = internal + name
	}
	return names
}

// layers lists the packages from the bottom up: each may import only packages above
// it in this list. Add a line for a new package.
var layers = []layer{
	{path: "templates"},
	{path: internal + "terminal"},
	{path: "pkg/diag", below: in("terminal")},
	{path: internal + "imagename"},
	{path: internal + "accept", below: []string{"pkg/diag"}},
	{path: "pkg/apis/v1alpha1", others: []string{"k8s.io/apimachinery/pkg/apis/meta"}},
	{path: internal + "schema", others: []string{"k8s.io/api/", "k8s.io/apimachinery/", "k8s.io/client-go/kubernetes/scheme", "k8s.io/apiextensions-apiserver/pkg/apis", "k8s.io/gengo/"}},
	{path: internal + "jq", others: []string{"github.com/itchyny/gojq"}},
	{path: internal + "jqfile", below: in("jq"), others: []string{"github.com/itchyny/gojq"}},
	{path: internal + "jqhint", below: in("jq"), others: []string{"github.com/itchyny/gojq"}},
	{path: internal + "expression", below: append(in("schema", "jq", "jqhint"), "pkg/diag"), others: []string{"github.com/itchyny/gojq"}},
	{
		path:   internal + "source",
		below:  []string{"pkg/diag", "pkg/apis/v1alpha1"},
		others: []string{"go.yaml.in/yaml/v3", "sigs.k8s.io/", "k8s.io/"},
	},
	{path: internal + "coretypes", below: in("source"), others: []string{"k8s.io/apiextensions-apiserver/pkg/apis"}},
	{
		path:   internal + "shortschema",
		below:  append(in("source", "coretypes"), "pkg/diag"),
		others: []string{"go.yaml.in/yaml/v3", "k8s.io/apiextensions-apiserver/pkg/apis"},
	},
	{
		path:   generator + "/schema",
		below:  append(in("coretypes", "shortschema"), "pkg/apis/v1alpha1"),
		others: []string{"github.com/invopop/jsonschema", "k8s.io/apimachinery"},
	},
	{path: generator, below: []string{generator + "/schema"}},
	{
		path:   internal + "definition",
		below:  append(in("imagename", "source", "schema", "shortschema"), "pkg/diag", "pkg/apis/v1alpha1"),
		others: []string{"go.yaml.in/yaml/v3", "sigs.k8s.io/", "k8s.io/"},
	},
	{path: internal + "registry", others: []string{"github.com/google/go-containerregistry/"}},
	{path: internal + "monitoring", below: []string{"pkg/apis/v1alpha1"}},
	{path: internal + "gosource"},
	{path: internal + "plan/generate", below: in("gosource", "jqfile")},
	{path: internal + "cluster/generate", below: in("gosource"), others: []string{"k8s.io/client-go/", "sigs.k8s.io/structured-merge-diff/"}},
	{
		path:   internal + "plan",
		below:  append(in("source", "definition", "schema", "jq", "jqfile", "expression", "monitoring"), "pkg/diag", "pkg/apis/v1alpha1"),
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis", "github.com/itchyny/gojq"},
	},
	{
		path:   "pkg/manifest",
		below:  append(in("plan", "monitoring"), "pkg/apis/v1alpha1", "templates"),
		others: []string{"k8s.io/", "github.com/argoproj/argo-events/pkg/apis/", "github.com/argoproj/argo-workflows/v3/pkg/apis/", prometheusTypes},
	},
	{
		path:   internal + "output",
		below:  append(in("terminal"), "pkg/manifest"),
		others: []string{"sigs.k8s.io/yaml", "go.yaml.in/yaml/v2", "k8s.io/", "github.com/argoproj/argo-workflows/v3/pkg/apis/"},
	},
	{
		path:   internal + "explain",
		below:  append(in("terminal", "definition", "expression", "plan"), "pkg/apis/v1alpha1", "pkg/manifest"),
		others: []string{"k8s.io/", "github.com/argoproj/argo-events/pkg/apis/"},
	},
	{path: internal + "resource", below: in("coretypes"), others: []string{"k8s.io/"}},
	{path: internal + "sample", below: in("resource"), others: []string{"go.yaml.in/yaml/v3"}},
	{path: internal + "builtin", below: in("imagename"), others: []string{"k8s.io/", "github.com/robfig/cron/v3"}},
	{
		path:   internal + "cluster",
		below:  append(in("schema", "resource", "builtin"), "pkg/manifest"),
		others: []string{"k8s.io/", "sigs.k8s.io/", "github.com/argoproj/argo-events/pkg/apis/", "github.com/google/cel-go", "gopkg.in/evanphx/json-patch.v4"},
	},
	{
		path:   internal + "simulate",
		below:  append(in("terminal", "schema", "jq", "output", "resource", "cluster"), "pkg/manifest"),
		others: []string{"k8s.io/", "sigs.k8s.io/", "github.com/argoproj/", "github.com/cloudevents/sdk-go", "go.uber.org/zap", "github.com/itchyny/gojq"},
	},
	{path: internal + "problem", below: []string{"pkg/manifest"}, others: []string{"k8s.io/apimachinery/pkg/util/validation/field"}},
	{
		path:   internal + "argo",
		below:  append(in("schema", "jq", "output", "problem"), "pkg/diag", "pkg/manifest"),
		others: []string{"k8s.io/", "sigs.k8s.io/", "github.com/argoproj/", "github.com/itchyny/gojq", prometheusTypes},
	},
	{path: internal + "eventsrules", others: []string{"github.com/argoproj/argo-events/pkg/apis/", "github.com/robfig/cron/v3"}},
	{
		path:   internal + "admission",
		below:  append(in("resource", "builtin", "problem", "argo", "eventsrules"), "pkg/diag", "pkg/manifest"),
		others: []string{"k8s.io/", "sigs.k8s.io/", "github.com/argoproj/", "github.com/google/cel-go"},
	},
	{
		path:   internal + "check",
		below:  append(in("jq", "output", "problem", "argo", "admission"), "pkg/manifest"),
		others: []string{"k8s.io/", "sigs.k8s.io/", "github.com/argoproj/", "github.com/itchyny/gojq", prometheusTypes},
	},
	{
		path:   internal + "lint",
		below:  append(in("accept", "source", "schema", "problem", "argo", "admission", "check"), "pkg/diag", "pkg/apis/v1alpha1", "pkg/manifest"),
		others: []string{"go.yaml.in/yaml/v3", "k8s.io/", "sigs.k8s.io/", "github.com/argoproj/"},
	},
	{
		path:   internal + "childcheck",
		below:  append(in("definition", "jq", "expression", "plan", "resource", "problem", "admission"), "pkg/diag", "pkg/apis/v1alpha1"),
		others: []string{"go.yaml.in/yaml/v3", "k8s.io/apiextensions-apiserver/pkg/apis"},
	},
	{path: internal + "doctor", below: append(in("terminal"), "pkg/apis/v1alpha1"), others: []string{"k8s.io/apimachinery/pkg/apis/meta", "k8s.io/apimachinery/pkg/runtime/schema"}},
	{path: internal + "dryrun", below: []string{"pkg/diag"}, others: []string{"k8s.io/apimachinery/", "k8s.io/client-go/"}},
	{path: internal + "apiservertest"},
	{path: internal + "graph", below: in("terminal", "plan"), others: []string{"k8s.io/apimachinery/pkg/runtime/schema"}},
	{
		path:   internal + "diff",
		below:  append(in("terminal", "output"), "pkg/apis/v1alpha1"),
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis", "sigs.k8s.io/crdify/pkg/", "github.com/rogpeppe/go-internal/diff"},
	},
	{
		path: "pkg/argoperator",
		below: append(in(
			"accept", "source", "definition", "schema", "plan", "output", "explain", "resource", "sample", "problem", "admission", "check", "childcheck", "dryrun", "graph", "diff", "doctor",
		), "pkg/diag", "pkg/apis/v1alpha1", "pkg/manifest"),
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis", "k8s.io/apimachinery/pkg/runtime/schema"},
	},
	{
		path:   internal + "krm",
		below:  append(in("output"), "pkg/diag", "pkg/apis/v1alpha1", "pkg/argoperator"),
		others: []string{"go.yaml.in/yaml/v3"},
	},
	{
		path:   internal + "testsuite",
		below:  append(in("terminal", "definition", "jq", "expression", "output", "cluster", "simulate"), "pkg/diag", "pkg/apis/v1alpha1", "pkg/manifest", "pkg/argoperator"),
		others: []string{"k8s.io/apimachinery/", "sigs.k8s.io/yaml"},
	},
	{path: internal + "devcluster", others: []string{"k8s.io/"}},
	{
		path:   internal + "live",
		below:  append(in("graph", "cluster", "simulate"), "pkg/apis/v1alpha1", "pkg/argoperator"),
		others: []string{"k8s.io/", "sigs.k8s.io/yaml", "github.com/argoproj/argo-workflows/v3/pkg/apis/", "github.com/robfig/cron/v3"},
	},
	{
		path:   internal + "page",
		below:  append(in("source", "dryrun", "simulate", "testsuite", "devcluster", "live"), "pkg/apis/v1alpha1", "pkg/diag"),
		others: []string{"k8s.io/apimachinery/", "sigs.k8s.io/yaml"},
	},
	{
		path:   internal + "scaffold",
		below:  append(in("source", "definition", "schema", "resource"), "templates", "pkg/diag", "pkg/argoperator"),
		others: []string{"sigs.k8s.io/yaml", "go.yaml.in/yaml/v3"},
	},
	{
		path:   internal + "adopt",
		below:  append(in("source", "definition", "schema", "scaffold"), "pkg/diag"),
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis", "sigs.k8s.io/yaml", "go.yaml.in/yaml/v3"},
	},
	{
		path: internal + "pythontest/client",
	},
	{
		path: internal + "pythontest",
	},
	{
		path:   internal + "scaffoldtest",
		below:  append(in("source", "definition", "scaffold", "simulate", "testsuite"), "pkg/diag", "pkg/argoperator"),
		others: []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal/txtar", "sigs.k8s.io/yaml"},
	},
	{path: internal + "release"},
	{
		path: "pkg/cmd",
		below: append(in(
			"release", "terminal", "registry", "output", "explain", "lint", "dryrun", "graph", "diff", "doctor", "krm", "cluster", "simulate", "testsuite", "devcluster", "live", "page", "scaffold", "adopt",
		), "pkg/apis/v1alpha1", "pkg/diag", "pkg/argoperator"),
		others: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term", "k8s.io/apimachinery/pkg/util/validation", "k8s.io/apimachinery/pkg/util/version"},
	},
	{path: "cmd/argoperator", below: []string{"pkg/cmd"}},
	{path: verdicts, below: in("admission")},
	{path: parts, below: append(in("source", "definition", "plan", "output"), "pkg/manifest")},
	{path: reporter, others: []string{"sigs.k8s.io/yaml"}},
	{path: internal + "edited", others: []string{"go.yaml.in/yaml/v3"}},
	{path: "e2e/pages"},
	{path: internal + "realcrds"},
	{path: "e2e", others: []string{"k8s.io/", "sigs.k8s.io/"}},
}

// engines are the packages of Argo with engine code instead of types. They are
// large and have global state: only these packages may import them.
var (
	engines = []string{
		"github.com/argoproj/argo-events/pkg/reconciler", "github.com/argoproj/argo-events/pkg/sensors",
		"github.com/argoproj/argo-events/pkg/eventsources", "github.com/argoproj/argo-events/pkg/eventbus",
		"github.com/argoproj/argo-workflows/v3/workflow",
	}
	reachEngines = append(in("simulate", "argo", "admission", "check", "lint", "childcheck", "krm", "testsuite", "live", "page", "scaffold", "adopt", "scaffoldtest"), "pkg/argoperator", "pkg/cmd", "cmd/argoperator", verdicts)
)

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
		r, known := find(path)
		if !known {
			t.Errorf("%s is missing in the list of layers: add its allowed imports in %s", path, "pkg/argoperator/layers_test.go")
			continue
		}
		for _, imported := range p.Imports {
			if refusal := r.refusal(imported, listed); refusal != "" {
				t.Errorf("%s imports %s: %s", path, imported, refusal)
			}
		}
		for _, dependency := range p.Deps {
			if hasPrefix(dependency, engines) && !slices.Contains(reachEngines, path) {
				t.Errorf("%s imports Argo's engine code: %s", path, dependency)
			}
		}
	}
}

// linked is the number of external packages in the command. Each is initialized at
// every start, so a new one must be worth its cost: see docs/contributing/speed.md.
const linked = 1127

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
	"sigs.k8s.io/controller-runtime", // of Argo's controllers; pkg/internal/eventsrules restates their validation
	"github.com/distribution/reference",
	"github.com/gobuffalo/flect", // sorts its rules; pkg/internal/definition has them in order
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

// TestLayersAreOrdered requires that each layer imports only layers before it.
func TestLayersAreOrdered(t *testing.T) {
	var above []string
	for _, r := range layers {
		for _, below := range r.below {
			if !slices.Contains(above, below) {
				t.Errorf("%s imports %s, which is not before it in the list", r.path, below)
			}
		}
		above = append(above, r.path)
	}
}

// TestOnlyCmdTouchesTheProcess requires that only the commands use streams,
// arguments and exit codes.
func TestOnlyCmdTouchesTheProcess(t *testing.T) {
	for _, p := range list(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours || slices.Contains([]string{generator, reporter, parts, verdicts, "cmd/argoperator", "pkg/cmd", internal + "release", internal + "scaffoldtest", internal + "pythontest", internal + "pythontest/client"}, path) {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "os" && slices.Contains([]string{"Stdin", "Stdout", "Stderr", "Args", "Exit", "Getenv", "LookupEnv"}, name) {
				t.Errorf("%s: os.%s belongs to pkg/cmd", at, name)
			}
		})
	}
}

// TestOnlyJQRunsJQ requires that only pkg/internal/jq runs programs, because it
// limits their cost. Other packages may parse and print jq.
func TestOnlyJQRunsJQ(t *testing.T) {
	const library = "github.com/itchyny/gojq"
	for _, p := range list(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours || path == "pkg/internal/jq" || !slices.Contains(p.Imports, library) {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "gojq" && slices.Contains([]string{"Compile", "Code", "Iter"}, name) || name == "RunWithContext" {
				t.Errorf("%s: %s.%s belongs to pkg/internal/jq", at, from, name)
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

// TestPrintersEscape requires that pkg/internal/terminal prints all text for users,
// so that no input can control the terminal. (testsuite encodes responses of an API
// server.)
func TestPrintersEscape(t *testing.T) {
	printers := append(in("diff", "doctor", "explain", "testsuite"), "pkg/cmd", "pkg/diag")
	for _, p := range list(t) {
		path, _ := strings.CutPrefix(p.ImportPath, module+"/")
		if !slices.Contains(printers, path) {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "fmt" && strings.HasPrefix(name, "Fprint") || from == "json" && name == "NewEncoder" && path != internal+"testsuite" {
				t.Errorf("%s: %s.%s prints text without escaping; use pkg/internal/terminal", at, from, name)
			}
		})
	}
}

// refusal returns why a layer may not import a package; empty if it may.
func (l layer) refusal(imported string, listed map[string]pkg) string {
	if path, ours := strings.CutPrefix(imported, module+"/"); ours {
		if slices.Contains(l.below, path) {
			return ""
		}
		return "not in its list"
	}
	if listed[imported].Standard || hasPrefix(imported, l.others) {
		return ""
	}
	return "not a module in its list"
}

func find(path string) (layer, bool) {
	i := slices.IndexFunc(layers, func(l layer) bool { return l.path == path })
	if i < 0 {
		return layer{}, false
	}
	return layers[i], true
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
