package check

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	shapes "github.com/argoperator/argoperator/pkg/schema"
)

// executorCalls: every pod of a Workflow tells the controller how it went.
func executorCalls(o objects) []call {
	var out []call
	for _, p := range o.pods() {
		at := call{
			account: account{p.namespace, p.executor()}, group: argoGroup, resource: "workflowtaskresults",
			namespace: p.namespace, why: "Argo's executor reports the outcome", in: p.in, path: p.path,
		}
		out = append(out, at.each("create", "patch")...)
	}
	return out
}

// scriptCalls: what each command of the pod-side script (templates/runtime/
// reconcile.py) asks of the API server, read from that program. A function
// narrows a verb to when it is needed; a new command is a new line.
var scriptTable = []struct {
	command string
	on      target
	verbs   string
	when    func(script, runtimeKind) bool
}{
	{"read", parent, "get", always},
	{"read", parent, "patch", holding},
	{"read", relatedByName, "get", always},
	{"read", relatedListed, "list", always},
	{"read", children, "delete", lettingBe},
	{"read", parentStatus, "patch", refusing},
	{"read", tellings, "create", refusingAloud},
	{"read", children, "list", always},
	{"apply", parent, "get", always},
	{"apply", parent, "patch", holdingAlone},
	{"apply", parent, "patch", noting},
	{"apply", relatedByName, "get", withoutLogic},
	{"apply", relatedListed, "list", withoutLogic},
	{"apply", relatedDoomed, "delete", always},
	{"apply", workflowsOf, "create list delete", timing},
	{"apply", parentStatus, "patch", reporting},
	{"apply", tellings, "create", announcing},
	{"apply", children, "get list create patch", always},
	{"apply", children, "delete", pruning},
	{"report", parent, "get", always},
	{"report", parentStatus, "patch", reporting},
	{"report", tellings, "create", announcing},
	{"report", workflowsOf, "get", reporting},
	{"resync", parent, "list", always},
	{"resync", parent, "patch", templating},
	{"resync", children, "list", always},
	{"resync", relatedWatched, "list", always},
	{"resync", workflowsOf, "create", submitting},
	{"resync", sourceOf, "get patch", always},
	{"resync", sensorsOf, "patch", always},
	{"wake", parent, "list", always},
	{"wake", parent, "patch", templating},
	{"wake", relatedWatched, "list", always},
	{"wake", workflowsOf, "create", submitting},
	{"rotate", tokenOfSensors, "create", always},
	{"rotate", tokenSecret, "patch", always},
	{"steps-read", parent, "get", always},
	{"steps-own", children, "get", always},
	{"steps-own", parentStatus, "patch", reporting},
	{"steps-own", tellings, "create", announcing},
	{"steps-status", parent, "get", always},
	{"steps-status", children, "list", always},
	{"steps-status", parentStatus, "patch", reporting},
	{"steps-status", tellings, "create", announcing},
}

// target is what a command acts on.
type target int

const (
	parent target = iota
	parentStatus
	children
	workflowsOf
	sourceOf
	sensorsOf
	tellings // Events about the custom resource
	relatedByName
	relatedListed
	relatedWatched
	relatedDoomed
	tokenOfSensors
	tokenSecret
)

func always(script, runtimeKind) bool           { return true }
func finalizing(s script, _ runtimeKind) bool   { return s.config.Finalizer != "" }
func withoutLogic(s script, _ runtimeKind) bool { return !s.logic }
func timing(s script, _ runtimeKind) bool       { return s.config.Later != "" }

// noting: a digest of the related objects is kept, or the logic labels the object.
func noting(s script, _ runtimeKind) bool { return len(s.config.Related) > 0 || s.config.Decorate }

// lettingBe: what was made for an object that is no longer selected goes.
func lettingBe(s script, k runtimeKind) bool { return s.config.Parent.Selected != nil && pruning(s, k) }

func reporting(s script, _ runtimeKind) bool  { return s.config.Parent.Status }
func pruning(_ script, k runtimeKind) bool    { return k.OnDelete != "Orphan" }
func templating(s script, _ runtimeKind) bool { return s.config.Templates }
func submitting(s script, _ runtimeKind) bool { return !s.config.Templates }
func refusing(s script, k runtimeKind) bool   { return s.config.Templates && reporting(s, k) }
func announcing(s script, k runtimeKind) bool { return s.config.Announce && reporting(s, k) }

// refusingAloud: before the logic only templates fail.
func refusingAloud(s script, k runtimeKind) bool { return refusing(s, k) && announcing(s, k) }

// holding: the finalizer is added, or the Sensor is asked for the children.
func holding(s script, k runtimeKind) bool { return finalizing(s, k) || templating(s, k) }

// holdingAlone: after the logic nothing is left to ask for.
func holdingAlone(s script, k runtimeKind) bool {
	return finalizing(s, k) || templating(s, k) && !s.logic
}

// kinds are the resources of a target: for children, one for each kind.
func (t target) kinds(c runtimeConfig) []runtimeKind {
	switch t {
	case parent:
		return []runtimeKind{c.Parent}
	case parentStatus:
		status := c.Parent
		status.Plural += "/status"
		return []runtimeKind{status}
	case children:
		return c.Children
	case sourceOf:
		return []runtimeKind{argoKind("eventsources", c.EventSource)}
	case sensorsOf:
		var sensors []runtimeKind
		for _, name := range c.Sensors {
			sensors = append(sensors, argoKind("sensors", name))
		}
		return sensors
	case tokenOfSensors:
		return []runtimeKind{{APIVersion: "v1", Plural: "serviceaccounts/token", Namespaced: true, name: c.Token.ServiceAccount}}
	case tokenSecret:
		return []runtimeKind{{APIVersion: "v1", Plural: "secrets", Namespaced: true, name: c.Token.Secret}}
	case relatedByName, relatedListed, relatedWatched, relatedDoomed:
		return c.relatedKinds(t)
	case tellings:
		return []runtimeKind{{APIVersion: "v1", Plural: "events", Namespaced: true}}
	}
	return []runtimeKind{argoKind("workflows", "")}
}

// relatedKinds are the kinds of related objects that are read one by one, listed,
// watched or deleted.
func (c runtimeConfig) relatedKinds(t target) []runtimeKind {
	var out []runtimeKind
	for _, r := range c.Related {
		byName := r.Rule.Object["names"] != nil && (r.Rule.text("namespace") != "*") &&
			(r.Rule.Object["namespace"] != nil || c.Parent.Namespaced || !r.Namespaced)
		meant := map[target]bool{relatedByName: byName, relatedListed: !byName, relatedWatched: r.Watch, relatedDoomed: r.Delete}
		if !meant[t] {
			continue
		}
		kind := r.runtimeKind
		if in := r.Rule.text("namespace"); in != "*" {
			kind.in = in
		}
		out = append(out, kind)
	}
	return out
}

func argoKind(plural, name string) runtimeKind {
	return runtimeKind{APIVersion: argoGroup + "/v1alpha1", Plural: plural, Namespaced: true, name: name}
}

// namespaces are where a command looks for a kind: "" is everywhere.
func (t target) namespaces(c runtimeConfig, k runtimeKind) []string {
	switch {
	case t == workflowsOf, t == sourceOf, t == sensorsOf, t == tokenOfSensors, t == tokenSecret:
		return []string{c.Namespace}
	case t == tellings && !c.Parent.Namespaced:
		return []string{"default"} // where Events about cluster-scoped objects live
	case k.in != "":
		return []string{k.in}
	case k.Namespaced && len(c.WatchNamespaces) > 0:
		return c.WatchNamespaces
	}
	return []string{""}
}

func scriptCalls(o objects) []call {
	var out []call
	for _, p := range o.pods() {
		for _, s := range p.scripts(o) {
			out = append(out, s.calls(p)...)
		}
	}
	return out
}

func (s script) calls(p pod) []call {
	var out []call
	for _, row := range scriptTable {
		if row.command != s.command {
			continue
		}
		for _, k := range row.on.kinds(s.config) {
			if !row.when(s, k) {
				continue
			}
			for _, namespace := range row.on.namespaces(s.config, k) {
				at := call{
					account: account{p.namespace, p.account()}, group: k.group(), resource: k.Plural,
					namespace: namespace, name: k.name, why: "the command " + s.command, in: p.in, path: p.path,
				}
				out = append(out, at.each(strings.Fields(row.verbs)...)...)
			}
		}
	}
	return out
}

// known says whether the script has the command.
func (s script) known() bool {
	for _, row := range scriptTable {
		if row.command == s.command {
			return true
		}
	}
	return false
}

// actionVerbs are what a resource template's kubectl does.
var actionVerbs = map[string][]string{
	"get": {"get"}, "create": {"create"}, "apply": {"get", "create", "patch"},
	"patch": {"patch"}, "replace": {"get", "update"}, "delete": {"delete"},
}

// resourceCalls: a resource template acts on the kind that its manifest states
// or, where the manifest is only known when it runs, on every kind of child.
func resourceCalls(o objects) []call {
	var out []call
	for _, l := range o.launches() {
		pods := l.pods()
		for _, p := range pods {
			if p.template.Resource == nil {
				continue
			}
			for _, at := range resourceTargets(o, p, pods) {
				at.account = account{p.namespace, p.executor()}
				at.why, at.in, at.path = "the resource template "+p.template.Name, p.in, p.path
				out = append(out, at.each(actionVerbs[p.template.Resource.Action]...)...)
			}
		}
	}
	return out
}

func resourceTargets(o objects, p pod, beside []pod) []call {
	var object metav1.PartialObjectMetadata
	if err := yaml.Unmarshal([]byte(p.template.Resource.Manifest), &object); err == nil && object.Kind != "" {
		kind := object.GroupVersionKind()
		namespace := object.Namespace
		if namespace == "" || strings.Contains(namespace, "{{") {
			namespace = p.namespace
		}
		return []call{{group: kind.Group, resource: pluralOf(o, kind), namespace: namespace, name: object.Name}}
	}
	var out []call
	for _, b := range beside {
		for _, s := range b.scripts(o) {
			for _, k := range s.config.Children {
				for _, namespace := range children.namespaces(s.config, k) {
					out = append(out, call{group: k.group(), resource: k.Plural, namespace: namespace})
				}
			}
		}
	}
	return out
}

// pluralOf is the resource that kubectl discovers for a kind: that of its
// CustomResourceDefinition where the operator emits one, or of a built-in kind.
// For others it is a guess, from the kind in lower case as resources are.
func pluralOf(o objects, kind schema.GroupVersionKind) string {
	for _, crd := range all[*apiextensionsv1.CustomResourceDefinition](o) {
		if crd.Spec.Group == kind.Group && crd.Spec.Names.Kind == kind.Kind {
			return crd.Spec.Names.Plural
		}
	}
	if known, ok := shapes.FindBuiltin(kind.GroupVersion().String(), kind.Kind); ok {
		return known.Plural
	}
	return shapes.GuessedPlural(strings.ToLower(kind.Kind))
}
