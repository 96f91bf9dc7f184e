package builtin

import (
	"reflect"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rulesOf applies the rules that compare fields of an object. To add a type, add a
// line.
func rulesOf(object any, at *field.Path) field.ErrorList {
	switch o := object.(type) {
	case *metav1.ObjectMeta:
		return innerMeta(o, at)
	case *metav1.LabelSelector:
		return metavalidation.ValidateLabelSelector(o, metavalidation.LabelSelectorValidationOptions{}, at)
	case *appsv1.DeploymentSpec:
		return append(workload(o.Replicas, o.Selector, &o.Template, at), rollout(o, at)...)
	case *appsv1.StatefulSetSpec:
		return statefulSet(o, at)
	case *appsv1.DaemonSetSpec:
		return append(workload(nil, o.Selector, &o.Template, at), daemons(o, at)...)
	case *appsv1.ReplicaSetSpec:
		return workload(o.Replicas, o.Selector, &o.Template, at)
	case *batchv1.Job:
		return ownPods(&o.Spec, field.NewPath("spec"))
	case *batchv1.JobSpec:
		return job(o, at)
	case *batchv1.CronJobSpec:
		return cronJob(o, at)
	case *rbacv1.RoleRef:
		return roleRef(o, at)
	case *rbacv1.Role:
		return namespacedRules(o)
	case *rbacv1.RoleBinding:
		return subjects(o.Subjects, false)
	case *rbacv1.ClusterRoleBinding:
		return append(subjects(o.Subjects, true), among("ClusterRole")(valueOf(&o.RoleRef.Kind), field.NewPath("roleRef", "kind"))...)
	case *rbacv1.PolicyRule:
		return policyRule(o, at)
	case *schedulingv1.PriorityClass:
		return priorityClass(o)
	case *nodev1.Overhead:
		return resourceValues("podFixed", o.PodFixed, at)
	case *nodev1.Scheduling:
		return tolerations(o.Tolerations, at.Child("tolerations"))
	case *storagev1.StorageClass:
		return storageClass(o)
	case *admissionregistrationv1.ValidatingAdmissionPolicySpec:
		return admissionPolicy(o, at)
	case *admissionregistrationv1.ValidatingWebhook:
		return webhookConditions(o.MatchConditions, at)
	case *admissionregistrationv1.MutatingWebhook:
		return webhookConditions(o.MatchConditions, at)
	}
	if errs, ok := coreRules(object, at); ok {
		return errs
	}
	return networkRules(object, at)
}

func coreRules(object any, at *field.Path) (field.ErrorList, bool) {
	switch o := object.(type) {
	case *corev1.Pod:
		return onlyPods(o), true
	case *corev1.PodSpec:
		return podRules(o, at), true
	case *corev1.SeccompProfile:
		return seccomp(o, at), true
	case *corev1.AppArmorProfile:
		return appArmor(o, at), true
	case *corev1.NodeSelectorRequirement:
		return nodeRequirement(o, at), true
	case *corev1.NodeSelectorTerm:
		return nodeFields(o, at), true
	case *corev1.NodeAffinity:
		if o.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			return nil, true
		}
		return requiredNodes(o.RequiredDuringSchedulingIgnoredDuringExecution, at.Child("requiredDuringSchedulingIgnoredDuringExecution")),
			true
	case *corev1.TopologySpreadConstraint:
		return spread(o, at), true
	case *corev1.PodAffinityTerm:
		return affinityTerm(o, at), true
	case *corev1.DownwardAPIVolumeFile:
		return downwardFile(o, at), true
	case *corev1.ReplicationControllerSpec:
		return replicationController(o, at), true
	case *corev1.ConfigMap:
		return configMap(o), true
	case *corev1.Secret:
		return secret(o), true
	case *corev1.PersistentVolumeClaimSpec:
		return claim(o, at), true
	case *corev1.PersistentVolumeSpec:
		return volume(o, at), true
	case *corev1.ResourceQuotaSpec:
		return quota(o, at), true
	case *corev1.LimitRangeItem:
		return limits(o, at), true
	}
	return nil, false
}

func networkRules(object any, at *field.Path) field.ErrorList {
	switch o := object.(type) {
	case *corev1.ServiceSpec:
		return service(o, at)
	//lint:ignore SA1019 the API server still accepts them
	case *corev1.Endpoints:
		return endpoints(o)
	case *discoveryv1.EndpointSlice:
		return endpointSlice(o)
	case *networkingv1.Ingress:
		return ingressClasses(o)
	case *networkingv1.IngressSpec:
		return ingress(o, at)
	case *networkingv1.HTTPIngressPath:
		return ingressPath(o, at)
	case *networkingv1.IngressClassSpec:
		return ingressClass(o, at)
	case *networkingv1.NetworkPolicyPort:
		return policyPort(o, at)
	case *networkingv1.NetworkPolicyPeer:
		return peer(o, at)
	case *policyv1.PodDisruptionBudgetSpec:
		return disruption(o, at)
	case *autoscalingv1.HorizontalPodAutoscalerSpec:
		return replicaRange(o.MinReplicas, o.MaxReplicas, at)
	case *autoscalingv2.HorizontalPodAutoscalerSpec:
		return replicaRange(o.MinReplicas, o.MaxReplicas, at)
	case *autoscalingv2.MetricSpec:
		return metric(o, at)
	case *autoscalingv2.HPAScalingRules:
		return scaling(o, at)
	}
	return nil
}

func valueOf(pointer any) reflect.Value { return reflect.ValueOf(pointer) }

// innerMeta validates the metadata of templates; that of the object is validated
// completely elsewhere.
func innerMeta(o *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	if at.String() == "metadata" {
		return nil
	}
	errs := metavalidation.ValidateLabels(o.Labels, at.Child("labels"))
	return append(errs, apivalidation.ValidateAnnotations(o.Annotations, at.Child("annotations"))...)
}
