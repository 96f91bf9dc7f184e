package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// fields are the fields of objects that some template computes, by the kind, or "Pod"
// for what every kind with pods has.
type fields map[string]bool

// computedFields reads the templates of the examples and of the operators that were
// ported from other tools, and collects the fields with an expression.
func computedFields(root string) (fields, error) {
	out := fields{}
	for _, dir := range []string{"examples", "testdata/ports"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" || strings.Contains(path, "/tests/") || strings.Contains(path, "/samples/") {
				return err
			}
			data, err := os.ReadFile(path) //nolint:gosec // found in the repository
			if err != nil {
				return err
			}
			var document map[string]any
			if yaml.Unmarshal(data, &document) == nil { // the directory has other files, too
				out.addFrom(document)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(out) < 50 {
		return nil, fmt.Errorf("only %d fields with expressions under %s: are the templates elsewhere?", len(out), root)
	}
	return out, nil
}

// addFrom adds the templates in a file: those of a definition, or the file itself.
func (f fields) addFrom(document map[string]any) {
	spec, _ := document["spec"].(map[string]any)
	children, isDefinition := spec["children"].([]any)
	if !isDefinition || document["kind"] != "Operator" {
		f.addTemplate(document)
		return
	}
	for _, child := range children {
		fields, _ := child.(map[string]any)
		if template, ok := fields["template"].(map[string]any); ok {
			f.addTemplate(template)
		}
	}
}

func (f fields) addTemplate(template map[string]any) {
	if kind, ok := template["kind"].(string); ok {
		f.add(kind, nil, template)
	}
}

func (f fields) add(kind string, path []any, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if strings.Contains(key, "${") {
				f[fieldOf(kind, path)] = true
				continue
			}
			f.add(kind, join(path, key), inner)
		}
	case []any:
		for i, inner := range v {
			f.add(kind, join(path, i), inner)
		}
	case string:
		if strings.Contains(v, "${") {
			f[fieldOf(kind, path)] = true
		}
	}
}

// has reports whether a template computes a field, or something that contains it.
func (f fields) has(kind string, path []any) bool {
	for n := len(path); n > 0; n-- {
		if f[fieldOf(kind, path[:n])] {
			return true
		}
	}
	return false
}

// fieldOf returns a field without the indices of lists and the keys of labels,
// annotations and data. Fields of pods and of metadata are the same in every kind.
func fieldOf(kind string, path []any) string {
	var steps []string
	for _, step := range path {
		name, ok := step.(string)
		if !ok {
			continue
		}
		if n := len(steps); n > 0 && isMap[steps[n-1]] {
			name = "*"
		}
		steps = append(steps, name)
	}
	text := strings.Join(steps, ".")
	switch {
	case strings.HasPrefix(text, "metadata."):
		return text
	case kind == "Pod":
		return strings.Replace("Pod "+text, "Pod spec", "Pod", 1)
	}
	for _, prefix := range []string{"spec.jobTemplate.spec.template.spec", "spec.template.spec", "template.spec"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return "Pod" + rest
		}
	}
	return kind + " " + text
}

var isMap = map[string]bool{
	"labels": true, "annotations": true, "matchLabels": true, "data": true, "stringData": true, "binaryData": true,
	"requests": true, "limits": true, "hard": true, "nodeSelector": true, "selector": true,
}
