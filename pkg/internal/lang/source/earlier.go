package source

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/diag"
)

// maxEarlier limits the lines before a syntax error that are searched for its cause, and
// maxMended how many of them are tried: each try parses the text again.
const (
	maxEarlier = 200
	maxMended  = 8
)

// earlier returns a line before the one at which YAML has an error, and how it is probably
// meant: the parser stops late where a quote is not closed, where a key looks like text, and
// where a key is indented less than those below it.
func earlier(lines []string, n int) (fix repair, at int, ok bool) {
	if isPlainKey(lines, n-1) {
		for _, r := range separated(lines, n-1) {
			if r.message = "this line is text, not a key"; legal(lines[:n+1], n-1, r.line) {
				return r, n - 1, true
			}
		}
	}
	tried := 0
	for i := n - 1; i >= max(0, n-maxEarlier) && tried < maxMended; i-- {
		if strings.Count(lines[i], `"`) <= 2 || !strings.Contains(lines[i], "${") {
			continue
		}
		for _, r := range quotedItems(lines, i) {
			tried++
			if r.message = "a quote in the expression ends the value"; legal(lines[:n+1], i, r.line) {
				return r, i, true
			}
		}
	}
	tried = 0
	for i := n; i >= max(0, n-maxEarlier) && tried < maxMended; i-- {
		if strings.Count(lines[i], `"`)%2 == 0 {
			continue
		}
		tried++
		for _, r := range quotesMended(lines[i]) {
			if legal(lines[:n+1], i, r.line) {
				return r, i, true
			}
		}
	}
	return lessIndented(lines, n)
}

// isPlainKey reports whether a line may be a key without a space after its colon.
func isPlainKey(lines []string, n int) bool { return n >= 0 && noBlank().MatchString(lines[n]) }

// quotesMended returns a line with an odd number of quotes with one more.
func quotesMended(line string) []repair {
	line = strings.TrimRight(line, " \r")
	var out []repair
	for end := len(line); end > 0 && len(line)-end < 4; end-- { // a brace may belong to the expression, or to YAML
		out = append(out, repair{
			line: line[:end] + `"` + line[end:], at: strings.LastIndex(line, `"`),
			advice: "close the quote", message: "the quote that begins here is not closed",
		})
		if !strings.ContainsRune("}],", rune(line[end-1])) {
			break
		}
	}
	if at := strings.Index(line, "${"); at >= 0 {
		out = append(out, repair{
			line: line[:at] + `"` + line[at:], at: at, advice: "open the quote",
			message: "the value has a closing quote and no opening quote",
		})
	}
	return out
}

var keyOfLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *([A-Za-z]\w*):`) })

// lessIndented returns the nearest key before a line that is indented less, indented like the
// line.
func lessIndented(lines []string, n int) (fix repair, at int, ok bool) {
	own := indent(lines[n])
	below := keyOfLine().FindStringSubmatch(lines[n])
	for i := n - 1; i >= 0 && below != nil; i-- {
		key := keyOfLine().FindStringSubmatch(lines[i])
		if key == nil || indent(lines[i]) >= own {
			continue
		}
		if (own-indent(lines[i]))%2 > 0 {
			break // the line itself may be indented too much
		}
		fix := indented(strings.TrimLeft(lines[i], " "), own, "")
		fix.message = fmt.Sprintf("%s is indented less than %s", key[1], below[1])
		return fix, i, legal(lines[:n+1], i, fix.line)
	}
	return repair{}, 0, false
}

// helmBlock matches a line that Helm removes: a condition, a loop and the end of one.
var helmBlock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\{\{-? *(if|else|end|range|with|include|template|define|block)\b *([^}]*?) *-?\}\}\s*$`)
})

// helmFinding reports lines of Helm at the first of them.
func helmFinding(at diag.Position, line string) diag.Finding {
	m := helmBlock().FindStringSubmatch(line)
	hint := "write expressions into the template, such as ${ .spec.field }"
	path := strings.Replace(m[2], ".Values.", ".spec.", 1)
	isPath := helmValue().MatchString(m[2])
	switch {
	case m[1] == "if" && strings.HasSuffix(path, "nabled") && isPath:
		hint = "write when: " + path + " == true in the child"
	case m[1] == "if" && isPath:
		hint = "write when: " + path + " != null in the child"
	case m[1] == "if":
		hint = "write when: CONDITION in the child, such as when: .spec.field != null"
	case m[1] == "range" && isPath:
		hint = "write forEach: " + path + " in the child; $item is then an entry of the list"
	case m[1] == "range":
		hint = "write forEach: LIST in the child; $item is then an entry of the list"
	}
	return diag.Finding{
		Position: at, Severity: diag.Error, Code: diag.BadExpression,
		Message: "templates of Helm and Go are not expanded here", Hint: hint,
	}
}

var helmValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.(?:Values|spec)(?:\.\w+)+$`) })
