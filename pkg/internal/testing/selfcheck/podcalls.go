package selfcheck

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// executorCalls returns the calls of Argo's executor, which reports the result of
// every pod.
func executorCalls(o objects) []argo.Call {
	var out []argo.Call
	for _, p := range o.Pods() {
		at := argo.Call{
			Account: argo.Account{Namespace: p.Namespace, Name: p.Executor()}, Group: argo.Group, Resource: "workflowtaskresults",
			Namespace: p.Namespace, Why: "Argo's executor reports the outcome", In: p.In, Path: p.Path,
		}
		out = append(out, each(at, "create", "patch")...)
	}
	return out
}

// commands of templates/runtime/reconcile.py, and that of a worker. Their API calls are not listed here:
// TestOperators of pkg/internal/run/testsuite compares the permissions with their
// actual requests.
var commands = []string{"read", "apply", "report", "resync", "enqueue", "rotate", "steps-read", "steps-set-owner", "steps-status", argo.WorkerCommand}

// scriptAccounts returns the service accounts of pods that run this program.
func scriptAccounts(o objects) []argo.Account {
	var out []argo.Account
	for _, p := range o.pods() {
		if len(p.Scripts(o.Objects)) > 0 {
			out = append(out, argo.Account{Namespace: p.Namespace, Name: p.Account()})
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
func resourceCalls(o objects) []argo.Call {
	var out []argo.Call
	for _, l := range o.Launches() {
		pods := l.Pods()
		for _, p := range pods {
			if p.Template.Resource == nil {
				continue
			}
			for _, at := range resourceTargets(o, p, pods) {
				at.Account = argo.Account{Namespace: p.Namespace, Name: p.Executor()}
				at.Why, at.In, at.Path = "the resource template "+p.Template.Name, p.In, p.Path
				out = append(out, each(at, actionVerbs[p.Template.Resource.Action]...)...)
			}
		}
	}
	return out
}

func resourceTargets(o objects, p argo.Pod, pods []argo.Pod) []argo.Call {
	var object metav1.PartialObjectMetadata
	if err := yaml.Unmarshal([]byte(p.Template.Resource.Manifest), &object); err == nil && object.Kind != "" {
		kind := object.GroupVersionKind()
		namespace := object.Namespace
		if namespace == "" || strings.Contains(namespace, "{{") {
			namespace = p.Namespace
		}
		return []argo.Call{{Group: kind.Group, Resource: pluralOf(o, kind), Namespace: namespace, Name: object.Name}}
	}
	var out []argo.Call
	for _, b := range pods {
		for _, s := range b.Scripts(o.Objects) {
			for _, k := range s.Config.Children {
				namespaces := []string{""}
				if k.Namespaced && len(s.Config.WatchNamespaces) > 0 {
					namespaces = s.Config.WatchNamespaces
				}
				for _, namespace := range namespaces {
					out = append(out, argo.Call{Group: k.Group(), Resource: k.Plural, Namespace: namespace})
				}
			}
		}
	}
	return out
}

// pluralOf returns the plural that kubectl discovers for a kind: from its
// CustomResourceDefinition, or of a built-in kind. Otherwise it guesses from the
// lower-case kind.
func pluralOf(o objects, kind schema.GroupVersionKind) string {
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](o.Objects) {
		if crd.Spec.Group == kind.Group && crd.Spec.Names.Kind == kind.Kind {
			return crd.Spec.Names.Plural
		}
	}
	if known, ok := shapes.FindBuiltin(kind.GroupVersion().String(), kind.Kind); ok {
		return known.Plural
	}
	return shapes.GuessedPlural(strings.ToLower(kind.Kind))
}
