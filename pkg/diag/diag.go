// Package diag has findings: problems in a user's files, with their positions and
// hints.
//
// A finding is data about the user's input. An error is a failure of argoperator or of
// the machine and never becomes a finding. The package only imports the standard
// library.
package diag

import (
	"cmp"
	"slices"
)

// Severity is the severity of a finding.
type Severity string

const (
	// Error prevents the output.
	Error Severity = "error"
	// Warning does not.
	Warning Severity = "warning"
)

// Position is a position in a file. The zero Position is the whole file.
type Position struct {
	File   string // as the user named it; "-" for standard input
	Line   int    // from 1; 0 if there is none
	Column int    // from 1, in characters
}

// Finding is one problem.
type Finding struct {
	Position
	Severity Severity
	Code     string // stable, kebab-case; never renamed or reused
	Message  string // the problem, in lower case without a full stop
	Hint     string // how to fix it; may be empty
	// Object names the object in a stream of many, where a line number is of little
	// help: sensor/orders in namespace shop. Empty if the position is enough.
	Object string
	// Facts are for code, which never reads Message and Hint.
	Facts
}

// Facts are what code asks of a finding. Most findings need none.
type Facts struct {
	// Fix is what to write: the hint, or its first part, is "write" and the fix.
	Fix string
	// Unquoted: in YAMLSyntax, the value only lacks quotes.
	Unquoted bool
	// Problem is the message without the key that it begins with.
	Problem string
	// Cause is the same for warnings of a code with one cause, such as a field of the schema,
	// whatever their messages; "" compares the messages.
	Cause string
	// Kind is, in WrongKind, that of an object that is no definition, with its apiVersion.
	Kind string
}

// Writing returns the finding with a hint that says what to write.
func (f Finding) Writing(fix string) Finding {
	f.Fix, f.Hint = fix, "write "+fix
	return f
}

// List is a list of findings in the order of their detection.
type List []Finding

// Add appends an error.
func (l *List) Add(pos Position, code, message, hint string) {
	*l = append(*l, Finding{Position: pos, Severity: Error, Code: code, Message: message, Hint: hint})
}

// Warn appends a warning.
func (l *List) Warn(pos Position, code, message, hint string) {
	*l = append(*l, Finding{Position: pos, Severity: Warning, Code: code, Message: message, Hint: hint})
}

// HasErrors reports whether a finding prevents the output.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(f Finding) bool { return f.Severity == Error })
}

// Sorted returns the findings sorted by file, line and column, without duplicates.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(out)
}

// Offset returns the byte offset of a column, which is counted in characters from 1.
func Offset(line string, column int) int {
	for i := range line {
		if column--; column < 1 {
			return i
		}
	}
	return len(line)
}
