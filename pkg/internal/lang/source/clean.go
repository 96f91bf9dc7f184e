package source

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// maxAliased limits the nodes that the aliases of one document expand to, because a
// document of a few lines can expand to gigabytes.
const maxAliased = 100_000

// maxDepth limits the nesting of values. Values derived from them are nested deeper,
// and encoding/json supports a depth of 10,000.
const maxDepth = 500

// cleaner simplifies a tree: it replaces aliases by the nodes they refer to, and
// reports and removes ambiguous nodes.
type cleaner struct {
	doc     *Document
	sizes   map[*yaml.Node]int // of finished nodes with an anchor
	aliased int
	depth   int
	flow    int  // > 0 between braces or brackets
	tooDeep bool // too deep, which was reported
}

func clean(doc *Document) {
	c := cleaner{doc: doc, sizes: map[*yaml.Node]int{}}
	c.node(doc.Root)
}

// node cleans a tree and returns the number of nodes that it expands to.
func (c *cleaner) node(n *yaml.Node) int {
	anchored := n.Anchor != ""
	if c.depth++; c.depth > maxDepth {
		if !c.tooDeep {
			c.tooDeep = true
			c.doc.Found.Add(c.doc.Of(n), diag.TooLarge, fmt.Sprintf("values are nested more than %d deep", maxDepth), "")
		}
		n.Content = nil
	}
	defer func() { c.depth-- }()
	c.misread(n)
	c.tag(n)
	if n.Style&yaml.FlowStyle != 0 {
		c.flow++
		defer func() { c.flow-- }()
	}
	if n.Kind == yaml.MappingNode {
		n.Content = c.pairs(n.Content)
	}
	size := 1
	for i, child := range n.Content {
		if child.Kind == yaml.AliasNode {
			n.Content[i] = c.alias(child)
			size += c.sizes[n.Content[i]]
			continue
		}
		size += c.node(child)
	}
	if anchored {
		c.sizes[n] = size
	}
	return size
}

func (c *cleaner) alias(n *yaml.Node) *yaml.Node {
	size := c.sizes[n.Alias]
	c.aliased += size
	switch {
	case size == 0:
		c.doc.Found.Add(c.doc.Of(n), diag.YAMLAlias, fmt.Sprintf("the alias *%s is inside its own anchor", n.Value), "")
	case c.aliased > maxAliased && c.aliased-size <= maxAliased:
		c.doc.Found.Add(c.doc.Of(n), diag.YAMLAlias,
			fmt.Sprintf("the aliases of this document expand to more than %d values", maxAliased), "")
	case c.aliased <= maxAliased:
		return n.Alias
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null", Line: n.Line, Column: n.Column}
}

// pairs removes duplicate keys and keys that are not plain.
func (c *cleaner) pairs(content []*yaml.Node) []*yaml.Node {
	seen := map[string]*yaml.Node{}
	var out []*yaml.Node
	for pair := range slices.Chunk(content, 2) {
		key := pair[0]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		first := seen[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			c.doc.Found.Add(
				c.doc.Of(pair[0]),
				diag.WrongType,
				fmt.Sprintf("a key must be a string, this one is %s", Describe(key)),
				keyHint(key),
			)
		case key.ShortTag() == "!!merge":
			c.doc.Found.Add(c.doc.Of(key), diag.YAMLMergeKey, "the merge key << is not supported",
				"repeat the keys, or alias a whole value with key: *anchor")
		case isNull(key) && key.Style == 0:
			c.doc.Found.Add(c.doc.Of(key), diag.WrongType, "a key must be a string, this one is null", `quote the key: "null"`)
		case first != nil:
			c.doc.Found.Add(c.doc.Of(key), diag.DuplicateKey,
				fmt.Sprintf("duplicate key %q", key.Value),
				fmt.Sprintf("remove one; the first is on line %d", first.Line))
		default:
			seen[key.Value] = key
			out = append(out, key, pair[1])
		}
	}
	return out
}

// keyHint explains {{ }} in a key, which YAML reads as a mapping in a mapping.
func keyHint(key *yaml.Node) string {
	if key.Kind == yaml.MappingNode && key.Style&yaml.FlowStyle != 0 {
		return "write the key itself: templates of Helm and Go are not expanded here"
	}
	return ""
}

var plainTags = []string{"", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!map", "!!seq", "!!merge"}

func (c *cleaner) tag(n *yaml.Node) {
	if !slices.Contains(plainTags, n.ShortTag()) {
		c.doc.Found.Add(c.doc.Of(n), diag.YAMLTag, fmt.Sprintf("the YAML tag %s is not supported", n.ShortTag()), "remove the tag")
		n.Tag = ""
	}
}
