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

// generator is a program of go generate, reporter one that makes pages of what was
// measured, parts one that is measured: not parts of argoperator.
const (
	generator = "pkg/apis/v1alpha1/internal/schemagen"
	reporter  = "e2e/report"
	parts     = "e2e/parts"
)

// prometheusTypes are the Go types of the Prometheus Operator's objects.
const prometheusTypes = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"

// room is what a package may lean on.
type room struct {
	path   string
	below  []string // the rooms it may import
	others []string // the modules it may import, by prefix; nil is the standard library only
}

// rooms from the ground up: each may import only from those above it in this
// list. A new package gets a line here.
var rooms = []room{
	{path: "templates"},
	{path: "pkg/terminal"},
	{path: "pkg/diag", below: []string{"pkg/terminal"}},
	{path: "pkg/apis/v1alpha1", others: []string{"k8s.io/apimachinery/pkg/apis/meta"}},
	{path: "pkg/apis/v1alpha1/internal/schemagen/schema", below: []string{"pkg/apis/v1alpha1"}, others: []string{"github.com/invopop/jsonschema", "k8s.io/apimachinery"}},
	{path: generator, below: []string{"pkg/apis/v1alpha1/internal/schemagen/schema"}},
	{path: "pkg/schema", others: []string{"k8s.io/api/", "k8s.io/apimachinery/", "k8s.io/client-go/kubernetes/scheme", "k8s.io/apiextensions-apiserver/pkg/apis", "k8s.io/gengo/"}},
	{path: "pkg/jq", others: []string{"github.com/itchyny/gojq"}},
	{path: "pkg/jqfile", others: []string{"github.com/itchyny/gojq"}},
	{path: "pkg/expression", below: []string{"pkg/diag", "pkg/schema", "pkg/jq"}, others: []string{"github.com/itchyny/gojq"}},
	{
		path:   "pkg/definition",
		below:  []string{"pkg/diag", "pkg/apis/v1alpha1", "pkg/schema"},
		others: []string{"go.yaml.in/yaml/v3", "sigs.k8s.io/", "k8s.io/", "github.com/gobuffalo/flect", "github.com/google/cel-go"},
	},
	{path: "pkg/registry", others: []string{"github.com/google/go-containerregistry/"}},
	{
		path:   "pkg/plan",
		below:  []string{"pkg/diag", "pkg/apis/v1alpha1", "pkg/definition", "pkg/schema", "pkg/jq", "pkg/jqfile", "pkg/expression"},
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis"},
	},
	{
		path:   "pkg/manifest",
		below:  []string{"pkg/apis/v1alpha1", "pkg/plan", "templates"},
		others: []string{"k8s.io/", "github.com/argoproj/argo-events/pkg/apis/", "github.com/argoproj/argo-workflows/v3/pkg/apis/", prometheusTypes},
	},
	{path: "pkg/output", below: []string{"pkg/terminal", "pkg/manifest"}, others: []string{"sigs.k8s.io/yaml", "go.yaml.in/yaml/v2"}},
	{
		path:   "pkg/explain",
		below:  []string{"pkg/terminal", "pkg/apis/v1alpha1", "pkg/definition", "pkg/expression", "pkg/plan", "pkg/manifest"},
		others: []string{"k8s.io/", "github.com/argoproj/argo-events/pkg/apis/"},
	},
	{path: "pkg/resource", others: []string{"k8s.io/"}},
	{path: "pkg/sample", below: []string{"pkg/resource"}, others: []string{"go.yaml.in/yaml/v3"}},
	{
		path:   "pkg/simulate",
		below:  []string{"pkg/terminal", "pkg/schema", "pkg/jq", "pkg/manifest", "pkg/output", "pkg/resource"},
		others: []string{"k8s.io/", "sigs.k8s.io/", "github.com/argoproj/", "github.com/cloudevents/sdk-go", "go.uber.org/zap", "github.com/itchyny/gojq", "github.com/google/cel-go", "gopkg.in/evanphx/json-patch.v4"},
	},
	{
		path:   "pkg/check",
		below:  []string{"pkg/diag", "pkg/schema", "pkg/jq", "pkg/manifest", "pkg/output", "pkg/resource"},
		others: []string{"k8s.io/", "sigs.k8s.io/", "github.com/argoproj/", "github.com/itchyny/gojq", "github.com/google/cel-go", prometheusTypes},
	},
	{path: "pkg/doctor", below: []string{"pkg/terminal"}},
	{path: "pkg/graph", below: []string{"pkg/terminal", "pkg/plan"}},
	{
		path:   "pkg/diff",
		below:  []string{"pkg/terminal", "pkg/output"},
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis", "sigs.k8s.io/crdify/pkg/", "github.com/rogpeppe/go-internal/diff"},
	},
	{
		path: "pkg/argoperator",
		below: []string{
			"pkg/diag", "pkg/apis/v1alpha1", "pkg/schema", "pkg/definition", "pkg/jq", "pkg/expression", "pkg/plan", "pkg/manifest", "pkg/output", "pkg/explain", "pkg/resource", "pkg/sample", "pkg/check", "pkg/graph", "pkg/diff", "pkg/doctor",
		},
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis"},
	},
	{
		path:   "pkg/lint",
		below:  []string{"pkg/diag", "pkg/apis/v1alpha1", "pkg/definition", "pkg/manifest", "pkg/check"},
		others: []string{"go.yaml.in/yaml/v3", "k8s.io/apimachinery/pkg/runtime/schema"},
	},
	{
		path:   "pkg/krm",
		below:  []string{"pkg/diag", "pkg/apis/v1alpha1", "pkg/output", "pkg/argoperator"},
		others: []string{"go.yaml.in/yaml/v3"},
	},
	{
		path:   "pkg/testsuite",
		below:  []string{"pkg/terminal", "pkg/diag", "pkg/apis/v1alpha1", "pkg/schema", "pkg/definition", "pkg/jq", "pkg/expression", "pkg/manifest", "pkg/output", "pkg/simulate", "pkg/argoperator"},
		others: []string{"k8s.io/apimachinery/", "sigs.k8s.io/yaml"},
	},
	{
		path:   "pkg/scaffold",
		below:  []string{"templates", "pkg/diag", "pkg/schema", "pkg/definition", "pkg/resource", "pkg/argoperator"},
		others: []string{"k8s.io/apiextensions-apiserver/pkg/apis", "sigs.k8s.io/yaml", "go.yaml.in/yaml/v3"},
	},
	{path: "cmd/argoperator/internal/release"},
	{path: "cmd/argoperator/internal/build", below: []string{"cmd/argoperator/internal/release"}},
	{
		path:   "cmd/argoperator",
		below:  []string{"cmd/argoperator/internal/build", "pkg/terminal", "pkg/argoperator", "pkg/registry", "pkg/diag", "pkg/output", "pkg/explain", "pkg/lint", "pkg/graph", "pkg/diff", "pkg/doctor", "pkg/krm", "pkg/simulate", "pkg/testsuite", "pkg/scaffold", "pkg/apis/v1alpha1"},
		others: []string{"github.com/spf13/cobra", "golang.org/x/term", "k8s.io/apimachinery/pkg/util/validation", "k8s.io/apimachinery/pkg/util/version"},
	},
	{path: parts, below: []string{"pkg/definition", "pkg/plan", "pkg/manifest", "pkg/output"}},
	{path: reporter, others: []string{"sigs.k8s.io/yaml"}},
	{path: "pkg/internal/edited", others: []string{"go.yaml.in/yaml/v3"}},
	{path: "e2e/pages"},
	{path: "e2e/realcrds"},
	{path: "e2e", others: []string{"k8s.io/", "sigs.k8s.io/"}},
}

// engines are the parts of Argo that do things, beside the types that say
// things. They are heavy and keep state: only these rooms may reach them.
var (
	engines = []string{
		"github.com/argoproj/argo-events/pkg/reconciler", "github.com/argoproj/argo-events/pkg/sensors",
		"github.com/argoproj/argo-events/pkg/eventsources", "github.com/argoproj/argo-events/pkg/eventbus",
		"github.com/argoproj/argo-workflows/v3/workflow",
	}
	reachEngines = []string{"pkg/simulate", "pkg/check", "pkg/argoperator", "pkg/lint", "pkg/krm", "pkg/testsuite", "pkg/scaffold", "cmd/argoperator"}
)

// pkg is what `go list` says of a package.
type pkg struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
	Deps       []string
	GoFiles    []string
}

func TestWalls(t *testing.T) {
	listed := list(t)
	for _, p := range listed {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours {
			continue
		}
		r, known := find(path)
		if !known {
			t.Errorf("%s is in no list of rooms: say in %s what it may import", path, "pkg/argoperator/walls_test.go")
			continue
		}
		for _, imported := range p.Imports {
			if why := r.refuses(imported, listed); why != "" {
				t.Errorf("%s imports %s: %s", path, imported, why)
			}
		}
		for _, dependency := range p.Deps {
			if hasPrefix(dependency, engines) && !slices.Contains(reachEngines, path) {
				t.Errorf("%s reaches Argo's engine code: %s", path, dependency)
			}
		}
	}
}

// linked is how many packages of others are in the command. Each is initialised
// at every start, so one more has to be worth it: docs/speed.md.
const linked = 1308

func TestWhatIsLinked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems need others")
	}
	listed, n := list(t), 0
	for _, dependency := range listed[module+"/cmd/argoperator"].Deps {
		if !listed[dependency].Standard && !strings.HasPrefix(dependency, module+"/") {
			n++
		}
	}
	if n > linked {
		t.Errorf("%d packages of others are linked, were %d: find a lighter way, or say so here", n, linked)
	}
	if n < linked-10 {
		t.Errorf("%d packages of others are linked, were %d: write that down here", n, linked)
	}
}

// TestRoomsAreOrdered keeps the list itself honest: imports run downwards only.
func TestRoomsAreOrdered(t *testing.T) {
	var above []string
	for _, r := range rooms {
		for _, below := range r.below {
			if !slices.Contains(above, below) {
				t.Errorf("%s leans on %s, which does not stand before it", r.path, below)
			}
		}
		above = append(above, r.path)
	}
}

// TestOnlyCmdTouchesTheProcess: streams, arguments and exit codes are cmd's.
func TestOnlyCmdTouchesTheProcess(t *testing.T) {
	for _, p := range list(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours || strings.HasPrefix(path, "cmd/") || slices.Contains([]string{generator, reporter, parts}, path) {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "os" && slices.Contains([]string{"Stdin", "Stdout", "Stderr", "Args", "Exit", "Getenv", "LookupEnv"}, name) {
				t.Errorf("%s: os.%s belongs to cmd", at, name)
			}
		})
	}
}

// TestOnlyJQRunsJQ: what other packages ran would have no bounds. They may read
// and write jq.
func TestOnlyJQRunsJQ(t *testing.T) {
	const library = "github.com/itchyny/gojq"
	for _, p := range list(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours || path == "pkg/jq" || !slices.Contains(p.Imports, library) {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "gojq" && slices.Contains([]string{"Compile", "Code", "Iter"}, name) || name == "RunWithContext" {
				t.Errorf("%s: %s.%s belongs to pkg/jq", at, from, name)
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

// TestPrintersEscape: what is printed for people is printed by pkg/terminal, which
// lets no text of the input act on the terminal. (testsuite encodes answers of an API server.)
func TestPrintersEscape(t *testing.T) {
	printers := []string{"cmd/argoperator", "pkg/diag", "pkg/diff", "pkg/doctor", "pkg/explain", "pkg/testsuite"}
	for _, p := range list(t) {
		path, _ := strings.CutPrefix(p.ImportPath, module+"/")
		if !slices.Contains(printers, path) {
			continue
		}
		selected(t, p, func(at token.Position, from, name string) {
			if from == "fmt" && strings.HasPrefix(name, "Fprint") || from == "json" && name == "NewEncoder" && path != "pkg/testsuite" {
				t.Errorf("%s: %s.%s prints what is not escaped; pkg/terminal has one that does", at, from, name)
			}
		})
	}
}

// refuses says why a room may not import a package; empty if it may.
func (r room) refuses(imported string, listed map[string]pkg) string {
	if path, ours := strings.CutPrefix(imported, module+"/"); ours {
		if slices.Contains(r.below, path) {
			return ""
		}
		return "not a room that it may lean on"
	}
	if listed[imported].Standard || hasPrefix(imported, r.others) {
		return ""
	}
	return "not a module that this room may import"
}

func find(path string) (room, bool) {
	i := slices.IndexFunc(rooms, func(r room) bool { return r.path == path })
	if i < 0 {
		return room{}, false
	}
	return rooms[i], true
}

func hasPrefix(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// list asks the go command for every package of the module and what it leans on.
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
