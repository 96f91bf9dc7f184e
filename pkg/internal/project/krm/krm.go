// Package krm implements a KRM function for kustomize and kpt: a ResourceList in, a
// ResourceList out.
//
// The rule of this package: other items pass through unchanged, including their
// comments.
package krm

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
)

// Annotations of the KRM functions specification.
const (
	pathAnnotation  = "internal.config.kubernetes.io/path"
	localAnnotation = "config.kubernetes.io/local-config"
)

// Generated is the directory of a package where kpt stores the objects from Run.
const Generated = "argoperator"

// ErrNoList reports input that is not a ResourceList.
var ErrNoList = errors.New("standard input is not a ResourceList of config.kubernetes.io/v1")

// Run generates the operators of a ResourceList: that of its function
// configuration if it is a definition, else those of the definitions among its
// items, which are marked as not to be applied. Their objects are added to the
// items, in the place of what an earlier run has added. Findings are added to
// the results; failed tells that there are errors among them, and that nothing
// else was changed.
//
// Files that a definition refers to are found in dir, beside the file that the
// definition came from.
func Run(in []byte, dir fs.FS) (out []byte, failed bool, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal(in, &document); err != nil || len(document.Content) == 0 {
		return nil, false, ErrNoList
	}
	list := document.Content[0]
	if text(list, "kind") != "ResourceList" || text(list, "apiVersion") != "config.kubernetes.io/v1" {
		return nil, false, ErrNoList
	}
	definitions, err := definitionsOf(list)
	if err != nil {
		return nil, false, err
	}
	sources, err := sourcesOf(definitions, dir)
	if err != nil {
		return nil, false, err
	}
	result, err := argoperator.Generate(sources, argoperator.Options{})
	if err != nil {
		return nil, false, err
	}
	if err := report(list, definitions, result.Findings); err != nil {
		return nil, false, err
	}
	if failed = result.Findings.HasErrors(); !failed {
		if err := replace(list, result); err != nil {
			return nil, false, err
		}
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
		return nil, false, fmt.Errorf("encoding the list: %w", err)
	}
	return b.Bytes(), failed, nil
}

// definition is a definition in the list with its origin.
type definition struct {
	file string // for messages
	dir  string // of its file
	node *yaml.Node
	data []byte
}

func isDefinition(o *yaml.Node) bool {
	return text(o, "kind") == v1alpha1.Kind && text(o, "apiVersion") == v1alpha1.APIVersion
}

func definitionsOf(list *yaml.Node) ([]definition, error) {
	if config := field(list, "functionConfig"); isDefinition(config) {
		one, err := newDefinition(config, "functionConfig")
		return []definition{one}, err
	}
	var definitions []definition
	for i, item := range items(list) {
		if !isDefinition(item) {
			continue
		}
		one, err := newDefinition(item, fmt.Sprintf("items[%d]", i))
		if err != nil {
			return nil, err
		}
		annotate(item, localAnnotation, "true")
		definitions = append(definitions, one)
	}
	return definitions, nil
}

// newDefinition returns a definition without the annotations of the orchestrators.
func newDefinition(o *yaml.Node, place string) (definition, error) {
	d := definition{file: place, dir: ".", node: o}
	if file := annotation(o, pathAnnotation); file != "" {
		d.file = file
		if dir := path.Dir(file); fs.ValidPath(dir) { // otherwise it leads out of the package
			d.dir = dir
		}
	}
	var fields map[string]any
	if err := o.Decode(&fields); err != nil {
		return d, fmt.Errorf("reading %s: %w", place, err)
	}
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		annotations, _ := metadata["annotations"].(map[string]any)
		maps.DeleteFunc(annotations, func(key string, _ any) bool {
			prefix, _, _ := strings.Cut(key, "/")
			return prefix == "config.kubernetes.io" || prefix == "internal.config.kubernetes.io"
		})
	}
	data, err := yaml.Marshal(fields)
	if err != nil {
		return d, fmt.Errorf("encoding %s: %w", place, err)
	}
	d.data = data
	return d, nil
}

func sourcesOf(definitions []definition, dir fs.FS) ([]argoperator.Source, error) {
	var list []argoperator.Source
	for _, d := range definitions {
		beside, err := fs.Sub(dir, d.dir)
		if err != nil {
			return nil, fmt.Errorf("the directory of %s: %w", d.file, err)
		}
		list = append(list, argoperator.Source{Name: d.file, Data: d.data, Dir: beside})
	}
	return list, nil
}

// result is a finding in the format of the specification.
type result struct {
	Message     string       `yaml:"message"`
	Severity    string       `yaml:"severity"`
	ResourceRef *resourceRef `yaml:"resourceRef,omitempty"`
	Field       *fieldRef    `yaml:"field,omitempty"`
	File        *fileRef     `yaml:"file,omitempty"`
}

type resourceRef struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Name       string `yaml:"name"`
}

type fieldRef struct {
	Path string `yaml:"path"`
}

type fileRef struct {
	Path string `yaml:"path"`
}

// report adds the findings to the results. Their lines are those of the encoded
// definition, which users do not see, so each result names the field.
func report(list *yaml.Node, definitions []definition, findings diag.List) error {
	if len(findings) == 0 {
		return nil
	}
	var results []result
	for _, f := range findings {
		one := result{Message: f.Message + " [" + f.Code + "]", Severity: "error"}
		if f.Hint != "" {
			one.Message += ": " + f.Hint
		}
		if f.Severity != diag.Error {
			one.Severity = "warning"
		}
		if i := slices.IndexFunc(definitions, func(d definition) bool { return d.file == f.File }); i >= 0 {
			d := definitions[i]
			one.ResourceRef = &resourceRef{
				APIVersion: v1alpha1.APIVersion,
				Kind:       v1alpha1.Kind,
				Name:       text(field(d.node, "metadata"), "name"),
			}
			if at := place(d.data, f.Line, f.Column); at != "" {
				one.Field = &fieldRef{Path: at}
			}
			if file := annotation(d.node, pathAnnotation); file != "" {
				one.File = &fileRef{Path: file}
			}
		}
		results = append(results, one)
	}
	var made yaml.Node
	if err := made.Encode(results); err != nil {
		return fmt.Errorf("encoding the results: %w", err)
	}
	if there := field(list, "results"); there != nil && there.Kind == yaml.SequenceNode {
		there.Content = append(there.Content, made.Content...)
		return nil
	}
	set(list, "results", &made)
	return nil
}

// replace puts the objects into the items. An object of an earlier run keeps its
// file and position; objects that are no longer generated are removed.
func replace(list *yaml.Node, result argoperator.Result) error {
	all := field(list, "items")
	if all == nil || all.Kind != yaml.SequenceNode {
		all = &yaml.Node{Kind: yaml.SequenceNode}
		set(list, "items", all)
	}
	all.Style = 0
	earlier := map[string]*yaml.Node{}
	for _, item := range all.Content {
		earlier[identity(item)] = item
	}
	made := map[string]bool{}
	for _, b := range result.Bundles() {
		files := output.ComponentFiles(b.Objects)
		for i, o := range b.Objects {
			fields, err := output.Fields(o)
			if err != nil {
				return err
			}
			var node yaml.Node
			if err := node.Encode(fields); err != nil {
				return fmt.Errorf("encoding an object: %w", err)
			}
			id := identity(&node)
			made[id] = true
			if before, there := earlier[id]; there {
				if file := annotation(before, pathAnnotation); file != "" {
					annotate(&node, pathAnnotation, file)
				}
				*before = node
				continue
			}
			annotate(&node, pathAnnotation, path.Join(Generated, b.Name, files[i]))
			all.Content = append(all.Content, &node)
		}
	}
	all.Content = slices.DeleteFunc(all.Content, func(item *yaml.Node) bool {
		return strings.HasPrefix(annotation(item, pathAnnotation), Generated+"/") && !made[identity(item)]
	})
	return nil
}
