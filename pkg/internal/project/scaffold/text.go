package scaffold

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/templates"
)

// render renders a template.
func render(facts page, part Part) (File, error) {
	text, err := fs.ReadFile(templates.Init, "init/"+part.Template)
	if err != nil {
		return File{}, fmt.Errorf("reading the template of %s: %w", part.Path, err)
	}
	parsed, err := template.New(part.Template).Delims("[[", "]]").Funcs(template.FuncMap{
		"yaml": block, "flow": Flow, "fields": fields, "object": object,
	}).Parse(string(text))
	if err != nil {
		return File{}, fmt.Errorf("reading the template of %s: %w", part.Path, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, facts); err != nil {
		return File{}, fmt.Errorf("creating %s: %w", part.Path, err)
	}
	return File{Path: part.Path, Data: out.Bytes()}, nil
}

func renderAll(facts page, parts []Part) ([]File, error) {
	var out []File
	for _, part := range parts {
		f, err := render(facts, part)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// inOrder sorts the files in reading order: the definition, what it refers to,
// samples and tests, the rest.
func inOrder(files []File) []File {
	places := []string{"operator.yaml", "crd.yaml", "children/", "crds/", "logic/", "samples/", "tests/", "README.md", "Makefile", ""}
	place := func(f File) int {
		return slices.IndexFunc(places, func(prefix string) bool { return strings.HasPrefix(f.Path, prefix) })
	}
	slices.SortStableFunc(files, func(a, b File) int { return place(a) - place(b) })
	return files
}

// block encodes a text as a one-line YAML value in block style.
func block(text string) (string, error) {
	out, err := encode(text, 0)
	return strings.TrimSuffix(out, "\n"), err
}

// Flow encodes a text as a YAML value in flow style.
func Flow(text string) (string, error) {
	out, err := encode(text, yaml.FlowStyle)
	return strings.TrimSuffix(strings.TrimPrefix(out, "["), "]\n"), err
}

// encode encodes a text as a YAML document, or as the entry of a list in flow
// style.
func encode(text string, style yaml.Style) (string, error) {
	scalar := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if strings.Contains(text, "\n") {
		scalar.Style = yaml.DoubleQuotedStyle // keep it on one line
	}
	node := scalar
	if style != 0 {
		node = &yaml.Node{Kind: yaml.SequenceNode, Style: style, Content: []*yaml.Node{scalar}}
	}
	out, err := yaml.Marshal(node)
	if err != nil {
		return "", fmt.Errorf("writing %q as YAML: %w", text, err)
	}
	return string(out), nil
}

// object returns the indented lines of an object.
func object(indent int, value map[string]any) (string, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(value); err != nil {
		return "", fmt.Errorf("writing an object as YAML: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(strings.Repeat(" ", indent)+lines[i], " ")
	}
	return strings.Join(lines, "\n"), nil
}

// fields returns the indented lines of a mapping.
func fields(indent int, list []Field) (string, error) {
	var lines []string
	for _, f := range list {
		name, err := block(f.Name)
		if err != nil {
			return "", err
		}
		line, rest := strings.Repeat(" ", indent)+name+":", ""
		if len(f.Fields) > 0 {
			rest, err = fields(indent+2, f.Fields)
			line += "\n" + rest
		} else {
			rest, err = block(f.Value)
			line += " " + rest
		}
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}
