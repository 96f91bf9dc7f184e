// Command agreement compares the offline validation of argoperator with that of the
// API server: it edits fields of realistic objects of built-in kinds, asks both whether they
// accept the result as a new object and as an update, and writes
// docs/explanation/agreement.md. It fails if they agree less than they have to.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
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

// objectsFile has objects that are created and updated, updatesFile those that are only
// updated.
var (
	//go:embed objects.yaml
	objectsFile []byte
	//go:embed updates.yaml
	updatesFile []byte
)

func main() {
	root := flag.String("root", "../..", "the repository")
	list := flag.Bool("list", false, "print every disagreement")
	only := flag.String("only", "", "compare only objects of this kind, and write no page")
	flag.Parse()
	if err := run(*root, *only, *list, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agreement:", err)
		os.Exit(1)
	}
}

// answer is what both sides say of one mutation; an empty text means accepted.
type answer struct {
	kind         string
	update       bool
	path         []any
	what         string
	server, ours string
}

// name describes the mutation.
func (a answer) name() string {
	as := ""
	if a.update {
		as = "update of "
	}
	return fmt.Sprintf("%s%s %s (%s)", as, a.kind, pathText(a.path), a.what)
}

func (a answer) agrees() bool { return (a.server == "") == (a.ours == "") }

func run(root, only string, list bool, out io.Writer) error {
	computed, err := computedFields(root)
	if err != nil {
		return err
	}
	answers, err := compare(root, only)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if list && !a.agrees() {
			fmt.Fprintf(out, "%s: server %q, argoperator %q\n", a.name(), a.server, a.ours)
		}
	}
	r := newReport(answers, computed)
	if only != "" {
		return r.check()
	}
	if err := os.WriteFile(filepath.Join(root, "docs", "explanation", "agreement.md"), []byte(r.page()), 0o644); err != nil { //nolint:gosec // documentation
		return err
	}
	return r.check()
}

// compare asks both sides about every mutation of every object.
func compare(root, only string) ([]answer, error) {
	file, err := os.CreateTemp("", "agreement")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	lines := bufio.NewWriter(file)
	asked := &questions{api: newServer(), written: json.NewEncoder(lines)}
	for _, of := range []struct {
		file    []byte
		created bool
	}{{objectsFile, true}, {updatesFile, false}} {
		all, err := objects(of.file)
		if err != nil {
			return nil, err
		}
		for _, object := range all {
			if only != "" && object["kind"] != only {
				continue
			}
			if err := asked.about(object, of.created); err != nil {
				return nil, err
			}
		}
	}
	if err := lines.Flush(); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return asked.answers, askUs(root, file, asked.answers)
}

// questions are the mutations with the answers of the API server.
type questions struct {
	api     *server
	written *json.Encoder // of what argoperator is asked
	answers []answer
}

func (q *questions) add(a answer, err error, question any) error {
	if err != nil {
		a.server = err.Error()
	}
	q.answers = append(q.answers, a)
	return q.written.Encode(question)
}

// maxUpdates is how many valid values of one field are compared in updates.
const maxUpdates = 4

// about asks the API server about every mutation of an object.
func (q *questions) about(object map[string]any, created bool) error {
	original, err := q.api.created(object)
	if err != nil {
		return fmt.Errorf("the API server refuses the original: %w", err)
	}
	allocate(original)
	kind, updates := object["kind"].(string), map[string]int{}
	var failed error
	mutations(object, func(m mutation) {
		a := answer{kind: kind, path: m.path, what: m.what}
		mutated, err := q.api.created(m.object)
		if created {
			failed = errors.Join(failed, q.add(a, err, m.object))
		}
		if at := pathText(m.path); err == nil && at != "metadata.name" && updates[at] < maxUpdates {
			updates[at]++
			a.update = true
			failed = errors.Join(failed, q.add(a, q.api.update(original, m.object), pair{object, m.object}))
			allocate(mutated)
			a.what += ", back"
			failed = errors.Join(failed, q.add(a, q.api.update(mutated, object), pair{m.object, object}))
		}
	})
	return failed
}

// pair is an object before and after an update.
type pair struct {
	Before map[string]any `json:"before"`
	After  map[string]any `json:"after"`
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

// objects returns the originals in a file.
func objects(file []byte) ([]map[string]any, error) {
	var out []map[string]any
	for _, text := range bytes.Split(file, []byte("\n---\n")) {
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
