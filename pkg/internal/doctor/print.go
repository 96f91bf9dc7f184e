package doctor

import (
	"io"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/terminal"
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

// Print prints a report in a readable form.
func (r Report) Print(w io.Writer) error {
	if _, err := terminal.Fprintf(w, "%s, in %s\n", r.Operator, r.Namespace); err != nil {
		return err
	}
	for _, c := range r.Checks {
		text := terminal.Lines(strings.TrimSpace(c.Message), "           ")
		if _, err := terminal.Fprintf(w, "  %-8s %s: %s\n", c.State, c.Name, text); err != nil {
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
