package source

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// Path addresses a value of a document by keys, and by indexes in decimal.
type Path []string

// PathOf returns a path from the root.
func PathOf(more ...any) Path { return Path(nil).To(more...) }

// To returns the path extended by keys (strings) and indexes (ints).
func (p Path) To(more ...any) Path {
	out := slices.Clip(slices.Clone(p))
	for _, s := range more {
		out = append(out, fmt.Sprint(s))
	}
	return out
}

// ID returns the path as a map key.
func (p Path) ID() string { return strings.Join(p, "\x00") }

// String formats the path for a message: spec.api.versions[0].name.
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case isIndex(step):
			b.WriteString("[" + step + "]")
		case i > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}

func isIndex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Positions returns the positions of the values of one document.
type Positions struct {
	File  string
	Root  *yaml.Node
	lines []string
	// repaired are the lines, from 1, whose nodes have other text than the file.
	repaired map[int]string
	// Grafted are the nodes of other files, with the positions there.
	Grafted map[*yaml.Node]Positions
}

// Graft inserts the root of another document into a mapping, as the value of a key that
// does not exist there.
func (p Positions) Graft(mapping *yaml.Node, key string, other Positions) {
	root := other.Root
	head := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: root.Line, Column: root.Column}
	mapping.Content = append(mapping.Content, head, root)
	p.Grafted[head] = other
	p.mark(root, other)
}

// mark records the file of a tree. A node shared by aliases is visited once.
func (p Positions) mark(n *yaml.Node, other Positions) {
	if _, done := p.Grafted[n]; done {
		return
	}
	p.Grafted[n] = other
	for _, child := range n.Content {
		p.mark(child, other)
	}
}

// home returns the positions of the file that a node is from.
func (p Positions) home(n *yaml.Node) Positions {
	if other, ok := p.Grafted[n]; ok {
		return other
	}
	return p
}

// Guessed reports whether a line is read differently from YAML.
func (p Positions) Guessed(at diag.Position) bool {
	for _, other := range p.Grafted {
		if other.File == at.File {
			p = other
			break
		}
	}
	_, ok := p.repaired[at.Line]
	return ok && p.File == at.File
}

// At returns the position of the value at a path. If the path does not exist, it
// returns that of the key of its nearest ancestor.
func (p Positions) At(path []string) diag.Position {
	key, value, exact := p.Find(path)
	if !exact && key != nil {
		return p.Of(key)
	}
	return p.Of(value)
}

// AtKey returns the position of the key of a path, or of the item of a list.
func (p Positions) AtKey(path []string) diag.Position {
	key, value, _ := p.Find(path)
	if key != nil {
		return p.Of(key)
	}
	return p.Of(value)
}

// Written reports whether a path exists in the document.
func (p Positions) Written(path []string) bool {
	_, _, exact := p.Find(path)
	return exact
}

// Of returns the position of a node.
func (p Positions) Of(n *yaml.Node) diag.Position {
	if n == nil {
		return diag.Position{File: p.File}
	}
	return diag.Position{File: p.home(n).File, Line: n.Line, Column: n.Column}
}

// Find follows a path as far as it exists. The key is nil at the root and for list
// items.
func (p Positions) Find(path []string) (key, value *yaml.Node, exact bool) {
	value = p.Root
	for _, step := range path {
		k, v := LookupNode(value, step)
		if v == nil {
			return key, value, false
		}
		key, value = k, v
	}
	return key, value, value != nil
}

// LookupNode returns a key of a mapping, or an item of a list, and its value.
func LookupNode(n *yaml.Node, step string) (key, value *yaml.Node) {
	if n == nil {
		return nil, nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		for i, v := range n.Content {
			if fmt.Sprint(i) == step {
				return nil, v
			}
		}
	}
	return nil, nil
}

// Inside returns the position in the source of a byte of the value of a scalar.
func (p Positions) Inside(n *yaml.Node, offset int) diag.Position {
	pos := p.Of(n)
	home := p.home(n)
	if original, ok := home.repaired[pos.Line]; ok && n != nil && n.Kind == yaml.ScalarNode { // the text is as written, up to quotes
		rest := original[diag.Offset(original, pos.Column):]
		if rest != "" && n.Value != "" && rest[0] != n.Value[0] {
			offset++
		}
		pos.Column += utf8.RuneCountInString(rest[:min(max(0, offset), len(rest))])
		return pos
	}
	if n == nil || n.Kind != yaml.ScalarNode || n.Line < 1 || n.Line > len(home.lines) {
		return pos
	}
	r := &reader{lines: home.lines, line: n.Line - 1, at: diag.Offset(home.lines[n.Line-1], n.Column)}
	if !r.find(n, offset) {
		return pos
	}
	pos.Line, pos.Column = r.line+1, utf8.RuneCountInString(r.lines[r.line][:r.at])+1
	return pos
}

// Text returns the text of a scalar.
func (p Positions) Text(path ...string) string {
	if _, n, exact := p.Find(path); exact && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}
