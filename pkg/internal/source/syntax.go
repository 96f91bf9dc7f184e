package source

import (
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/argoperator/argoperator/pkg/diag"
)

var (
	yamlPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)
	// bare matches the start of an unquoted value that contains an expression.
	bare = regexp.MustCompile(`[:,\[]\s*([^"'\s,\[\]{}]*)\$\{`)
)

// syntaxFinding locates a YAML syntax error. The library reports the line where the
// enclosing block starts. The actual line is found by parsing prefixes of the text: it
// is the last line of the shortest prefix with the same error.
func syntaxFinding(file string, c chunk, err error) diag.Finding {
	message := yamlPrefix.ReplaceAllString(err.Error(), "")
	lines := strings.Split(c.text, "\n")
	n := 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, err := parseYAML(strings.Join(lines[:i+1], "\n") + "\n")
		return err != nil && yamlPrefix.ReplaceAllString(err.Error(), "") == message
	})
	line := lines[n-1]
	column := 1 + utf8.RuneCountInString(line) - utf8.RuneCountInString(strings.TrimLeft(line, " "))
	if i := strings.IndexByte(line, '\t'); i >= 0 && strings.Contains(message, "cannot start any token") {
		column = 1 + utf8.RuneCountInString(line[:i])
	}
	if m := bare.FindStringSubmatchIndex(line); m != nil && strings.Contains(message, "did not find expected ','") {
		column = 1 + utf8.RuneCountInString(line[:m[2]])
	}
	if i := strings.LastIndex(line, ": "); i >= 0 && strings.Contains(message, "mapping values are not allowed") {
		column = 1 + utf8.RuneCountInString(line[:i])
	}
	return diag.Finding{
		Position: diag.Position{File: file, Line: c.line + n, Column: column},
		Severity: diag.Error,
		Code:     diag.YAMLSyntax,
		Message:  "not legal YAML: " + message,
		Hint:     syntaxHint(message, line),
	}
}

func syntaxHint(message, line string) string {
	switch {
	case strings.Contains(message, "tab character"),
		strings.Contains(message, "cannot start any token") && strings.Contains(line, "\t"):
		return "YAML does not indent with tabs: use spaces"
	case strings.Contains(message, "cannot start any token"):
		return `quote a value that begins with a special character: "…"`
	case strings.Contains(message, "mapping values are not allowed"):
		return `check the indentation; quote a value that holds ": "`
	case strings.Contains(message, "did not find expected key"),
		strings.Contains(message, "did not find expected '-' indicator"):
		return "check the indentation"
	case strings.Contains(message, "could not find expected ':'"):
		return "a key is followed by a colon and a blank"
	case strings.Contains(message, "did not find expected ','") && bare.MatchString(line):
		return `quote an expression between { } or [ ]: "${ … }"`
	case strings.Contains(message, "did not find expected ','"):
		return "a list or a mapping is not closed, or a comma is missing"
	case strings.Contains(message, "unexpected end of stream"):
		return "a quote is not closed"
	}
	return ""
}
