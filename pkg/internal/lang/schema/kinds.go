package schema

import (
	"slices"
	"strings"

	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// ArgoGroup is the API group of Argo Events and Argo Workflows.
const ArgoGroup = "argoproj.io"

// BuiltinKind is a kind that every cluster serves in one of its versions. The
// zero value is a namespaced kind without a status subresource.
type BuiltinKind struct {
	Group, Version, Kind string
	Plural               string

	traits traits
}

// traits distinguish built-in kinds.
type traits uint8

const (
	cluster    traits = 1 << iota // cluster-scoped
	status                        // has a status subresource
	generation                    // metadata.generation counts changes of the desired state
	annotated                     // and of the annotations
	approval                      // has an approval subresource

	namespaced traits = 0
)

// Namespaced reports whether objects of the kind are in a namespace.
func (k BuiltinKind) Namespaced() bool { return k.traits&cluster == 0 }

// Scope returns Namespaced or Cluster, as in a CustomResourceDefinition.
func (k BuiltinKind) Scope() string {
	if k.Namespaced() {
		return "Namespaced"
	}
	return "Cluster"
}

// HasStatus reports whether the kind has a status subresource.
func (k BuiltinKind) HasStatus() bool { return k.traits&status != 0 }

// Approval is the subresource with which somebody decides about a CertificateSigningRequest.
const Approval = "approval"

// HasSubresource reports whether the kind has a subresource: status or approval.
func (k BuiltinKind) HasSubresource(name string) bool {
	return name == "status" && k.HasStatus() || name == Approval && k.traits&approval != 0
}

// HasGeneration reports whether the API server counts changes of the desired
// state in metadata.generation.
func (k BuiltinKind) HasGeneration() bool { return k.traits&generation != 0 }

// CountsAnnotations reports whether metadata.generation counts changes of the
// annotations, too.
func (k BuiltinKind) CountsAnnotations() bool { return k.traits&annotated != 0 }

// APIVersion returns the apiVersion of the kind's objects.
func (k BuiltinKind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// BuiltinKinds returns the built-in kinds. If a kind has several versions or groups,
// the most common one comes first.
func BuiltinKinds() []BuiltinKind { return slices.Clone(builtinKinds[:]) }

// FindBuiltin returns the built-in kind of an apiVersion.
func FindBuiltin(apiVersion, kind string) (BuiltinKind, bool) {
	return findKind(func(k BuiltinKind) bool { return k.Kind == kind && k.APIVersion() == apiVersion })
}

// FindBuiltinNamed returns the first built-in kind with that name, regardless of its
// apiVersion.
func FindBuiltinNamed(kind string) (BuiltinKind, bool) {
	return findKind(func(k BuiltinKind) bool { return k.Kind == kind })
}

// FindBuiltinSpelled is FindBuiltinNamed for a name in other letter case, or a plural.
func FindBuiltinSpelled(name string) (BuiltinKind, bool) {
	return findKind(func(k BuiltinKind) bool { return strings.EqualFold(k.Kind, name) || strings.EqualFold(k.Plural, name) })
}

func findKind(fits func(BuiltinKind) bool) (BuiltinKind, bool) {
	if i := slices.IndexFunc(builtinKinds[:], fits); i >= 0 {
		return builtinKinds[i], true
	}
	return BuiltinKind{}, false
}

// builtinKinds are the kinds of Kubernetes 1.34 that can be listed, as a cluster with
// default settings reports them (kubectl get --raw /api/v1 and /apis/GROUP/VERSION). To
// update the table, add the kinds of a newer cluster and keep the kinds of older
// versions that are still in use. The API does not report which kinds have a
// generation: check the output of kubectl get --raw for an object.
var builtinKinds = [...]BuiltinKind{
	{"", "v1", "ConfigMap", "configmaps", namespaced},
	{"", "v1", "Endpoints", "endpoints", namespaced},
	{"", "v1", "Event", "events", namespaced},
	{"", "v1", "LimitRange", "limitranges", namespaced},
	{"", "v1", "Namespace", "namespaces", cluster | status},
	{"", "v1", "Node", "nodes", cluster | status},
	{"", "v1", "PersistentVolume", "persistentvolumes", cluster | status},
	{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", namespaced | status},
	{"", "v1", "Pod", "pods", namespaced | status},
	{"", "v1", "PodTemplate", "podtemplates", namespaced},
	{"", "v1", "ReplicationController", "replicationcontrollers", namespaced | status | generation},
	{"", "v1", "ResourceQuota", "resourcequotas", namespaced | status},
	{"", "v1", "Secret", "secrets", namespaced},
	{"", "v1", "Service", "services", namespaced | status},
	{"", "v1", "ServiceAccount", "serviceaccounts", namespaced},
	{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", cluster | generation},
	{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", cluster | status | generation},
	{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", cluster | generation},
	{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", cluster | generation},
	{"admissionregistration.k8s.io", "v1beta1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", cluster | generation},
	{"admissionregistration.k8s.io", "v1beta1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", cluster | generation},
	{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", cluster | status | generation},
	{"apiregistration.k8s.io", "v1", "APIService", "apiservices", cluster | status},
	{"apps", "v1", "ControllerRevision", "controllerrevisions", namespaced},
	{"apps", "v1", "DaemonSet", "daemonsets", namespaced | status | generation},
	{"apps", "v1", "Deployment", "deployments", namespaced | status | generation | annotated},
	{"apps", "v1", "ReplicaSet", "replicasets", namespaced | status | generation},
	{"apps", "v1", "StatefulSet", "statefulsets", namespaced | status | generation},
	{"autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", namespaced | status},
	{"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", namespaced | status},
	{"batch", "v1", "CronJob", "cronjobs", namespaced | status | generation},
	{"batch", "v1", "Job", "jobs", namespaced | status | generation},
	{"certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", cluster | status | approval},
	{"coordination.k8s.io", "v1", "Lease", "leases", namespaced},
	{"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", namespaced | generation},
	{"events.k8s.io", "v1", "Event", "events", namespaced},
	{"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", cluster | status | generation},
	{"flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", cluster | status | generation},
	{"networking.k8s.io", "v1", "IPAddress", "ipaddresses", cluster},
	{"networking.k8s.io", "v1", "Ingress", "ingresses", namespaced | status | generation},
	{"networking.k8s.io", "v1", "IngressClass", "ingressclasses", cluster | generation},
	{"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", namespaced | generation},
	{"networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", cluster | status},
	{"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", cluster},
	{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", namespaced | status | generation},
	{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", cluster},
	{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", cluster},
	{"rbac.authorization.k8s.io", "v1", "Role", "roles", namespaced},
	{"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", namespaced},
	{"resource.k8s.io", "v1", "DeviceClass", "deviceclasses", cluster | generation},
	{"resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", namespaced | status},
	{"resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", namespaced},
	{"resource.k8s.io", "v1", "ResourceSlice", "resourceslices", cluster | generation},
	{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", cluster | generation},
	{"storage.k8s.io", "v1", "CSIDriver", "csidrivers", cluster},
	{"storage.k8s.io", "v1", "CSINode", "csinodes", cluster},
	{"storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", namespaced},
	{"storage.k8s.io", "v1", "StorageClass", "storageclasses", cluster},
	{"storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", cluster | status},
	{"storage.k8s.io", "v1", "VolumeAttributesClass", "volumeattributesclasses", cluster},
}

// APIPath returns the path of a group and version in the API.
func APIPath(gv k8sschema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}
