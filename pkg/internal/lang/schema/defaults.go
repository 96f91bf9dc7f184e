package schema

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// SetDefaults sets the API server's defaults of an object of a built-in kind, a pointer to its Go
// type.
func SetDefaults(object any) { setDefaults(reflect.ValueOf(object)) }

// setDefaults sets the defaults of a value and of everything in it, those of the outer value
// first. The value is a pointer. Empty lists and maps become nil, because the API server stores
// none.
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
		if value.Len() == 0 {
			value.SetZero()
		}
		if value.Type().Elem().Kind() == reflect.Struct {
			for i := range value.Len() {
				setDefaults(value.Index(i).Addr())
			}
		}
	case reflect.Map:
		if value.Len() == 0 {
			value.SetZero()
		}
	}
}

// defaultsOf sets the defaults of the fields of one value.
func defaultsOf(value any) {
	podDefaults(value)
	workloadDefaults(value)
	networkDefaults(value)
	volumeDefaults(value)
	storageDefaults(value)
	policyDefaults(value)
}

func podDefaults(value any) {
	switch v := value.(type) {
	case *corev1.Pod:
		orPointer(&v.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
		for _, containers := range [][]corev1.Container{v.Spec.InitContainers, v.Spec.Containers} {
			for i := range containers {
				requestLimits(&containers[i].Resources)
				if v.Spec.HostNetwork {
					hostPorts(containers[i].Ports)
				}
			}
		}
	case *corev1.PodSpec:
		orDefault(&v.RestartPolicy, corev1.RestartPolicyAlways)
		orDefault(&v.DNSPolicy, corev1.DNSClusterFirst)
		orDefault(&v.SchedulerName, corev1.DefaultSchedulerName)
		orDefault(&v.DeprecatedServiceAccount, v.ServiceAccountName)
		orDefault(&v.ServiceAccountName, v.DeprecatedServiceAccount)
		orPointer(&v.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
		orPointer(&v.SecurityContext, corev1.PodSecurityContext{})
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
	case *corev1.ResourceList:
		for name, quantity := range *v {
			quantity.RoundUp(resource.Milli)
			(*v)[name] = quantity
		}
	}
}

// pullPolicy is the default of an image, which is pulled again if it can change.
func pullPolicy(image string) corev1.PullPolicy {
	name := image[strings.LastIndex(image, "/")+1:]
	if _, tag, tagged := strings.Cut(name, ":"); strings.Contains(name, "@") || tagged && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

// requestLimits makes the limits of a container the requests that are not set.
func requestLimits(v *corev1.ResourceRequirements) {
	if len(v.Limits) == 0 {
		return
	}
	requests := maps.Clone(v.Limits)
	maps.Copy(requests, v.Requests)
	v.Requests = requests
}

// hostPorts gives the ports of a container in the network of its node.
func hostPorts(ports []corev1.ContainerPort) {
	for i := range ports {
		orDefault(&ports[i].HostPort, ports[i].ContainerPort)
	}
}

// busy is the percentage of the requested CPU at which an autoscaler without metrics adds Pods.
const busy = 80

func workloadDefaults(value any) {
	const history = 10 // revisions
	switch v := value.(type) {
	case *appsv1.DeploymentSpec:
		orPointer(&v.Replicas, 1)
		orPointer(&v.RevisionHistoryLimit, history)
		orPointer(&v.ProgressDeadlineSeconds, 600)
		orDefault(&v.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
		if v.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
			orPointer(&v.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
			orPointer(&v.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
			orPointer(&v.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
		}
	case *appsv1.StatefulSetSpec:
		orPointer(&v.Replicas, 1)
		orPointer(&v.RevisionHistoryLimit, history)
		orDefault(&v.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
		if v.UpdateStrategy.Type == "" {
			v.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
			orPointer(&v.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		}
		if v.UpdateStrategy.RollingUpdate != nil && v.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
			orPointer(&v.UpdateStrategy.RollingUpdate.Partition, 0)
		}
		claims := &v.PersistentVolumeClaimRetentionPolicy
		orPointer(claims, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
		orDefault(&(*claims).WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
		orDefault(&(*claims).WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	case *appsv1.DaemonSetSpec:
		orPointer(&v.RevisionHistoryLimit, history)
		orDefault(&v.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
		if v.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
			orPointer(&v.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
			orPointer(&v.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
			orPointer(&v.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
		}
	case *appsv1.ReplicaSetSpec:
		orPointer(&v.Replicas, 1)
	case *corev1.ReplicationController:
		orPointer(&v.Spec.Replicas, 1)
		if v.Spec.Template != nil {
			orMap(&v.Spec.Selector, v.Spec.Template.Labels)
			orMap(&v.Labels, v.Spec.Template.Labels)
		}
	case *batchv1.Job:
		orMap(&v.Labels, v.Spec.Template.Labels)
		jobDefaults(&v.Spec)
	case *batchv1.CronJobSpec:
		orDefault(&v.ConcurrencyPolicy, batchv1.AllowConcurrent)
		orPointer(&v.Suspend, false)
		orPointer(&v.SuccessfulJobsHistoryLimit, 3)
		orPointer(&v.FailedJobsHistoryLimit, 1)
	case *batchv1.PodFailurePolicyOnPodConditionsPattern:
		orDefault(&v.Status, corev1.ConditionTrue)
	case *autoscalingv1.HorizontalPodAutoscalerSpec:
		orPointer(&v.MinReplicas, 1)
		orPointer(&v.TargetCPUUtilizationPercentage, busy)
	case *autoscalingv2.HorizontalPodAutoscalerSpec:
		scalingDefaults(v)
	}
}

// jobDefaults sets those of a Job. The template in a CronJob has none.
func jobDefaults(v *batchv1.JobSpec) {
	if v.Parallelism == nil {
		orPointer(&v.Completions, 1)
	}
	orPointer(&v.Parallelism, 1)
	limit, replaced := int32(6), batchv1.TerminatingOrFailed
	if v.BackoffLimitPerIndex != nil {
		limit = math.MaxInt32
	}
	if v.PodFailurePolicy != nil {
		replaced = batchv1.Failed
	}
	orPointer(&v.BackoffLimit, limit)
	orPointer(&v.PodReplacementPolicy, replaced)
	orPointer(&v.CompletionMode, batchv1.NonIndexedCompletion)
	orPointer(&v.Suspend, false)
	orPointer(&v.ManualSelector, false)
}

func scalingDefaults(v *autoscalingv2.HorizontalPodAutoscalerSpec) {
	const seconds, percent, pods = 15, 100, 4
	orPointer(&v.MinReplicas, 1)
	if len(v.Metrics) == 0 {
		v.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(busy))},
		}}}
	}
	if v.Behavior == nil {
		return
	}
	double := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: percent, PeriodSeconds: seconds}
	more := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: pods, PeriodSeconds: seconds}
	orPointer(&v.Behavior.ScaleUp, autoscalingv2.HPAScalingRules{})
	orPointer(&v.Behavior.ScaleUp.StabilizationWindowSeconds, 0)
	orPointer(&v.Behavior.ScaleDown, autoscalingv2.HPAScalingRules{})
	for _, rules := range []*autoscalingv2.HPAScalingRules{v.Behavior.ScaleUp, v.Behavior.ScaleDown} {
		orPointer(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	}
	if v.Behavior.ScaleUp.Policies == nil {
		v.Behavior.ScaleUp.Policies = []autoscalingv2.HPAScalingPolicy{more, double}
	}
	if v.Behavior.ScaleDown.Policies == nil {
		v.Behavior.ScaleDown.Policies = []autoscalingv2.HPAScalingPolicy{double}
	}
}

func networkDefaults(value any) {
	switch v := value.(type) {
	case *corev1.ServiceSpec:
		serviceDefaults(v)
	case *corev1.EndpointPort:
		orDefault(&v.Protocol, corev1.ProtocolTCP)
	case *discoveryv1.EndpointPort:
		orPointer(&v.Name, "")
		orPointer(&v.Protocol, corev1.ProtocolTCP)
	case *networkingv1.NetworkPolicyPort:
		orPointer(&v.Protocol, corev1.ProtocolTCP)
	case *networkingv1.NetworkPolicySpec:
		if len(v.PolicyTypes) == 0 {
			v.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
			if len(v.Egress) > 0 {
				v.PolicyTypes = append(v.PolicyTypes, networkingv1.PolicyTypeEgress)
			}
		}
	case *networkingv1.IngressClassParametersReference:
		orPointer(&v.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
	}
}

func serviceDefaults(v *corev1.ServiceSpec) {
	orDefault(&v.Type, corev1.ServiceTypeClusterIP)
	orDefault(&v.SessionAffinity, corev1.ServiceAffinityNone)
	switch v.SessionAffinity {
	case corev1.ServiceAffinityNone:
		v.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		orPointer(&v.SessionAffinityConfig, corev1.SessionAffinityConfig{})
		orPointer(&v.SessionAffinityConfig.ClientIP, corev1.ClientIPConfig{})
		orPointer(&v.SessionAffinityConfig.ClientIP.TimeoutSeconds, corev1.DefaultClientIPServiceAffinitySeconds)
	}
	for i := range v.Ports {
		port := &v.Ports[i]
		orDefault(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	balanced := v.Type == corev1.ServiceTypeLoadBalancer
	if balanced {
		orPointer(&v.AllocateLoadBalancerNodePorts, true)
	}
	external := balanced || v.Type == corev1.ServiceTypeNodePort
	if external || v.Type == corev1.ServiceTypeClusterIP {
		orPointer(&v.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if external || v.Type == corev1.ServiceTypeClusterIP && len(v.ExternalIPs) > 0 {
		orDefault(&v.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
}

func volumeDefaults(value any) {
	mode := corev1.ConfigMapVolumeSourceDefaultMode // the same for all sources
	switch v := value.(type) {
	case *corev1.Volume:
		if v.VolumeSource == (corev1.VolumeSource{}) {
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
		if v.Image != nil {
			orDefault(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
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
	case *corev1.ISCSIVolumeSource:
		orDefault(&v.ISCSIInterface, "default")
	case *corev1.ISCSIPersistentVolumeSource:
		orDefault(&v.ISCSIInterface, "default")
	}
}

func storageDefaults(value any) {
	switch v := value.(type) {
	case *corev1.Secret:
		orDefault(&v.Type, corev1.SecretTypeOpaque)
	case *corev1.PersistentVolumeClaim:
		v.APIVersion, v.Kind = "v1", "PersistentVolumeClaim" // those in a StatefulSet are ignored
		orDefault(&v.Status.Phase, corev1.ClaimPending)
	case *corev1.PersistentVolumeClaimSpec:
		orPointer(&v.VolumeMode, corev1.PersistentVolumeFilesystem)
	case *corev1.PersistentVolumeSpec:
		orPointer(&v.VolumeMode, corev1.PersistentVolumeFilesystem)
		orDefault(&v.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	case *storagev1.StorageClass:
		orPointer(&v.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		orPointer(&v.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	case *storagev1.CSIDriverSpec:
		orPointer(&v.AttachRequired, true)
		orPointer(&v.PodInfoOnMount, false)
		orPointer(&v.StorageCapacity, false)
		orPointer(&v.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
		orPointer(&v.RequiresRepublish, false)
		orPointer(&v.SELinuxMount, false)
		if len(v.VolumeLifecycleModes) == 0 {
			v.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
		}
	}
}

func policyDefaults(value any) {
	switch v := value.(type) {
	case *rbacv1.RoleRef:
		orDefault(&v.APIGroup, rbacv1.GroupName)
	case *rbacv1.Subject:
		if v.Kind == rbacv1.UserKind || v.Kind == rbacv1.GroupKind {
			orDefault(&v.APIGroup, rbacv1.GroupName)
		}
	case *schedulingv1.PriorityClass:
		orPointer(&v.PreemptionPolicy, corev1.PreemptLowerPriority)
	case *corev1.LimitRangeItem:
		if v.Type == corev1.LimitTypeContainer {
			v.Default = filled(v.Default, v.Max)
			v.DefaultRequest = filled(filled(v.DefaultRequest, v.Default), v.Min)
		}
	case *admissionv1.ValidatingWebhook:
		orPointer(&v.FailurePolicy, admissionv1.Fail)
		matchDefaults(&v.MatchPolicy, &v.NamespaceSelector, &v.ObjectSelector)
		orPointer(&v.TimeoutSeconds, 10)
	case *admissionv1.MutatingWebhook:
		orPointer(&v.FailurePolicy, admissionv1.Fail)
		matchDefaults(&v.MatchPolicy, &v.NamespaceSelector, &v.ObjectSelector)
		orPointer(&v.TimeoutSeconds, 10)
		orPointer(&v.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
	case *admissionv1.Rule:
		orPointer(&v.Scope, admissionv1.AllScopes)
	case *admissionv1.ServiceReference:
		orPointer(&v.Port, 443)
	case *admissionv1.ValidatingAdmissionPolicySpec:
		orPointer(&v.FailurePolicy, admissionv1.Fail)
	case *admissionv1.MatchResources:
		matchDefaults(&v.MatchPolicy, &v.NamespaceSelector, &v.ObjectSelector)
	}
}

// matchDefaults sets those of the objects that admission is about.
func matchDefaults(policy **admissionv1.MatchPolicyType, namespaces, objects **metav1.LabelSelector) {
	orPointer(policy, admissionv1.Equivalent)
	orPointer(namespaces, metav1.LabelSelector{})
	orPointer(objects, metav1.LabelSelector{})
}

// filled returns quantities with those of others that are not among them.
func filled(quantities, others corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	maps.Copy(out, others)
	maps.Copy(out, quantities)
	return out
}

func orDefault[T comparable](field *T, value T) { *field = cmp.Or(*field, value) }

func orPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func orMap(field *map[string]string, value map[string]string) {
	if len(*field) == 0 {
		*field = value
	}
}
