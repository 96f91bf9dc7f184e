package argo

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// executorCalls returns the calls of Argo's executor, which reports the result of
// every pod.
func executorCalls(o Objects) []Call {
	var out []Call
	for _, p := range o.Pods() {
		at := Call{
			Account: Account{p.Namespace, p.Executor()}, Group: Group, Resource: "workflowtaskresults",
			Namespace: p.Namespace, Why: "Argo's executor reports the outcome", In: p.In, Path: p.Path,
		}
		out = append(out, at.each("create", "patch")...)
	}
	return out
}

// Commands of templates/runtime/reconcile.py. Their API calls are not listed here:
// TestOperators of pkg/internal/run/testsuite compares the permissions with their
// actual requests.
var Commands = []string{"read", "apply", "report", "resync", "enqueue", "rotate", "steps-read", "steps-set-owner", "steps-status"}

// ScriptAccounts returns the service accounts of pods that run this program.
func ScriptAccounts(o Objects) []Account {
	var out []Account
	for _, p := range o.Pods() {
		if len(p.Scripts(o)) > 0 {
			out = append(out, Account{p.Namespace, p.account()})
		}
	}
	return out
}

// actionVerbs are the verbs that kubectl needs for a resource template's action.
var actionVerbs = map[string][]string{
	"get": {"get"}, "create": {"create"}, "apply": {"get", "create", "patch"},
	"patch": {"patch"}, "replace": {"get", "update"}, "delete": {"delete"},
}

// resourceCalls returns the calls of resource templates. If the manifest is not
// known statically, they may affect every kind of child.
func resourceCalls(o Objects) []Call {
	var out []Call
	for _, l := range o.Launches() {
		pods := l.Pods()
		for _, p := range pods {
			if p.Template.Resource == nil {
				continue
			}
			for _, at := range resourceTargets(o, p, pods) {
				at.Account = Account{p.Namespace, p.Executor()}
				at.Why, at.In, at.Path = "the resource template "+p.Template.Name, p.In, p.Path
				out = append(out, at.each(actionVerbs[p.Template.Resource.Action]...)...)
			}
		}
	}
	return out
}

func resourceTargets(o Objects, p Pod, pods []Pod) []Call {
	var object metav1.PartialObjectMetadata
	if err := yaml.Unmarshal([]byte(p.Template.Resource.Manifest), &object); err == nil && object.Kind != "" {
		kind := object.GroupVersionKind()
		namespace := object.Namespace
		if namespace == "" || strings.Contains(namespace, "{{") {
			namespace = p.Namespace
		}
		return []Call{{Group: kind.Group, Resource: pluralOf(o, kind), Namespace: namespace, Name: object.Name}}
	}
	var out []Call
	for _, b := range pods {
		for _, s := range b.Scripts(o) {
			for _, k := range s.Config.Children {
				namespaces := []string{""}
				if k.Namespaced && len(s.Config.WatchNamespaces) > 0 {
					namespaces = s.Config.WatchNamespaces
				}
				for _, namespace := range namespaces {
					out = append(out, Call{Group: k.Group(), Resource: k.Plural, Namespace: namespace})
				}
			}
		}
	}
	return out
}

// pluralOf returns the plural that kubectl discovers for a kind: from its
// CustomResourceDefinition, or of a built-in kind. Otherwise it guesses from the
// lower-case kind.
func pluralOf(o Objects, kind schema.GroupVersionKind) string {
	for _, crd := range All[*apiextensionsv1.CustomResourceDefinition](o) {
		if crd.Spec.Group == kind.Group && crd.Spec.Names.Kind == kind.Kind {
			return crd.Spec.Names.Plural
		}
	}
	if known, ok := shapes.FindBuiltin(kind.GroupVersion().String(), kind.Kind); ok {
		return known.Plural
	}
	return shapes.GuessedPlural(strings.ToLower(kind.Kind))
}
