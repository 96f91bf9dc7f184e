package admission

import (
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/argo"
)

// walkRules applies the rules of every object nested in an object, from the outside
// in. The API server's own validation cannot be imported; these are the rules that
// mistakes in templates are likely to violate.
func walkRules(v reflect.Value, at *field.Path) field.ErrorList {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return walkRules(v.Elem(), at)
	case reflect.Struct:
		return walkStruct(v, at)
	case reflect.Slice:
		var errs field.ErrorList
		for i := range v.Len() {
			errs = append(errs, walkRules(v.Index(i), at.Index(i))...)
		}
		return errs
	}
	return nil
}

func walkStruct(v reflect.Value, at *field.Path) field.ErrorList {
	if !v.CanAddr() || reflect.PointerTo(v.Type()).Implements(argo.DecodesItself) {
		return nil
	}
	errs := rulesOf(v.Addr().Interface(), at)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case name == "":
			errs = append(errs, walkRules(v.Field(i), at)...)
		case at == nil:
			errs = append(errs, walkRules(v.Field(i), field.NewPath(name))...)
		default:
			errs = append(errs, walkRules(v.Field(i), at.Child(name))...)
		}
	}
	return errs
}

// rulesOf applies the rules of an object's type. To add a type, add a line.
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
		return workload(nil, o.Selector, &o.Template, at)
	case *appsv1.ReplicaSetSpec:
		return workload(o.Replicas, o.Selector, &o.Template, at)
	case *batchv1.JobSpec:
		return job(o, at)
	case *batchv1.CronJobSpec:
		return cronJob(o, at)
	case *corev1.PodSpec:
		return podRules(o, at)
	case *corev1.ServiceSpec:
		return service(o, at)
	case *corev1.ConfigMap:
		return configMap(o)
	case *corev1.Secret:
		return secret(o)
	case *corev1.PersistentVolumeClaimSpec:
		return claim(o, at)
	case *networkingv1.IngressSpec:
		return ingress(o, at)
	case *networkingv1.HTTPIngressPath:
		return ingressPath(o, at)
	case *networkingv1.NetworkPolicyPeer:
		return peer(o, at)
	case *policyv1.PodDisruptionBudgetSpec:
		return disruption(o, at)
	case *autoscalingv2.HorizontalPodAutoscalerSpec:
		return autoscaler(o, at)
	case *rbacv1.PolicyRule:
		return policyRule(o, at)
	case *rbacv1.RoleRef:
		return roleRef(o, at)
	case *rbacv1.Subject:
		return subject(o, at)
	}
	return nil
}

// innerMeta validates the metadata of templates; that of the object is validated
// completely elsewhere.
func innerMeta(o *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	if at.String() == "metadata" {
		return nil
	}
	errs := metavalidation.ValidateLabels(o.Labels, at.Child("labels"))
	return append(errs, apivalidation.ValidateAnnotations(o.Annotations, at.Child("annotations"))...)
}

// workload validates what all workloads with a pod template have in common.
func workload(replicas *int32, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := notNegative(replicas, at.Child("replicas"))
	path := at.Child("selector")
	switch {
	case selector == nil:
		errs = append(errs, field.Required(path, ""))
	case len(selector.MatchLabels)+len(selector.MatchExpressions) == 0:
		errs = append(errs, field.Invalid(path, "{}", "an empty selector is invalid"))
	default:
		if s, err := metav1.LabelSelectorAsSelector(selector); err == nil && !s.Matches(labels.Set(template.Labels)) {
			errs = append(errs, field.Invalid(at.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`"))
		}
	}
	if policy := template.Spec.RestartPolicy; policy != "" && policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("template", "spec", "restartPolicy"), policy, []string{"Always"}))
	}
	return errs
}

func rollout(o *appsv1.DeploymentSpec, at *field.Path) field.ErrorList {
	errs := oneOf(o.Strategy.Type, at.Child("strategy", "type"), appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType)
	if o.Strategy.Type == appsv1.RecreateDeploymentStrategyType && o.Strategy.RollingUpdate != nil {
		errs = append(errs, field.Forbidden(at.Child("strategy", "rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'"))
	}
	if u := o.Strategy.RollingUpdate; u != nil && u.MaxSurge != nil && u.MaxUnavailable != nil && isZero(u.MaxSurge.String()) && isZero(u.MaxUnavailable.String()) {
		errs = append(errs, field.Invalid(at.Child("strategy", "rollingUpdate", "maxUnavailable"), u.MaxUnavailable.String(), "may not be 0 when `maxSurge` is 0"))
	}
	if d := o.ProgressDeadlineSeconds; d != nil && *d <= o.MinReadySeconds {
		errs = append(errs, field.Invalid(at.Child("progressDeadlineSeconds"), *d, "must be greater than minReadySeconds"))
	}
	return errs
}

func isZero(text string) bool { return text == "0" || text == "0%" }

// statefulSet also adds the claims as volumes to the pod template, as the
// controller does, because containers mount them.
func statefulSet(o *appsv1.StatefulSetSpec, at *field.Path) field.ErrorList {
	errs := workload(o.Replicas, o.Selector, &o.Template, at)
	if o.ServiceName != "" {
		errs = append(errs, dnsLabel(o.ServiceName, at.Child("serviceName"))...)
	}
	errs = append(errs, oneOf(o.PodManagementPolicy, at.Child("podManagementPolicy"), appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)...)
	errs = append(errs, oneOf(o.UpdateStrategy.Type, at.Child("updateStrategy"), appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType)...)
	declared := map[string]bool{}
	for _, volume := range o.Template.Spec.Volumes {
		declared[volume.Name] = true
	}
	for _, c := range o.VolumeClaimTemplates {
		if !declared[c.Name] {
			o.Template.Spec.Volumes = append(o.Template.Spec.Volumes, corev1.Volume{Name: c.Name})
		}
	}
	return errs
}

func job(o *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, value := range map[string]*int32{"parallelism": o.Parallelism, "completions": o.Completions, "backoffLimit": o.BackoffLimit, "ttlSecondsAfterFinished": o.TTLSecondsAfterFinished} {
		errs = append(errs, notNegative(value, at.Child(name))...)
	}
	path := at.Child("template", "spec", "restartPolicy")
	switch policy := o.Template.Spec.RestartPolicy; policy {
	case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	case "", corev1.RestartPolicyAlways:
		errs = append(errs, field.Required(path, `valid values: "OnFailure", "Never"`))
	default:
		errs = append(errs, field.NotSupported(path, policy, []string{"OnFailure", "Never"}))
	}
	return errs
}

func cronJob(o *batchv1.CronJobSpec, at *field.Path) field.ErrorList {
	errs := oneOf(o.ConcurrencyPolicy, at.Child("concurrencyPolicy"), batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)
	switch path, fields := at.Child("schedule"), strings.Fields(o.Schedule); {
	case len(fields) == 0:
		errs = append(errs, field.Required(path, ""))
	case strings.Contains(o.Schedule, "TZ"):
		errs = append(errs, field.Invalid(path, o.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	case !strings.HasPrefix(o.Schedule, "@") && len(fields) != 5:
		errs = append(errs, field.Invalid(path, o.Schedule, "expected five fields: minute, hour, day of month, month, day of week"))
	}
	return errs
}
