package main

import (
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
)

// strategies are the API server's own, by kind.
var strategies = map[string]rest.RESTCreateStrategy{
	"ClusterRole":             clusterrole.Strategy,
	"ClusterRoleBinding":      clusterrolebinding.Strategy,
	"ConfigMap":               configmap.Strategy,
	"CronJob":                 cronjob.Strategy,
	"CSIDriver":               csidriver.Strategy,
	"DaemonSet":               daemonset.Strategy,
	"Deployment":              deployment.Strategy,
	"Endpoints":               endpoint.Strategy,
	"EndpointSlice":           endpointslice.Strategy,
	"HorizontalPodAutoscaler": horizontalpodautoscaler.Strategy,
	"Ingress":                 ingress.Strategy,
	"IngressClass":            ingressclass.Strategy,
	"Job":                     job.Strategy,
	"Lease":                   lease.Strategy,
	"LimitRange":              limitrange.Strategy,
	"Namespace":               namespace.Strategy,
	"NetworkPolicy":           networkpolicy.Strategy,
	"PersistentVolume":        persistentvolume.Strategy,
	"PersistentVolumeClaim":   persistentvolumeclaim.Strategy,
	"Pod":                     pod.Strategy,
	"PodDisruptionBudget":     poddisruptionbudget.Strategy,
	"PodTemplate":             podtemplate.Strategy,
	"PriorityClass":           priorityclass.Strategy,
	"ReplicaSet":              replicaset.Strategy,
	"ReplicationController":   replicationcontroller.Strategy,
	"ResourceQuota":           resourcequota.Strategy,
	"Role":                    role.Strategy,
	"RoleBinding":             rolebinding.Strategy,
	"RuntimeClass":            runtimeclass.Strategy,
	"Secret":                  secret.Strategy,
	"Service":                 service.Strategy,
	"ServiceAccount":          serviceaccount.Strategy,
	"StatefulSet":             statefulset.Strategy,
	"StorageClass":            storageclass.Strategy,
}

// server answers as the API server does when an object is applied server-side that
// does not exist.
type server struct {
	types    managedfields.TypeConverter
	managers map[schema.GroupVersionKind]*managedfields.FieldManager
}

func newServer() *server {
	klog.SetLogger(logr.Discard())                                            // it remarks on values that validation refuses
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true}) // as kubeadm and every managed Kubernetes do
	return &server{types: applyconfigurations.NewTypeConverter(scheme.Scheme), managers: map[schema.GroupVersionKind]*managedfields.FieldManager{}}
}

// create returns why the API server refuses an object; nil if it accepts it. It does
// not modify the object.
func (s *server) create(object map[string]any) error {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	kind := u.GroupVersionKind()
	strategy := strategies[kind.Kind]
	if strategy == nil {
		return fmt.Errorf("no strategy of %s", kind)
	}
	if u.GetName() == "" {
		return errors.New("metadata.name: Required value: the URL of the request contains it")
	}
	manager, err := s.manager(kind)
	if err != nil {
		return err
	}
	empty, err := legacyscheme.Scheme.New(schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind})
	if err != nil {
		return err
	}
	applied, err := manager.Apply(empty, u, "agreement", true)
	if err != nil {
		return err
	}
	accessor, err := meta.Accessor(applied)
	if err != nil {
		return err
	}
	ctx := request.WithNamespace(request.NewContext(), metaNamespace(strategy, accessor.GetNamespace()))
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{APIGroup: kind.Group, APIVersion: kind.Version})
	rest.FillObjectMetaSystemFields(accessor)
	normalize(applied)
	return rest.BeforeCreate(strategy, ctx, applied)
}

// metaNamespace returns the namespace in the URL of the request.
func metaNamespace(strategy rest.RESTCreateStrategy, namespace string) string {
	if strategy.NamespaceScoped() && namespace == "" {
		return "default"
	}
	return namespace
}

// normalize does what the storage of Services does before validation.
func normalize(object runtime.Object) {
	if s, ok := object.(*core.Service); ok && s.Spec.ClusterIP != "" && len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
}

func (s *server) manager(kind schema.GroupVersionKind) (*managedfields.FieldManager, error) {
	if known := s.managers[kind]; known != nil {
		return known, nil
	}
	hub := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	made, err := managedfields.NewDefaultFieldManager(s.types, legacyscheme.Scheme, legacyscheme.Scheme, legacyscheme.Scheme, kind, hub, "", nil)
	s.managers[kind] = made
	return made, err
}
