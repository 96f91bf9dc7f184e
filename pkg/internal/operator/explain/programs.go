package explain

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Program is a program of a Sensor, with the part of the definition that it was made of.
type Program struct {
	plan.Explained
	Place *Place // nil: it is the same for every definition
}

// explained returns the programs of the Sensors.
func explained(p *plan.Plan, d *definition.Definition) []Program {
	var out []Program
	for _, e := range p.Explained() {
		one := Program{Explained: e}
		at := []string{"spec", "status"}
		if i := slices.IndexFunc(p.Children, func(c plan.Child) bool { return c.Name == e.Child }); i >= 0 {
			at = []string{"spec", "children", strconv.Itoa(i)}
		}
		if where := place(d, at...); e.Child != "" || slices.Contains(e.Names, "status") && len(p.Status.Fields) > 0 {
			one.Place = &where
		}
		out = append(out, one)
	}
	return out
}

// programs prints the programs of the Sensors.
func (p Printer) programs(w io.Writer, list []Program) {
	for _, one := range list {
		p.heading(w, one.Sensor+" / "+strings.Join(one.Names, ", "))
		terminal.Fprintf(w, "\n  %s\n", terminal.Lines(one.About, "  "))
		if one.Place != nil {
			if lines := p.lines(*one.Place); len(lines) > 0 {
				terminal.Fprintf(w, "\n%s\n", terminal.Style(p.Colour, terminal.Dim, "  # "+one.Place.String()))
				for _, line := range lines {
					terminal.Fprintf(w, "  %s\n", terminal.Style(p.Colour, terminal.Dim, line))
				}
			}
		}
		terminal.Fprintf(w, "\n  %s\n", terminal.Lines(strings.TrimSuffix(one.Text, "\n"), "  "))
	}
}

// lines returns the lines of a mapping or a list that begins at a place.
func (p Printer) lines(at Place) []string {
	if p.File == nil {
		return nil
	}
	all := strings.Split(string(p.File(at.File)), "\n")
	if at.Line < 1 || at.Line > len(all) {
		return nil
	}
	first := all[at.Line-1]
	indent := len(first) - len(strings.TrimLeft(first, " "))
	out := []string{first}
	for _, line := range all[at.Line:] {
		text := strings.TrimLeft(line, " ")
		if text != "" && len(line)-len(text) <= indent {
			break
		}
		out = append(out, line)
	}
	for len(out) > 1 && strings.TrimSpace(out[len(out)-1]) == "" {
		out = out[:len(out)-1]
	}
	return out
}
