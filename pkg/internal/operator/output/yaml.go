package output

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
)

// block writes fields like sigs.k8s.io/yaml, but several times as fast, because the
// library keeps every event of a document until its end. The library still encodes
// values that are rare in manifests: U+2028 and U+2029, which are line breaks, U+FFFD
// and invalid UTF-8, and long or multi-line keys.
type block struct {
	text []byte
	odd  bool
}

// document returns the text of fields, which is valid until the next call.
// sigs.k8s.io/yaml parses their JSON as YAML first to detect integers, and loses U+0085
// by that; Fields has detected them already. It also loses a key <<, which is quoted
// here.
func (b *block) document(fields map[string]any) ([]byte, error) {
	b.text, b.odd = b.text[:0], len(fields) == 0
	if b.mapping(fields, 0, false); !b.odd {
		return b.text, nil
	}
	data, err := yaml.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding an object: %w", err)
	}
	return data, nil
}

// indentation of the content of a mapping. A list in a mapping has the column of its key.
const indentation = 2

// width is the line width in characters. Longer lines are folded.
const width = 80

// mapping writes a non-empty mapping. If it is an item of a list, its first key follows
// the dash.
func (b *block) mapping(fields map[string]any, column int, item bool) {
	keys := slices.Sorted(maps.Keys(fields))
	slices.SortStableFunc(keys, natural) // the order alone does not distinguish k1, k01 and k0A
	for i, key := range keys {
		if i > 0 || !item {
			b.spaces(column)
		}
		if len(key) > 128 || strings.ContainsAny(key, "\n\r\u0085") || b.odd {
			b.odd = true
			return
		}
		if key == "<<" {
			b.text = append(b.text, `"<<"`...) // unquoted, it would be the merge key of YAML 1.1
		} else {
			b.str(key, 0)
		}
		b.text = append(b.text, ':')
		if !b.container(fields[key], '\n', column+indentation, column) {
			b.scalar(fields[key], column)
		}
	}
}

// list writes a non-empty list. If it is an item of another list, its first dash
// follows that of the other.
func (b *block) list(items []any, column int, item bool) {
	for i, value := range items {
		if i > 0 || !item {
			b.spaces(column)
		}
		b.text = append(b.text, '-')
		if !b.container(value, ' ', column+indentation, column+indentation) {
			b.scalar(value, column)
		}
	}
}

// container writes a non-empty mapping or list at the column of its kind, after a space
// as an item or on a new line; false for other values.
func (b *block) container(value any, before byte, mapping, list int) bool {
	switch value := value.(type) {
	case map[string]any:
		if len(value) > 0 {
			b.text = append(b.text, before)
			b.mapping(value, mapping, before == ' ')
			return true
		}
	case []any:
		if len(value) > 0 {
			b.text = append(b.text, before)
			b.list(value, list, before == ' ')
			return true
		}
	}
	return false
}

// scalar writes a scalar or an empty container, and ends the line.
func (b *block) scalar(value any, column int) {
	b.text = append(b.text, ' ')
	switch value := value.(type) {
	case string:
		b.str(value, column+indentation)
	case bool:
		b.text = strconv.AppendBool(b.text, value)
	case int64:
		b.text = strconv.AppendInt(b.text, value, 10)
	case uint64:
		b.text = strconv.AppendUint(b.text, value, 10)
	case float64:
		b.text = strconv.AppendFloat(b.text, value, 'g', -1, 64)
	case map[string]any:
		b.text = append(b.text, "{}"...)
	case []any:
		b.text = append(b.text, "[]"...)
	case nil:
		b.text = append(b.text, "null"...)
	default:
		b.odd = true
	}
	if b.text[len(b.text)-1] != '\n' { // a literal ends the line itself
		b.text = append(b.text, '\n')
	}
}

func (b *block) spaces(count int) {
	for range count {
		b.text = append(b.text, ' ')
	}
}

// str writes a string without a line break, unless it is a literal.
func (b *block) str(s string, column int) {
	var has marks
	if b.odd = b.odd || !has.look(s); b.odd {
		return
	}
	switch {
	case has.special || has.lines && (has.trailing || has.blankEnd) || !has.lines && otherThanText(s):
		b.folded(s, '"', column)
	case has.lines:
		b.literal(s, column)
	case has.indicator || has.trailing || s[0] == ' ':
		b.folded(s, '\'', column)
	default:
		b.folded(s, 0, column)
	}
}

// marks are the properties that decide how a string is written.
type marks struct {
	lines     bool // several lines
	special   bool // characters that must be escaped
	indicator bool // characters with a meaning in a plain scalar
	trailing  bool // a trailing space
	blankEnd  bool // a line with a trailing space
}

// look computes the marks of a string; false if the library must encode it.
func (m *marks) look(s string) bool {
	if s == "" {
		return true
	}
	m.indicator = strings.IndexByte("#,[]{}&*!|>'\"%@`", s[0]) >= 0 || strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") ||
		(s[0] == '-' || s[0] == '?') && (len(s) == 1 || s[1] == ' ')
	m.trailing = s[len(s)-1] == ' '
	for i, r := range s {
		switch {
		case r == '\n':
			m.lines = true
			m.blankEnd = m.blankEnd || i > 0 && s[i-1] == ' '
		case r == ':':
			m.indicator = m.indicator || i == len(s)-1 || s[i+1] == ' '
		case r == '#':
			m.indicator = m.indicator || i > 0 && s[i-1] == ' '
		case r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
			return false
		}
		m.special = m.special || special(r)
	}
	return true
}

// special reports whether a character must be escaped.
func special(r rune) bool {
	return r < ' ' && r != '\n' || r >= 0x7F && r < 0xA0 || r == 0xFEFF || r == 0xFFFE || r >= 0xFFFF
}

// literal writes lines unchanged.
func (b *block) literal(s string, column int) {
	b.text = append(b.text, '|')
	if s[0] == ' ' || s[0] == '\n' {
		b.text = append(b.text, '0'+indentation)
	}
	switch {
	case !strings.HasSuffix(s, "\n"):
		b.text = append(b.text, '-')
	case s == "\n" || strings.HasSuffix(s, "\n\n"):
		b.text = append(b.text, '+')
	}
	b.text = append(b.text, '\n')
	for line := range strings.Lines(s) {
		if line != "\n" {
			b.spaces(column)
		}
		b.text = append(b.text, line...)
	}
	if !strings.HasSuffix(s, "\n") {
		b.text = append(b.text, '\n')
	}
}

// folded writes a string in quotes, or without if quote is 0. A line longer than width
// continues at a column, 0 for never, after a space.
func (b *block) folded(s string, quote byte, column int) {
	at := utf8.RuneCount(b.text[bytes.LastIndexByte(b.text, '\n')+1:])
	if quote != 0 {
		b.text = append(b.text, quote)
		at++
	}
	all := strings.HasPrefix(s, "\uFEFF") // the library escapes every character of a string with this prefix
	for i, r := range s {
		switch {
		case quote == '"' && (r == '"' || r == '\\' || r == '\n' || special(r) || all):
			at += b.escape(r)
		case r == ' ' && at > width && column > 0 && i > 0 && s[i-1] != ' ' && i < len(s)-1 && (quote == '"' || s[i+1] != ' '):
			b.text = append(b.text, '\n')
			b.spaces(column)
			at = column
			if s[i+1] == ' ' {
				b.text = append(b.text, '\\')
				at++
			}
		case quote == '\'' && r == '\'':
			b.text = append(b.text, "''"...)
			at += 2
		default:
			b.text = utf8.AppendRune(b.text, r)
			at++
		}
	}
	if quote != 0 {
		b.text = append(b.text, quote)
	}
}

// escape writes a character as an escape sequence, and returns its length.
func (b *block) escape(r rune) int {
	before := len(b.text)
	switch i := strings.IndexRune("\x00\a\b\t\n\v\f\r\x1B\"\\\u0085\u00A0", r); {
	case i >= 0:
		b.text = append(b.text, '\\', "0abtnvfre\"\\N _"[i])
	case r <= 0xFF:
		b.text = fmt.Appendf(b.text, `\x%02X`, r)
	case r <= 0xFFFF:
		b.text = fmt.Appendf(b.text, `\u%04X`, r)
	default:
		b.text = fmt.Appendf(b.text, `\U%08X`, r)
	}
	return len(b.text) - before
}

// natural orders keys: letters after other characters, and numbers in keys by their
// value.
func natural(x, y string) int {
	a, b, i := []rune(x), []rune(y), 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return cmp.Compare(len(a), len(b))
	}
	switch la, lb := unicode.IsLetter(a[i]), unicode.IsLetter(b[i]); {
	case la && lb:
		return cmp.Compare(a[i], b[i])
	case la:
		return 1
	case lb:
		return -1
	}
	start := int64(0) // a leading zero counts unless it is the first digit
	if a[i] == '0' || b[i] == '0' {
		for j := i - 1; j >= 0 && unicode.IsDigit(a[j]) && start == 0; j-- {
			start = min(1, int64(a[j]-'0'))
		}
	}
	an, ai := count(a, i, start)
	bn, bi := count(b, i, start)
	return cmp.Or(cmp.Compare(an, bn), cmp.Compare(ai, bi), cmp.Compare(a[i], b[i]))
}

// count parses the digits from a position on.
func count(s []rune, at int, n int64) (value int64, end int) {
	for at < len(s) && unicode.IsDigit(s[at]) {
		n = n*10 + int64(s[at]-'0')
		at++
	}
	return n, at
}
