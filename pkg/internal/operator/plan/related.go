package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Other controllers manage the related objects that custom resources refer to. Only a
// list of all custom resources shows which of them refer to a changed object, and a
// Sensor does not list. So the Sensor submits a Workflow that lists all custom
// resources and reconciles those whose related objects changed since their last
// reconcile, according to a digest in an annotation. One such Workflow serves all
// changes before its start: its name is the time window of the change, and its pod
// starts after the end of the window.

// Related is a kind of objects that custom resources refer to.
type Related struct {
	Name           string
	At             []string // its place in the definition
	Kind           Kind
	Multiple       bool // $related.NAME is a list
	Watch          bool
	Delete         bool            // the logic may delete them
	Rule           json.RawMessage // the namespace, names and labelSelector, for the pod
	ByName         bool            // they are read by get, not list
	FixedNamespace string          // empty: the namespace depends on the custom resource
	Everywhere     bool            // they are in any namespace

	NamespaceText string              // as the definition has it
	Namespace     *expression.Program // nil: the definition has none
	Selection     *expression.Program // the names or the labelSelector

	chosen bool // users decide about the namespace
}

// EnqueueWindow is the length of a window in seconds.
const EnqueueWindow = 3

// RelatedDigest is the annotation of a custom resource that holds the digest.
const RelatedDigest = "argoperator.dev/related-digest"

// ReconcileRequest is the annotation of a custom resource that asks for a computation.
const ReconcileRequest = "argoperator.dev/reconcile"

// related compiles the related objects of the definition.
func (c *compiler) related() []Related {
	var out []Related
	scope := c.resourceOnly("related")
	scope.NoChildren = "related objects are selected by fields of the custom resource (.) only"
	for i, r := range c.d.Operator.Spec.Related {
		if r.Schedule != "" {
			continue
		}
		group, version := source.SplitAPIVersion(r.APIVersion)
		one := Related{
			Name: r.Name, Watch: *r.Watch, Delete: r.Delete, ByName: r.LabelSelector == nil,
			Multiple: multiple(r), At: []string{"spec", "related", strconv.Itoa(i)},
			Kind: Kind{
				Group:             group,
				Version:           version,
				Kind:              r.Kind,
				Plural:            r.Plural,
				Namespaced:        r.Scope != "Cluster",
				StatusSubresource: true,
			},
		}
		one.Everywhere = one.Kind.Namespaced && (r.Namespace == "*" || r.Namespace == "" && !c.api.Kind.Namespaced)
		at := one.At
		rule := map[string]any{}
		part := func(key string, value any, want schema.Type) *expression.Program {
			rule[key] = value
			program, problems := expression.Template(value, scope, want)
			c.report(problems, append(slices.Clone(at), key)...)
			return program
		}
		if r.Namespace != "" {
			one.NamespaceText = r.Namespace
			one.Namespace = part("namespace", r.Namespace, schema.Of(schema.String))
			if !schema.IsComputed(r.Namespace) && r.Namespace != "*" {
				one.FixedNamespace = r.Namespace
			}
		}
		one.ByName = one.ByName && !one.Everywhere // a list finds them
		if r.LabelSelector != nil {
			one.Selection = part("labelSelector", r.LabelSelector, nil)
		} else {
			names := make([]any, len(r.Names))
			for i, name := range r.Names {
				names[i] = name
			}
			one.Selection = part("names", names, schema.ListOf(schema.Of(schema.String)))
		}
		node, problems := scope.ForPod(rule)
		for _, p := range problems {
			p.Code = expression.BadExpression
			c.report([]expression.Problem{p}, at...)
		}
		one.Rule = encode(node)
		out = append(out, one)
	}
	return out
}

// multiple reports whether an entry may refer to more than one object.
func multiple(r v1alpha1.Related) bool {
	return r.LabelSelector != nil || r.Schedule == "" && len(r.Names) != 1
}

// relatedTypes returns the types of $related.NAME; nil if nothing is related.
func relatedTypes(d *definition.Definition) map[string]schema.Type {
	var types map[string]schema.Type
	for _, r := range d.Operator.Spec.Related {
		if types == nil {
			types = map[string]schema.Type{}
		}
		t := schema.OfKind(d.RelatedSchema(r.Name), r.APIVersion, r.Kind)
		if r.Schedule != "" {
			t = scheduleType()
		}
		if multiple(r) {
			t = schema.ListOf(t)
		}
		types[r.Name] = t
	}
	return types
}

// relatedEvents returns the watches of related objects, one for each kind and
// namespace.
func relatedEvents(p *decided) []Event {
	var list []Event
	for _, r := range p.Related {
		if !r.Watch {
			continue
		}
		e := Event{Name: "related-" + dnsLabel(r.Name), Kind: r.Kind, Types: []string{"ADD", "UPDATE", "DELETE"}, Related: true}
		entries := []Event{e}
		switch {
		case r.FixedNamespace != "":
			entries[0].Namespace = r.FixedNamespace
		case r.Kind.Namespaced:
			entries = inNamespaces(e, p.Shared.WatchNamespaces)
		}
		for _, entry := range entries {
			if !slices.ContainsFunc(list, func(e Event) bool {
				return e.Kind == entry.Kind && (e.Namespace == "" || e.Namespace == entry.Namespace)
			}) {
				list = append(list, entry)
			}
		}
	}
	return list
}

// EnqueueTemplate returns the name of the WorkflowTemplate that finds the custom resources
// that refer to a changed object.
func (p *declared) EnqueueTemplate() string { return p.Operator.Name + "-enqueue" }

// EnqueuesRelated reports whether changes of related objects start reconciles.
func (p *declared) EnqueuesRelated() bool {
	return slices.ContainsFunc(p.Related, func(r Related) bool { return r.Watch })
}

// enqueue returns how the Workflows for changes of related objects are named.
func (p *declared) enqueue() Enqueue { return Enqueue{p.EnqueueTemplate() + "-", EnqueueWindow} }

// enqueueJQ returns the program for events of related objects of a kind: direct/enqueue.jq.
func enqueueJQ(p *configured, k Kind) string {
	own, names := ownObjects(p, k), p.enqueue()
	return directPrograms().Program("enqueue", jqfile.Holes{
		"hole::window": jqfile.Number(names.Window), "hole::workflowPrefix": jqfile.String(names.Prefix),
		"annotation::related": jqfile.String(RelatedDigest), "annotation::reconcile": jqfile.String(ReconcileRequest),
		"option::ownKind":   jqfile.Bool(p.isParent(k)),
		"option::stays":     jqfile.Bool(p.Reconcile.Execution.Stays),
		"option::madeByRun": jqfile.Bool(own != nil), "hole::isOwn": jqfile.All(own...),
		"hole::ownNamespace": jqfile.String(p.Shared.Namespace),
	})
}

// ownObjects returns the jq that tells whether an object of a kind has the labels of those
// that the operator makes for each run; nil if it makes none of the kind.
func ownObjects(p *configured, k Kind) []jqfile.Value {
	var labels map[string]string
	switch {
	case k.Group == "" && k.Kind == "Pod":
		labels = p.Operator.Labels
	case k.Group == "argoproj.io" && k.Kind == "Workflow":
		labels = map[string]string{ManagedBy: p.Operator.Name}
	}
	var terms []jqfile.Value
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		terms = append(terms, jqfile.Raw(fmt.Sprintf("(.metadata.labels[%s] == %s)", quote(key), quote(labels[key]))))
	}
	return terms
}

// relatedGrants returns the permissions to read related objects and to reconcile the
// custom resources that refer to them.
func relatedGrants(p *configured) []Grant {
	var list []Grant
	add := func(r Related, a Account, why string, verbs ...string) {
		g := Grant{
			Account:             a,
			Group:               r.Kind.Group,
			Resource:            r.Kind.Plural,
			Verbs:               verbs,
			InWatchedNamespaces: r.FixedNamespace == "",
			Namespace:           r.FixedNamespace,
			Reason:              why,
		}
		i := slices.IndexFunc(list, func(other Grant) bool {
			return other.Account == g.Account && other.Group == g.Group && other.Resource == g.Resource && other.Namespace == g.Namespace
		})
		if i < 0 {
			list = append(list, g)
			return
		}
		for _, verb := range verbs {
			if !slices.Contains(list[i].Verbs, verb) {
				list[i].Verbs = append(list[i].Verbs, verb)
			}
		}
	}
	for _, r := range p.Related {
		if r.Watch {
			add(r, SourceAccount, "watch related objects", "list", "watch")
		}
		verb := "list"
		if r.ByName {
			verb = "get"
		}
		add(r, p.Reconcile.Execution.Writer, "read related objects", verb)
		if r.Delete {
			add(r, p.Reconcile.Execution.Writer, "", "get", "delete")
		}
		if r.Watch {
			add(r, p.resyncAccount(), "find the custom resources that refer to a changed object", "list")
		}
	}
	all := slices.Clone(list)
	return slices.DeleteFunc(list, func(g Grant) bool { return g.Namespace != "" && slices.ContainsFunc(all, g.within) })
}

// within reports whether another grant, for all watched namespaces, has the same permissions.
func (g Grant) within(wide Grant) bool {
	return wide.Namespace == "" && wide.Account == g.Account && wide.Group == g.Group && wide.Resource == g.Resource &&
		!slices.ContainsFunc(g.Verbs, func(verb string) bool { return !slices.Contains(wide.Verbs, verb) })
}
