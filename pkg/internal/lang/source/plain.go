package source

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// Most documents have nothing that kubectl's library and that of the positions could read
// differently, or that a problem was found in. Their nodes have the values.

// isOrdinary reports whether both libraries read a text as the same nodes, but for plain scalars.
func isOrdinary(text string) bool {
	if strings.ContainsAny(text, "\t\r") || strings.HasPrefix(text, "...") {
		return false
	}
	for _, rare := range []string{"\n%", "\n...", "\u0085", "\u2028", "\u2029", "\ufeff"} {
		if strings.Contains(text, rare) {
			return false
		}
	}
	return !strings.HasPrefix(text, "%") && (!strings.Contains(text, "!") || !bareTag().MatchString(text))
}

// bareTag matches the tag !.
var bareTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|[ \[{,])!(?: |$)`) })

// plainFields returns the values of an ordinary document; false if kubectl's library has to read it.
func plainFields(n *yaml.Node) (map[string]any, bool) {
	value, ok := plainValue(n)
	fields, isObject := value.(map[string]any)
	return fields, ok && isObject
}

func plainValue(n *yaml.Node) (value any, ok bool) {
	switch {
	case n.Anchor != "" || n.Style&yaml.TaggedStyle != 0:
		return nil, false
	case n.Kind == yaml.ScalarNode && n.Style != 0:
		return n.Value, true
	case n.Kind == yaml.ScalarNode:
		return plainScalar(n.Value)
	case n.Kind == yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			if list[i], ok = plainValue(item); !ok {
				return nil, false
			}
		}
		return list, true
	case n.Kind != yaml.MappingNode:
		return nil, false
	}
	fields := make(map[string]any, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key, ok := plainValue(n.Content[i])
		text, isText := key.(string)
		if !ok || !isText {
			return nil, false
		}
		if fields[text], ok = plainValue(n.Content[i+1]); !ok {
			return nil, false
		}
	}
	return fields, true
}

// plainScalar returns the value of a scalar without quotes.
func plainScalar(text string) (value any, ok bool) {
	switch {
	case text == "true":
		return true, true
	case text == "false":
		return false, true
	case text == "":
		return nil, true
	case !mayBeWord(text) && !mayBeNumber(text):
		return text, true
	case len(text) < 18 && text[0] != '0' && strings.Trim(text, "0123456789") == "":
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	}
	var of struct {
		Value any `json:"value"`
	}
	data, err := sigsyaml.YAMLToJSON([]byte("value: " + text))
	if err != nil || strings.Contains(text, "\n") || json.Unmarshal(data, &of) != nil {
		return nil, false
	}
	return of.Value, true
}

// mayBeWord reports whether a scalar may be a boolean or null.
func mayBeWord(text string) bool {
	return len(text) <= len("false") && slices.Contains(yamlWords, strings.ToLower(text))
}

var yamlWords = []string{"~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"}

// mayBeNumber reports whether a scalar may be a number or a time.
func mayBeNumber(text string) bool {
	if strings.IndexByte("0123456789+-.", text[0]) < 0 {
		return false
	}
	digits := strings.TrimLeft(text, "+-")
	return digits == "" || strings.IndexByte("0123456789._", digits[0]) >= 0 &&
		strings.Trim(digits, "0123456789abcdefABCDEFxXoO_.:+-tTzZinIN ") == ""
}
