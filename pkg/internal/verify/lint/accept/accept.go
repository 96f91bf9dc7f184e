// Package accept removes the findings that a comment in the same file accepts:
//
//	# argoperator:ignore CODE REASON
//
// The comment is at the end of the line or on the line above it. Above the first line
// of an object it applies to the whole object, and at the line that announces a text of
// several lines, with | or >, to the text.
package accept

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/argoperator/argoperator/pkg/diag"
)

// File is the text that comments are read from.
type File struct {
	Name string
	Data []byte
}

// Options says what comments can accept.
type Options struct {
	Codes   []string        // that a comment may name
	Objects []diag.Position // the first lines of the objects in the files
	// WarningsOnly keeps errors, and reports a comment that tries to accept one.
	WarningsOnly bool
}

// comment is one ignore comment.
type comment struct {
	diag.Position
	code, reason string
	first, last  int // lines that it applies to
	used         bool
	rejected     bool // it names an error
}

var pattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\s)#\s*argoperator:ignore\b[ \t]*(\S*)[ \t]*(.*)$`)
})

// Without returns the findings that no comment accepts, and findings about invalid and
// unused comments.
func Without(files []File, findings diag.List, options Options) diag.List {
	var all []*comment
	for _, file := range files {
		if bytes.Contains(file.Data, []byte("argoperator:ignore")) {
			all = append(all, comments(file, options.Objects)...)
		}
	}
	if len(all) == 0 {
		return findings
	}
	var out diag.List
	for _, f := range findings {
		i := slices.IndexFunc(all, func(c *comment) bool { return c.names(f) })
		switch {
		case i < 0:
			out = append(out, f)
		case options.WarningsOnly && f.Severity == diag.Error:
			all[i].rejected = true
			out = append(out, f)
		default:
			all[i].used = true
		}
	}
	complete := !options.WarningsOnly || !findings.HasErrors() // errors hide later warnings
	for _, c := range all {
		c.validate(&out, options.Codes, complete)
	}
	return out
}

// names reports whether the comment is about the finding.
func (c *comment) names(f diag.Finding) bool {
	return c.File == f.File && c.code == f.Code && c.reason != "" && c.first <= f.Line && f.Line <= c.last
}

// validate reports an invalid comment, and an unused one if all findings are known.
func (c *comment) validate(out *diag.List, codes []string, complete bool) {
	switch {
	case c.code == "" || !slices.Contains(codes, c.code):
		hint := diag.DidYouMean(c.code, codes, diag.FoldKey)
		out.Add(c.Position, diag.BadIgnore, fmt.Sprintf("unknown code %q", c.code), hint)
	case c.reason == "":
		out.Add(c.Position, diag.BadIgnore, "missing reason", "add it after the rule: # argoperator:ignore "+c.code+" because …")
	case c.rejected:
		out.Add(
			c.Position,
			diag.BadIgnore,
			fmt.Sprintf("%s is an error here, and only warnings can be accepted", c.code),
			"fix the error and remove the comment",
		)
	case !c.used && complete:
		out.Warn(
			c.Position,
			diag.UnusedIgnore,
			fmt.Sprintf("the comment suppresses nothing: there is no finding of %s here", c.code),
			"remove the comment",
		)
	}
}

func comments(file File, objects []diag.Position) []*comment {
	lines := strings.Split(string(file.Data), "\n")
	var out []*comment
	for n, line := range lines {
		m := pattern().FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		column := utf8.RuneCountInString(line[:strings.Index(line[m[0]:], "#")+m[0]]) + 1
		c := &comment{
			Position: diag.Position{File: file.Name, Line: n + 1, Column: column},
			code:     strings.TrimRight(line[m[2]:m[3]], ",:;"), reason: strings.TrimSpace(line[m[4]:m[5]]),
		}
		c.first, c.last = n+1, n+1
		if strings.TrimSpace(line[:column-1]) == "" {
			c.first, c.last = below(lines, n)
			c.widen(lines, objects)
		}
		c.last = max(c.last, blockEnd(lines, c.first))
		out = append(out, c)
	}
	return out
}

// below returns the line that a comment on its own line applies to: the next one
// that is neither blank nor a comment.
func below(lines []string, n int) (first, last int) {
	for n++; n < len(lines) && (strings.HasPrefix(strings.TrimSpace(lines[n]), "#") || strings.TrimSpace(lines[n]) == ""); n++ {
	}
	return n + 1, n + 1
}

// block matches the line before a text of several lines.
var block = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[:-])\s+[|>][-+0-9]*\s*(?:#.*)?$`) })

// blockEnd returns the last line of the text that a line announces with | or >, or the line.
func blockEnd(lines []string, line int) int {
	if line > len(lines) || !block().MatchString(lines[line-1]) {
		return line
	}
	depth := func(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }
	last := line
	for n := line; n < len(lines) && (strings.TrimSpace(lines[n]) == "" || depth(lines[n]) > depth(lines[line-1])); n++ {
		if strings.TrimSpace(lines[n]) != "" {
			last = n + 1
		}
	}
	return last
}

// widen extends a comment above the first line of an object to the whole object.
func (c *comment) widen(lines []string, objects []diag.Position) {
	for _, start := range objects {
		if start.File != c.File || start.Line != c.first {
			continue
		}
		c.last = len(lines)
		for n := c.first; n < len(lines); n++ {
			if strings.HasPrefix(lines[n], "---") {
				c.last = n
				return
			}
		}
	}
}
