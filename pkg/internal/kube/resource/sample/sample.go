// Package sample formats custom resources for readers: identifying fields first, then
// required fields, each with the description in its schema.
//
// It decides the order and the comments. The values come from pkg/internal/kube/resource,
// and parsing the text returns the same values.
package sample

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// first are the fields that come first.
var first = []string{"apiVersion", "kind", "metadata", "spec", "name", "namespace"}

// YAML formats a custom resource; head is a comment at the top, which may be empty.
func YAML(s *resource.Schema, object map[string]any, head string) ([]byte, error) {
	place, ok := s.At()
	w := writer{seen: map[string]bool{}}
	root := w.object(object, place, ok, "", 0)
	var out bytes.Buffer
	for _, line := range wrapped(plain(head), width) {
		fmt.Fprintf(&out, "# %s\n", line)
	}
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if w.err == nil {
		w.err = enc.Encode(root)
	}
	if w.err != nil {
		return nil, fmt.Errorf("writing a sample: %w", w.err)
	}
	return out.Bytes(), nil
}

// writer converts values to nodes. The fields of a list's items are described once.
type writer struct {
	seen map[string]bool
	err  error
}

// value returns the node of a value. known is false if the schema does not describe it.
func (w *writer) value(value any, place resource.Place, known bool, path string, depth int) *yaml.Node {
	switch value := value.(type) {
	case map[string]any:
		return w.object(value, place, known, path, depth)
	case []any:
		out := &yaml.Node{Kind: yaml.SequenceNode}
		if len(value) == 0 {
			out.Style = yaml.FlowStyle
		}
		for _, item := range value {
			inner, ok := under(place, known, "0")
			out.Content = append(out.Content, w.value(item, inner, ok, path+"[]", depth))
		}
		return out
	}
	return w.scalar(value)
}

func (w *writer) scalar(value any) *yaml.Node {
	out := &yaml.Node{}
	if err := out.Encode(value); err != nil {
		w.err = err
	}
	if _, ok := value.(string); ok && out.ShortTag() != "!!str" { // << has a special meaning
		out.Tag, out.Style = "!!str", yaml.DoubleQuotedStyle
	}
	return out
}

func (w *writer) object(object map[string]any, place resource.Place, known bool, path string, depth int) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	if len(object) == 0 {
		out.Style = yaml.FlowStyle
	}
	var required []string
	if known {
		required = place.Required()
	}
	for _, name := range ordered(object, required) {
		key, at := w.scalar(name), path+"."+name
		if strings.ContainsAny(name, "\r\n") {
			key.Style = yaml.DoubleQuotedStyle
		}
		inner, ok := under(place, known && at != ".metadata", name)
		if ok && !w.seen[at] && at != ".apiVersion" && at != ".kind" {
			lines := wrapped(comment(inner, slices.Contains(required, name) && path != ""), max(width-2*depth, 40))
			key.HeadComment = strings.Join(lines, "\n")
			w.seen[at] = true
		}
		out.Content = append(out.Content, key, w.value(object[name], inner, ok, at, depth+1))
	}
	return out
}

func under(place resource.Place, known bool, step string) (resource.Place, bool) {
	if !known {
		return resource.Place{}, false
	}
	return place.Under(step)
}

// ordered returns the names of the fields: the usual ones, the required ones, the
// others.
func ordered(object map[string]any, required []string) []string {
	var names []string
	for name := range object {
		names = append(names, name)
	}
	rank := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		if slices.Contains(required, name) {
			return len(first)
		}
		return len(first) + 1
	}
	slices.SortFunc(names, func(a, b string) int {
		if ra, rb := rank(a), rank(b); ra != rb {
			return ra - rb
		}
		return strings.Compare(a, b)
	})
	return names
}
