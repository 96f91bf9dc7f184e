package output

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// File is an output file. Its name has slashes. A stream is one file without a name.
type File struct {
	Name string
	Data []byte
}

// Operator is the input of a format.
type Operator struct {
	Name    string
	Objects []manifest.Object // in apply order
	Chart                     // for formats with adjustable values
}

// Chart is an operator with adjustable values.
type Chart struct {
	Version     string
	Description string
	Notes       string            // shown after the installation
	Adjustable  []manifest.Object // the objects with placeholders for the values
	Marked      []manifest.Object // the adjustable objects with the marks of the fields
	Fields      []Field
	Values      []Value
}

// Format converts one or more operators to files.
type Format struct {
	Name string
	// Directory formats write files; the others write one stream.
	Directory bool
	// Adjustable formats have values and need the operators' charts.
	Adjustable bool
	Files      func([]Operator) ([]File, error)
	// Append returns a function that writes one operator after the other to a stream,
	// with the same result as Files; nil for formats that need all operators at once.
	Append func(io.Writer) func([]Document) error
}

// Document is an object with its Fields. They are a snapshot: they do not follow later
// changes of the object.
type Document struct {
	Object manifest.Object
	Fields map[string]any
}

// Documents converts objects to documents.
func Documents(objects []manifest.Object) ([]Document, error) {
	out := make([]Document, len(objects))
	for i, o := range objects {
		fields, err := Fields(o)
		if err != nil {
			return nil, err
		}
		out[i] = Document{o, fields}
	}
	return out, nil
}

// Formats returns the formats in the order of the documentation. To add one, write its
// function and add a line.
func Formats() []Format {
	return []Format{
		{Name: "yaml", Files: joined(yamlStream), Append: appendYAML},
		{Name: "json", Files: joined(jsonList)},
		{Name: "dir", Directory: true, Files: joined(oneFileEach)},
		{Name: "kustomize", Directory: true, Files: joined(kustomizeBase)},
		{Name: "helm", Directory: true, Adjustable: true, Files: chartFiles},
	}
}

// joined adapts a format that does not distinguish operators.
func joined(files func([]manifest.Object) ([]File, error)) func([]Operator) ([]File, error) {
	return func(operators []Operator) ([]File, error) {
		var objects []manifest.Object
		for _, o := range operators {
			objects = append(objects, o.Objects...)
		}
		return files(objects)
	}
}

func yamlStream(objects []manifest.Object) ([]File, error) {
	data, err := Stream(objects)
	return []File{{Data: data}}, err
}

// Stream returns one YAML document for each object, for kubectl.
func Stream(objects []manifest.Object) ([]byte, error) {
	documents, err := Documents(objects)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = appendYAML(&out)(documents)
	return out.Bytes(), err
}

func appendYAML(w io.Writer) func([]Document) error {
	separator := ""
	var b block
	return func(documents []Document) error {
		for _, d := range documents {
			data, err := b.document(d.Fields)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, separator); err != nil {
				return err
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
			separator = "---\n"
		}
		return nil
	}
}

// jsonList returns one object of kind List.
func jsonList(objects []manifest.Object) ([]File, error) {
	documents, err := Documents(objects)
	if err != nil {
		return nil, err
	}
	items := make([]map[string]any, len(documents))
	for i, d := range documents {
		items[i] = d.Fields
	}
	data, err := List(items)
	if err != nil {
		return nil, err
	}
	return []File{{Data: data}}, nil
}

// List returns the JSON of one object of kind List, in the form that kubectl reads and
// prints.
func List(items []map[string]any) ([]byte, error) {
	if items == nil {
		items = []map[string]any{} // null is not a list
	}
	var out bytes.Buffer
	if err := terminal.JSON(&out, map[string]any{"apiVersion": "v1", "kind": "List", "items": items}); err != nil {
		return nil, fmt.Errorf("encoding the list: %w", err)
	}
	return out.Bytes(), nil
}

// oneFileEach names the files so that they sort in the order of the objects, by the places of
// their kinds: an object more renames no other file. Objects to delete are in reverse.
func oneFileEach(objects []manifest.Object) ([]File, error) {
	names, place := distinctNames(objects), manifest.Position
	if len(objects) > 0 && place(objects[0]) > place(objects[len(objects)-1]) {
		place = func(o manifest.Object) int { return manifest.Positions() + 1 - manifest.Position(o) }
	}
	files := make([]File, len(objects))
	for i, o := range objects {
		data, err := Marshal(o)
		if err != nil {
			return nil, err
		}
		files[i] = File{Name: fmt.Sprintf("%02d-%s.yaml", place(o), names[i]), Data: data}
	}
	return files, nil
}

// fileName returns an object's name in a form that is valid in every file system.
func fileName(o manifest.Object) string {
	return filepath.Base(strings.ReplaceAll(o.GetName(), ":", "-"))
}
