package plan

import (
	"encoding/base64"
	"maps"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Complete returns what a template makes with random values, for which some value stands.
func (c Child) Complete(object map[string]any) map[string]any {
	if len(c.Generate) == 0 {
		return object
	}
	out := maps.Clone(object)
	data := copyOf(out["data"])
	for key, g := range c.Generate {
		if len(validation.IsConfigMapKey(key)) > 0 {
			continue // that is reported
		}
		value := strings.Repeat("x", int(g.Bytes))
		if first, size := utf8.DecodeRuneInString(g.Characters); size > 0 && g.Length != nil {
			value = strings.Repeat(string(first), int(*g.Length))
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	out["data"] = data
	return out
}
