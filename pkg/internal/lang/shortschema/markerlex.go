package shortschema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
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

// slip is an error in the text of markers.
type slip struct {
	at      int // in the scalar
	code    string
	message string
	hint    string
	// fix replaces the bytes of the text from one offset to another; "" if the intention
	// is unknown.
	fix      string
	from, to int
}

// lexMarkers reads the markers in text, which starts at an offset of its scalar. With
// an error it returns the markers before it.
func lexMarkers(text string, offset int) (out []marker, wrong *slip) {
	i := 0
	for {
		i += len(text[i:]) - len(strings.TrimLeft(text[i:], " \t\n"))
		if i == len(text) {
			return out, nil
		}
		m := marker{at: offset + i}
		end := i + strings.IndexFunc(text[i:]+" ", func(r rune) bool { return !isNameRune(r) })
		m.name = text[i:end]
		if m.name == "" || !strings.HasPrefix(text[end:], "=") {
			if wrong := unquotedText(out, text, offset, m.name); wrong != nil && text[i] != '|' {
				return out[:len(out)-1], wrong
			}
			return out, withoutValue(text, i, end, offset)
		}
		m.value0 = offset + end + 1
		took, err := m.lexValue(text[end+1:])
		if err != nil {
			return out, &slip{at: m.value0, code: diag.BadMarker, message: fmt.Sprintf("marker %s: %v", m.name, err)}
		}
		out = append(out, m)
		i = end + 1 + took
	}
}

// nextMarker matches a space and the name of a marker with its value.
var nextMarker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+[A-Za-z]+=`) })

// unquotedText reports the marker before a word that is no marker, if its value is a text of
// several words without quotes.
func unquotedText(before []marker, text string, offset int, word string) *slip {
	if _, known := markerRules()[word]; known || isOptional(word) || word == "unique" || len(before) == 0 {
		return nil
	}
	m := before[len(before)-1]
	if m.quoted || !slices.Contains([]string{"description", "default", "pattern", "validation"}, m.name) {
		return nil
	}
	from := m.value0 - offset
	value := text[from:]
	if next := nextMarker().FindStringIndex(value); next != nil {
		value = value[:next[0]]
	}
	value = strings.TrimRight(value, " \t\n")
	return &slip{
		at: m.value0, code: diag.BadMarker, message: fmt.Sprintf("marker %s: a value that contains spaces needs quotes", m.name),
		fix: quote(value), from: from, to: from + len(value),
	}
}

// withoutValue reports a word without = at an offset of the text.
func withoutValue(text string, at, end, offset int) *slip {
	name := text[at:end]
	rule, known := markerRules()[name]
	s := &slip{at: offset + at, code: diag.BadMarker, message: fmt.Sprintf("marker %s has no value", name), from: at, to: end}
	switch value := assigned().FindString(text[end:]); {
	case text[at] == '|':
		s.message = "one | separates the type from all its markers"
		rest := strings.TrimLeft(text[at+1:], " \t\n|")
		s.fix, s.from, s.to = " ", len(strings.TrimRight(text[:at], " \t\n")), len(text)-len(rest)
	case name == "":
		s.message = fmt.Sprintf("want a marker such as minimum=0, not %q", firstWord(text[at:]))
	case !known:
		s.code, s.message = diag.UnknownMarker, fmt.Sprintf("unknown marker %q", name)
		s.hint = markerHint(name, source.SortedKeys(markerRules()))
		switch {
		case isOptional(name):
			s.fix = " "
		case s.hint == "":
			s.hint = "write markers as NAME=VALUE, such as required=true"
		}
	case value != "":
		s.message = fmt.Sprintf("marker %s: want = before the value", name)
		s.fix, s.to = name+"="+strings.TrimLeft(value, ": \t\n"), end+len(value)
	case name == "required" || name == "nullable" || name == "immutable":
		s.fix = name + "=true"
		if strings.HasPrefix(text[end:], "|") {
			s.fix, s.to = s.fix+" ", end+1
		}
	default:
		_, example, _ := strings.Cut(rule.example, "| ")
		s.hint = "write a value, such as " + strings.Fields(example)[0]
	}
	return s
}

// assigned matches a value after a colon or a space, except the name of another marker.
var assigned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\s*:\s*|\s+)(?:"[^"]*"|[^\s"=]+)(?:\s|$)`) })

// quote is the inverse of unquote.
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// repairedMarkers returns the text of markers as it is probably meant; false if that is not
// known.
func repairedMarkers(text string) (string, bool) {
	for range 20 {
		_, wrong := lexMarkers(text, 0)
		if wrong == nil {
			return text, true
		}
		if wrong.fix == "" {
			return "", false
		}
		text = text[:wrong.from] + wrong.fix + text[wrong.to:]
	}
	return "", false
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
