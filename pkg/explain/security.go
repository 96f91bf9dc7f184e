package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/definition"
	"github.com/argoperator/argoperator/pkg/manifest"
	"github.com/argoperator/argoperator/pkg/plan"
	"github.com/argoperator/argoperator/pkg/terminal"
)

// Trust is something that bounds what others can do through the operator, or
// that the definition leaves to them.
type Trust struct {
	What string `json:"what"` // policy, adopts, namespaces or event bus
	Of   string `json:"of"`   // the policy, child or kind
	Note string `json:"note"`
}

func security(p *plan.Plan, d *definition.Definition) []Trust {
	out := []Trust{}
	for _, policy := range p.Policies {
		out = append(out, Trust{"policy", manifest.PolicyName(p, policy), policy.Why})
	}
	for _, c := range p.Children {
		if c.Adopt {
			out = append(out, Trust{"adopts", c.Name, fmt.Sprintf("takes over an existing %s of the same name", c.Kind.Kind)})
		}
	}
	if allowed := d.Operator.Spec.Install.AllowedNamespaces; len(allowed) > 0 {
		out = append(out, Trust{"namespaces", strings.Join(allowed, ", "), "custom resources may choose these for children and related objects, beside their own"})
	}
	var seen []string
	for _, e := range p.SecretEvents() {
		note := "every Secret that the operator watches passes event bus " + p.Install.EventBus.Name
		if e.Selector != nil {
			note = "the children pass event bus " + p.Install.EventBus.Name
		}
		if !slices.Contains(seen, note) {
			seen = append(seen, note)
			out = append(out, Trust{"event bus", e.Kind.Kind, note})
		}
	}
	return out
}

func (p Printer) security(w io.Writer, list []Trust) {
	if len(list) == 0 {
		return
	}
	p.heading(w, "SECURITY")
	terminal.Fprintf(w, "\n")
	var rows [][]string
	for _, t := range list {
		rows = append(rows, []string{t.What, t.Of, t.Note})
	}
	p.table(w, rows)
}
