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

// Object is one object of a file, as kubectl reads it: a document, or an item of a
// list.
type Object struct {
	// Fields in the form of JSON; integers are int64.
	Fields map[string]any

	positions Positions
	base      Path
}

// Objects reads the objects of a file, and reports problems of the file itself,
// including duplicate keys. It accepts what kubectl accepts: JSON, and YAML with merge
// keys and with yes for true. It reports nothing about texts that keep rejects.
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

// Divided returns a file once for each of some parts, with empty lines in place of the documents of
// other parts. of tells the part of a document; a negative one is none. A part without documents is nil.
func Divided(data []byte, parts int, of func(text string) int) [][]byte {
	text := strings.TrimPrefix(string(data), "\ufeff")
	chunks := []chunk{{text: text}}
	if _, ok := parseJSON(text); !ok {
		chunks = split(text)
	}
	texts, found := make([]strings.Builder, parts), make([]bool, parts)
	for n, c := range chunks {
		part := -1
		if strings.TrimSpace(c.text) != "" {
			part = of(c.text)
		}
		empty := strings.Repeat("\n", strings.Count(c.text, "\n"))
		for k := range texts {
			if k == part {
				texts[k].WriteString(c.text)
				found[k] = true
			} else if n < len(chunks)-1 {
				texts[k].WriteString(empty)
			}
		}
	}
	out := make([][]byte, parts)
	for k := range out {
		if found[k] {
			out[k] = []byte(texts[k].String())
		}
	}
	return out
}

// IsPlain reports whether a document is YAML whose keys are no mappings or lists.
func IsPlain(text string) bool {
	roots, err := parseYAML(text)
	return err == nil && !slices.ContainsFunc(roots, hasCompoundKey)
}

func hasCompoundKey(n *yaml.Node) bool {
	for i, inner := range n.Content {
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		if isKey && inner.Kind != yaml.ScalarNode && inner.Kind != yaml.AliasNode || hasCompoundKey(inner) {
			return true
		}
	}
	return false
}

// NotEmpty is a keep function for Objects that accepts non-blank texts.
func NotEmpty(text []byte) bool { return len(bytes.TrimSpace(text)) > 0 }

// written is a document with its text.
type written struct {
	Document
	text string
	from int // the number of lines before its text
	json bool
}

func loadObjects(in Input, keep func([]byte) bool) ([]written, diag.List) {
	if roots, ok := parseJSON(string(in.Data)); ok {
		var out []written
		for _, root := range roots {
			doc := written{Document: Document{Positions: Positions{File: in.Name, Root: root.node}}, text: root.text, json: true}
			clean(&doc.Document)
			out = append(out, doc)
		}
		return out, nil
	}
	var out []written
	docs, list := loadText(in.Name, in.Data, keep)
	for _, doc := range docs {
		if doc.Repaired() { // kubectl does not read it
			if keep([]byte(doc.text)) {
				list = append(list, doc.Found...)
			}
			continue
		}
		if n := len(out); n > 0 && out[n-1].from == doc.from {
			list.Add(
				doc.Of(doc.Root),
				diag.YAMLSyntax,
				"kubectl does not read what follows the end of a document, ...",
				"begin it with ---",
			)
			continue
		}
		doc.Found = slices.DeleteFunc(doc.Found, func(f diag.Finding) bool {
			return f.Code == diag.YAMLMergeKey || f.Code == diag.YAMLTag
		})
		out = append(out, doc)
	}
	return out, list
}

// fields returns the values of a document. kubectl's library decodes those of documents that are not plain;
// their nodes only have the positions.
func (w written) fields(in Input, list *diag.List) (map[string]any, bool) {
	if w.Root.Kind != yaml.MappingNode {
		if !in.Lenient {
			list.Add(w.Of(w.Root), diag.WrongType, fmt.Sprintf("the document is %s, want an object", Describe(w.Root)), "")
		}
		return nil, false
	}
	if slices.ContainsFunc(w.Found, func(f diag.Finding) bool { return f.Code == diag.YAMLAlias }) {
		return nil, false // it may expand to gigabytes
	}
	if w.plain {
		if fields, ok := plainFields(w.Root); ok {
			return fields, true
		}
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

// IsList reports whether a file consists of lists, which kubectl prints for several
// objects, or for none.
func IsList(in Input) bool {
	docs, _ := loadObjects(in, NotEmpty)
	for _, doc := range docs {
		if !strings.HasSuffix(doc.Positions.Text("kind"), "List") || !doc.Written([]string{"items"}) {
			return false
		}
	}
	return len(docs) > 0
}

// unfold returns the items of a list like kubectl, and any other object unchanged.
func unfold(o Object) []Object {
	kind, isList := strings.CutSuffix(o.Text("kind"), "List")
	items, ok := o.Fields["items"].([]any)
	if !ok || !isList {
		return []Object{o}
	}
	var out []Object
	for i, item := range items {
		if fields, ok := item.(map[string]any); ok {
			if kind != "" && o.Fields["apiVersion"] != nil && fields["kind"] == nil { // the API server leaves it out in a RoleList
				fields["apiVersion"], fields["kind"] = o.Fields["apiVersion"], kind
			}
			out = append(out, unfold(Object{Fields: fields, positions: o.positions, base: o.base.To("items", i)})...)
		}
	}
	return out
}

// Position returns the position of the value at a path in the API server's notation:
// spec.ports[0].name, spec.labels[a.b]. If there is no such value, it returns the
// position of the nearest ancestor.
func (o Object) Position(path string) diag.Position { return o.At(diag.Steps(o.Fields, path)) }

// At is Position for a path of keys and indexes.
func (o Object) At(path []string) diag.Position {
	return o.positions.At(append(slices.Clip(o.base), path...))
}

// Node returns the object with its comments and the order of its keys. Aliases are
// expanded, merge keys are missing.
func (o Object) Node() *yaml.Node {
	_, node, exact := o.positions.Find(o.base)
	if !exact {
		return nil
	}
	return node
}

// KeyPosition returns the position of the key of a path.
func (o Object) KeyPosition(path string) diag.Position {
	return o.positions.AtKey(append(slices.Clip(o.base), diag.Steps(o.Fields, path)...))
}

// Entry returns the nodes of the key and the value at a path. The key is nil for an
// item of a list; both are nil if the path does not exist.
func (o Object) Entry(path string) (key, value *yaml.Node) {
	key, value, exact := o.positions.Find(append(slices.Clip(o.base), diag.Steps(o.Fields, path)...))
	if !exact {
		return nil, nil
	}
	return key, value
}

// Group returns the API group of the object; empty for the core group.
func (o Object) Group() string {
	group, _ := SplitAPIVersion(o.Text("apiVersion"))
	return group
}

// Text returns the string at a path of keys, or "".
func (o Object) Text(path ...string) string {
	var value any = o.Fields
	for _, key := range path {
		inner, _ := value.(map[string]any)
		value = inner[key]
	}
	text, _ := value.(string)
	return text
}

// SplitAPIVersion splits group/version; the core group is empty.
func SplitAPIVersion(s string) (group, version string) {
	if group, version, ok := strings.Cut(s, "/"); ok {
		return group, version
	}
	return "", s
}
