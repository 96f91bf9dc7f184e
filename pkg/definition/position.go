package definition

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// steps lead to a value of a document: keys, and indexes in decimal.
type steps []string

// pathOf returns a path from the root.
func pathOf(more ...any) steps { return steps(nil).to(more...) }

// to returns the path extended by keys (strings) and indexes (ints).
func (p steps) to(more ...any) steps {
	out := slices.Clip(slices.Clone(p))
	for _, s := range more {
		out = append(out, fmt.Sprint(s))
	}
	return out
}

// id is the path as a map key.
func (p steps) id() string { return strings.Join(p, "\x00") }

// String is the path as a message shows it, such as spec.api.versions[0].name.
func (p steps) String() string {
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

// positions knows where the values of one document stand.
type positions struct {
	file  string
	root  *yaml.Node
	lines []string
	// grafted are the nodes that come from other files, with the positions there.
	grafted map[*yaml.Node]positions
}

// graft puts the root of another document into a mapping of this one, as the
// value of a key that is not written there.
func (p positions) graft(mapping *yaml.Node, key string, other positions) {
	root := other.root
	head := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: root.Line, Column: root.Column}
	mapping.Content = append(mapping.Content, head, root)
	p.grafted[head] = other
	p.mark(root, other)
}

// mark remembers where a tree comes from. A node that aliases share is visited once.
func (p positions) mark(n *yaml.Node, other positions) {
	if _, done := p.grafted[n]; done {
		return
	}
	p.grafted[n] = other
	for _, child := range n.Content {
		p.mark(child, other)
	}
}

// home is where a node comes from: this document, or the file it was read from.
func (p positions) home(n *yaml.Node) positions {
	if other, ok := p.grafted[n]; ok {
		return other
	}
	return p
}

// at returns where the value at a path stands; for a path that is not written,
// where the key of its nearest written ancestor does.
func (p positions) at(path []string) diag.Position {
	key, value, exact := p.find(path)
	if !exact && key != nil {
		return p.of(key)
	}
	return p.of(value)
}

// atKey returns where the key of a path stands, and of an entry of a list the entry.
func (p positions) atKey(path []string) diag.Position {
	key, value, _ := p.find(path)
	if key != nil {
		return p.of(key)
	}
	return p.of(value)
}

// written tells whether a path stands in the document.
func (p positions) written(path []string) bool {
	_, _, exact := p.find(path)
	return exact
}

// of returns where a node stands.
func (p positions) of(n *yaml.Node) diag.Position {
	if n == nil {
		return diag.Position{File: p.file}
	}
	return diag.Position{File: p.home(n).file, Line: n.Line, Column: n.Column}
}

// find follows a path as far as it is written. The key is nil at the root and for list entries.
func (p positions) find(path []string) (key, value *yaml.Node, exact bool) {
	value = p.root
	for _, step := range path {
		k, v := lookupNode(value, step)
		if v == nil {
			return key, value, false
		}
		key, value = k, v
	}
	return key, value, value != nil
}

func lookupNode(n *yaml.Node, step string) (key, value *yaml.Node) {
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

// inside returns where a byte of a scalar's value stands in the source.
func (p positions) inside(n *yaml.Node, offset int) diag.Position {
	pos := p.of(n)
	home := p.home(n)
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
