package diag

import "github.com/argoperator/argoperator/pkg/terminal"

// ANSI escapes.
const (
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
)

func (p Printer) paint(escape, text string) terminal.Styled {
	return terminal.Style(p.Colour, escape, text)
}

func colourOf(s Severity) string {
	if s == Warning {
		return yellow
	}
	return red
}
