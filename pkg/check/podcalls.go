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

// commands of the pod's program, templates/runtime/reconcile.py. What they ask of
// the API server is not restated here: TestOperators of pkg/testsuite holds the
// permissions to the requests that they make.
var commands = []string{"read", "apply", "report", "resync", "wake", "rotate", "steps-read", "steps-own", "steps-status"}

// runScripts are the service accounts of pods that run this program.
func runScripts(o objects) []account {
	var out []account
	for _, p := range o.pods() {
		if len(p.scripts(o)) > 0 {
			out = append(out, account{p.namespace, p.account()})
		}
	}
	return out
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
				namespaces := []string{""}
				if k.Namespaced && len(s.config.WatchNamespaces) > 0 {
					namespaces = s.config.WatchNamespaces
				}
				for _, namespace := range namespaces {
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
