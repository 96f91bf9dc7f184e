package shortschema

import (
	"fmt"
	"strings"
)

// marker is one NAME=VALUE after the '|' of a short schema. Offsets are bytes in the
// scalar.
type marker struct {
	name   string
	value  string
	quoted bool
	at     int // of the name
	value0 int // of the value
}

// lexMarkers reads the markers in text, which starts at an offset of its scalar. With
// an error it returns the markers before it.
func lexMarkers(text string, offset int) (out []marker, at int, err error) {
	i := 0
	for {
		i += len(text[i:]) - len(strings.TrimLeft(text[i:], " \t\n"))
		if i == len(text) {
			return out, 0, nil
		}
		m := marker{at: offset + i}
		end := i + strings.IndexFunc(text[i:]+" ", func(r rune) bool { return !isNameRune(r) })
		m.name = text[i:end]
		if m.name == "" {
			return out, m.at, fmt.Errorf("want a marker such as minimum=0, not %q", firstWord(text[i:]))
		}
		if !strings.HasPrefix(text[end:], "=") {
			value := "…"
			if m.name == "required" || m.name == "nullable" || m.name == "immutable" {
				value = "true"
			}
			return out, m.at, fmt.Errorf("marker %s has no value, want %s=%s", m.name, m.name, value)
		}
		m.value0 = offset + end + 1
		took, err := m.lexValue(text[end+1:])
		if err != nil {
			return out, m.value0, fmt.Errorf("marker %s: %w", m.name, err)
		}
		out = append(out, m)
		i = end + 1 + took
	}
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

func firstWord(s string) string {
	if words := strings.Fields(s); len(words) > 0 {
		return words[0]
	}
	return s
}

// lexValue reads a value: quoted, a JSON list or object, or up to the next space.
func (m *marker) lexValue(text string) (took int, err error) {
	switch {
	case strings.HasPrefix(text, `"`):
		m.quoted = true
		m.value, took, err = unquote(text)
	case strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{"):
		took, err = balanced(text)
		m.value = text[:took]
	default:
		took = strings.IndexAny(text+" ", " \t\n")
		m.value = text[:took]
	}
	switch {
	case err != nil:
		return 0, err
	case took == 0:
		return 0, fmt.Errorf("the value is missing")
	case took < len(text) && !strings.ContainsAny(text[took:took+1], " \t\n"):
		return 0, fmt.Errorf("a space must follow the value, not %q", firstWord(text[took:]))
	}
	return took, nil
}

// unquote reads a double-quoted text. \" is a quote and \\ a backslash. Every other
// backslash is literal, so that patterns need no second one.
func unquote(text string) (value string, took int, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return b.String(), i + 1, nil
		case text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`"\`, text[i+1]) >= 0:
			i++
		}
		b.WriteByte(text[i])
	}
	return "", 0, fmt.Errorf("the value has no closing quote")
}

// balanced returns the length of a JSON list or object.
func balanced(text string) (int, error) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return 0, fmt.Errorf("the value has no closing bracket for %q", text[:1])
}
