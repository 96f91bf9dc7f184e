// Command agreement compares the offline validation of argoperator with that of the
// API server: it edits fields of realistic objects of built-in kinds, asks both, and
// writes docs/explanation/agreement.md. It fails if they agree less than they have to.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

//go:embed objects.yaml
var objectsFile []byte

func main() {
	root := flag.String("root", "../..", "the repository")
	list := flag.Bool("list", false, "print every disagreement")
	flag.Parse()
	if err := run(*root, *list, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agreement:", err)
		os.Exit(1)
	}
}

// answer is what both sides say of one mutation; an empty text means accepted.
type answer struct {
	kind         string
	path         []any
	what         string
	server, ours string
}

func (a answer) agrees() bool { return (a.server == "") == (a.ours == "") }

func run(root string, list bool, out io.Writer) error {
	computed, err := computedFields(root)
	if err != nil {
		return err
	}
	answers, err := compare(root)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if list && !a.agrees() {
			fmt.Fprintf(out, "%s %s %s: server %q, argoperator %q\n", a.kind, pathText(a.path), a.what, a.server, a.ours)
		}
	}
	r := newReport(answers, computed)
	if err := os.WriteFile(filepath.Join(root, "docs", "explanation", "agreement.md"), []byte(r.page()), 0o644); err != nil { //nolint:gosec // documentation
		return err
	}
	return r.check()
}

// compare asks both sides about every mutation of every object.
func compare(root string) ([]answer, error) {
	all, err := objects()
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "agreement")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	lines := bufio.NewWriter(file)
	answers, err := askServer(all, json.NewEncoder(lines))
	if err != nil {
		return nil, err
	}
	if err := lines.Flush(); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return answers, askUs(root, file, answers)
}

func askServer(objects []map[string]any, written *json.Encoder) ([]answer, error) {
	api := newServer()
	var answers []answer
	for _, object := range objects {
		kind := object["kind"].(string)
		if err := api.create(object); err != nil {
			return nil, fmt.Errorf("the API server refuses the original: %w", err)
		}
		var failed error
		mutations(object, func(m mutation) {
			a := answer{kind: kind, path: m.path, what: m.what}
			if err := api.create(m.object); err != nil {
				a.server = err.Error()
			}
			if err := written.Encode(m.object); err != nil {
				failed = err
			}
			answers = append(answers, a)
		})
		if failed != nil {
			return nil, failed
		}
	}
	return answers, nil
}

// askUs fills in the answers of argoperator.
func askUs(root string, objects io.Reader, answers []answer) error {
	cmd := exec.Command("go", "run", "./pkg/internal/testing/verdicts")
	cmd.Dir, cmd.Stdin, cmd.Stderr = root, objects, os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for i := range answers {
		var problems []string
		if err := decoder.Decode(&problems); err != nil {
			return fmt.Errorf("reading answer %d: %w", i, err)
		}
		answers[i].ours = strings.Join(problems, "; ")
	}
	return nil
}

// objects returns the originals.
func objects() ([]map[string]any, error) {
	var out []map[string]any
	for _, text := range bytes.Split(objectsFile, []byte("\n---\n")) {
		object, err := decode(text)
		if err != nil {
			return nil, err
		}
		out = append(out, object)
	}
	return out, nil
}

func decode(text []byte) (map[string]any, error) {
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	return object, utiljson.Unmarshal(data, &object)
}

// short returns a value for a list.
func short(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(data) > 40 {
		return fmt.Sprintf("%s… (%d bytes)", data[:20], len(data))
	}
	return string(data)
}

func pathText(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if strings.ContainsAny(s, "./") || s == "" {
				fmt.Fprintf(&b, "[%s]", s)
			} else {
				fmt.Fprintf(&b, ".%s", s)
			}
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}
