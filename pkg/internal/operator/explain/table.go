package explain

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// The width of a table in characters. The last column is wrapped, but is at least as
// wide as narrowest.
const (
	tableWidth = 120
	narrowest  = 36
)

// table prints rows with aligned columns. The columns with the given numbers are
// right-aligned.
func (p Printer) table(w io.Writer, rows [][]string, right ...int) {
	rows = escaped(rows)
	widths := columns(rows)
	for _, row := range rows {
		indent, line := 2, "  "
		for i, cell := range row[:len(row)-1] {
			fill := strings.Repeat(" ", widths[i]-length(cell))
			if slices.Contains(right, i) {
				line += fill + cell + "  "
			} else {
				line += cell + fill + "  "
			}
			indent += widths[i] + 2
		}
		for i, text := range wrap(row[len(row)-1], max(narrowest, tableWidth-indent)) {
			if i > 0 {
				line = strings.Repeat(" ", indent)
			}
			if text == "" {
				line = strings.TrimRight(line, " ")
			}
			terminal.Fprintf(w, "%s%s\n", line, terminal.Style(p.Colour, terminal.Dim, strings.ReplaceAll(text, unbroken, " ")))
		}
	}
}

// escaped returns cells as they are printed, for their widths.
func escaped(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			out[i] = append(out[i], terminal.Escape(cell))
		}
	}
	return out
}

// columns returns the widths of all columns.
func columns(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], length(cell))
		}
	}
	return widths
}

func length(s string) int { return utf8.RuneCountInString(s) }

// unbroken is a space at which no line breaks; it is printed as a normal one.
const unbroken = "\u00a0"

// wrap breaks a text at its spaces. A long word is not broken.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Split(text, " ") {
		last := len(lines) - 1
		switch {
		case lines[last] == "":
			lines[last] = word
		case length(lines[last])+1+length(word) > width:
			lines = append(lines, word)
		default:
			lines[last] += " " + word
		}
	}
	return lines
}
