package selfcheck

import (
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// objects are the emitted objects, with results that are computed once for all checks.
type objects struct {
	argo.Objects
	programs      map[string]*Program // by source text
	requests      func() []Request
	clusterScoped func() map[string]bool
}

func newObjects(list argo.Objects) objects {
	o := objects{Objects: list, programs: map[string]*Program{}}
	o.requests = sync.OnceValue(func() []Request { return requestsIn(o) })
	o.clusterScoped = sync.OnceValue(func() map[string]bool { return clusterScopedIn(o) })
	return o
}

// clusterScopedIn returns which kinds are cluster-scoped, by plural.group.
func clusterScopedIn(o objects) map[string]bool {
	out := map[string]bool{}
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](o.Objects) {
		out[crd.Spec.Names.Plural+"."+crd.Spec.Group] = crd.Spec.Scope == apiextensionsv1.ClusterScoped
	}
	for _, p := range o.pods() {
		for _, s := range p.Scripts(o.Objects) {
			for _, k := range append(slices.Clone(s.Config.Children), s.Config.Parent) {
				out[k.Plural+"."+k.Group()] = !k.Namespaced
			}
		}
	}
	for _, q := range o.requests() {
		out[q.Kind.Resource+"."+q.Kind.Group] = q.namespace == ""
	}
	return out
}
