// Package diag holds findings: what is wrong in a user's files, where, and what
// to do about it.
//
// The rule of this package: a finding is data about the user's input; an error is
// a failure of ours or of the machine and never becomes a finding. Standard
// library only.
package diag

import (
	"cmp"
	"slices"
)

// Severity says how bad a finding is.
type Severity string

const (
	// Error stops the output.
	Error Severity = "error"
	// Warning does not.
	Warning Severity = "warning"
)

// Position is a place in a file. The zero Position is the file as a whole.
type Position struct {
	File   string // as the user named it; "-" for standard input
	Line   int    // from 1; 0 where there is none
	Column int    // from 1, in characters
}

// Finding is one thing that is wrong.
type Finding struct {
	Position
	Severity Severity
	Code     string // stable, kebab-case; never renamed or reused
	Message  string // what is wrong, lower case, no full stop
	Hint     string // what to do; may be empty
}

// List is findings in the order they were made.
type List []Finding

// Add appends an error.
func (l *List) Add(pos Position, code, message, hint string) {
	*l = append(*l, Finding{Position: pos, Severity: Error, Code: code, Message: message, Hint: hint})
}

// Warn appends a warning.
func (l *List) Warn(pos Position, code, message, hint string) {
	*l = append(*l, Finding{Position: pos, Severity: Warning, Code: code, Message: message, Hint: hint})
}

// HasErrors tells whether any finding stops the output.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(f Finding) bool { return f.Severity == Error })
}

// Sorted returns the findings by file, line and column, each once.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(out)
}

// Offset is where a column, counted in characters from 1, begins in a line, in
// bytes.
func Offset(line string, column int) int {
	for i := range line {
		if column--; column < 1 {
			return i
		}
	}
	return len(line)
}
