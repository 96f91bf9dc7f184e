package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// repair is a line that YAML does not accept, as it is probably meant.
type repair struct {
	line   string // the whole line
	at     int    // bytes from the start of the line to what changes
	advice string // what to do; the line follows
	indent bool   // only the indentation changes
	quotes bool   // only the value gets quotes
	// message is the error; "" for that of the parser
	message string
}

// finding reports a repair of a line, from 0, that the parser accepts.
func (r repair) finding(file string, n int, line string) diag.Finding {
	at, hint := indent(line), r.advice
	if !r.indent {
		at = r.at
		hint += ": " + strings.TrimSpace(r.line)
	}
	return diag.Finding{
		Position: diag.Position{File: file, Line: n + 1, Column: columnOf(line, at)},
		Severity: diag.Error, Code: diag.YAMLSyntax, Message: "invalid YAML: " + r.message, Hint: hint,
		Facts: diag.Facts{Unquoted: r.quotes},
	}
}

const quoteIt = "quote the value"

// repaired returns the line with a syntax error, from 0, as it is probably meant; false if
// no change of this line makes it legal, or if it can be indented in several ways.
func repaired(lines []string, n int) (repair, bool) {
	for _, fix := range []func([]string, int) []repair{
		withoutTabs, quotedItems, quotedTexts, separated, closed, quotedValue, aligned,
	} {
		var fits []repair
		for _, r := range fix(lines, n) {
			until := n + 1
			if r.indent { // the lines that follow show which indentation is meant
				until = len(lines)
			}
			if r.line != lines[n] && legal(lines[:until], n, r.line) {
				fits = append(fits, r)
			}
		}
		if len(fits) == 1 || len(fits) > 1 && !fits[0].indent {
			return fits[0], true
		}
	}
	return repair{}, false
}

// WithoutFollowing removes the syntax errors of YAML that the fix of another finding about
// the same value repairs, too.
func WithoutFollowing(list diag.List) diag.List {
	follows := func(f diag.Finding) bool {
		return f.Unquoted && slices.ContainsFunc(list, func(cause diag.Finding) bool {
			misspelt := cause.Code == diag.BadMarker || cause.Code == diag.BadExpression
			if !misspelt || cause.Fix == "" || cause.File != f.File || cause.Line != f.Line {
				return false
			}
			_, err := parseYAML("value: " + cause.Fix + "\n")
			return err == nil
		})
	}
	if !slices.ContainsFunc(list, follows) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), follows)
}

// legal reports whether a text is YAML with another line in the place of one.
func legal(lines []string, n int, line string) bool {
	text := strings.Join(slices.Concat(lines[:n], []string{line}, lines[n+1:]), "\n") + "\n"
	_, err := parseYAML(text)
	return err == nil
}

var (
	// listItems matches what stands before an item of a list, keyBefore a key.
	listItems = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:- +)*`) })
	keyBefore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^(?:[^\\s:{}\\[\\]\"'#$!&*%@`-][^:{}\\[\\]\"'#]*|\"[^\"]*\"|'[^']*'):(?: +|$)")
	})
)

// value returns the offset of the value in a line; false if there is none.
func value(line string) (at int, ok bool) {
	at = len(listItems().FindString(line))
	key := keyBefore().FindString(line[at:])
	item := strings.Contains(line[:at], "-")
	return at + len(key), (item || key != "") && at+len(key) < len(line)
}

// closed adds the brackets and braces that a line lacks.
func closed(lines []string, n int) []repair {
	line := strings.TrimRight(lines[n], " \r")
	at, ok := value(line)
	if !ok || !strings.ContainsRune("[{", rune(line[at])) {
		return nil
	}
	var missing []byte
	for _, c := range []byte(line[at:]) {
		switch {
		case c == '[':
			missing = append(missing, ']')
		case c == '{':
			missing = append(missing, '}')
		case len(missing) > 0 && c == missing[len(missing)-1]:
			missing = missing[:len(missing)-1]
		}
	}
	slices.Reverse(missing)
	return []repair{{line: line + string(missing), at: at, advice: "close the " + map[byte]string{'[': "list", '{': "mapping"}[line[at]]}}
}

// quotedValue puts the whole value of a line in quotes.
func quotedValue(lines []string, n int) []repair {
	line := strings.TrimRight(lines[n], " \r")
	at, ok := value(line)
	if !ok {
		return nil
	}
	var out []repair
	add := func(value, rest string) {
		advice, quotes := quoteIt, true
		if !strings.ContainsAny(value[:min(1, len(value))], `"'`) {
			advice, quotes = "remove the quotes", false
		}
		out = append(out, repair{line: line[:at] + value + rest, at: at, advice: advice, quotes: quotes})
	}
	whole := line[at:]
	if item, ok := strings.CutPrefix(whole, "- "); ok {
		out = append(
			out,
			repair{
				line:   line[:at] + "[" + Scalar(strings.TrimSpace(item), true, 0) + "]",
				at:     at,
				advice: "write a list of one line in brackets",
			},
		)
	}
	before, comment, commented := strings.Cut(whole, " #")
	for _, text := range slices.Compact([]string{strings.TrimSpace(before), whole}) {
		if text == "" { // only characters that YAML does not allow
			continue
		}
		rest := ""
		if commented && len(text) < len(whole) {
			rest = " #" + comment
		}
		for _, meant := range unquoted(text) {
			add(Scalar(meant, false, 0), rest)
		}
	}
	return out
}

// unquoted returns what a value with quotes in a wrong place may mean.
func unquoted(text string) []string {
	quote := string(text[0])
	before, after, closed := strings.Cut(text[1:], quote)
	inner, ended := strings.CutSuffix(text[1:], quote)
	switch {
	case quote != `"` && quote != "'":
	case !closed:
		return []string{text[1:], text}
	case shortType().MatchString(before) && strings.HasPrefix(strings.TrimSpace(after), "|"): // only the type of a short schema is quoted
		return []string{before + after}
	case ended && (strings.Contains(before, "${") && closing(before, strings.LastIndex(before, "${")) < 0 || amidWord().MatchString(text)):
		return []string{strings.ReplaceAll(inner, `\"`, `"`), text}
	}
	return []string{text}
}

// amidWord matches a text with an apostrophe.
var amidWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^'[^']*\w'\w[^']*'$`) })

var (
	shortType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\[\]|map\[string\])*[A-Za-z-]+$`) })
	// typeItem matches a type of the short schema between the braces of YAML.
	typeItem = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([{,]\s*[\w-]+:\s+)((?:\[\]|map\[string\])[^,{}]*[^,{} ])`)
	})
	// markedItem matches one with markers whose values are in quotes.
	markedItem = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([{,]\s*[\w-]+:\s+)((?:\[\]|map\[string\])*[A-Za-z][\w./-]*\s*\|` +
			`(?:\s*\w+=[^"\s,{}]+)*\s*\w+="(?:[^"\\]|\\.)*"(?:\s*\w+=(?:"(?:[^"\\]|\\.)*"|[^"\s,{}]+))*)`)
	})
)

// quotedItems puts expressions and types in quotes that are items between the braces or
// brackets of YAML.
func quotedItems(lines []string, n int) []repair {
	line := lines[n]
	begin, ok := value(line)
	if !ok || !strings.ContainsRune("{[", rune(line[begin])) || strings.HasPrefix(line[begin:], "{{") {
		return nil
	}
	typed := line
	for _, item := range []*regexp.Regexp{markedItem(), typeItem()} {
		typed = item.ReplaceAllStringFunc(typed, func(found string) string {
			m := item.FindStringSubmatch(found)
			return m[1] + Scalar(m[2], true, 0)
		})
	}
	if typed != line {
		return []repair{{line: typed, at: firstDifference(line, typed), advice: quoteIt, quotes: true}}
	}
	var b strings.Builder
	b.WriteString(line[:begin])
	for rest := line[begin:]; rest != ""; {
		length, item := 1, rest[:1]
		if !strings.ContainsRune("{}[],: \r", rune(rest[0])) {
			if length, item = flowItem(rest); length < 1 {
				return nil
			}
		}
		b.WriteString(item)
		rest = rest[length:]
	}
	fixed := b.String()
	if fixed == line {
		return nil
	}
	return []repair{{line: fixed, at: firstDifference(line, fixed), advice: "quote an expression between { } or [ ]"}}
}

// itemKey matches a key between the braces of YAML.
var itemKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[{,]\s*[\w-]+:\s+`) })

// quotedTexts puts the values of keys between the braces of YAML in quotes that have brackets, braces or quotes in them.
func quotedTexts(lines []string, n int) []repair {
	line := lines[n]
	begin, ok := value(line)
	if !ok || !strings.ContainsRune("{[", rune(line[begin])) {
		return nil
	}
	var b strings.Builder
	rest := line
	for key := itemKey().FindStringIndex(rest); key != nil; key = itemKey().FindStringIndex(rest) {
		b.WriteString(rest[:key[1]])
		rest = rest[key[1]:]
		text := rest[:textEnd(rest)]
		if strings.ContainsAny(text, `[]{}"'`) && !strings.ContainsRune("[{\"'", rune(text[0])) {
			b.WriteString(Scalar(text, true, yaml.DoubleQuotedStyle))
			rest = rest[len(text):]
		}
	}
	fixed := b.String() + rest
	return []repair{{line: fixed, at: firstDifference(line, fixed), advice: "quote the text", quotes: true}}
}

// textEnd returns the length of a value between braces: until one that closes no bracket of it, or until the next key.
func textEnd(text string) int {
	depth := 0
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte("[{", c) >= 0:
			depth++
		case strings.IndexByte("]}", c) >= 0:
			if depth--; depth < 0 {
				return i
			}
		case c == ',' && depth == 0:
			if at := itemKey().FindStringIndex(text[i:]); at != nil && at[0] == 0 {
				return i
			}
		}
	}
	return len(text)
}

// quotedItem matches an item between braces or brackets that YAML reads as quoted.
var quotedItem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:[],}:#\r]|$)`)
})

// flowItem returns the length of the item between braces or brackets that a text begins
// with, and the item as it is probably meant: an expression with quotes in it is one item.
// The length is -1 if it does not end.
func flowItem(text string) (length int, meant string) {
	if text[0] == '#' {
		return len(text), text
	}
	if m := quotedItem().FindStringSubmatch(text); m != nil && (text[0] == '\'' || expressionsEnd(m[1])) {
		return len(m[1]), m[1]
	}
	quoted := text[0] == '"'
	at := 0
	if quoted {
		at = 1
	}
	for ; at < len(text); at++ {
		if strings.HasPrefix(text[at:], "${") {
			if at = closing(text, at) - 1; at < 0 {
				return -1, ""
			}
			continue
		}
		switch c := text[at]; {
		case quoted && c == '"':
			return at + 1, Scalar(strings.ReplaceAll(text[1:at], `\"`, `"`), true, yaml.DoubleQuotedStyle)
		case !quoted && (strings.IndexByte(",]}\r", c) >= 0 || strings.HasPrefix(text[at:], ": ") || strings.HasPrefix(text[at:], " #")):
			return plainItem(text[:at])
		}
	}
	if quoted {
		return -1, ""
	}
	return plainItem(text)
}

func plainItem(text string) (length int, meant string) {
	text = strings.TrimRight(text, " ")
	if !strings.Contains(text, "${") {
		return len(text), text
	}
	return len(text), Scalar(text, true, yaml.DoubleQuotedStyle)
}

// expressionsEnd reports whether each expression in a quoted text ends in it.
func expressionsEnd(text string) bool {
	text = strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			return true
		}
		end := closing(text, at)
		if end < 0 {
			return false
		}
		text = text[end:]
	}
}

// closing returns the offset behind the brace that closes the expression at an offset, or
// -1.
func closing(line string, at int) int {
	depth, quoted := 0, false
	for i := max(0, at); i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func firstDifference(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

var (
	noBlank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*(?:- +)*\w[\w./-]*):(\S.*)$`) })
	noColon = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*(?:- +)*\w[\w./-]*) +(\S.*)$`) })
	inList  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*)- +([\w./-]+:.*)$`) })
)

// separated writes the colon and the blank that a key needs, and removes a dash before a
// key.
func separated(lines []string, n int) []repair {
	line := strings.TrimRight(lines[n], "\r")
	var out []repair
	if m := noBlank().FindStringSubmatch(line); m != nil {
		out = append(out, repair{line: m[1] + ": " + m[2], at: len(m[1]), advice: "write a space after the colon"})
	} else if m := noColon().FindStringSubmatch(line); m != nil && !strings.Contains(line, ": ") {
		out = append(out, repair{line: m[1] + ": " + m[2], at: len(m[1]), advice: "write a colon after the key"})
	}
	if m := inList().FindStringSubmatch(line); m != nil && n > 0 && indent(lines[n-1]) == len(m[1]) &&
		!strings.HasPrefix(strings.TrimSpace(lines[n-1]), "- ") {
		out = append(out, repair{line: m[1] + m[2], at: len(m[1]), advice: "this is a key, not an item of a list: remove the dash"})
	}
	return out
}

// withoutTabs indents a line with spaces, as one of the lines before it.
func withoutTabs(lines []string, n int) []repair {
	text := strings.TrimLeft(lines[n], " \t")
	if !strings.Contains(lines[n][:len(lines[n])-len(text)], "\t") {
		return nil
	}
	above := indent(previous(lines, n))
	var out []repair
	for _, spaces := range []int{above, above + 2, above - 2} {
		if spaces >= 0 {
			out = append(out, indented(text, spaces, "YAML does not indent with tabs: "))
		}
	}
	return out
}

// aligned indents a line a little more or less.
func aligned(lines []string, n int) []repair {
	text := strings.TrimLeft(lines[n], " ")
	own := indent(lines[n])
	var out []repair
	for _, spaces := range []int{own - 1, own + 1, own - 2, own + 2} {
		if spaces >= 0 {
			out = append(out, indented(text, spaces, ""))
		}
	}
	return out
}

func indented(text string, spaces int, why string) repair {
	return repair{
		line:   strings.Repeat(" ", spaces) + text,
		advice: fmt.Sprintf("%sindent this line by %d spaces", why, spaces),
		indent: true,
	}
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// previous returns the last line with content before another.
func previous(lines []string, n int) string {
	for i := n - 1; i >= 0; i-- {
		if text := strings.TrimSpace(lines[i]); text != "" && !strings.HasPrefix(text, "#") {
			return lines[i]
		}
	}
	return ""
}
