package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// jsonDocument is one value of a JSON text.
type jsonDocument struct {
	node *yaml.Node
	text string
}

// parseJSON parses a sequence of JSON objects as nodes with positions. Not every JSON
// text is YAML: "\/" and tabs are not.
func parseJSON(text string) ([]jsonDocument, bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") || !utf8.ValidString(text) {
		return nil, false
	}
	r := jsonReader{text: text, dec: json.NewDecoder(strings.NewReader(text))}
	r.dec.UseNumber()
	for i, c := range text {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	var out []jsonDocument
	for {
		start := r.next()
		token, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			return out, true
		}
		if err != nil {
			return nil, false
		}
		node, err := r.node(token, start)
		if err != nil {
			return nil, false
		}
		out = append(out, jsonDocument{node, text[start:r.dec.InputOffset()]})
	}
}

type jsonReader struct {
	text  string
	dec   *json.Decoder
	lines []int // offset of each line after the first
}

// next returns the offset of the next token.
func (r *jsonReader) next() int {
	at := int(r.dec.InputOffset())
	return at + len(r.text[at:]) - len(strings.TrimLeft(r.text[at:], " \t\r\n,:"))
}

func (r *jsonReader) node(token json.Token, start int) (*yaml.Node, error) {
	line := sort.SearchInts(r.lines, start+1)
	begin := 0
	if line > 0 {
		begin = r.lines[line-1]
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: line + 1, Column: utf8.RuneCountInString(r.text[begin:start]) + 1}
	switch token := token.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if token == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		return n, r.content(n)
	case string:
		n.Tag, n.Value, n.Style = "!!str", token, yaml.DoubleQuotedStyle
	case json.Number:
		n.Tag, n.Value = "!!int", token.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(token)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// content reads the content of an object or a list.
func (r *jsonReader) content(n *yaml.Node) error {
	for r.dec.More() {
		start := r.next()
		token, err := r.dec.Token()
		if err != nil {
			return err
		}
		child, err := r.node(token, start)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, child)
	}
	_, err := r.dec.Token()
	return err
}
