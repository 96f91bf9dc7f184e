package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// The values of Secrets are kept out of what other users can read, unless the definition
// writes them there: the status, the observed state in it, Workflows and their parameters,
// conditions, Events and logs. Where it writes them, a finding says who can read them. A
// fingerprint, a length or a comparison does not count as the value. An event
// contains the whole object when it passes the event bus, which a finding says, too.

func (k Kind) secret() bool { return k.Group == "" && k.Kind == "Secret" }

// sensitive reports whether a path of a Secret has values that only users may see who can
// read Secrets: its data, and the copy of them that kubectl apply makes.
func sensitive(path []string) bool {
	switch {
	case len(path) == 0 || path[0] == "data" || path[0] == "stringData":
		return true
	case path[0] != "metadata":
		return false
	}
	return len(path) == 1 || path[1] == "annotations" && (len(path) == 2 || path[2] == lastApplied || path[2] == expression.Each)
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// SecretEvents returns the events that contain Secrets.
func (p *configured) SecretEvents() []Event {
	return slices.DeleteFunc(slices.Clone(p.Events), func(e Event) bool { return !e.Kind.secret() })
}

// secretsInPod reports whether the pod evaluates the templates because they make or read
// Secrets. The Workflow would store what the Sensor computes.
func secretsInPod(p *declared) bool {
	return p.API.Kind.secret() || slices.ContainsFunc(p.Children, templatedSecret)
}

func templatedSecret(c Child) bool { return c.Object != nil && c.Kind.secret() }

// knowsSecrets reports whether the operator receives any Secret.
func (p *declared) knowsSecrets() bool {
	return p.API.Kind.secret() || slices.ContainsFunc(p.Children, func(c Child) bool { return c.Kind.secret() }) ||
		slices.ContainsFunc(p.Related, func(r Related) bool { return r.Kind.secret() })
}

// secretReads returns the paths that programs read and that have values of Secrets, as jq.
func (p *declared) secretReads(programs ...*expression.Program) []string {
	var out []string
	if !p.knowsSecrets() {
		return nil
	}
	add := func(root string, paths [][]string, exposes func([]string) bool) {
		for _, path := range paths {
			if exposes(path) {
				out = append(out, expression.Origin{Root: root, Path: path}.String())
			}
		}
	}
	for _, program := range programs {
		if program == nil {
			continue
		}
		if p.API.Kind.secret() {
			add(".", program.Reads(), sensitive)
		}
		children, related := program.ReadsChildren(), program.RelatedPaths()
		for _, c := range p.Children {
			add("$children."+c.Name, children[c.Name], func(path []string) bool { return p.exposes(c, path) })
		}
		for _, r := range p.Related {
			if r.Kind.secret() {
				add("$related."+r.Name, related[r.Name], sensitive)
			}
		}
	}
	return out
}

// ReadsSecrets reports whether a child is computed from values of Secrets.
func (p *declared) ReadsSecrets(c Child) bool {
	return len(p.secretReads(c.programs()...)) > 0
}

// exposes reports whether a field of a child has a value of a Secret.
func (p *declared) exposes(c Child, path []string) bool {
	if c.Kind.secret() {
		return sensitive(path)
	}
	return slices.ContainsFunc(p.copies(c, nil), func(copied secretCopy) bool { return schema.Overlap(copied.path, path) })
}

// secretCopy is a value of a Secret in a template.
type secretCopy struct {
	path []string
	of   string // as jq
}

// copies returns the values of Secrets in a template. within are the children that are
// being looked at.
func (p *declared) copies(c Child, within []string) []secretCopy {
	if c.Object == nil || slices.Contains(within, c.Name) || !p.knowsSecrets() {
		return nil
	}
	within = append(slices.Clip(within), c.Name)
	var out []secretCopy
	for _, part := range c.Object.Parts() {
		for _, origin := range part.Origins() {
			if of := p.secretOrigin(origin, c, within); of != "" {
				out = append(out, secretCopy{part.Path, of})
				break
			}
		}
	}
	return out
}

// secretOrigin returns the value of a Secret that an origin has, as jq; "" for another
// value. c is the child whose template or forEach has the origin.
func (p *declared) secretOrigin(o expression.Origin, c Child, within []string) string {
	text := o.String()
	switch o.Root {
	case ".":
		if p.API.Kind.secret() && sensitive(o.Path) {
			return text
		}
	case "$item":
		return p.secretItem(o.Path, c, within)
	case "$related":
		for _, r := range p.Related {
			if below, is := pathBelow(o.Path, r.Name); is && r.Kind.secret() && sensitive(below) {
				return text
			}
		}
	case "$children":
		for _, other := range p.Children {
			below, is := pathBelow(o.Path, other.Name)
			switch {
			case !is:
			case other.Kind.secret() && sensitive(below):
				return text
			case !other.Kind.secret():
				copies := p.copies(other, within)
				if i := slices.IndexFunc(copies, func(copied secretCopy) bool { return schema.Overlap(copied.path, below) }); i >= 0 {
					return copies[i].of
				}
			}
		}
	}
	return ""
}

// secretItem returns the value of a Secret that a field of $item has.
func (p *declared) secretItem(path []string, c Child, within []string) string {
	if c.ForEach == nil {
		return ""
	}
	for _, o := range c.ForEach.Origins() {
		if len(o.Path) == 1 || len(o.Path) == 2 && o.Path[1] == expression.Each { // the items are whole objects
			o.Path = append([]string{o.Path[0], expression.Each}, path...)
		}
		if of := p.secretOrigin(o, c, within); of != "" {
			return of
		}
	}
	return ""
}

// pathBelow returns the path below the objects of a name, and whether the path may be one of
// theirs.
func pathBelow(path []string, name string) ([]string, bool) {
	if len(path) == 0 || path[0] == expression.Each {
		return nil, true
	}
	if path[0] != name {
		return nil, false
	}
	if path = path[1:]; len(path) > 0 && path[0] == expression.Each {
		path = path[1:]
	}
	return path, true
}

// storedSecrets returns the reasons against an engine that stores the fields of children that
// expressions read in the status.
func storedSecrets(p *declared) []Reason {
	var out []Reason
	add := func(reads []string, path ...string) {
		if len(reads) > 0 {
			out = append(out, Reason{Path: append([]string{"spec"}, path...), Message: fmt.Sprintf(
				"it would store %s, a value of a Secret, in the status", reads[0])})
		}
	}
	ofChildren := func(program *expression.Program) []string {
		return slices.DeleteFunc(p.secretReads(program), func(read string) bool { return !strings.HasPrefix(read, "$children.") })
	}
	for i, c := range p.Children {
		for _, at := range []struct {
			program *expression.Program
			key     string
		}{{c.Object, "template"}, {c.When, "when"}, {c.ForEach, "forEach"}} {
			add(ofChildren(at.program), "children", strconv.Itoa(i), at.key)
		}
	}
	for _, f := range p.Status.Fields {
		add(ofChildren(f.Value), "status", f.Name)
	}
	return out
}

// exposedSecrets warns of Secrets that become readable to users without permission to
// read Secrets.
func exposedSecrets(p *decided, d *definition.Definition) diag.List {
	return slices.Concat(publishedSecrets(p, d), writtenSecrets(p, d), steppedSecrets(p, d), guessedSecrets(p, d))
}

// secretKey matches keys of a Secret whose values nobody should be able to compute.
var secretKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(passw(or)?d|pwd|passphrase|token|secret|key)$`)
})

// guessedSecrets warns of passwords that everyone can compute who can read the custom resource.
func guessedSecrets(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	for i, c := range p.Children {
		if !c.Kind.secret() || c.Object == nil {
			continue
		}
		for _, part := range c.Object.Parts() {
			inData := len(part.Path) == 2 && strings.HasSuffix(strings.ToLower(part.Path[0]), "data")
			if !inData || !secretKey().MatchString(part.Path[1]) {
				continue
			}
			reads := part.Reads()
			public := func(path []string) bool {
				return len(path) == 2 && path[0] == "metadata" && slices.Contains(publicFields, path[1])
			}
			secret := slices.ContainsFunc(reads, func(path []string) bool { return !public(path) })
			if len(reads) == 0 || secret || part.UsesOthers() || part.UsesItem() {
				continue
			}
			at := append([]string{"spec", "children", strconv.Itoa(i), "template"}, part.Path...)
			findings.Warn(d.Position(at...), diag.SecretExposed,
				fmt.Sprintf("%s of the Secret is computed from .%s, so everyone who can read the %s can compute it",
					part.Path[1], strings.Join(reads[0], "."), p.API.Kind.Kind),
				fmt.Sprintf("let the operator make a random value: remove the key, and write generate: {%s: {}} in the child",
					part.Path[1]))
		}
	}
	return findings
}

// publicFields are those of the metadata that are no secret.
var publicFields = []string{"name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion"}

// publishedSecrets warns of Secrets on the event bus.
func publishedSecrets(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	if p.Shared.NetworkPolicies {
		return nil
	}
	const closed = "let only pods of Argo Events reach the bus: install: {networkPolicies: true}"
	warn := func(which, hint string, path ...string) {
		findings.Warn(d.Position(path...), diag.SecretExposed, fmt.Sprintf(
			"%s is published on event bus %s when it changes, and can be read by everyone who can read from the bus",
			which, p.Shared.EventBus.Name), hint)
	}
	every := func(namespace string) string {
		switch {
		case namespace != "":
			return "every Secret of namespace " + namespace
		case len(p.Shared.WatchNamespaces) > 0:
			return "every Secret of the watched namespaces"
		}
		return "every Secret of the cluster"
	}
	if p.API.Kind.secret() { // the children are among them
		warn(every(""), closed, "spec", "api", "existing", "kind")
		return findings
	}
	for _, r := range p.Related {
		at := slices.Clip(r.At)
		if r.Kind.secret() && r.Watch && !d.Written(append(slices.Clone(at), "watch")...) {
			warn(every(r.FixedNamespace),
				"set watch: false, so that changes take effect at the next resync; or set watch: true to accept this",
				append(at, "kind")...)
		}
	}
	for i, c := range p.Children {
		if !c.Kind.secret() || len(c.Generate) > 0 {
			continue
		}
		path := []string{"spec", "children", strconv.Itoa(i), "kind"}
		if c.Object != nil {
			path = []string{"spec", "children", strconv.Itoa(i), "template", "kind"}
		}
		warn("the Secret", closed, path...)
	}
	return findings
}

// steppedSecrets warns of Secrets that are parameters between the pods of a Workflow.
func steppedSecrets(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	if !p.Reconcile.Execution.PodPerStep {
		return nil
	}
	warn := func(path ...string) {
		findings.Warn(d.Position(path...), diag.SecretExposed,
			"the Secret becomes a parameter of the Workflow, and can be read by everyone who can read Workflows",
			"use the engine workflow, which passes nothing between pods: reconcile: {engine: workflow}")
	}
	if p.API.Kind.secret() {
		warn("spec", "api", "existing", "kind")
	}
	for i, c := range p.Children {
		if c.Kind.secret() {
			warn("spec", "children", strconv.Itoa(i), "kind")
		}
	}
	return findings
}

// writtenSecrets warns of values of Secrets that a definition writes elsewhere.
func writtenSecrets(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	warn := func(field, kind, of string, where Kind, path ...string) {
		findings.Warn(d.Position(path...), diag.SecretExposed,
			fmt.Sprintf("%s of the %s contains %s, a value of a Secret: %s", field, kind, of, readers(where, field)),
			keepSecret(field, where, of))
	}
	targets := func(key string, list []Child) {
		for i, c := range list {
			for _, copied := range p.copies(c, nil) {
				field := strings.Join(copied.path, ".")
				if name := field == "metadata.name" || field == "metadata.namespace"; c.Kind.secret() && !name {
					continue
				}
				warn(field, c.Kind.Kind, copied.of, c.Kind, append([]string{"spec", key, strconv.Itoa(i), "template"}, copied.path...)...)
			}
		}
	}
	targets("children", p.Children)
	targets("patches", p.Patches)
	for _, f := range p.Status.Fields {
		for _, part := range f.Value.Parts() {
			for _, origin := range part.Origins() {
				if of := p.secretOrigin(origin, Child{}, nil); of != "" {
					path := append([]string{"status", f.Name}, part.Path...)
					warn(strings.Join(path, "."), p.API.Kind.Kind, of, p.API.Kind, append([]string{"spec"}, path...)...)
					break
				}
			}
		}
	}
	return findings
}

// viewed are the groups whose namespaced kinds the ClusterRole view of Kubernetes may read.
var viewed = []string{"", "apps", "batch", "autoscaling", "networking.k8s.io", "policy"}

// readers says who can read a field of a kind.
func readers(k Kind, field string) string {
	switch {
	case field == "metadata.name" || field == "metadata.namespace":
		return "names are in the status, in Events and in logs"
	case k.Namespaced && slices.Contains(viewed, k.Group):
		return fmt.Sprintf("everyone who can read %s can read it, for example with the ClusterRole view", article.With(k.Kind))
	}
	return fmt.Sprintf("everyone who can read %s can read it", article.With(k.Kind))
}

// keepSecret returns what to write instead of a value.
func keepSecret(field string, where Kind, of string) string {
	changed := fmt.Sprintf("a fingerprint of it (${ %s | fingerprint }) tells that it changed", of)
	switch {
	case strings.Contains(field, ".env."):
		return "let the Pod read the Secret: valueFrom: {secretKeyRef: {name: NAME, key: KEY}}; " + changed
	case where.Kind == "ConfigMap" && strings.HasPrefix(field, "data"):
		return "write it to a Secret instead of the ConfigMap; " + changed
	}
	return "write the name of the Secret, whose readers have the permission; " + changed
}
