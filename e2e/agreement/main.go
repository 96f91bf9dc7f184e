// Command agreement compares the offline validation of argoperator with that of the
// API server: it edits fields of realistic objects of built-in kinds, asks both, and
// writes docs/agreement.md.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

//go:embed objects.yaml
var objectsFile []byte

func main() {
	root := flag.String("root", "../..", "the repository")
	list := flag.String("list", "", "print the disagreements: accepted, refused (by argoperator) or all")
	flag.Parse()
	if err := run(*root, *list); err != nil {
		fmt.Fprintln(os.Stderr, "agreement:", err)
		os.Exit(1)
	}
}

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

func objects() ([]map[string]any, error) {
	var out []map[string]any
	for _, text := range bytes.Split(objectsFile, []byte("\n---\n")) {
		data, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if err := utiljson.Unmarshal(data, &object); err != nil {
			return nil, err
		}
		out = append(out, object)
	}
	return out, nil
}

// judged is a mutation with the answers of both sides; empty means accepted.
type judged struct {
	kind, path, what string
	server, ours     string
}

func run(root, list string) error {
	all, err := objects()
	if err != nil {
		return err
	}
	api := newServer()
	var out []judged
	var lines bytes.Buffer
	encode := json.NewEncoder(&lines)
	for _, object := range all {
		if err := api.create(object); err != nil {
			fmt.Fprintln(os.Stderr, "the server refuses the original:", err)
		}
		mutations(object, func(m mutation) {
			j := judged{kind: object["kind"].(string), path: pathText(m.path), what: m.what}
			if err := api.create(m.object); err != nil {
				j.server = err.Error()
			}
			if err := encode.Encode(m.object); err != nil {
				panic(err)
			}
			out = append(out, j)
		})
		fmt.Fprintln(os.Stderr, object["kind"], len(out))
	}
	os.WriteFile("/tmp/objs.jsonl", lines.Bytes(), 0o644)
	if f, err := os.Create("/tmp/server.jsonl"); err == nil {
		e := json.NewEncoder(f)
		for _, j := range out {
			e.Encode([]string{j.kind, j.path, j.what, j.server})
		}
		f.Close()
	}
	if err := ask(root, &lines, out); err != nil {
		return err
	}
	for _, j := range out {
		if list == "accepted" && j.server != "" && j.ours == "" || list == "refused" && j.server == "" && j.ours != "" {
			fmt.Println(j.kind, j.path, j.what, "|", strings.ReplaceAll(j.server+j.ours, "\n", " "))
		}
	}
	return nil
}

// ask fills in the answers of argoperator.
func ask(root string, objects *bytes.Buffer, out []judged) error {
	cmd := exec.Command("/tmp/verdicts")
	cmd.Dir, cmd.Stdin, cmd.Stderr = root, objects, os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(answer))
	lines.Buffer(nil, 1<<24)
	for i := range out {
		if !lines.Scan() {
			return fmt.Errorf("%d answers to %d objects", i, len(out))
		}
		var problems []string
		if err := json.Unmarshal(lines.Bytes(), &problems); err != nil {
			return err
		}
		out[i].ours = strings.Join(problems, "; ")
	}
	return nil
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

var _ = slices.Sort[[]string]
