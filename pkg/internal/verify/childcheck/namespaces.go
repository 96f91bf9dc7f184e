package childcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// checkNamespaces warns of custom resources that choose where the operator writes and
// reads, and reports fixed namespaces that are not allowed.
func checkNamespaces(p *plan.Plan, d *definition.Definition) diag.List {
	r := reach{p: p, d: d, flow: p.Flow(d), told: map[string]bool{}}
	r.permissions()
	for _, w := range written(p, d) {
		r.rights(w)
		switch c := w.child; {
		case c.Object == nil:
		case c.Kind.Namespaced && c.SameNamespace:
			if w.takesExisting() && !r.isOwner(w) {
				r.beside(w)
			}
		case c.Kind.Namespaced:
			if !r.namespace(w) && w.takesExisting() && p.API.Kind.Namespaced {
				r.name(w)
			}
			r.findings = append(r.findings, disallowed(p, c.Namespace, d, append(w.at, "namespace"))...)
		case p.API.Kind.Namespaced:
			r.name(w)
		}
	}
	for _, related := range p.Related {
		at := related.At
		r.related(related, related.NamespaceText, at)
		if related.FixedNamespace != "" {
			r.findings = append(r.findings, disallowed(p, related.Namespace, d, append(at, "namespace"))...)
		}
	}
	return r.findings
}

// reach is what users reach through the operator.
type reach struct {
	p        *plan.Plan
	d        *definition.Definition
	flow     *plan.Flow
	told     map[string]bool // sources with a finding
	findings diag.List
}

func (r *reach) warn(at []string, format string, values ...any) {
	r.findings.Warn(r.d.Position(at...), diag.UnrestrictedTarget, fmt.Sprintf(format, values...), r.hint(at))
}

// hint returns how to restrict a namespace or a name.
func (r *reach) hint(at []string) string {
	if at[len(at)-1] == "name" {
		return "list the names in an enum of the schema, or compute the name from ${ .metadata.namespace }"
	}
	own := "leave the namespace out, so that it is that of the custom resource"
	if !r.p.API.Kind.Namespaced {
		own = "list the namespaces in an enum of the schema"
	}
	return own + `; or list those that all of these users may reach: install: {allowedNamespaces: ["shared-*"]}`
}

// namespace warns of the namespace of a child or a patch. It reports whether users choose any.
func (r *reach) namespace(w target) bool {
	if r.p.Install.AllowedNamespaces != "" || r.p.WaitsForNamespace(w.child) || r.isPrefixed(w.text("namespace")) {
		return false
	}
	source, free := firstFree(r.flow.Program(w.child, w.child.Namespace))
	if !free || r.told[source.Path] {
		return free
	}
	r.told[source.Path] = true // once for all children
	r.warn(
		append(w.at, "namespace"),
		"metadata.namespace depends on %s: %s can write to any namespace with the permissions of the operator",
		source,
		source.By,
	)
	return true
}

// name warns of the name of a child or patch that is not in the namespace of its custom
// resource. Fixed text keeps a new object apart from those of others, and not an object that
// exists.
func (r *reach) name(w target) {
	exists := w.takesExisting()
	sources := r.flow.Program(w.child, w.child.ObjectName)
	source, free := firstFree(sources)
	own := func(s plan.Source) bool { return s.Path == ".metadata.namespace" || s.Path == ".metadata.uid" }
	if !free || slices.ContainsFunc(sources, own) || !exists && (!startsComputed(w.text("name")) || source.Path == ".metadata.name") {
		return
	}
	r.warn(append(w.at, "name"), "metadata.name depends on %s: %s can %s %s of any name with the permissions of the operator",
		source, source.By, w.verb, article.With(w.child.Kind.Kind))
}

// beside warns of the name of an existing object in the namespace of the custom resource: its author may have no rights
// on objects of this kind there.
func (r *reach) beside(w target) {
	source, free := firstFree(r.flow.Program(w.child, w.child.ObjectName))
	if !free {
		return
	}
	hint := "compute the name from a field with an enum in the schema"
	if w.child.Adopt {
		hint += ", or remove adopt: true"
	}
	r.findings.Warn(r.d.Position(append(w.at, "name")...), diag.UnrestrictedTarget,
		fmt.Sprintf("metadata.name depends on %s: %s can %s %s of any name in the namespace of the %s, with the permissions of the "+
			"operator", source, source.By, w.verb, article.With(w.child.Kind.Kind), r.p.API.Kind.Kind),
		fmt.Sprintf("%s; if these users may change every %s there anyway, accept this", hint, w.child.Kind.Kind))
}

// isOwner reports whether a patch is of the custom resource itself, which its author may write.
func (r *reach) isOwner(w target) bool {
	of, own := w.child.Kind, r.p.API.Kind
	return of.Group == own.Group && of.Kind == own.Kind && w.child.ObjectName.Source() == ".metadata.name"
}

// related warns of the namespace of related objects. Users who select objects of all
// namespaces choose it, too.
func (r *reach) related(one plan.Related, namespace string, at []string) {
	if !one.ChoosesNamespace() || r.p.Install.AllowedNamespaces != "" || r.isPrefixed(namespace) {
		return
	}
	program, value := one.Namespace, "metadata.namespace"
	if one.Everywhere {
		program, value = one.Selection, "the selection in all namespaces"
	}
	if source, free := firstFree(r.flow.Program(plan.Child{}, program)); free {
		r.warn(append(at, "namespace"), "%s depends on %s: %s can read %s of any namespace with the permissions of the operator",
			value, source, source.By, article.With(one.Kind.Kind))
	}
}

// isPrefixed reports whether fixed text limits a namespace. It does for the authors of
// cluster-scoped custom resources, and not where tenants have some of these namespaces.
func (r *reach) isPrefixed(text string) bool {
	return !r.p.API.Kind.Namespaced && !startsComputed(text)
}

func startsComputed(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "${") }

// firstFree returns the first source that users choose.
func firstFree(sources []plan.Source) (plan.Source, bool) {
	i := slices.IndexFunc(sources, plan.Source.Free)
	if i < 0 {
		return plan.Source{}, false
	}
	return sources[i], true
}

// target is what a template of the definition is written to.
type target struct {
	child    plan.Child
	template map[string]any
	at       []string // of its metadata
	verb     string
}

// takesExisting reports whether the object may be one of others.
func (t target) takesExisting() bool { return t.verb == "change" || t.child.Adopt }

// text returns a field of the metadata as it is written.
func (t target) text(field string) string {
	text, _ := schema.ValueAt(t.template, "metadata", field).(string)
	return text
}

// written returns the children and the patches.
func written(p *plan.Plan, d *definition.Definition) []target {
	var out []target
	for i, c := range p.Children {
		out = append(
			out,
			target{
				c,
				d.Operator.Spec.Children[i].Template,
				[]string{"spec", "children", strconv.Itoa(i), "template", "metadata"},
				map[bool]string{true: "take over", false: "create"}[c.Adopt],
			},
		)
	}
	for i, c := range p.Patches {
		out = append(
			out,
			target{c, d.Operator.Spec.Patches[i].Template, []string{"spec", "patches", strconv.Itoa(i), "template", "metadata"}, "change"},
		)
	}
	return out
}

// disallowed reports a fixed namespace of the definition that is not allowed.
func disallowed(p *plan.Plan, namespace *expression.Program, d *definition.Definition, at []string) diag.List {
	var findings diag.List
	if namespace == nil || p.Install.AllowedNamespaces == "" {
		return nil
	}
	if fixed, _ := namespace.Const(); fixed != nil && !regexp.MustCompile(p.Install.AllowedNamespaces).MatchString(fmt.Sprint(fixed)) {
		findings.Add(
			d.Position(at...),
			diag.BadValue,
			fmt.Sprintf("namespace %v is not one of install.allowedNamespaces", fixed),
			"add it there, or use another namespace",
		)
	}
	return findings
}
