package explain

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Printer prints reports as text. The zero value prints without colour.
type Printer struct {
	// Colour highlights headings and nearly reached limits with ANSI escapes.
	Colour bool
	// Security prints only the trust boundaries, and who decides what the operator writes and
	// reads.
	Security bool
	// Programs prints only the programs of the Sensors.
	Programs bool
	// File returns the content of a file of the definition, whose lines are printed beside the
	// programs; nil: none are.
	File func(name string) []byte
}

// Text prints the report as text, without colour.
func (r Report) Text(w io.Writer) error { return Printer{}.Print(w, []Report{r}) }

// list is the envelope of several reports.
type list struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Items      []Report `json:"items"`
}

// JSON prints the reports as one ExplanationList.
func JSON(w io.Writer, reports []Report) error {
	return terminal.JSON(w, list{APIVersion: v1alpha1.APIVersion, Kind: kind + "List", Items: append([]Report{}, reports...)})
}

// Print prints the reports in the order given.
func (p Printer) Print(w io.Writer, reports []Report) error {
	out := bufio.NewWriter(w)
	for i, r := range reports {
		if i > 0 {
			terminal.Fprintf(out, "\n")
		}
		p.report(out, r)
	}
	return out.Flush()
}

func (p Printer) report(w io.Writer, r Report) {
	where := "the whole cluster"
	if len(r.API.Watched) > 0 {
		where = strings.Join(r.API.Watched, ", ")
	}
	terminal.Fprintf(
		w,
		"%s  %s, %s of %s; runs in %s, watches %s\n",
		terminal.Style(p.Colour, terminal.Bold, r.Operator),
		r.API.Kind,
		r.API.Version,
		r.API.Resource,
		r.Namespace,
		where,
	)
	if g := r.Group; g != nil {
		g.print(w)
	}
	if p.Security {
		p.security(w, r.Security)
		p.dataFlow(w, r.DataFlow)
		return
	}
	if p.Programs {
		p.programs(w, r.Programs)
		return
	}
	p.standing(w, r.Standing)
	p.secrets(w, r.Secrets)
	p.permissions(w, r)
	p.security(w, r.Security)
	p.engine(w, r.Engine)
	p.comparison(w, r.Comparison)
	p.events(w, r.Events)
	p.observedState(w, r.ObservedState)
	p.limits(w, r.Limits)
	p.objects(w, r)
}

func (g Group) print(w io.Writer) {
	all := strings.Join(g.Operators, ", ")
	if len(g.Workers) == 1 {
		terminal.Fprintf(w, "  group %s: %s share an EventSource, Sensors (%d), a worker and the service accounts; %d pods\n",
			g.Name, all, g.Sensors, g.Pods)
		return
	}
	terminal.Fprintf(w, "  group %s: %s share an EventSource, Sensors (%d) and their service accounts; %d pods\n",
		g.Name, all, g.Sensors, g.Pods)
	for _, one := range g.Workers {
		terminal.Fprintf(w, "    worker %s, with its own service account: %s\n", one.Name, strings.Join(one.Operators, ", "))
	}
}

func (p Printer) heading(w io.Writer, text string) {
	terminal.Fprintf(w, "\n%s", terminal.Style(p.Colour, terminal.Bold, text))
}

func (p Printer) engine(w io.Writer, e Engine) {
	p.heading(w, "ENGINE")
	terminal.Fprintf(w, "  %s: %s\n", terminal.Style(p.Colour, terminal.Bold, e.Name), e.Does)
	switch {
	case e.Named == nil && len(e.Against) == 0:
		terminal.Fprintf(w, "  chosen by auto: the cheapest engine supports this definition\n")
	case e.Named == nil:
		terminal.Fprintf(w, "  chosen by auto, because the %s engine does not support:\n", e.Cheapest)
	case e.Auto == e.Name && len(e.Against) == 0:
		terminal.Fprintf(w, "  set at %s; auto would choose it too\n", e.Named)
	case e.Auto == "":
		terminal.Fprintf(w, "  set at %s\n", e.Named)
	case len(e.Against) == 0:
		terminal.Fprintf(w, "  set at %s; auto would choose the %s engine, the cheapest\n", e.Named, e.Auto)
	default:
		terminal.Fprintf(
			w,
			"  set at %s; auto would choose the %s engine, because the %s engine does not support:\n",
			e.Named,
			e.Auto,
			e.Cheapest,
		)
	}
	var rows [][]string
	for _, r := range e.Against {
		rows = append(rows, []string{"  " + r.String(), r.Message})
		if r.Hint != "" {
			rows = append(rows, []string{"", "hint: " + r.Hint})
		}
	}
	p.table(w, rows)
}

// String formats a place like a finding.
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

func (p Printer) events(w io.Writer, events []Event) {
	p.heading(w, "EVENTS")
	terminal.Fprintf(w, "  with one object per child; requests go to the API server\n")
	rows := [][]string{{"", "PODS", "REQUESTS", ""}}
	for i, e := range events {
		pods, calls := strconv.Itoa(e.Pods), strconv.Itoa(e.Calls)
		if e.AtMost {
			calls = "≤ " + calls
			if e.Pods > 0 {
				pods = "≤ " + pods
			}
		}
		rows = append(rows, []string{e.Event, pods, calls, how(e.Parts, e.Note, events[:i])})
		if e.Each != nil {
			rows = append(
				rows,
				[]string{
					"  + each " + e.Each.Which,
					strconv.Itoa(e.Each.Pods),
					strconv.Itoa(e.Each.Calls),
					how(e.Each.Parts, "", events[:i]),
				},
			)
		}
	}
	p.table(w, rows, 1, 2)
}

// how describes the parts of a cost, once.
func how(parts []Part, note string, before []Event) string {
	var text []string
	for _, part := range parts {
		what := part.What
		if part.Calls > 1 {
			what += fmt.Sprintf(" ×%d", part.Calls)
		}
		text = append(text, strings.ReplaceAll(what, " ", unbroken))
	}
	out := strings.Join(text, " + ")
	if i := slices.IndexFunc(before, func(e Event) bool { return len(parts) > 1 && slices.Equal(e.Parts, parts) }); i >= 0 {
		out = "as: " + before[i].Event
	}
	if note != "" && out != "" {
		note = "; " + note
	}
	return out + note
}

// permissions prints one row for all permissions of an account with the same reason.
func (p Printer) permissions(w io.Writer, r Report) {
	p.heading(w, "PERMISSIONS")
	of := "of the service accounts"
	switch g := r.Group; {
	case g != nil && len(g.Workers) > 1:
		of += "; that of a worker is for the operators that it runs, the others are shared by the group"
	case g != nil:
		of += ", shared by all operators of the group"
	}
	terminal.Fprintf(w, "  %s\n", of)
	var shown []Permission
	rows := map[int][]string{}
	for _, g := range byAccount(r.Permissions) {
		name := strings.Join(append([]string{g.Resource}, g.Names...), " ")
		i := slices.IndexFunc(shown, func(s Permission) bool {
			return s.ServiceAccount == g.ServiceAccount && s.Why == g.Why && slices.Equal(s.Verbs, g.Verbs) &&
				slices.Equal(s.Namespaces, g.Namespaces)
		})
		if i < 0 {
			i = len(shown)
			shown = append(shown, g)
		}
		rows[i] = append(rows[i], name)
	}
	var lines [][]string
	for i, g := range shown {
		account, where := g.ServiceAccount, "cluster"
		if i > 0 && shown[i-1].ServiceAccount == account {
			account = ""
		}
		if len(g.Namespaces) > 0 {
			where = strings.Join(g.Namespaces, ", ")
		}
		lines = append(lines, []string{account, strings.Join(g.Verbs, ", "), strings.Join(rows[i], ", "), where, g.Why})
	}
	p.table(w, lines)
}

// byAccount groups permissions by account.
func byAccount(list []Permission) []Permission {
	var out []Permission
	for _, first := range list {
		if slices.ContainsFunc(out, func(g Permission) bool { return g.ServiceAccount == first.ServiceAccount }) {
			continue
		}
		for _, g := range list {
			if g.ServiceAccount == first.ServiceAccount {
				out = append(out, g)
			}
		}
	}
	return out
}

func (p Printer) observedState(w io.Writer, states []ObservedState) {
	p.heading(w, "OBSERVED STATE")
	if len(states) == 0 {
		terminal.Fprintf(w, "  none: every reconcile reads the children from the cluster\n")
		return
	}
	terminal.Fprintf(w, "  of the children, stored on the custom resource\n")
	var rows [][]string
	for _, m := range states {
		live := ""
		if len(m.Live) > 0 {
			live = "; of the child " + strings.Join(m.Live, ", ")
		}
		rows = append(rows, []string{m.Place, strings.Join(m.Fields, ", ") + live})
	}
	p.table(w, rows)
}

func (p Printer) secrets(w io.Writer, secrets []Secret) {
	if len(secrets) == 0 {
		return
	}
	p.heading(w, "SECRETS")
	terminal.Fprintf(w, "\n")
	var rows [][]string
	for _, s := range secrets {
		made := "created"
		if !s.Made {
			made = "provided by you"
		}
		rows = append(rows, []string{s.Name, made, s.Why})
	}
	p.table(w, rows)
}

// near is the use of a limit, in percent, from which it is printed.
const near = 10

func (p Printer) limits(w io.Writer, limits []Limit) {
	p.heading(w, "LIMITS")
	far := 0
	var rows [][]string
	for _, l := range limits {
		if l.Used > 0 && l.Percent < near {
			far++
			continue
		}
		rows = append(rows, l.row())
	}
	terminal.Fprintf(w, "  %d below %d %% not shown\n", far, near)
	p.table(w, rows, 0, 1)
}

func (l Limit) row() []string {
	used, percent := amount(l.Used, l.Unit), "–"
	if l.Used == 0 {
		used = fmt.Sprintf("%g %s", l.Limit, l.Unit)
	} else {
		used += " of " + amount(l.Limit, l.Unit)
		percent = fmt.Sprintf("%.0f %%", l.Percent)
	}
	if l.About {
		used = "about " + used
	}
	return []string{percent, used, l.What + ", " + l.Of, l.Note}
}

func amount(n float64, unit string) string {
	if unit != "bytes" {
		return fmt.Sprintf("%g", n)
	}
	return fmt.Sprintf("%.1f KiB", n/1024)
}

// objects prints the objects by kind, in apply order.
func (p Printer) objects(w io.Writer, r Report) {
	p.heading(w, "OBJECTS")
	terminal.Fprintf(w, "  %d, in apply order\n", len(r.Objects))
	var rows [][]string
	for _, o := range r.Objects {
		name := o.Name
		if o.Namespace != "" && o.Namespace != r.Namespace {
			name = o.Namespace + "/" + name
		}
		if n := len(rows); n > 0 && rows[n-1][0] == o.Kind {
			rows[n-1][1] += ", " + name
			continue
		}
		rows = append(rows, []string{o.Kind, name})
	}
	p.table(w, rows)
}
