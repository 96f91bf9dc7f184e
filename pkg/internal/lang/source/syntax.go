package source

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// The YAML library has one type for its syntax errors, and the line only in their text. No
// other file reads the text.
var (
	yamlPrefix   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (line \d+: )?`) })
	unknownAlias = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^unknown anchor '(.+)' referenced`) })
	yamlLine     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line (\d+)`) })
)

// YAMLError returns the message of an error of the YAML library, and the line from 1 that
// it names; 0 if it names none.
func YAMLError(err error) (message string, line int) {
	text := err.Error()
	if m := yamlLine().FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	return yamlPrefix().ReplaceAllString(text, ""), line
}

// maxRepairs limits the lines of a document that are read as they are probably meant.
const maxRepairs = 50

// readable parses a document. It reports a line that is not YAML, and reads on with the
// line as it is probably meant, so that other problems are reported too.
func readable(file string, c *chunk) (roots []*yaml.Node, found diag.List) {
	for range maxRepairs {
		roots, err := parseYAML(c.text)
		if err == nil {
			return roots, found
		}
		finding, n, fix, ok := syntaxFinding(file, *c, err)
		found = append(found, finding)
		if !ok {
			return roots, found
		}
		helm := finding.Code != diag.YAMLSyntax // the only other one
		if c.replace(n, fix.line); helm {
			c.removeHelm()
		}
	}
	roots, _ = parseYAML(c.text)
	return roots, found
}

// removeHelm removes the lines of Helm once one of them is reported.
func (c *chunk) removeHelm() {
	for i, line := range strings.Split(c.text, "\n") {
		if helmBlock().MatchString(line) {
			c.replace(i, "")
		}
	}
}

// replace writes another line, from 0, and keeps the original.
func (c *chunk) replace(n int, line string) {
	lines := strings.Split(c.text, "\n")
	if c.originals == nil {
		c.originals = map[int]string{}
	}
	if _, again := c.originals[c.line+n+1]; !again {
		c.originals[c.line+n+1] = lines[n]
	}
	lines[n] = line
	c.text = strings.Join(lines, "\n")
}

// place moves the columns of a tree to the original lines.
func (c chunk) place(n *yaml.Node) {
	if original, ok := c.originals[n.Line]; ok {
		n.Column = columnIn(original, strings.Split(c.text, "\n")[n.Line-c.line-1], n.Column)
	}
	for _, child := range n.Content {
		c.place(child)
	}
}

// columnIn returns the column in an original line of a character of the repaired one.
func columnIn(original, repaired string, column int) int {
	before, after := []rune(original), []rune(repaired)
	at := 0
	for i := range min(column-1, len(after)) {
		if at < len(before) && before[at] == after[i] {
			at++
		}
	}
	return at + 1
}

// syntaxFinding locates a YAML syntax error: the line, from 0, and the line as it is
// probably meant. The library reports the line where the enclosing block starts. The actual
// line is found by parsing prefixes of the text: it is the last line of the shortest prefix
// with the same error.
func syntaxFinding(file string, c chunk, err error) (f diag.Finding, n int, fix repair, ok bool) {
	message, _ := YAMLError(err)
	lines := strings.Split(c.text, "\n")
	n = sort.Search(len(lines)-1, func(i int) bool {
		_, err := parseYAML(strings.Join(lines[:i+1], "\n") + "\n")
		if err == nil {
			return false
		}
		here, _ := YAMLError(err)
		return here == message
	})
	line := lines[n]
	if helmBlock().MatchString(line) {
		return helmFinding(diag.Position{File: file, Line: c.line + n + 1, Column: 1 + indent(line)}, line), n, repair{}, true
	}
	alias := unknownAlias().FindStringSubmatch(message)
	elsewhere := alias != nil && strings.Contains(c.file, "&"+alias[1]) // otherwise it is rather a text, such as *.example.com
	if elsewhere {
		fix = repair{advice: syntaxHint(message, line), indent: true}
	} else if fix, ok = repaired(lines, n); !ok {
		if fix, i, found := earlier(lines, n); found {
			return fix.finding(file, c.line+i, lines[i]), i, fix, true
		}
		fix = repair{advice: syntaxHint(message, line), indent: true}
	}
	fix.message = message
	f = fix.finding(file, c.line+n, line)
	if i := strings.LastIndex(line, ": "); i >= 0 && strings.Contains(message, "mapping values are not allowed") {
		f.Column = columnOf(line, i)
	}
	if elsewhere {
		f.Column = columnOf(line, max(strings.Index(line, "*"+alias[1]), 0))
	}
	if i := strings.IndexByte(line, '\t'); i >= 0 && strings.Contains(message, "cannot start any token") {
		f.Column = columnOf(line, i)
	}
	return f, n, fix, ok
}

// columnOf returns the column of a byte of a line, in characters from 1.
func columnOf(line string, at int) int { return 1 + utf8.RuneCountInString(line[:at]) }

// syntaxHint returns what to do about an error for which no line is known to be meant.
func syntaxHint(message, line string) string {
	switch {
	case strings.Contains(message, "tab character"),
		strings.Contains(message, "cannot start any token") && strings.Contains(line, "\t"):
		return "YAML does not indent with tabs: indent with spaces"
	case strings.Contains(message, "cannot start any token"):
		return "quote a value that begins with a special character"
	case strings.Contains(message, "mapping values are not allowed"):
		return `check the indentation; quote a value that contains ": "`
	case strings.Contains(message, "did not find expected key") && strings.HasPrefix(strings.TrimSpace(line), "- "):
		return "an item of a list cannot stand among keys: remove the dash, or indent the list below its key"
	case strings.Contains(message, "did not find expected key"),
		strings.Contains(message, "did not find expected '-' indicator"):
		return "check the indentation of this line and of those before it"
	case strings.Contains(message, "could not find expected ':'"):
		return "write a colon and a space after the key"
	case strings.Contains(message, "did not find expected ','"):
		return "close the list or the mapping, or add the missing comma"
	case strings.Contains(message, "unexpected end of stream"):
		return "close the quote"
	case strings.Contains(message, "unknown anchor"):
		return "an alias needs its anchor before it in the same document: write the value here, or quote a text that begins with *"
	}
	return ""
}
