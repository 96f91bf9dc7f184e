package definition

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

const testdata = "../../../../testdata/definition"

// parseFile parses a test file like the command line.
func parseFile(t *testing.T, file string) ([]*Definition, diag.List) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(source.Input{Name: filepath.Base(file), Data: data, Dir: os.DirFS(filepath.Dir(file))})
}

func text(t *testing.T, list diag.List, dir string) string {
	t.Helper()
	var b bytes.Buffer
	err := diag.Text(&b, list, func(file string) []byte {
		data, _ := os.ReadFile(filepath.Join(dir, file))
		return data
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// compare compares a result with the file NAME.out.
func compare(t *testing.T, file, got string) {
	t.Helper()
	goldenfile.Compare(t, strings.TrimSuffix(file, filepath.Ext(file))+".out", got)
}

func files(t testing.TB, patterns ...string) []string {
	t.Helper()
	var out []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(testdata, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		out = append(out, found...)
	}
	return out
}

func TestLegalDefinitions(t *testing.T) {
	for _, file := range files(t, "ok/*.yaml", "ok/*.json") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			defs, list := parseFile(t, file)
			if list.HasErrors() || len(defs) == 0 {
				t.Fatalf("%d definitions, findings:\n%s", len(defs), text(t, list, filepath.Dir(file)))
			}
			compare(t, file, text(t, list, filepath.Dir(file))+dump(t, defs))
		})
	}
}

// dump formats everything that definitions export.
func dump(t *testing.T, defs []*Definition) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	for _, def := range defs {
		seen := map[string]any{"operator": def.Operator, "schemas": def.Schemas, "files": def.Files, "parameters": def.Parameters}
		if def.CRD != nil {
			seen["crd"] = def.CRD.Name
		}
		for child, crd := range def.ChildCRDs {
			seen["crd of "+child] = crd.Name
		}
		if err := enc.Encode(seen); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestIllegalDefinitions(t *testing.T) {
	for _, file := range files(t, "err/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, list := parseFile(t, file)
			if len(list) == 0 {
				t.Fatal("no findings")
			}
			compare(t, file, text(t, list, filepath.Dir(file)))
		})
	}
}
