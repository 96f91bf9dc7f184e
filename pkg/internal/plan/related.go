package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/expression"
	"github.com/argoperator/argoperator/pkg/internal/schema"
	"github.com/argoperator/argoperator/pkg/internal/source"
)

// Related objects are looked after by others, and custom resources refer to
// them. Which custom resources a changed one concerns only a list of them can
// tell, and a Sensor sees none. So the Sensor starts a Workflow that looks at all
// custom resources: whose related objects are not those that it was reconciled
// with, by a digest kept on it, is reconciled. As that pod looks at all there is,
// one does for any number of changes before it: the Workflow is named after the
// moment, and its pod starts when the moment is over.

// Related is a kind of objects that custom resources refer to.
type Related struct {
	Name    string
	Kind    Kind
	Several bool // $related.NAME is a list
	Watch   bool
	Delete  bool            // the logic may delete them
	Rule    json.RawMessage // which objects: namespace, names, labelSelector, for the pod
	ByName  bool            // they are read one by one
	In      string          // their namespace, where that is always the same; empty: it is not

	Namespace *expression.Program // what is written of their namespace; nil: nothing
}

// EnqueueWindow is how many seconds of changes one Workflow handles.
const EnqueueWindow = 3

// RelatedDigest is the annotation of a custom resource that holds the digest.
const RelatedDigest = "argoperator.dev/related-digest"

// related compiles what the definition says of related objects.
func (c *compiler) related() []Related {
	var out []Related
	scope := expression.Scope{Input: c.scope.Input, Name: c.scope.Name, NoChildren: "which objects are related is computed from the custom resource alone: ."}
	for i, r := range c.d.Operator.Spec.Related {
		group, version := source.SplitAPIVersion(r.APIVersion)
		one := Related{
			Name: r.Name, Watch: *r.Watch, Delete: r.Delete, ByName: r.LabelSelector == nil,
			Several: several(r),
			Kind:    Kind{Group: group, Version: version, Kind: r.Kind, Plural: r.Plural, Namespaced: r.Scope != "Cluster", Status: true},
		}
		at := []string{"spec", "related", strconv.Itoa(i)}
		rule := map[string]any{}
		part := func(key string, value any, want schema.Type) *expression.Program {
			rule[key] = value
			program, problems := expression.Template(value, scope, want)
			c.report(problems, append(slices.Clone(at), key)...)
			return program
		}
		if r.Namespace != "" {
			one.Namespace = part("namespace", r.Namespace, schema.Of(schema.String))
			if one.ByName && r.Namespace == "*" {
				one.ByName = false // they are found in a list
			}
			if !strings.Contains(r.Namespace, "${") && r.Namespace != "*" {
				one.In = r.Namespace
			}
		} else if !c.api.Kind.Namespaced && one.Kind.Namespaced {
			one.ByName = false
		}
		if r.LabelSelector != nil {
			part("labelSelector", r.LabelSelector, nil)
		} else {
			names := make([]any, len(r.Names))
			for i, name := range r.Names {
				names[i] = name
			}
			part("names", names, schema.ListOf(schema.Of(schema.String)))
		}
		node, problems := expression.ForPod(rule)
		for _, p := range problems {
			p.Code = expression.BadExpression
			c.report([]expression.Problem{p}, at...)
		}
		one.Rule = encode(node)
		out = append(out, one)
	}
	return out
}

// several tells whether an entry may mean more than one object.
func several(r v1alpha1.Related) bool { return r.LabelSelector != nil || len(r.Names) != 1 }

// relatedTypes are the types of $related.NAME; nil where nothing is related.
func relatedTypes(d *definition.Definition) map[string]schema.Type {
	var types map[string]schema.Type
	for _, r := range d.Operator.Spec.Related {
		if types == nil {
			types = map[string]schema.Type{}
		}
		t := kindType(d.RelatedSchema(r.Name), r.APIVersion, r.Kind)
		if several(r) {
			t = schema.ListOf(t)
		}
		types[r.Name] = t
	}
	return types
}

// relatedEvents announce related objects, each kind once in a namespace.
func relatedEvents(p *Plan) []Event {
	var list []Event
	for _, r := range p.Related {
		if !r.Watch {
			continue
		}
		e := Event{Name: "related-" + dnsLabel(r.Name), Kind: r.Kind, Types: []string{"ADD", "UPDATE", "DELETE"}, Related: true}
		entries := []Event{e}
		switch {
		case r.In != "":
			entries[0].Namespace = r.In
		case r.Kind.Namespaced:
			entries = inNamespaces(e, p.Install.WatchNamespaces)
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

// EnqueueTemplate is the name of the WorkflowTemplate that finds the custom
// resources that refer to a changed object.
func (p *Plan) EnqueueTemplate() string { return p.Runtime.Operator + "-enqueue" }

// Enqueues tells whether a change of something else reconciles custom resources.
func (p *Plan) Enqueues() bool {
	return slices.ContainsFunc(p.Related, func(r Related) bool { return r.Watch })
}

// enqueueJQ lets an event of a related object pass when something changed in it. A
// new EventSource announces everything there is; the custom resources are among
// it, so of that only what is new is worth a pod.
func enqueueJQ(p *Plan) string {
	return fmt.Sprintf(`def content: del(.metadata.managedFields, .metadata.resourceVersion, .metadata.generation);
(.body.Obj // .body) as $new | .oldBody as $old | now as $now
| ($now / %[1]d | floor) as $window
| {
    go: (if .type == "DELETE" then true elif $old == null then $now - ($new.metadata.creationTimestamp | fromdateiso8601) < 600 else ($new | content) != ($old | content) end),
    name: (%[2]s + ($window | tostring)),
    wait: ((($window + 1) * %[1]d - $now | ceil) + 1 | tostring)
  }`, EnqueueWindow, quote(p.Runtime.Operator+"-enqueue-"))
}

// relatedGrants are what reading them, and waking those that refer to them, takes.
func relatedGrants(p *Plan) []Grant {
	var list []Grant
	add := func(r Related, a Account, why string, verbs ...string) {
		g := Grant{Account: a, Group: r.Kind.Group, Resource: r.Kind.Plural, Verbs: verbs, Watched: r.In == "", Namespace: r.In, Why: why}
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
			add(r, Source, "the EventSource watches related objects", "list", "watch")
		}
		verb := "list"
		if r.ByName {
			verb = "get"
		}
		add(r, Reconciler, "related objects are read for the custom resources that refer to them", verb)
		if r.Delete {
			add(r, Reconciler, "", "delete")
		}
		if r.Watch {
			add(r, Resyncer, "it is looked which custom resources refer to what has changed", "list")
		}
	}
	return list
}
