package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// An event contains the whole object when it passes the event bus, and a Workflow
// stores its parameters. Secrets are kept out of both if possible; otherwise a finding
// warns of it.

func (k Kind) secret() bool { return k.Group == "" && k.Kind == "Secret" }

// SecretEvents returns the events that contain Secrets.
func (p *configured) SecretEvents() []Event {
	return slices.DeleteFunc(slices.Clone(p.Events), func(e Event) bool { return !e.Kind.secret() })
}

// secretsInPod reports whether the pod evaluates the templates because a child is a
// Secret. The Workflow would store what the Sensor computes.
func secretsInPod(p *decided) bool {
	return slices.ContainsFunc(p.Children, templatedSecret) &&
		!slices.ContainsFunc(p.Children, func(c Child) bool { return len(c.notInPod) > 0 })
}

// exposedSecrets warns of Secrets that become readable to users without permission to
// read Secrets.
func exposedSecrets(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	for i, r := range p.Related {
		at := []string{"spec", "related", strconv.Itoa(i)}
		if r.Kind.secret() && r.Watch && !d.Written(append(slices.Clone(at), "watch")...) {
			findings.Warn(
				d.Position(append(at, "kind")...),
				diag.SecretExposed,
				fmt.Sprintf(
					"every Secret %s is published on event bus %s when it changes, and can be read by everyone who can read from the bus",
					relatedReader(p, r),
					p.Shared.EventBus.Name,
				),
				"set watch: false, so that changes take effect at the next resync; or set watch: true to accept this",
			)
		}
	}
	i := slices.IndexFunc(p.Children, templatedSecret)
	if !p.Reconcile.Execution.OneReconcilePod || p.templatesInPod() || i < 0 {
		return findings
	}
	other := p.Children[slices.IndexFunc(p.Children, func(c Child) bool { return len(c.notInPod) > 0 })].notInPod[0]
	findings.Warn(
		d.Position("spec", "children", strconv.Itoa(i), "template", "kind"),
		diag.SecretExposed,
		fmt.Sprintf(
			"this Secret becomes a parameter of the Workflow and can be read by everyone who can read Workflows, because only the "+
				"Sensor can evaluate line %d: %s",
			d.Position(other.Path...).Line,
			other.Message,
		),
		other.Hint,
	)
	return findings
}

func templatedSecret(c Child) bool { return c.Object != nil && c.Kind.secret() }

func relatedReader(p *decided, r Related) string {
	switch {
	case r.FixedNamespace != "":
		return "of namespace " + r.FixedNamespace
	case len(p.Shared.WatchNamespaces) > 0:
		return "of the watched namespaces"
	}
	return "of the cluster"
}
