package diag

// ANSI escapes.
const (
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	reset  = "\x1b[0m"
)

func (p Printer) paint(escape, text string) string {
	if !p.Colour {
		return text
	}
	return escape + text + reset
}

func colourOf(s Severity) string {
	if s == Warning {
		return yellow
	}
	return red
}
