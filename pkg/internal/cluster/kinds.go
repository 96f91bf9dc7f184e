package cluster

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	shapes "github.com/argoperator/argoperator/pkg/internal/schema"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Kind is what a cluster knows of a kind of objects.
type Kind struct {
	schema.GroupVersionKind
	Plural     string
	Namespaced bool
	Status     bool // it has a status subresource
	Generation bool // it counts the changes of what is wanted
	Builtin    bool // it is one of Kubernetes itself

	Fields *apiextensionsv1.JSONSchemaProps                // of a custom kind; nil where they are not known
	scale  *apiextensionsv1.CustomResourceSubresourceScale // nil where there is none
}

// Resource is the kind as a path of the API server names it.
func (k Kind) Resource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Plural}
}

// BuiltinKinds are the kinds of Kubernetes itself, each once, for every version of
// its group.
func BuiltinKinds() []Kind {
	var out []Kind
	seen := map[schema.GroupKind]bool{}
	for _, b := range shapes.BuiltinKinds() {
		gk := schema.GroupKind{Group: b.Group, Kind: b.Kind}
		if seen[gk] {
			continue
		}
		seen[gk] = true
		out = append(out, Kind{
			GroupVersionKind: gk.WithVersion(""), Plural: b.Plural, Namespaced: b.Namespaced(),
			Status: b.HasStatus(), Generation: b.HasGeneration(), Builtin: true,
		})
	}
	return out
}

// CustomKinds are those that the operators' objects define, and those that their
// definitions describe. Of a kind that is described twice, the one with a schema
// comes first.
func CustomKinds(objects []manifest.Object, described []*apiextensionsv1.CustomResourceDefinition) []Kind {
	var out []Kind
	for _, o := range objects {
		if crd, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok {
			out = append(out, kindsOf(crd)...)
		}
	}
	for _, crd := range described {
		out = append(out, kindsOf(crd)...)
	}
	slices.SortStableFunc(out, func(a, b Kind) int {
		switch {
		case (a.Fields == nil) == (b.Fields == nil):
			return 0
		case a.Fields != nil:
			return -1
		}
		return 1
	})
	return out
}

// kindsOf are the versions of a kind.
func kindsOf(crd *apiextensionsv1.CustomResourceDefinition) []Kind {
	var out []Kind
	for _, v := range crd.Spec.Versions {
		k := Kind{
			GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind},
			Plural:           crd.Spec.Names.Plural,
			Namespaced:       crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			Status:           v.Subresources != nil && v.Subresources.Status != nil,
			Generation:       true,
		}
		if v.Subresources != nil {
			k.scale = v.Subresources.Scale
		}
		if v.Schema != nil {
			k.Fields = v.Schema.OpenAPIV3Schema
		}
		out = append(out, k)
	}
	return out
}

// Kinds are all that a cluster knows.
type Kinds struct{ List []Kind }

// At is the kind behind a path. One that nothing is known of is taken for a
// custom kind with a status; what it is called is learnt from the first object.
func (k *Kinds) At(gv schema.GroupVersion, plural string) Kind {
	known, ok := k.known(gv, func(known Kind) bool { return known.Plural == plural })
	if ok {
		return known
	}
	return Kind{
		GroupVersionKind: gv.WithKind(""), Plural: plural,
		Namespaced: true, Status: true, Generation: true,
	}
}

// known is the kind of a group that fits. All versions of a kind have its names
// and its scope; of a version that nobody has described the fields are not known.
func (k *Kinds) known(gv schema.GroupVersion, fits func(Kind) bool) (Kind, bool) {
	other := -1
	for i, one := range k.List {
		if one.Group != gv.Group || !fits(one) {
			continue
		}
		if one.Version == "" || one.Version == gv.Version {
			one.Version = gv.Version
			return one, true
		}
		if other < 0 {
			other = i
		}
	}
	if other < 0 {
		return Kind{}, false
	}
	out := k.List[other]
	out.Version, out.Fields, out.scale = gv.Version, nil, nil
	return out, true
}

// Of is the kind of an object. Of a kind that is not known the plural is
// guessed, as Argo does.
func (k *Kinds) Of(gvk schema.GroupVersionKind, watched []schema.GroupVersionResource) Kind {
	if known, ok := k.known(gvk.GroupVersion(), func(known Kind) bool { return known.Kind == gvk.Kind }); ok {
		return known
	}
	plural, singular := shapes.GuessedPlural(gvk.Kind), strings.ToLower(gvk.Kind)
	same := slices.DeleteFunc(slices.Clone(watched), func(r schema.GroupVersionResource) bool {
		return r.GroupVersion() != gvk.GroupVersion()
	})
	guess := plural
	if i := slices.IndexFunc(same, func(r schema.GroupVersionResource) bool {
		return r.Resource == plural || strings.HasPrefix(r.Resource, singular)
	}); i >= 0 {
		guess = same[i].Resource
	}
	unknown := k.At(gvk.GroupVersion(), guess)
	unknown.Kind = gvk.Kind
	return unknown
}

// Watched are the resources that the EventSources look at.
func Watched(objects []manifest.Object) []schema.GroupVersionResource {
	return looked(objects, func(eventsv1.ResourceEventSource) bool { return true })
}

// Unfiltered are those of which they look at every object.
func Unfiltered(objects []manifest.Object) []schema.GroupVersionResource {
	return looked(objects, func(e eventsv1.ResourceEventSource) bool { return e.Filter == nil })
}

func looked(objects []manifest.Object, which func(eventsv1.ResourceEventSource) bool) []schema.GroupVersionResource {
	var out []schema.GroupVersionResource
	for _, o := range objects {
		source, ok := o.(*eventsv1.EventSource)
		if !ok {
			continue
		}
		for _, e := range source.Spec.Resource {
			if which(e) {
				out = append(out, schema.GroupVersionResource{Group: e.Group, Version: e.Version, Resource: e.Resource})
			}
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionResource) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}
