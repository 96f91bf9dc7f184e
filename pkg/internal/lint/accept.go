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

// Codes of findings about accepting findings.
const (
	BadAcceptance    = "bad-ignore"
	UnusedAcceptance = "unused-ignore"
)

// acceptance is a comment that accepts findings of one code:
//
//	# argoperator:ignore CODE REASON
//
// behind the line or above it; above the first line of an object it is about the
// whole object.
type acceptance struct {
	diag.Position
	code, reason string
	first, last  int // the lines it is about
	used         bool
}

var comment = regexp.MustCompile(`(?:^|\s)#\s*argoperator:ignore\b[ \t]*(\S*)[ \t]*(.*)$`)

// accepted are the findings without those that comments accept, and with what is
// wrong with the comments.
func accepted(files []source.Input, subjects []subject, findings diag.List) diag.List {
	var out diag.List
	byFile := map[string][]*acceptance{}
	for _, file := range files {
		byFile[file.Name] = acceptancesOf(file, subjects)
	}
	for _, f := range findings {
		i := slices.IndexFunc(byFile[f.File], func(a *acceptance) bool {
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
			a.judge(&out)
		}
	}
	return out
}

// judge says what is wrong with an acceptance.
func (a *acceptance) judge(out *diag.List) {
	var codes []string
	for _, rule := range Rules() {
		codes = append(codes, rule.Code)
	}
	switch {
	case a.code == "" || !slices.Contains(codes, a.code):
		hint := diag.DidYouMean(a.code, codes, diag.FoldKey)
		out.Add(a.Position, BadAcceptance, fmt.Sprintf("no rule is called %q", a.code), hint)
	case a.reason == "":
		out.Add(a.Position, BadAcceptance, "no reason is given", "write it behind the code: # argoperator:ignore "+a.code+" because …")
	case !a.used:
		out.Warn(a.Position, UnusedAcceptance, fmt.Sprintf("there is no %s here", a.code), "remove the comment")
	}
}

func acceptancesOf(file source.Input, subjects []subject) []*acceptance {
	lines := strings.Split(string(file.Data), "\n")
	var out []*acceptance
	for n, line := range lines {
		m := comment.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		column := utf8.RuneCountInString(line[:strings.Index(line[m[0]:], "#")+m[0]]) + 1
		a := &acceptance{Position: diag.Position{File: file.Name, Line: n + 1, Column: column}, code: strings.TrimRight(line[m[2]:m[3]], ",:;"), reason: strings.TrimSpace(line[m[4]:m[5]])}
		a.first, a.last = n+1, n+1
		if strings.TrimSpace(line[:column-1]) == "" {
			a.first, a.last = below(lines, n)
			a.widen(lines, subjects)
		}
		out = append(out, a)
	}
	return out
}

// below is the line that a comment of its own is about: the next one that is no comment.
func below(lines []string, n int) (first, last int) {
	for n++; n < len(lines) && (strings.HasPrefix(strings.TrimSpace(lines[n]), "#") || strings.TrimSpace(lines[n]) == ""); n++ {
	}
	return n + 1, n + 1
}

// widen lets an acceptance above the first line of an object be about all of it.
func (a *acceptance) widen(lines []string, subjects []subject) {
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
