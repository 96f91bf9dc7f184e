package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/source"
)

// Codes of findings about ignore comments.
const (
	CodeBadIgnore    = "bad-ignore"
	CodeUnusedIgnore = "unused-ignore"
)

// ignore is a comment that suppresses findings of one code:
//
//	# argoperator:ignore CODE REASON
//
// at the end of the line or on the line above it. Above the first line of an object
// it applies to the whole object.
type ignore struct {
	diag.Position
	code, reason string
	first, last  int // lines that it applies to
	used         bool
}

var ignoreComment = regexp.MustCompile(`(?:^|\s)#\s*argoperator:ignore\b[ \t]*(\S*)[ \t]*(.*)$`)

// withoutIgnored returns the findings that no comment suppresses, and findings
// about invalid comments.
func withoutIgnored(files []source.Input, subjects []subject, findings diag.List) diag.List {
	var out diag.List
	byFile := map[string][]*ignore{}
	for _, file := range files {
		byFile[file.Name] = ignoresOf(file, subjects)
	}
	for _, f := range findings {
		i := slices.IndexFunc(byFile[f.File], func(a *ignore) bool {
			return a.code == f.Code && a.reason != "" && a.first <= f.Line && f.Line <= a.last
		})
		if i < 0 {
			out = append(out, f)
			continue
		}
		byFile[f.File][i].used = true
	}
	for _, file := range files {
		for _, a := range byFile[file.Name] {
			a.validate(&out)
		}
	}
	return out
}

// validate reports an invalid or unused comment.
func (a *ignore) validate(out *diag.List) {
	var codes []string
	for _, rule := range Rules() {
		codes = append(codes, rule.Code)
	}
	switch {
	case a.code == "" || !slices.Contains(codes, a.code):
		hint := diag.DidYouMean(a.code, codes, diag.FoldKey)
		out.Add(a.Position, CodeBadIgnore, fmt.Sprintf("unknown rule %q", a.code), hint)
	case a.reason == "":
		out.Add(a.Position, CodeBadIgnore, "missing reason", "add it after the rule: # argoperator:ignore "+a.code+" because …")
	case !a.used:
		out.Warn(a.Position, CodeUnusedIgnore, fmt.Sprintf("the comment suppresses nothing: there is no finding of %s here", a.code), "remove the comment")
	}
}

func ignoresOf(file source.Input, subjects []subject) []*ignore {
	lines := strings.Split(string(file.Data), "\n")
	var out []*ignore
	for n, line := range lines {
		m := ignoreComment.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		column := utf8.RuneCountInString(line[:strings.Index(line[m[0]:], "#")+m[0]]) + 1
		a := &ignore{Position: diag.Position{File: file.Name, Line: n + 1, Column: column}, code: strings.TrimRight(line[m[2]:m[3]], ",:;"), reason: strings.TrimSpace(line[m[4]:m[5]])}
		a.first, a.last = n+1, n+1
		if strings.TrimSpace(line[:column-1]) == "" {
			a.first, a.last = below(lines, n)
			a.widen(lines, subjects)
		}
		out = append(out, a)
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

// widen extends a comment above the first line of an object to the whole object.
func (a *ignore) widen(lines []string, subjects []subject) {
	for _, s := range subjects {
		start := s.written.Position("").Line
		if s.file != a.File || start != a.first {
			continue
		}
		a.last = len(lines)
		for n := a.first; n < len(lines); n++ {
			if strings.HasPrefix(lines[n], "---") {
				a.last = n
				return
			}
		}
	}
}
