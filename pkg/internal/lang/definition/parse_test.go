package definition

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

func codes(list diag.List) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Code)
	}
	return strings.Join(out, " ")
}

func TestParseFiles(t *testing.T) {
	legal := operator("spec: {f: string}")
	for _, tt := range []struct {
		reason  string
		data    string
		lenient bool
		defs    int
		codes   string
	}{
		{"legal", legal, false, 1, ""},
		{"two documents", legal + "---\n" + strings.Replace(legal, "name: test", "name: other", 1), false, 2, ""},
		{"empty documents between", "---\n---\n# nothing\n---\n" + legal + "---\n", false, 1, ""},
		{"a directive and an end mark", "%YAML 1.1\n---\n" + legal + "...\n", false, 1, ""},
		{"a byte order mark and CRLF", "\ufeff" + strings.ReplaceAll(legal, "\n", "\r\n"), false, 1, ""},
		{"an empty file", "", false, 0, "no-definition"},
		{"an empty file in a directory", "", true, 0, ""},
		{"another kind", "apiVersion: v1\nkind: Pod\n", false, 0, "wrong-kind"},
		{"another kind in a directory", "apiVersion: v1\nkind: Pod\nkind: Pod\n", true, 0, ""},
		{"another kind beside ours", "apiVersion: v1\nkind: Pod\n---\n" + legal, true, 1, ""},
		{"a template in a directory", "{{- if .Values.x }}\nkind: {{ .x }}\n", true, 0, ""},
		{"a list in a directory", "[1, 2]", true, 0, ""},
		{"binary in a directory", "\x00\xff", true, 0, ""},
		{"ours, broken, in a directory", "apiVersion: argoperator.dev/v1alpha1\n\tkind: Operator\n", true, 0, "missing-key missing-key yaml-syntax"},
		{"a later version of ours in a directory", "apiVersion: argoperator.dev/v2\nkind: Operator\nmetadata: {name: x}\n", true, 0, "missing-key wrong-api-version"},
	} {
		defs, list := Parse(source.Input{Name: "x.yaml", Data: []byte(tt.data), Lenient: tt.lenient})
		if len(defs) != tt.defs || codes(list) != tt.codes {
			t.Errorf("%s: %d definitions, findings %q; want %d, %q\n%v", tt.reason, len(defs), codes(list), tt.defs, tt.codes, list)
		}
	}
}

func TestFilesOfADefinition(t *testing.T) {
	dir := fstest.MapFS{
		"a/b/main.py":   {Data: []byte("1")},
		"a/b/lib/x.py":  {Data: []byte("2")},
		"a/large.txt":   {Data: []byte(strings.Repeat("x", maxFiles))},
		"a/c/second.py": {Data: []byte("3")},
	}
	for _, tt := range []struct {
		files, want, codes string
		nowhere            bool
	}{
		{"[a/b/main.py]", "main.py", "", false},
		{"[./a/b/main.py, a/b/lib/x.py]", "main.py lib/x.py", "", false},
		{"[a/c/../b/main.py, a/c/second.py]", "b/main.py c/second.py", "", false},
		{"[a/large.txt]", "large.txt", "", false},
		{"[a/large.txt, a/b/main.py]", "", "too-large", false},
		{"[]", "", "", false},
		{"[a/b/main.py]", "", "file-not-found", true},
	} {
		in := source.Input{Name: "x", Data: []byte(strings.Replace(operator("spec: {}"), "files: []", "files: "+tt.files, 1)), Dir: dir}
		if tt.nowhere {
			in.Dir = nil
		}
		defs, list := Parse(in)
		var got []string
		for _, def := range defs {
			for _, f := range def.Files {
				got = append(got, f.Path)
			}
		}
		if strings.Join(got, " ") != tt.want || codes(list) != tt.codes {
			t.Errorf("%s: %q, findings %v; want %q, %q", tt.files, got, list, tt.want, tt.codes)
		}
	}
}

// An alias bomb must end quickly in any position.
func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nspec:\n  status:\n    a: &a [x, x, x, x, x, x, x, x, x, x]\n")
	for c := 'b'; c < 'z'; c++ {
		b.WriteString("    " + string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 10) + "]\n")
	}
	_, list := Parse(source.Input{Name: "x", Data: []byte(b.String())})
	if !strings.Contains(codes(list), diag.YAMLAlias) {
		t.Error(list)
	}
}
