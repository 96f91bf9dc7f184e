package source

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
)

// Object is one object of a file, as kubectl reads it: a document, or an item
// of one whose kind is a list.
type Object struct {
	// Fields as JSON has them; whole numbers are int64.
	Fields map[string]any

	positions Positions
	base      Path
}

// Objects reads the objects of a file and what is wrong with the file as such,
// among it every key that is written twice. It takes what kubectl takes: JSON,
// and YAML with merge keys and with yes for true. Of text that keep refuses
// nothing is said.
func Objects(in Input, keep func(text []byte) bool) ([]Object, diag.List) {
	docs, list := loadObjects(in, keep)
	var out []Object
	for _, doc := range docs {
		if !keep([]byte(doc.text)) {
			continue
		}
		list = append(list, doc.Found...)
		if fields, ok := doc.fields(in, &list); ok {
			out = append(out, unfold(Object{Fields: fields, positions: doc.Positions})...)
		}
	}
	return out, list
}

// NotEmpty keeps every text but blank ones: for Objects.
func NotEmpty(text []byte) bool { return len(bytes.TrimSpace(text)) > 0 }

// written is one document with the text that it stands in.
type written struct {
	Document
	text string
	json bool
}

func loadObjects(in Input, keep func([]byte) bool) ([]written, diag.List) {
	if roots, ok := parseJSON(string(in.Data)); ok {
		var out []written
		for _, root := range roots {
			doc := written{Document{Positions: Positions{File: in.Name, Root: root.node}}, root.text, true}
			clean(&doc.Document)
			out = append(out, doc)
		}
		return out, nil
	}
	docs, list := Load(in.Name, in.Data, keep)
	lines := strings.Split(strings.TrimPrefix(string(in.Data), "\ufeff"), "\n")
	chunks := split(lines)
	var out []written
	for _, doc := range docs {
		i, _ := slices.BinarySearchFunc(chunks, doc.Root.Line, func(c chunk, line int) int { return c.line + 1 - line })
		if i == len(chunks) || chunks[i].line+1 > doc.Root.Line {
			i--
		}
		text := chunks[i].text
		if n := len(out); n > 0 && out[n-1].text == text && out[n-1].Root.Line > chunks[i].line {
			list.Add(doc.Of(doc.Root), diag.YAMLSyntax, "kubectl does not read what follows the end of a document, ...", "begin it with ---")
			continue
		}
		doc.Found = slices.DeleteFunc(doc.Found, func(f diag.Finding) bool {
			return f.Code == diag.YAMLMergeKey || f.Code == diag.YAMLTag
		})
		out = append(out, written{doc, text, false})
	}
	return out, list
}

// fields are the values of a document. They are read by the library that
// kubectl reads with; the tree of nodes knows the places only.
func (w written) fields(in Input, list *diag.List) (map[string]any, bool) {
	if w.Root.Kind != yaml.MappingNode {
		if !in.Lenient {
			list.Add(w.Of(w.Root), diag.WrongType, fmt.Sprintf("the document is %s, want an object", Describe(w.Root)), "")
		}
		return nil, false
	}
	if slices.ContainsFunc(w.Found, func(f diag.Finding) bool { return f.Code == diag.YAMLAlias }) {
		return nil, false // it may unfold to gigabytes
	}
	data, err := []byte(w.text), error(nil)
	if !w.json {
		data, err = sigsyaml.YAMLToJSON(data)
	}
	fields := map[string]any{}
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		list.Add(w.Of(w.Root), diag.YAMLSyntax, fmt.Sprintf("kubectl cannot read it: %v", err), "")
		return nil, false
	}
	return fields, true
}

// unfold returns the items of a list as kubectl does, and any other object as it is.
func unfold(o Object) []Object {
	kind, _ := o.Fields["kind"].(string)
	items, ok := o.Fields["items"].([]any)
	if !ok || !strings.HasSuffix(kind, "List") {
		return []Object{o}
	}
	var out []Object
	for i, item := range items {
		if fields, ok := item.(map[string]any); ok {
			out = append(out, unfold(Object{Fields: fields, positions: o.positions, base: o.base.To("items", i)})...)
		}
	}
	return out
}

// Position returns where the value at a path stands, written as the API server
// does: spec.ports[0].name, spec.labels[a.b]. For a value that is not there it
// is the place of what it should be in.
func (o Object) Position(path string) diag.Position {
	return o.positions.At(append(slices.Clip(o.base), diag.Steps(o.Fields, path)...))
}

// Node is the object as it is written: with its comments, and its keys in their
// order. Aliases have given way to what they stand for, merge keys are missing.
func (o Object) Node() *yaml.Node {
	_, node, exact := o.positions.Find(o.base)
	if !exact {
		return nil
	}
	return node
}

// KeyPosition returns where the key of the value at a path stands.
func (o Object) KeyPosition(path string) diag.Position {
	return o.positions.AtKey(append(slices.Clip(o.base), diag.Steps(o.Fields, path)...))
}

// Entry is the key and the value at a path as they are written; the key is nil
// for an entry of a list, both are where nothing stands there.
func (o Object) Entry(path string) (key, value *yaml.Node) {
	key, value, exact := o.positions.Find(append(slices.Clip(o.base), diag.Steps(o.Fields, path)...))
	if !exact {
		return nil, nil
	}
	return key, value
}

// Group of the object's kind; empty for the core group.
func (o Object) Group() string {
	group, _ := SplitAPIVersion(o.Text("apiVersion"))
	return group
}

// Text is the string at a path of keys; empty if there is none.
func (o Object) Text(path ...string) string {
	var value any = o.Fields
	for _, key := range path {
		inner, _ := value.(map[string]any)
		value = inner[key]
	}
	text, _ := value.(string)
	return text
}

// SplitAPIVersion cuts group/version; the core group is empty.
func SplitAPIVersion(s string) (group, version string) {
	if group, version, ok := strings.Cut(s, "/"); ok {
		return group, version
	}
	return "", s
}
