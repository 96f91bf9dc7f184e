package diag

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// index matches the index of an item in a path.
var index = regexp.MustCompile(`\[\d+\]`)

// WithoutIndexes returns a message or a path without the indexes of items.
func WithoutIndexes(text string) string { return index.ReplaceAllString(text, "[]") }

// cause is what findings with one cause share. Errors with one cause have one position,
// too: each place of an error must be changed.
type cause struct {
	Position
	Severity
	code, message, hint string
}

func causeOf(f Finding) cause {
	c := cause{f.Position, f.Severity, f.Code, WithoutIndexes(f.Message), WithoutIndexes(f.Hint)}
	if f.Severity == Warning {
		c.Position = Position{File: f.File}
	}
	if f.Cause != "" {
		c.message, c.hint = f.Cause, ""
	}
	return c
}

// Grouped returns one finding per cause: findings that differ only in the index of an
// item, and warnings that differ only in their place in a file or share their Cause, become the first of them
// with the number of the others.
func (l List) Grouped() List {
	groups := map[cause]List{}
	for _, f := range l {
		c := causeOf(f)
		groups[c] = append(groups[c], f)
	}
	var out List
	for _, f := range l {
		c := causeOf(f)
		group := groups[c]
		if len(group) == 0 {
			continue // a part of an earlier finding
		}
		delete(groups, c)
		if objects := group.otherObjects(); len(objects) > 0 {
			f.Message += inObjects(objects)
		} else {
			f.Message += Places(len(group)-1, lines(group)...)
		}
		out = append(out, f)
	}
	return out
}

// otherObjects returns the objects of findings except that of the first finding.
func (l List) otherObjects() []string {
	var out []string
	for _, f := range l {
		if f.Object != l[0].Object && !slices.Contains(out, f.Object) {
			out = append(out, f.Object)
		}
	}
	return out
}

// inObjects counts and lists the other objects of a problem, as a part of its message.
func inObjects(names []string) string {
	list := strings.Join(names[:min(maxListed, len(names))], ", ")
	if len(names) > maxListed {
		list += " …"
	}
	return fmt.Sprintf(" (and in %s: %s)", counted(len(names), "more object"), list)
}

// Places counts the further places of a problem, as a part of its message; "" for none.
// lines are those lines of the places that differ from the line of the finding.
func Places(more int, lines ...string) string {
	if more == 0 {
		return ""
	}
	text := " (and at " + counted(more, "more place")
	switch {
	case len(lines) == 1:
		text += ": line " + lines[0]
	case len(lines) > maxListed:
		text += ": lines " + strings.Join(lines[:maxListed], ", ") + " …"
	case len(lines) > 1:
		text += ": lines " + strings.Join(lines, ", ")
	}
	return text + ")"
}

// maxListed limits the lines or objects that a message lists.
const maxListed = 8

// lines returns the lines of findings after the first line.
func lines(group List) []string {
	var out []string
	last := group[0].Line
	for _, f := range group[1:] {
		if f.Line != last {
			out, last = append(out, strconv.Itoa(f.Line)), f.Line
		}
	}
	return out
}

// Only returns the findings of a severity.
func (l List) Only(severity Severity) List {
	var out List
	for _, f := range l {
		if f.Severity == severity {
			out = append(out, f)
		}
	}
	return out
}

// Summary counts the findings by severity and the files with findings, except a stream
// of objects: "2 errors, 1 warning in 1 file". It is "" for no findings.
func (l List) Summary() string {
	var parts []string
	for _, severity := range []Severity{Error, Warning} {
		if count := len(l.Only(severity)); count > 0 {
			parts = append(parts, counted(count, string(severity)))
		}
	}
	files := map[string]bool{}
	for _, f := range l {
		if f.File != "" && f.Object == "" {
			files[f.File] = true
		}
	}
	out := strings.Join(parts, ", ")
	if len(files) > 0 {
		out += " in " + counted(len(files), "file")
	}
	return out
}

// counted returns a number with its noun.
func counted(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", count, noun)
}
