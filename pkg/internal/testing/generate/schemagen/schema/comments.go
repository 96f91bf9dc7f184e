package schema

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/invopop/jsonschema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// The markers of a field's comment. Each is a line of its own behind the text.
const (
	constant = "+default="     // default, a value in YAML
	computed = "+defaultText=" // default that depends on other keys, in words
	since    = "+since="       // release that added the key; none for the first release, v0.1.0
)

// documentation is where the repository's pages are. A link in a comment is relative to
// docs/reference.
const documentation = "https://github.com/argoperator/argoperator/blob/main/docs/"

// describe replaces the comments in the definitions with what editors show.
func describe(defs jsonschema.Definitions) error {
	for name, s := range defs {
		text, ok := sentence(name, s.Description)
		if !ok {
			return fmt.Errorf("the comment of %s does not begin with \"%s is\" or \"%s are\"", name, name, name)
		}
		setText(s, text)
		if s.Properties == nil {
			continue
		}
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			if err := comment(pair.Value); err != nil {
				return fmt.Errorf("%s.%s: %w", name, pair.Key, err)
			}
		}
	}
	return nil
}

// sentence returns the comment of a type without the identifier in front.
func sentence(name, text string) (string, bool) {
	for _, verb := range []string{" is ", " are "} {
		if rest, ok := strings.CutPrefix(oneLine(text), name+verb); ok {
			return strings.ToUpper(rest[:1]) + rest[1:], true
		}
	}
	return "", false
}

// comment reads the text and the markers of a key. Its default and its version are
// paragraphs of the description, because editors show nothing else.
func comment(s *jsonschema.Schema) error {
	var text, more []string
	for line := range strings.Lines(s.Description) {
		line = strings.TrimSpace(line)
		if value, ok := strings.CutPrefix(line, constant); ok {
			if err := utilyaml.Unmarshal([]byte(value), &s.Default); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
			more = append(more, "Default: "+value)
		} else if words, ok := strings.CutPrefix(line, computed); ok {
			more = append(more, "Default: "+words)
		} else if version, ok := strings.CutPrefix(line, since); ok {
			more = append(more, "Since: "+version)
		} else if strings.HasPrefix(line, "+") {
			return fmt.Errorf("unknown marker %s", line)
		} else {
			text = append(text, line)
		}
	}
	if len(text) == 0 {
		return fmt.Errorf("the key has no comment")
	}
	setText(s, strings.Join(append([]string{oneLine(strings.Join(text, " "))}, more...), "\n\n"))
	return nil
}

var link = regexp.MustCompile(`\[([^]]+)\]\(([^)]+)\)`)

// setText sets a description, and the same in Markdown if the text has any.
func setText(s *jsonschema.Schema, text string) {
	s.Description = strings.ReplaceAll(link.ReplaceAllString(text, "$1"), "`", "")
	if s.Description == text {
		return
	}
	setExtra(s, "markdownDescription", link.ReplaceAllStringFunc(text, func(found string) string {
		parts := link.FindStringSubmatch(found)
		target, up := strings.CutPrefix(parts[2], "../")
		if !up {
			target = "reference/" + target
		}
		return "[" + parts[1] + "](" + documentation + target + ")"
	}))
}

func setExtra(s *jsonschema.Schema, key string, value any) {
	if s.Extras == nil {
		s.Extras = map[string]any{}
	}
	s.Extras[key] = value
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
