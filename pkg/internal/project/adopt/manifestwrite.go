package adopt

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// write returns the YAML tree of a value, with the order and comments of the tree
// that it was read from, which may be nil. In a template it escapes what looks like
// an expression.
func write(value any, like *yaml.Node, braces bool) *yaml.Node {
	switch v := value.(type) {
	case map[string]any:
		return writeMap(v, like, braces)
	case []any:
		return writeList(v, like, braces)
	case Expr:
		return remarked(scalar(string(v), nil), like)
	case string:
		return remarked(scalar(escaped(v, braces), like), like)
	}
	out := &yaml.Node{}
	if err := out.Encode(value); err != nil {
		panic(err) // values are those of JSON
	}
	return remarked(out, like)
}

func writeMap(v map[string]any, like *yaml.Node, braces bool) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	done := map[string]bool{}
	given := 0 // existing keys
	add := func(key *yaml.Node, name string, inner *yaml.Node) {
		if value, there := v[name]; there && !done[name] {
			done[name] = true
			out.Content = append(out.Content, remarked(scalar(name, nil), key), write(value, inner, braces))
		}
	}
	if like != nil && like.Kind == yaml.MappingNode {
		out.Style = like.Style & yaml.FlowStyle
		out.HeadComment, out.LineComment, out.FootComment = like.HeadComment, like.LineComment, like.FootComment
		for pair := range slices.Chunk(like.Content, 2) {
			add(pair[0], pair[0].Value, pair[1])
		}
		given = len(done)
	}
	for _, first := range []string{"apiVersion", "kind", "metadata", "name"} {
		add(nil, first, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		add(nil, name, nil)
	}
	if given < len(v) {
		out.Style = 0 // more than fits on a line
	}
	return blockStyle(out)
}

// blockStyle sets block style on a tree with nested blocks.
func blockStyle(out *yaml.Node) *yaml.Node {
	if len(out.Content) == 0 {
		out.Style = yaml.FlowStyle
	}
	for _, inner := range out.Content {
		if inner.Kind != yaml.ScalarNode && inner.Style != yaml.FlowStyle || inner.Style == yaml.LiteralStyle ||
			inner.Style == yaml.FoldedStyle {
			out.Style = 0
		}
	}
	return out
}

func writeList(v []any, like *yaml.Node, braces bool) *yaml.Node {
	out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if like == nil || like.Kind != yaml.SequenceNode {
		like = &yaml.Node{}
	}
	out.Style = like.Style & yaml.FlowStyle
	out.HeadComment, out.LineComment, out.FootComment = like.HeadComment, like.LineComment, like.FootComment
	for i, value := range v {
		var inner *yaml.Node
		if len(like.Content) == len(v) { // otherwise the entries cannot be matched
			inner = like.Content[i]
		}
		out.Content = append(out.Content, write(value, inner, braces))
	}
	return blockStyle(out)
}

// scalar returns a text node in the original style.
func scalar(text string, like *yaml.Node) *yaml.Node {
	out := &yaml.Node{}
	out.SetString(text)
	if strings.Contains(text, "\r") {
		out.Style = yaml.DoubleQuotedStyle // a block scalar would lose it
	}
	if like == nil || like.Kind != yaml.ScalarNode {
		var plain yaml.Node
		if err := plain.Encode(text); err == nil { // quoted if YAML would parse it differently
			out = &plain
		}
		return out
	}
	if !strings.ContainsAny(text, "\r\t") {
		out.Style = like.Style &^ yaml.TaggedStyle
	}
	if quotes := yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle; out.Style&^quotes == 0 && !strings.Contains(text, "\n") {
		return scalar(text, nil) // quoted if necessary
	}
	return out
}

// remarked copies the comments of a node.
func remarked(out, like *yaml.Node) *yaml.Node {
	if like != nil {
		out.HeadComment, out.LineComment, out.FootComment = like.HeadComment, like.LineComment, like.FootComment
	}
	return out
}

// looksFilledIn matches braces of other template languages, which `argoperator
// lint` reports.
var looksFilledIn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{-? *[.A-Za-z]`) })

// escaped escapes a text for a template.
func escaped(text string, braces bool) string {
	text = strings.ReplaceAll(text, "${", "$${")
	if braces && !strings.Contains(text, "$${") && looksFilledIn().MatchString(text) {
		text = strings.ReplaceAll(text, "{{", `${ "{{" }`)
	}
	return text
}
