package diag

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Source returns the content of a file by its name in findings, or nil if it is
// unknown.
type Source func(file string) []byte

// Printer prints findings as text. The zero value prints without colour.
type Printer struct {
	// Colour highlights severities, codes and carets with ANSI escapes.
	Colour bool
	// Source of the excerpts; nil prints none.
	Source Source
}

// Text prints each finding with its source line, a caret and its hint, without colour.
func Text(w io.Writer, list List, source func(file string) []byte) error {
	return Printer{Source: source}.Print(w, list)
}

// Print prints the findings in the order given.
func (p Printer) Print(w io.Writer, list List) error {
	out := bufio.NewWriter(w)
	lines := map[string][][]byte{}
	for _, f := range list {
		p.finding(out, f, lines)
	}
	return out.Flush()
}

func (p Printer) finding(w io.Writer, f Finding, files map[string][][]byte) {
	place := f.File
	if f.Line > 0 {
		place += fmt.Sprintf(":%d", f.Line)
		if f.Column > 0 {
			place += fmt.Sprintf(":%d", f.Column)
		}
	}
	place = cmp.Or(f.Object, place)
	if place != "" {
		terminal.Fprintf(w, "%s ", terminal.Style(p.Colour, terminal.Bold, place+":"))
	}
	terminal.Fprintf(
		w,
		"%s %s %s\n",
		terminal.Style(p.Colour, colourOf(f.Severity), string(f.Severity)+":"),
		f.Message,
		terminal.Style(p.Colour, terminal.Dim, "["+f.Code+"]"),
	)
	p.excerpt(w, f, files)
	if f.Hint != "" {
		terminal.Fprintf(w, "  %s %s\n", terminal.Style(p.Colour, terminal.Bold, "hint:"), terminal.Lines(f.Hint, "        "))
	}
}

func (p Printer) excerpt(w io.Writer, f Finding, files map[string][][]byte) {
	if p.Source == nil || f.Line < 1 {
		return
	}
	lines, ok := files[f.File]
	if !ok {
		lines = bytes.Split(p.Source(f.File), []byte("\n"))
		files[f.File] = lines
	}
	if f.Line > len(lines) || len(bytes.TrimSpace(lines[f.Line-1])) == 0 {
		return
	}
	text, indent := excerpt(string(lines[f.Line-1]), f.Column)
	number := fmt.Sprintf("%4d | ", f.Line)
	terminal.Fprintf(w, "%s%s\n", terminal.Style(p.Colour, terminal.Dim, number), text)
	if f.Column > 0 {
		terminal.Fprintf(
			w,
			"%s%s%s\n",
			terminal.Style(p.Colour, terminal.Dim, "     | "),
			indent,
			terminal.Style(p.Colour, colourOf(f.Severity), "^"),
		)
	}
}

// Width of an excerpt in characters; longer lines are cut around the column.
const (
	maxWidth = 160
	context  = 60
)

// excerpt returns a line that is safe for a terminal, and the space before the caret
// below a column. Both keep tabs, so that they are aligned.
func excerpt(line string, column int) (text, indent string) {
	line = strings.TrimRight(strings.TrimPrefix(line, "\ufeff"), "\r")
	runes := []rune(strings.ToValidUTF8(line, string(utf8.RuneError)))
	at := min(max(column-1, 0), len(runes))
	head, tail := "", ""
	if len(runes) > maxWidth {
		if start := max(0, at-context); start > 0 {
			runes, at, head = runes[start:], at-start, "…"
		}
		if len(runes) > maxWidth {
			runes, tail = runes[:maxWidth], "…"
		}
	}
	var blank strings.Builder
	blank.WriteString(strings.Repeat(" ", utf8.RuneCountInString(head)))
	for _, r := range runes[:at] {
		if r == '\t' {
			blank.WriteByte('\t')
		} else {
			blank.WriteString(strings.Repeat(" ", width(r)))
		}
	}
	return head + terminal.Mask(string(runes)) + tail, blank.String()
}

func colourOf(s Severity) terminal.Colour {
	if s == Warning {
		return terminal.BoldYellow
	}
	return terminal.BoldRed
}
