package output

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/terminal"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// File is a file of the output, named with slashes. A stream has one, without a name.
type File struct {
	Name string
	Data []byte
}

// Operator is what formats make files of.
type Operator struct {
	Name    string
	Objects []manifest.Object // in apply order
	Chart                     // for the formats that leave values open
}

// Chart is an operator with values that are left open.
type Chart struct {
	Version     string
	Description string
	Notes       string            // what is said when it is installed
	Adjustable  []manifest.Object // the objects with stand-ins for the values
	Values      []Value
}

// Format turns one or more operators into files.
type Format struct {
	Name string
	// Directory formats write files; the others write one stream.
	Directory bool
	// Adjustable formats leave values open and need the operators' charts.
	Adjustable bool
	Files      func([]Operator) ([]File, error)
	// Append returns what writes one operator after the other to a stream, to the
	// same effect as Files; nil for formats that need all of them at once.
	Append func(io.Writer) func([]Document) error
}

// Document is an object with its Fields. Whoever changes the object makes
// another one: the fields stay as they were.
type Document struct {
	Object manifest.Object
	Fields map[string]any
}

// Documents returns objects as they are written.
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

// Formats in the order in which they are documented. To add one, write its
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

// joined is a format to which it does not matter whose objects they are.
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

// Stream is one document an object, as kubectl reads it.
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

// jsonList is one object of kind List.
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

// List is the JSON of one object of kind List, as kubectl reads and prints it.
func List(items []map[string]any) ([]byte, error) {
	if items == nil {
		items = []map[string]any{} // null is no list
	}
	var out bytes.Buffer
	if err := terminal.JSON(&out, map[string]any{"apiVersion": "v1", "kind": "List", "items": items}); err != nil {
		return nil, fmt.Errorf("encoding the list: %w", err)
	}
	return out.Bytes(), nil
}

// oneFileEach names the files so that their order is the apply order.
func oneFileEach(objects []manifest.Object) ([]File, error) {
	width := max(2, len(fmt.Sprint(len(objects))))
	files := make([]File, len(objects))
	for i, o := range objects {
		data, err := Marshal(o)
		if err != nil {
			return nil, err
		}
		files[i] = File{Name: fmt.Sprintf("%0*d-%s.yaml", width, i+1, kindAndName(o)), Data: data}
	}
	return files, nil
}

// fileName is an object's name as every file system takes it.
func fileName(o manifest.Object) string {
	return filepath.Base(strings.ReplaceAll(o.GetName(), ":", "-"))
}
