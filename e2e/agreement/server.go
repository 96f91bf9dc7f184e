package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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
	"k8s.io/kubernetes/pkg/api/service"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
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
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
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
	serviceregistry "k8s.io/kubernetes/pkg/registry/core/service"
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
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
)

// strategy is what the API server does with objects of a kind.
type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

// strategies are the API server's own, by kind.
var strategies = map[string]strategy{
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
	"Service":                 serviceregistry.Strategy,
	"ServiceAccount":          serviceaccount.Strategy,
	"StatefulSet":             statefulset.Strategy,
	"StorageClass":            storageclass.Strategy,

	// Only their updates are compared.
	"CertificateSigningRequest": certificates.Strategy,
	"ControllerRevision":        controllerrevision.Strategy,
	"CSIStorageCapacity":        csistoragecapacity.Strategy,
	"VolumeAttachment":          volumeattachment.Strategy,
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
	_, err := s.created(object)
	return err
}

// created returns an object as the API server stores it.
func (s *server) created(object map[string]any) (runtime.Object, error) {
	kind, err := kindOf(object)
	if err != nil {
		return nil, err
	}
	empty, err := legacyscheme.Scheme.New(schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind})
	if err != nil {
		return nil, err
	}
	applied, ctx, err := s.apply(empty, object)
	if err != nil {
		return nil, err
	}
	accessor, err := meta.Accessor(applied)
	if err != nil {
		return nil, err
	}
	rest.FillObjectMetaSystemFields(accessor)
	normalize(nil, applied)
	return applied, rest.BeforeCreate(strategies[kind.Kind], ctx, applied)
}

// update returns why the API server refuses to update an object; nil if it accepts that.
func (s *server) update(before runtime.Object, object map[string]any) error {
	kind, err := kindOf(object)
	if err != nil {
		return err
	}
	applied, ctx, err := s.apply(before, object)
	if err != nil {
		return err
	}
	normalize(before, applied)
	return rest.BeforeUpdate(strategies[kind.Kind], ctx, applied, before)
}

func kindOf(object map[string]any) (schema.GroupVersionKind, error) {
	u := &unstructured.Unstructured{Object: object}
	kind := u.GroupVersionKind()
	switch {
	case strategies[kind.Kind] == nil:
		return kind, fmt.Errorf("no strategy of %s", kind)
	case u.GetName() == "":
		return kind, errors.New("metadata.name: Required value: the URL of the request contains it")
	}
	return kind, nil
}

// apply applies an object to another one of its kind, which may be empty.
func (s *server) apply(to runtime.Object, object map[string]any) (runtime.Object, context.Context, error) {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	kind := u.GroupVersionKind()
	manager, err := s.manager(kind)
	if err != nil {
		return nil, nil, err
	}
	applied, err := manager.Apply(to.DeepCopyObject(), u, "agreement", true)
	if err != nil {
		return nil, nil, err
	}
	ctx := request.WithNamespace(request.NewContext(), metaNamespace(strategies[kind.Kind], u.GetNamespace()))
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{APIGroup: kind.Group, APIVersion: kind.Version})
	return applied, ctx, nil
}

// metaNamespace returns the namespace in the URL of the request.
func metaNamespace(strategy rest.RESTCreateStrategy, namespace string) string {
	if strategy.NamespaceScoped() && namespace == "" {
		return "default"
	}
	return namespace
}

// normalize does what the storage of Services does before validation: it keeps what is
// allocated. before is nil for a new object.
func normalize(before, object runtime.Object) {
	s, ok := object.(*core.Service)
	if !ok {
		return
	}
	if s.Spec.ClusterIP != "" && len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
	old, ok := before.(*core.Service)
	if !ok || s.Spec.Type == core.ServiceTypeExternalName || old.Spec.Type == core.ServiceTypeExternalName {
		return
	}
	s.Spec.ClusterIP = cmp.Or(s.Spec.ClusterIP, old.Spec.ClusterIP)
	if len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = old.Spec.ClusterIPs
	}
	if s.Spec.ClusterIP != old.Spec.ClusterIP && slices.Equal(s.Spec.ClusterIPs, old.Spec.ClusterIPs) {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
	if len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies = old.Spec.IPFamilies
	}
	if s.Spec.IPFamilyPolicy == nil {
		s.Spec.IPFamilyPolicy = old.Spec.IPFamilyPolicy
	}
	if service.NeedsHealthCheck(old) && service.NeedsHealthCheck(s) {
		s.Spec.HealthCheckNodePort = cmp.Or(s.Spec.HealthCheckNodePort, old.Spec.HealthCheckNodePort)
	}
}

// allocate gives a stored object what the API server and its controllers have given it
// before the first update.
func allocate(object runtime.Object) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetResourceVersion("1")
	}
	switch o := object.(type) {
	case *core.Service:
		if o.Spec.Type == core.ServiceTypeExternalName {
			return
		}
		if o.Spec.ClusterIP == "" {
			o.Spec.ClusterIP, o.Spec.ClusterIPs = "10.96.0.10", []string{"10.96.0.10"}
		}
		if len(o.Spec.IPFamilies) == 0 {
			single := core.IPFamilyPolicySingleStack
			o.Spec.IPFamilies, o.Spec.IPFamilyPolicy = []core.IPFamily{core.IPv4Protocol}, &single
		}
		if service.NeedsHealthCheck(o) && o.Spec.HealthCheckNodePort == 0 {
			o.Spec.HealthCheckNodePort = 30999
		}
	case *core.PersistentVolumeClaim:
		o.Status.Phase, o.Status.Capacity = core.ClaimBound, o.Spec.Resources.Requests.DeepCopy()
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
