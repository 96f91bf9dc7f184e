package cluster

import (
	"net/url"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Kind describes a kind of objects.
type Kind struct {
	schema.GroupVersionKind
	Plural     string
	Namespaced bool
	Status     bool // has a status subresource
	Approval   bool // has an approval subresource
	Generation bool // increments metadata.generation when the spec changes
	Annotated  bool // and when the annotations change
	Builtin    bool // part of Kubernetes

	Fields *apiextensionsv1.JSONSchemaProps                // of a custom kind; nil if unknown
	scale  *apiextensionsv1.CustomResourceSubresourceScale // nil if there is no scale subresource

	storage bool // objects of a custom kind are stored in this version
}

// Resource returns the group and plural of the kind.
func (k Kind) Resource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Plural}
}

// Path returns the path of an object in the API.
func (k Kind) Path(namespace, name string) string {
	if !k.Namespaced {
		namespace = ""
	}
	return Path(k.GroupVersion().WithResource(k.Plural), namespace, name)
}

// Path returns the path of an object in the API; its namespace is empty if it has none.
func Path(r schema.GroupVersionResource, namespace, name string) string {
	path := shapes.APIPath(r.GroupVersion())
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + r.Resource + "/" + url.PathEscape(name)
}

// has reports whether the kind has a subresource that requests may name.
func (k Kind) has(subresource string) bool {
	return k.Status && subresource == "status" || k.Approval && subresource == shapes.Approval
}

// Replicas returns the paths of the replicas of objects, wanted and present; false: the kind
// has no scale subresource.
func (k Kind) Replicas() (spec, status []string, ok bool) {
	switch {
	case k.scale != nil:
		path := func(p string) []string { return strings.Split(strings.TrimPrefix(p, "."), ".") }
		return path(k.scale.SpecReplicasPath), path(k.scale.StatusReplicasPath), true
	case k.Builtin && k.Group == "apps" && slices.Contains([]string{"deployments", "replicasets", "statefulsets"}, k.Plural):
		return []string{"spec", "replicas"}, []string{"status", "replicas"}, true
	}
	return nil, nil, false
}

// BuiltinKinds returns the kinds of Kubernetes, each once for all versions of its
// group.
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
			Status: b.HasStatus(), Approval: b.HasSubresource(shapes.Approval), Generation: b.HasGeneration(),
			Annotated: b.CountsAnnotations(), Builtin: true,
		})
	}
	return out
}

// CustomKinds returns the kinds that the operators' objects define and those that
// their definitions describe. Of duplicates, the one with a schema comes first.
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

// kindsOf returns one Kind for each version of a CRD.
func kindsOf(crd *apiextensionsv1.CustomResourceDefinition) []Kind {
	var out []Kind
	for _, v := range crd.Spec.Versions {
		k := Kind{
			GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind},
			Plural:           crd.Spec.Names.Plural,
			Namespaced:       crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			Status:           v.Subresources != nil && v.Subresources.Status != nil,
			Generation:       true,
			storage:          v.Storage,
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

// Kinds are all kinds that a cluster serves.
type Kinds struct{ List []Kind }

// At returns the kind behind a path. An unknown one is assumed to be a namespaced
// custom kind with a status subresource; its name is learned from the first object.
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

// versionsOf returns a kind in each of its versions whose fields are known, one of each.
func (k *Kinds) versionsOf(kind Kind) []Kind {
	out := []Kind{kind}
	for _, one := range k.List {
		same := func(known Kind) bool { return known.GroupVersionKind == one.GroupVersionKind }
		if one.GroupKind() == kind.GroupKind() && one.Fields != nil && !slices.ContainsFunc(out, same) {
			out = append(out, one)
		}
	}
	return out
}

// serve reports whether there is a kind in its version.
func (k *Kinds) serve(kind Kind) bool {
	if kind.Builtin {
		_, ok := shapes.FindBuiltin(kind.GroupVersion().String(), kind.Kind)
		return ok
	}
	return slices.ContainsFunc(k.List, func(one Kind) bool { return one.GroupVersionKind == kind.GroupVersionKind })
}

// known finds a kind of a group. All versions of a kind share its names and scope;
// the fields of an undescribed version are unknown.
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

// Of returns the kind of an object. The plural of an unknown kind is guessed as
// Argo does.
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

// Watched returns the resources that the EventSources watch.
func Watched(objects []manifest.Object) []schema.GroupVersionResource {
	return watchedResources(objects, func(eventsv1.ResourceEventSource) bool { return true })
}

// Unfiltered returns the resources of which the EventSources watch every object.
func Unfiltered(objects []manifest.Object) []schema.GroupVersionResource {
	return watchedResources(objects, func(e eventsv1.ResourceEventSource) bool { return e.Filter == nil })
}

func watchedResources(objects []manifest.Object, which func(eventsv1.ResourceEventSource) bool) []schema.GroupVersionResource {
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
