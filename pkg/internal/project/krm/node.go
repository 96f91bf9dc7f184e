package krm

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// field returns the value of a key of a mapping; nil if there is none.
func field(o *yaml.Node, key string) *yaml.Node {
	if o == nil || o.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(o.Content); i += 2 {
		if o.Content[i].Value == key {
			return o.Content[i+1]
		}
	}
	return nil
}

func text(o *yaml.Node, key string) string {
	value := field(o, key)
	if value == nil || value.Kind != yaml.ScalarNode {
		return ""
	}
	return value.Value
}

func set(o *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(o.Content); i += 2 {
		if o.Content[i].Value == key {
			o.Content[i+1] = value
			return
		}
	}
	o.Content = append(o.Content, scalar(key), value)
}

func scalar(value string) *yaml.Node {
	var node yaml.Node
	node.SetString(value)
	return &node
}

func items(list *yaml.Node) []*yaml.Node {
	all := field(list, "items")
	if all == nil || all.Kind != yaml.SequenceNode {
		return nil
	}
	return all.Content
}

func annotation(o *yaml.Node, key string) string {
	return text(field(field(o, "metadata"), "annotations"), key)
}

func annotate(o *yaml.Node, key, value string) {
	metadata := field(o, "metadata")
	if metadata == nil || metadata.Kind != yaml.MappingNode {
		return // an object without a name is reported elsewhere
	}
	annotations := field(metadata, "annotations")
	if annotations == nil || annotations.Kind != yaml.MappingNode {
		annotations = &yaml.Node{Kind: yaml.MappingNode}
		set(metadata, "annotations", annotations)
	}
	quoted := scalar(value)
	quoted.Tag = "!!str"
	set(annotations, key, quoted)
}

// identity identifies an object independently of its version.
func identity(o *yaml.Node) string {
	group, _, grouped := strings.Cut(text(o, "apiVersion"), "/")
	if !grouped {
		group = ""
	}
	metadata := field(o, "metadata")
	return fmt.Sprintf("%s/%s %s/%s", group, text(o, "kind"), text(metadata, "namespace"), text(metadata, "name"))
}

// place returns the path of the field at a line and column, such as
// spec.children[0].name.
func place(data []byte, line, column int) string {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil || len(document.Content) == 0 {
		return ""
	}
	return placeIn(document.Content[0], "", line, column)
}

func placeIn(o *yaml.Node, at string, line, column int) string {
	found := ""
	if o.Line == line && o.Column == column {
		found = at
	}
	switch o.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(o.Content); i += 2 {
			key, inner := o.Content[i], at+"."+o.Content[i].Value
			if at == "" {
				inner = key.Value
			}
			if key.Line == line && key.Column == column {
				found = inner
			}
			if below := placeIn(o.Content[i+1], inner, line, column); below != "" {
				found = below
			}
		}
	case yaml.SequenceNode:
		for i, item := range o.Content {
			if below := placeIn(item, fmt.Sprintf("%s[%d]", at, i), line, column); below != "" {
				found = below
			}
		}
	}
	return found
}
