// Package edited makes variants of YAML documents for fuzz tests. A variant
// parses, so that an execution reaches what comes after the parser; texts that
// do not parse belong to the fuzz tests of pkg/internal/lang/definition.
//
// The rule of this package: the same numbers make the same variant. Fuzz tests
// take numbers instead of the text because the go command spends up to a minute
// on making each interesting text shorter, and runs next to nothing else.
package edited

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

// words are possible new values.
var words = []string{
	"", "null", "true", "0", "-1", "1.5", "9223372036854775807", "1e400", ".5", "007", "x", "a-b", "A_B", "a/b", "äöü", "\x1b[31m", "{{workflow.name}}", "{{ .Values.x }}", "$(x)",
	"${ .metadata.name }", "${ .spec }", "${ .spec.size }", "${ .spec.size * 2 }", "${ .spec.name + \"-x\" }", "x-${ .spec.name }", "${ [.spec.list[]? | tostring] }", "${ $children.web.status.ready }",
	"${ $item.name }", "${", "string", "integer | default=3 minimum=1", "boolean", "quantity", "[]string", "map[string]string", "object", "enum=[a,b]", "v1", "apps/v1", "Deployment", "ConfigMap", "Secret",
	"Namespaced", "Cluster", "direct", "workflow", "steps", "10s", "*/5 * * * *", "example.com", "2024-02-29T12:00:00Z",
}

// YAML applies edits to a text of one or more documents. An edit of 0 changes
// nothing. In others, the lowest 32 bits select the place, the next 8 the kind of
// change, and the rest the new value. A text that is not YAML stays unchanged.
func YAML(text []byte, edits ...uint64) []byte {
	documents, err := read(text)
	if err != nil {
		return text
	}
	changed := false
	for _, edit := range edits {
		if places := placesIn(documents); edit != 0 && len(places) > 0 {
			change(places, edit)
			changed = true
		}
	}
	if !changed {
		return text
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	for _, document := range documents {
		if err := encoder.Encode(document); err != nil {
			return text
		}
	}
	if err := encoder.Close(); err != nil {
		return text
	}
	return out.Bytes()
}

func read(text []byte) ([]*yaml.Node, error) {
	var documents []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		document := &yaml.Node{}
		if err := decoder.Decode(document); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

// place is a value in a mapping or a list.
type place struct {
	parent *yaml.Node
	index  int // in the content of the parent
}

func (p place) value() *yaml.Node { return p.parent.Content[p.index] }

func placesIn(nodes []*yaml.Node) []place {
	var out []place
	for _, node := range nodes {
		step := 1
		if node.Kind == yaml.MappingNode {
			step = 2
		}
		for i := step - 1; i < len(node.Content); i += step {
			out = append(out, place{node, i})
		}
		out = append(out, placesIn(node.Content)...)
	}
	return out
}

func change(places []place, edit uint64) {
	at, kind, choice := places[edit%(1<<32)%uint64(len(places))], edit>>32%256, edit>>40
	other := places[choice%uint64(len(places))]
	mapping := at.parent.Kind == yaml.MappingNode
	switch kind % 8 {
	case 0, 1, 2:
		at.parent.Content[at.index] = &yaml.Node{Kind: yaml.ScalarNode, Value: words[choice%uint64(len(words))]}
	case 3:
		at.parent.Content[at.index] = copied(other.value())
	case 4:
		at.parent.Content[at.index] = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{at.value()}}
	case 5:
		at.parent.Content[at.index] = &yaml.Node{Kind: yaml.MappingNode}
	case 6: // removed
		first := at.index
		if mapping {
			first--
		}
		if at.parent.Kind != yaml.DocumentNode {
			at.parent.Content = append(at.parent.Content[:first:first], at.parent.Content[at.index+1:]...)
		}
	case 7: // under another key, or duplicated
		if mapping && other.parent.Kind == yaml.MappingNode {
			at.parent.Content[at.index-1] = copied(other.parent.Content[other.index-1])
		} else if at.parent.Kind == yaml.SequenceNode {
			at.parent.Content = append(at.parent.Content, copied(at.value()))
		}
	}
}

// copied returns a deep copy, because a node must not contain itself.
func copied(node *yaml.Node) *yaml.Node {
	out := *node
	out.Anchor, out.Content = "", nil
	for _, child := range node.Content {
		out.Content = append(out.Content, copied(child))
	}
	return &out
}
