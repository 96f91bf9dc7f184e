package simulate

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/manifest"
	shapes "github.com/argoperator/argoperator/pkg/schema"
)

// Kind is what a cluster knows of a kind of objects.
type Kind struct {
	schema.GroupVersionKind
	Plural     string
	Namespaced bool
	Status     bool // it has a status subresource
	Generation bool // it counts the changes of what is wanted
	Builtin    bool // it is one of Kubernetes itself

	fields *apiextensionsv1.JSONSchemaProps                // of a custom kind; nil where they are not known
	scale  *apiextensionsv1.CustomResourceSubresourceScale // nil where there is none
}

func (k Kind) resource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Plural}
}

// builtin are the kinds of Kubernetes itself: group, plural, kind, and how they
// differ: c cluster-scoped, s with a status subresource, g with a generation.
const builtin = `
core configmaps ConfigMap
core endpoints Endpoints
core events Event
core limitranges LimitRange
core namespaces Namespace cs
core nodes Node cs
core persistentvolumeclaims PersistentVolumeClaim s
core persistentvolumes PersistentVolume cs
core pods Pod s
core podtemplates PodTemplate
core replicationcontrollers ReplicationController sg
core resourcequotas ResourceQuota s
core secrets Secret
core serviceaccounts ServiceAccount
core services Service s
apiextensions.k8s.io customresourcedefinitions CustomResourceDefinition csg
apps controllerrevisions ControllerRevision
apps daemonsets DaemonSet sg
apps deployments Deployment sg
apps replicasets ReplicaSet sg
apps statefulsets StatefulSet sg
autoscaling horizontalpodautoscalers HorizontalPodAutoscaler s
batch cronjobs CronJob sg
batch jobs Job sg
coordination.k8s.io leases Lease
discovery.k8s.io endpointslices EndpointSlice g
networking.k8s.io ingressclasses IngressClass cg
networking.k8s.io ingresses Ingress sg
networking.k8s.io networkpolicies NetworkPolicy g
policy poddisruptionbudgets PodDisruptionBudget sg
rbac.authorization.k8s.io clusterrolebindings ClusterRoleBinding c
rbac.authorization.k8s.io clusterroles ClusterRole c
rbac.authorization.k8s.io rolebindings RoleBinding
rbac.authorization.k8s.io roles Role
scheduling.k8s.io priorityclasses PriorityClass cg
storage.k8s.io storageclasses StorageClass c
`

func builtinKinds() []Kind {
	var out []Kind
	for line := range strings.Lines(strings.TrimSpace(builtin)) {
		words := append(strings.Fields(line), "")
		k := Kind{
			GroupVersionKind: schema.GroupVersionKind{Group: words[0], Kind: words[2]},
			Plural:           words[1],
			Namespaced:       !strings.Contains(words[3], "c"),
			Status:           strings.Contains(words[3], "s"),
			Generation:       strings.Contains(words[3], "g"),
			Builtin:          true,
		}
		if k.Group == "core" {
			k.Group = ""
		}
		out = append(out, k)
	}
	return out
}

// customKinds are those that the operator's objects bring along or speak of.
func customKinds(objects []manifest.Object) []Kind {
	var out []Kind
	for _, o := range objects {
		crd, ok := o.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			continue
		}
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
				k.fields = v.Schema.OpenAPIV3Schema
			}
			out = append(out, k)
		}
	}
	return out
}

// kinds are all that a cluster knows.
type kinds struct{ list []Kind }

// at is the kind behind a path. One that nothing is known of is taken for a
// custom kind with a status; what it is called is learnt from the first object.
func (k *kinds) at(gv schema.GroupVersion, plural string) Kind {
	for _, known := range k.list {
		if known.Group == gv.Group && known.Plural == plural && (known.Version == "" || known.Version == gv.Version) {
			known.Version = gv.Version
			return known
		}
	}
	return Kind{
		GroupVersionKind: gv.WithKind(""), Plural: plural,
		Namespaced: true, Status: true, Generation: true,
	}
}

// of is the kind of an object. Of a kind that is not known the plural is
// guessed, as Argo does.
func (k *kinds) of(gvk schema.GroupVersionKind, watched []schema.GroupVersionResource) Kind {
	for _, known := range k.list {
		if known.Group == gvk.Group && known.Kind == gvk.Kind && (known.Version == "" || known.Version == gvk.Version) {
			known.Version = gvk.Version
			return known
		}
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
	unknown := k.at(gvk.GroupVersion(), guess)
	unknown.Kind = gvk.Kind
	return unknown
}

// watched are the resources that the EventSources look at.
func watched(objects []manifest.Object) []schema.GroupVersionResource {
	return looked(objects, func(eventsv1.ResourceEventSource) bool { return true })
}

// unfiltered are those of which they look at every object.
func unfiltered(objects []manifest.Object) []schema.GroupVersionResource {
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
