package cluster

import (
	"cmp"
	"maps"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
)

// withDefaults returns an object with the API server's defaults of its immutable fields, or
// the object itself if it does not fit its Go type.
func withDefaults(o Object) map[string]any {
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed) != nil {
		return o.Object
	}
	setDefaults(reflect.ValueOf(typed))
	data, err := json.Marshal(typed)
	if err != nil {
		return o.Object
	}
	var out map[string]any
	if json.Unmarshal(data, &out) != nil {
		return o.Object
	}
	return out
}

// setDefaults sets the defaults of a value and of everything in it. The value is a pointer.
func setDefaults(value reflect.Value) {
	defaultsOf(value.Interface())
	value = value.Elem()
	switch value.Kind() { //nolint:exhaustive // others contain no structs
	case reflect.Struct:
		for i := range value.NumField() {
			if f := value.Field(i); value.Type().Field(i).IsExported() {
				setDefaults(f.Addr())
			}
		}
	case reflect.Pointer:
		if !value.IsNil() {
			setDefaults(value)
		}
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Struct {
			for i := range value.Len() {
				setDefaults(value.Index(i).Addr())
			}
		}
	}
}

// defaultsOf sets the defaults of the fields of one value.
func defaultsOf(value any) {
	switch v := value.(type) {
	case *corev1.Pod:
		orPointer(&v.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
		for i := range v.Spec.InitContainers {
			requestLimits(&v.Spec.InitContainers[i].Resources)
		}
		for i := range v.Spec.Containers {
			requestLimits(&v.Spec.Containers[i].Resources)
		}
	case *corev1.PodSpec:
		podDefaults(v)
	case *corev1.Container:
		orDefault(&v.TerminationMessagePath, corev1.TerminationMessagePathDefault)
		orDefault(&v.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
		orDefault(&v.ImagePullPolicy, pullPolicy(v.Image))
	case *corev1.ContainerPort:
		orDefault(&v.Protocol, corev1.ProtocolTCP)
	case *corev1.Probe:
		orDefault(&v.TimeoutSeconds, 1)
		orDefault(&v.PeriodSeconds, 10)
		orDefault(&v.SuccessThreshold, 1)
		orDefault(&v.FailureThreshold, 3)
	case *corev1.HTTPGetAction:
		orDefault(&v.Path, "/")
		orDefault(&v.Scheme, corev1.URISchemeHTTP)
	case *corev1.GRPCAction:
		orPointer(&v.Service, "")
	case *corev1.ObjectFieldSelector:
		orDefault(&v.APIVersion, "v1")
	case *corev1.Secret:
		orDefault(&v.Type, corev1.SecretTypeOpaque)
	case *rbacv1.RoleRef:
		orDefault(&v.APIGroup, rbacv1.GroupName)
	case *appsv1.StatefulSetSpec:
		orDefault(&v.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	case *batchv1.JobSpec:
		orPointer(&v.CompletionMode, batchv1.NonIndexedCompletion)
		if v.Parallelism == nil {
			orPointer(&v.Completions, 1)
		}
	case *schedulingv1.PriorityClass:
		orPointer(&v.PreemptionPolicy, corev1.PreemptLowerPriority)
	default:
		volumeDefaults(value)
		storageDefaults(value)
	}
}

func podDefaults(v *corev1.PodSpec) {
	orDefault(&v.RestartPolicy, corev1.RestartPolicyAlways)
	orDefault(&v.DNSPolicy, corev1.DNSClusterFirst)
	orDefault(&v.SchedulerName, corev1.DefaultSchedulerName)
	orDefault(&v.DeprecatedServiceAccount, v.ServiceAccountName)
	orDefault(&v.ServiceAccountName, v.DeprecatedServiceAccount)
	orPointer(&v.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	orPointer(&v.SecurityContext, corev1.PodSecurityContext{})
}

// pullPolicy is the default of an image, which is pulled again if it can change.
func pullPolicy(image string) corev1.PullPolicy {
	name := image[strings.LastIndex(image, "/")+1:]
	if _, tag, tagged := strings.Cut(name, ":"); strings.Contains(name, "@") || tagged && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

// requestLimits makes the limits of a Pod the requests that are not set.
func requestLimits(v *corev1.ResourceRequirements) {
	if len(v.Limits) == 0 {
		return
	}
	requests := maps.Clone(v.Limits)
	maps.Copy(requests, v.Requests)
	v.Requests = requests
}

func volumeDefaults(value any) {
	mode := corev1.ConfigMapVolumeSourceDefaultMode // the same for all sources
	switch v := value.(type) {
	case *corev1.Volume:
		if v.VolumeSource == (corev1.VolumeSource{}) {
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
	case *corev1.SecretVolumeSource:
		orPointer(&v.DefaultMode, mode)
	case *corev1.ConfigMapVolumeSource:
		orPointer(&v.DefaultMode, mode)
	case *corev1.DownwardAPIVolumeSource:
		orPointer(&v.DefaultMode, mode)
	case *corev1.ProjectedVolumeSource:
		orPointer(&v.DefaultMode, mode)
	case *corev1.ServiceAccountTokenProjection:
		orPointer(&v.ExpirationSeconds, 60*60)
	case *corev1.HostPathVolumeSource:
		orPointer(&v.Type, corev1.HostPathUnset)
	}
}

func storageDefaults(value any) {
	switch v := value.(type) {
	case *corev1.PersistentVolumeClaim:
		v.APIVersion, v.Kind = "v1", "PersistentVolumeClaim" // those in a StatefulSet are ignored
		orDefault(&v.Status.Phase, corev1.ClaimPending)
	case *corev1.PersistentVolumeClaimSpec:
		orPointer(&v.VolumeMode, corev1.PersistentVolumeFilesystem)
	case *corev1.PersistentVolumeSpec:
		orPointer(&v.VolumeMode, corev1.PersistentVolumeFilesystem)
	case *storagev1.StorageClass:
		orPointer(&v.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		orPointer(&v.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	case *storagev1.CSIDriverSpec:
		orPointer(&v.AttachRequired, true)
		if len(v.VolumeLifecycleModes) == 0 {
			v.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
		}
	}
}

func orDefault[T comparable](field *T, value T) { *field = cmp.Or(*field, value) }

func orPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
