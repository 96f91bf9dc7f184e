package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Report contains the checks of one operator. Its JSON format is part of the
// interface.
type Report struct {
	Operator  string  `json:"operator"`
	Namespace string  `json:"namespace"`
	Checks    []Check `json:"checks"`
}

// Ready reports whether no check has failed.
func (r Report) Ready() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.State == Error })
}

var colours = map[State]terminal.Colour{OK: terminal.Green, Warning: terminal.BoldYellow, Error: terminal.BoldRed}

// Print prints a report in a readable form, with ANSI escapes if colour is set.
func (r Report) Print(w io.Writer, colour bool) error {
	if _, err := terminal.Fprintf(w, "%s, in %s\n", terminal.Style(colour, terminal.Bold, r.Operator), r.Namespace); err != nil {
		return err
	}
	for _, c := range r.Checks {
		text := terminal.Lines(strings.TrimSpace(c.Message), "           ")
		state := terminal.Style(colour, colours[c.State], fmt.Sprintf("%-8s", c.State))
		if _, err := terminal.Fprintf(w, "  %s %s: %s\n", state, c.Name, text); err != nil {
			return err
		}
		if c.Fix != "" {
			if _, err := terminal.Fprintf(w, "           fix: %s\n", c.Fix); err != nil {
				return err
			}
		}
	}
	return nil
}
