package argoperator_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readers are the only files that read text made for people, with the reason.
var readers = map[string]string{
	"pkg/diag/group.go":                       "counts findings whose texts differ only in the index of an item",
	"pkg/internal/base/terminal/terminal.go":  "escapes and indents what is printed",
	"pkg/internal/kube/admission/detail.go":   "the validators of the API server say more in the text of an error than in its fields",
	"pkg/internal/kube/builtin/policies.go":   "the compiler of CEL draws the place of an error below its text",
	"pkg/internal/kube/resource/object.go":    "puts a path in front of an error, which may begin with one",
	"pkg/internal/lang/source/syntax.go":      "the YAML library has one type of error for all",
	"pkg/internal/operator/diff/breaking.go":  "crdify gives its results as text",
	"pkg/internal/run/simulate/trace.go":      "programs report what failed in a line of their output",
	"pkg/internal/run/testsuite/run.go":       "a test of a user contains a part of the expected message",
	"pkg/internal/verify/doctor/doctor.go":    "kubectl prints its errors as text",
	"pkg/internal/verify/doctor/resource.go":  "the answers of the API server in a status are text only",
	"pkg/internal/verify/dryrun/answer.go":    "answers of an API server differ in their text only",
	"pkg/internal/verify/dryrun/findings.go":  "counts answers whose texts differ only in names and numbers",
	"pkg/internal/verify/lint/expressions.go": "the library of expressions names an unknown name only in the text of an error",
	"pkg/internal/verify/lint/places.go":      "the validators of Argo name a place only in the text of an error",
}

// TestCodeReadsNoProse requires that the messages and hints of findings, of problems and of
// errors are for people: code decides by fields, so that another wording changes nothing.
func TestCodeReadsNoProse(t *testing.T) {
	listed := list(t)
	set := token.NewFileSet()
	var packages []checked
	for path, p := range listed {
		if ours := strings.TrimPrefix(path, module+"/"); ours != path {
			if w, _, _ := find(ours); w.name != testWing {
				packages = append(packages, parsed(t, set, p))
			}
		}
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, r := range readings(set, packages) {
		file, err := filepath.Rel(top, r.at.Filename)
		if err != nil {
			t.Fatal(err)
		}
		if used[file] = true; readers[file] == "" {
			t.Errorf("%s:%d reads text for people with %s: take what it needs from a field", file, r.at.Line, r.with)
		}
	}
	for file := range readers {
		if !used[file] {
			t.Errorf("%s reads no text: remove it from the list", file)
		}
	}
}

func TestReadings(t *testing.T) {
	const before = `package p
import ("regexp"; "slices"; "strings")
type Finding struct { Message, Hint, Code string }
var f Finding; var err error; var r *regexp.Regexp; var m map[string]int; var yes bool; var n int; var text string
func shown(s string) string { return s + "." }
func starts(s string) bool { return s[0] == 'x' }
func f_() { _, _, _, _ = regexp.Compile, slices.Contains[[]string], strings.Cut, r; `
	for _, tt := range []struct {
		code string
		with []string
	}{
		{code: `yes = strings.HasPrefix(f.Message, "no ")`, with: []string{"strings.HasPrefix"}},
		{code: `text, _ = strings.CutSuffix(err.Error(), "!")`, with: []string{"strings.CutSuffix"}},
		{code: `yes = r.MatchString(f.Hint)`, with: []string{"MatchString"}},
		{code: `yes = slices.Contains([]string{"a"}, f.Message)`, with: []string{"slices.Contains"}},
		{code: `yes = f.Message == "no"`, with: []string{"=="}},
		{code: `switch f.Hint { case "no": }`, with: []string{"switch"}},
		{code: `n = m[f.Message]`, with: []string{"a map"}},
		{code: `text = f.Message[1:]`, with: []string{"a part"}},
		{code: `copied := f.Message; yes = copied != "no"`, with: []string{"!="}},
		{code: `hint := "a" + text; yes = strings.Contains(hint, "b")`, with: []string{"strings.Contains"}},
		{code: `yes = strings.Contains(shown(f.Hint), "b")`, with: []string{"strings.Contains"}},
		{code: `yes = starts(f.Message)`, with: []string{"a part"}},
		{code: `yes = f.Message == "" || f.Hint != ""`},
		{code: `yes = f.Message == Finding{}.Message`},
		{code: `text = strings.Join([]string{f.Message, f.Hint}, "; ") + strings.TrimSpace(f.Message)`},
		{code: `yes = f.Code == "a" && strings.Contains(f.Code, "b")`},
		{code: `yes = strings.Contains(text, "b")`},
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "p.go", before+tt.code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		var with []string
		for _, r := range readings(set, []checked{{path: module + "/p", files: []*ast.File{file}}}) {
			with = append(with, r.with)
		}
		if diff := cmp.Diff(tt.with, with); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.code, diff)
		}
	}
}

// checked is a package of this module.
type checked struct {
	path    string
	imports []string
	files   []*ast.File
}

func parsed(t *testing.T, set *token.FileSet, p pkg) checked {
	t.Helper()
	out := checked{path: p.ImportPath, imports: p.Imports}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out.files = append(out.files, file)
	}
	return out
}

// reading is a place where code reads text for people.
type reading struct {
	at   token.Position
	with string
}

// readings finds them. It follows text through variables, parameters and results, but not
// through fields: those are known by their names. Other modules are not loaded, so their
// types are unknown.
func readings(set *token.FileSet, packages []checked) []reading {
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	p := prose{&info, map[types.Object]bool{}}
	p.check(set, packages)
	for before := -1; before != len(p.known); {
		before = len(p.known)
		for _, of := range packages {
			for _, file := range of.files {
				ast.Inspect(file, p.follow)
			}
		}
	}
	var out []reading
	for _, of := range packages {
		for _, file := range of.files {
			ast.Inspect(file, func(n ast.Node) bool {
				if with := p.reads(n); with != "" {
					out = append(out, reading{set.Position(n.Pos()), with})
				}
				return true
			})
		}
	}
	return out
}

// prose knows which variables, and the results of which functions, are text for people.
type prose struct {
	info  *types.Info
	known map[types.Object]bool
}

// check computes types, in the order of the imports.
func (p prose) check(set *token.FileSet, packages []checked) {
	done := map[string]*types.Package{}
	var load func(path string) *types.Package
	load = func(path string) *types.Package {
		if done[path] != nil {
			return done[path]
		}
		i := slices.IndexFunc(packages, func(c checked) bool { return c.path == path })
		if i < 0 {
			done[path] = types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
			done[path].MarkComplete()
			return done[path]
		}
		for _, imported := range packages[i].imports {
			load(imported)
		}
		config := types.Config{Importer: importerFunc(load), Error: func(error) {}} // other modules are unknown
		done[path], _ = config.Check(path, set, packages[i].files, p.info)
		return done[path]
	}
	for _, c := range packages {
		load(c.path)
	}
}

type importerFunc func(path string) *types.Package

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path), nil }

// isText reports whether an expression is text for people.
func (p prose) isText(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		object := p.object(e)
		return p.known[object] || (e.Name == "message" || e.Name == "hint") && isString(object)
	case *ast.SelectorExpr:
		field := p.info.Uses[e.Sel]
		written := field != nil && field.Pkg() != nil && field.Pkg().Path() == module+"/pkg/apis/v1alpha1" // by users
		named := slices.Contains([]string{"Message", "Hint", "Detail", "Failure"}, e.Sel.Name)
		return named && !written && (field == nil || isString(field))
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (p.isText(e.X) || p.isText(e.Y))
	case *ast.CallExpr:
		selector, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
		return ok && selector.Sel.Name == "Error" && len(e.Args) == 0 || p.known[p.called(e)]
	}
	return false
}

func (p prose) object(name *ast.Ident) types.Object {
	if defined := p.info.Defs[name]; defined != nil {
		return defined
	}
	return p.info.Uses[name]
}

// called returns the function that is called.
func (p prose) called(call *ast.CallExpr) types.Object {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return p.info.Uses[f]
	case *ast.SelectorExpr:
		return p.info.Uses[f.Sel]
	}
	return nil
}

func isString(o types.Object) bool {
	if o == nil {
		return false
	}
	basic, ok := o.Type().Underlying().(*types.Basic)
	return ok && (basic.Info()&types.IsString != 0 || basic.Kind() == types.Invalid)
}

// follow marks the variables and functions that get text.
func (p prose) follow(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if name, ok := to.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && p.isText(n.Rhs[i]) {
				p.mark(p.object(name))
			}
		}
	case *ast.CallExpr:
		f, ok := p.called(n).(*types.Func)
		for i, argument := range n.Args {
			if ok && p.isText(argument) && i < f.Signature().Params().Len() {
				p.mark(f.Signature().Params().At(i))
			}
		}
	case *ast.FuncDecl:
		f := p.info.Defs[n.Name].(*types.Func)
		if results := f.Signature().Results(); n.Body == nil || results.Len() != 1 || !isString(results.At(0)) {
			return true
		}
		ast.Inspect(n.Body, func(inside ast.Node) bool {
			_, closure := inside.(*ast.FuncLit)
			if r, ok := inside.(*ast.ReturnStmt); ok && len(r.Results) == 1 && p.isText(r.Results[0]) {
				p.known[f] = true
			}
			return !closure
		})
	}
	return true
}

func (p prose) mark(o types.Object) {
	if isString(o) && o.Name() != "_" {
		p.known[o] = true
	}
}

// reads returns how a node reads text, or "".
func (p prose) reads(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if with := p.function(n); slices.ContainsFunc(n.Args, p.isText) {
			return with
		}
	case *ast.BinaryExpr:
		compares := slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}, n.Op)
		if compares && p.isText(n.X) != p.isText(n.Y) && !p.isEmpty(n.X) && !p.isEmpty(n.Y) {
			return n.Op.String()
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && p.isText(n.Tag) {
			return "switch"
		}
	case *ast.SliceExpr:
		if p.isText(n.X) {
			return "a part"
		}
	case *ast.IndexExpr:
		switch {
		case p.isText(n.X):
			return "a part"
		case p.isText(n.Index):
			return "a map"
		}
	}
	return ""
}

func (p prose) isEmpty(e ast.Expr) bool {
	value := p.info.Types[e].Value
	return value != nil && value.ExactString() == `""`
}

// function returns the name of the called function if it reads its arguments, or "".
func (p prose) function(call *ast.CallExpr) string {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	name := selector.Sel.Name
	from, _ := selector.X.(*ast.Ident)
	if imported, ok := p.info.Uses[from].(*types.PkgName); ok {
		path := imported.Imported().Path()
		prints := slices.Contains([]string{"Join", "TrimSpace", "NewReader", "Quote"}, name)
		reads := path == "slices" && (strings.HasPrefix(name, "Contains") || strings.HasPrefix(name, "Index"))
		if reads || slices.Contains([]string{"strings", "bytes", "strconv", "path"}, path) && !prints {
			return fmt.Sprintf("%s.%s", path, name)
		}
		return ""
	}
	for _, prefix := range []string{"Find", "Match", "ReplaceAll", "Split"} { // of regexp
		if strings.HasPrefix(name, prefix) {
			return name
		}
	}
	return ""
}
