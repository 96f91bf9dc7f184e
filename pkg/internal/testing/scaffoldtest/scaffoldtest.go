// Package scaffoldtest contains helpers for tests of projects: golden files, and a
// player that runs a project's tests.
package scaffoldtest

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// Generated returns what `argoperator generate` generates for a project.
func Generated(t *testing.T, result scaffold.Result) argoperator.Result {
	t.Helper()
	said := func(findings diag.List) diag.List { // escalating permissions must be allowed by an administrator
		return slices.DeleteFunc(slices.Clone(findings), func(f diag.Finding) bool { return f.Code == diag.PrivilegeEscalation })
	}
	for _, f := range said(result.Findings) {
		t.Errorf("init says: %s:%d: %s", f.File, f.Line, f.Message)
	}
	dir := scaffold.Directory(result.Files)
	got, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: dir["operator.yaml"].Data, Dir: dir}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range said(got.Findings) {
		t.Errorf("lint says: %s:%d: %s", f.File, f.Line, f.Message)
	}
	return got
}

// Sound checks that a file has valid content for its name.
func Sound(t *testing.T, f scaffold.File) {
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
			t.Errorf("%s:%d ends with spaces", f.Path, i+1)
		}
	}
}

// Rendered checks that the simulated cluster accepts a sample of the operator's
// version.
func Rendered(t *testing.T, operator argoperator.Result, f scaffold.File) {
	t.Helper()
	object := Decoded(t, f.Data)
	if _, watched := simulate.Watched(operator.Objects(), operator.Kinds()).Contains(object); !watched {
		if !strings.Contains(f.Path, "v1beta1") {
			t.Errorf("the operator does not look at %s", f.Path)
		}
		return
	}
	out, err := simulate.Render(t.Context(), simulate.Inputs{Objects: operator.Objects(), Kinds: operator.Kinds(), Runner: Machine()},
		[]simulate.Action{{Event: simulate.Added, Object: object}})
	if err != nil {
		t.Fatalf("%s: %v", f.Path, err)
	}
	child := func(o map[string]any) bool { return o["kind"] != object["kind"] } // a kind may have no status that shows its resource
	if failures := out.Trace.Failures(); len(failures) > 0 || !slices.ContainsFunc(out.Objects, child) {
		t.Errorf("%s becomes %d objects, want its child; failures: %v", f.Path, len(out.Objects), failures)
	}
}

// Machine returns a runner that runs programs on this machine.
func Machine() simulate.Runner {
	return simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}}
}

// Plain returns a value as decoded from JSON, with one type of numbers.
func Plain(t *testing.T, value any) (out any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Decoded decodes one object.
func Decoded(t *testing.T, data []byte) map[string]any {
	t.Helper()
	objects, err := simulate.Decode(data)
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	return objects[0]
}
