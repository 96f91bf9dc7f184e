package cmd

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestGraphs compares the graph of every example with docs/explanation/graphs, which a page
// shows. UPDATE=1 rewrites them.
func TestGraphs(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join(repository, "examples", "*", "operator.yaml"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	page := "# Event flows of the examples\n\n<!-- Made by UPDATE=1 go test ./pkg/cmd -run TestGraphs. -->\n\n" +
		"What changes, who hears of it, what it starts and what is written, as `argoperator graph -o svg` draws it.\n"
	for _, example := range examples {
		name := filepath.Base(filepath.Dir(example))
		t.Run(name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			if code := run([]string{"graph", "-f", filepath.Dir(example), "-o", "svg"}, streams{out: &out, err: &stderr}); code != exitOK {
				t.Fatalf("exit code %d: %s", code, &stderr)
			}
			wellFormed(t, out.Bytes())
			same(t, filepath.Join(repository, "docs", "explanation", "graphs", name+".svg"), out.String())
		})
		page += fmt.Sprintf("\n## [%s](../../examples/%s)\n\n![event flow of %s](graphs/%s.svg)\n", name, name, name, name)
	}
	same(t, filepath.Join(repository, "docs", "explanation", "graphs.md"), page)
}

func same(t *testing.T, file, want string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(want), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s (-drawn +file):\n%s", file, diff)
	}
}

func wellFormed(t *testing.T, picture []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("invalid XML: %v", err)
		}
	}
}

// TestGraphsAreSafe requires that text from a definition is escaped in every
// format.
func TestGraphsAreSafe(t *testing.T) {
	hostile := `"]; x <script>alert(1)</script> & \ #quot; |` + "`"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repository, "examples", "memcached-logic"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "operator.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const command = "command: [python3, main.py]"
	if !bytes.Contains(data, []byte(command)) {
		t.Fatalf("the example has no %s", command)
	}
	data = bytes.Replace(data, []byte(command), []byte(fmt.Sprintf("command: [python3, main.py, %q]", hostile)), 1)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for format, without := range map[string]string{"mermaid": `<script>`, "dot": "\"]; x", "svg": "<script>", "html": "<script>"} {
		var out, stderr bytes.Buffer
		if code := run([]string{"graph", "-f", dir, "-o", format}, streams{out: &out, err: &stderr}); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", format, code, &stderr)
		}
		if strings.Contains(strings.ReplaceAll(out.String(), `\"`, ""), without) {
			t.Errorf("%s contains unescaped text:\n%s", format, &out)
		}
		if format == "svg" {
			wellFormed(t, out.Bytes())
		}
	}
}
