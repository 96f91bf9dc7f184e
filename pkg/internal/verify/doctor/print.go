package doctor

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Report contains the checks of one operator, or of one custom resource. Its JSON format is part of the
// interface.
type Report struct {
	Resource  string  `json:"resource,omitempty"` // kind, namespace and name of the custom resource
	Operator  string  `json:"operator"`
	Namespace string  `json:"namespace"`
	Cause     string  `json:"cause,omitempty"` // name of the check that probably causes the errors of others
	Checks    []Check `json:"checks"`
}

// Ready reports whether no check has failed.
func (r Report) Ready() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.State == Error })
}

var colours = map[State]terminal.Colour{OK: terminal.Green, Warning: terminal.BoldYellow, Error: terminal.BoldRed}

// Print prints a report in a readable form, with ANSI escapes if colour is set.
func (r Report) Print(w io.Writer, colour bool) error {
	where := ""
	switch {
	case r.Resource != "" && r.Operator != "":
		where = ", of the operator " + r.Operator + " in " + r.Namespace
	case r.Namespace != "":
		where = ", in " + r.Namespace
	}
	if _, err := terminal.Fprintf(w, "%s%s\n", terminal.Style(colour, terminal.Bold, cmp.Or(r.Resource, r.Operator)), where); err != nil {
		return err
	}
	for n, c := range r.Checks {
		if title := map[int]string{0: "Probable cause", 1: "Other checks"}[n]; title != "" && r.Cause != "" {
			if _, err := terminal.Fprintf(w, " %s:\n", title); err != nil {
				return err
			}
		}
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
