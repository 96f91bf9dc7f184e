package definition

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPythonImports(t *testing.T) {
	for _, tt := range []struct {
		reason, program string
		want            []pythonImport
	}{
		{"all forms", "import json, os.path as p\nfrom yaml import load # why\nimport a; import b\n", []pythonImport{{"json", 1}, {"os", 1}, {"yaml", 2}, {"a", 3}}},
		{"in parentheses", "from a import (b,\nimport_c)\nfrom d import(e)\n", []pythonImport{{"a", 1}}},
		{"relative", "from . import a\nfrom .b import c\n", nil},
		{"in a block, whose error may be caught", "try:\n    import yaml\nexcept ImportError:\n  yaml = None\n", nil},
		{"in a text", "x = \"\"\"\nimport yaml\n\"\"\"\ny = '''\nimport a\n''' + r\"\\\"\"\nimport b\n", []pythonImport{{"b", 7}}},
		{"after a text that does not end", "x = 'it is\nimport yaml\n", []pythonImport{{"yaml", 2}}},
		{"in brackets and a continued line", "x = [\nimport_a,\nimport_b]\ny = 1 + \\\nimport_c\nimport d\n", []pythonImport{{"d", 6}}},
		{"in a comment", "# import yaml\n#\"\"\"\nimport a\n", []pythonImport{{"a", 3}}},
		{"other words", "imported = 1\nfrom_ = 2\nimport\nfrom a\nfrom a export b\n", nil},
		{"Windows", "import a\r\nfrom b import c\r\n", []pythonImport{{"a", 1}, {"b", 2}}},
	} {
		if diff := cmp.Diff(tt.want, pythonImports(tt.program), cmp.AllowUnexported(pythonImport{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// oracle prints the imports of programs as Python's own parser finds them.
const oracle = `
import ast, json, sys
out = {}
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        body = ast.parse(file.read()).body
    found = []
    for one in body:
        if isinstance(one, ast.Import):
            found += [name.name.split(".")[0] for name in one.names]
        elif isinstance(one, ast.ImportFrom) and one.level == 0:
            found.append(one.module.split(".")[0])
    out[path] = found
json.dump(out, sys.stdout)
`

// TestPythonImportsAgree compares the imports with those that Python finds, in the programs
// of this repository, or in those of the directory PYTHON_PROGRAMS.
func TestPythonImportsAgree(t *testing.T) {
	patterns := []string{"../../../../templates/runtime/*.py", "../../../../examples/*/logic/*.py", "../../../../testdata/*/*/*.py"}
	if dir := os.Getenv("PYTHON_PROGRAMS"); dir != "" {
		patterns = []string{filepath.Join(dir, "*.py")}
	}
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 20 {
		t.Fatalf("only %d programs", len(files))
	}
	output, err := exec.Command("python3", append([]string{"-c", oracle}, files...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]string
	if err := json.Unmarshal(output, &want); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, one := range pythonImports(string(data)) {
			got = append(got, one.module)
		}
		if !slices.Equal(got, want[file]) {
			t.Errorf("%s: %s, Python finds %s", file, strings.Join(got, " "), strings.Join(want[file], " "))
		}
	}
}

func TestPythonOf(t *testing.T) {
	for image, want := range map[string]int{
		"python:3.13-slim": 13, "docker.io/library/python:3.10.4-alpine3.20": 10, "index.docker.io/python:3.12": 12, "python:3.11.9@sha256:" + strings.Repeat("a", 64): 11,
		"python": -1, "python:3": -1, "python:latest": -1, "python:slim": -1, "python:3.131": 131, "python:2.7": -1,
		"registry.example.com/python:3.13": -1, "team/python:3.13": -1, "node:22": -1, "Python:3.13": -1, "": -1,
	} {
		if got := pythonOf(image); got != want {
			t.Errorf("%s: %d, want %d", image, got, want)
		}
	}
}
