package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// JSONPathStep is one step of a simple JSONPath: a field, or an element of a list.
type JSONPathStep struct {
	Field   string
	Element bool // [0], [*] or [?(…)]
}

var (
	pathField   = regexp.MustCompile(`^\.([A-Za-z_$][A-Za-z0-9_$-]*)`)
	pathQuoted  = regexp.MustCompile(`^\[['"]([^'"\]]+)['"]\]`)
	pathEscaped = regexp.MustCompile(`^\.((?:[A-Za-z0-9_$/-]|\\\.)+)`)
	pathEntry   = regexp.MustCompile(`^\[(-?[0-9]+|\*|\?\([^()]*\))\]`)
)

// ParseJSONPath parses a simple JSONPath, such as .spec.ports[0].name.
func ParseJSONPath(text string) ([]JSONPathStep, error) {
	var out []JSONPathStep
	if !strings.HasPrefix(text, ".") {
		return nil, fmt.Errorf("a path begins with a dot, as in .spec.size")
	}
	for rest := text; rest != ""; {
		if m := pathField.FindString(rest); m != "" && !strings.HasPrefix(rest[len(m):], `\`) {
			out = append(out, JSONPathStep{Field: m[1:]})
			rest = rest[len(m):]
		} else if m := pathEscaped.FindStringSubmatch(rest); m != nil {
			out = append(out, JSONPathStep{Field: strings.ReplaceAll(m[1], `\.`, ".")})
			rest = rest[len(m[0]):]
		} else if m := pathQuoted.FindStringSubmatch(rest); m != nil {
			out = append(out, JSONPathStep{Field: m[1]})
			rest = rest[len(m[0]):]
		} else if m := pathEntry.FindString(rest); m != "" {
			out = append(out, JSONPathStep{Element: true})
			rest = rest[len(m):]
		} else {
			return nil, fmt.Errorf("cannot read %q", rest)
		}
	}
	return out, nil
}

// FieldsOnly reports whether a path has no step into a list.
func FieldsOnly(path []JSONPathStep) bool {
	return !slices.ContainsFunc(path, func(s JSONPathStep) bool { return s.Element })
}

func (s JSONPathStep) String() string {
	if s.Element {
		return "[]"
	}
	return "." + s.Field
}
