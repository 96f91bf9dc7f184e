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
admissionregistration.k8s.io mutatingadmissionpolicies MutatingAdmissionPolicy cg
admissionregistration.k8s.io mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding cg
admissionregistration.k8s.io mutatingwebhookconfigurations MutatingWebhookConfiguration cg
admissionregistration.k8s.io validatingadmissionpolicies ValidatingAdmissionPolicy csg
admissionregistration.k8s.io validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cg
admissionregistration.k8s.io validatingwebhookconfigurations ValidatingWebhookConfiguration cg
apiextensions.k8s.io customresourcedefinitions CustomResourceDefinition csg
apiregistration.k8s.io apiservices APIService cs
apps controllerrevisions ControllerRevision
apps daemonsets DaemonSet sg
apps deployments Deployment sg
apps replicasets ReplicaSet sg
apps statefulsets StatefulSet sg
autoscaling horizontalpodautoscalers HorizontalPodAutoscaler s
batch cronjobs CronJob sg
batch jobs Job sg
certificates.k8s.io certificatesigningrequests CertificateSigningRequest cs
coordination.k8s.io leases Lease
discovery.k8s.io endpointslices EndpointSlice g
events.k8s.io events Event
flowcontrol.apiserver.k8s.io flowschemas FlowSchema csg
flowcontrol.apiserver.k8s.io prioritylevelconfigurations PriorityLevelConfiguration csg
networking.k8s.io ingressclasses IngressClass cg
networking.k8s.io ingresses Ingress sg
networking.k8s.io ipaddresses IPAddress c
networking.k8s.io networkpolicies NetworkPolicy g
networking.k8s.io servicecidrs ServiceCIDR cs
node.k8s.io runtimeclasses RuntimeClass c
policy poddisruptionbudgets PodDisruptionBudget sg
rbac.authorization.k8s.io clusterrolebindings ClusterRoleBinding c
rbac.authorization.k8s.io clusterroles ClusterRole c
rbac.authorization.k8s.io rolebindings RoleBinding
rbac.authorization.k8s.io roles Role
resource.k8s.io deviceclasses DeviceClass cg
resource.k8s.io resourceclaims ResourceClaim s
resource.k8s.io resourceclaimtemplates ResourceClaimTemplate
resource.k8s.io resourceslices ResourceSlice cg
scheduling.k8s.io priorityclasses PriorityClass cg
storage.k8s.io csidrivers CSIDriver c
storage.k8s.io csinodes CSINode c
storage.k8s.io csistoragecapacities CSIStorageCapacity
storage.k8s.io storageclasses StorageClass c
storage.k8s.io volumeattachments VolumeAttachment cs
storage.k8s.io volumeattributesclasses VolumeAttributesClass c
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

// customKinds are those that the operators' objects define, and those that their
// definitions describe. Of a kind that is described twice, the one with a schema
// comes first.
func customKinds(objects []manifest.Object, described []*apiextensionsv1.CustomResourceDefinition) []Kind {
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
		case (a.fields == nil) == (b.fields == nil):
			return 0
		case a.fields != nil:
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
			k.fields = v.Schema.OpenAPIV3Schema
		}
		out = append(out, k)
	}
	return out
}

// kinds are all that a cluster knows.
type kinds struct{ list []Kind }

// at is the kind behind a path. One that nothing is known of is taken for a
// custom kind with a status; what it is called is learnt from the first object.
func (k *kinds) at(gv schema.GroupVersion, plural string) Kind {
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
func (k *kinds) known(gv schema.GroupVersion, fits func(Kind) bool) (Kind, bool) {
	other := -1
	for i, one := range k.list {
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
	out := k.list[other]
	out.Version, out.fields, out.scale = gv.Version, nil, nil
	return out, true
}

// of is the kind of an object. Of a kind that is not known the plural is
// guessed, as Argo does.
func (k *kinds) of(gvk schema.GroupVersionKind, watched []schema.GroupVersionResource) Kind {
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
