package builtin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
		if s, err := metav1.LabelSelectorAsSelector(selector); err == nil {
			errs = append(errs, matches(s, template, at)...)
		}
	}
	return append(errs, onlyAlways(template, at)...)
}

func matches(s labels.Selector, template *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	if s.Matches(labels.Set(template.Labels)) {
		return nil
	}
	return field.ErrorList{
		field.Invalid(at.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`").
			WithOrigin(OriginSelector),
	}
}

// onlyAlways validates that the pods of a workload run forever.
func onlyAlways(template *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if policy := template.Spec.RestartPolicy; policy != "" && policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("template", "spec", "restartPolicy"), policy, []string{"Always"}))
	}
	if template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("template", "spec", "activeDeadlineSeconds"), "only Jobs have a deadline"))
	}
	return errs
}

func rollout(o *appsv1.DeploymentSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	path := at.Child("strategy", "rollingUpdate")
	if o.Strategy.Type == appsv1.RecreateDeploymentStrategyType && o.Strategy.RollingUpdate != nil {
		errs = append(errs, field.Forbidden(path, "may not be specified when strategy `type` is 'Recreate'"))
	}
	if u := o.Strategy.RollingUpdate; u != nil && amount(u.MaxSurge, 25) == 0 && amount(u.MaxUnavailable, 25) == 0 {
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), u.MaxUnavailable.String(), "may not be 0 when `maxSurge` is 0"))
	}
	deadline := int32(600)
	if o.ProgressDeadlineSeconds != nil {
		deadline = *o.ProgressDeadlineSeconds
	}
	if deadline <= o.MinReadySeconds {
		errs = append(errs, field.Invalid(at.Child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds"))
	}
	return errs
}

func daemons(o *appsv1.DaemonSetSpec, at *field.Path) field.ErrorList {
	u := o.UpdateStrategy.RollingUpdate
	if u == nil || o.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return nil
	}
	path := at.Child("updateStrategy", "rollingUpdate")
	switch unavailable, surge := amount(u.MaxUnavailable, 1), amount(u.MaxSurge, 0); {
	case unavailable != 0 && surge != 0:
		return field.ErrorList{field.Invalid(path.Child("maxSurge"), u.MaxSurge.String(), "may not be set when maxUnavailable is non-zero")}
	case unavailable == 0 && surge == 0:
		return field.ErrorList{field.Required(path.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0")}
	}
	return nil
}

// statefulSet also adds the claims as volumes to the pod template, as the
// controller does, because containers mount them.
func statefulSet(o *appsv1.StatefulSetSpec, at *field.Path) field.ErrorList {
	errs := workload(o.Replicas, o.Selector, &o.Template, at)
	errs = append(errs, innerMeta(&o.Template.ObjectMeta, at.Child("template"))...)
	if o.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType && o.UpdateStrategy.RollingUpdate != nil {
		errs = append(
			errs,
			field.Invalid(at.Child("updateStrategy", "rollingUpdate"), "", "only allowed for updateStrategy 'RollingUpdate'"),
		)
	}
	declared := map[string]bool{}
	for _, volume := range o.Template.Spec.Volumes {
		declared[volume.Name] = true
	}
	for _, c := range o.VolumeClaimTemplates {
		if c.Name != "" && !declared[c.Name] {
			source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}}
			o.Template.Spec.Volumes = append(o.Template.Spec.Volumes, corev1.Volume{Name: c.Name, VolumeSource: source})
		}
	}
	return errs
}

func replicationController(o *corev1.ReplicationControllerSpec, at *field.Path) field.ErrorList {
	if o.Template == nil {
		return field.ErrorList{field.Required(at.Child("template"), "")}
	}
	selector := o.Selector
	if len(selector) == 0 {
		selector = o.Template.Labels
	}
	if len(selector) == 0 {
		return field.ErrorList{field.Required(at.Child("selector"), "")}
	}
	return append(matches(labels.Set(selector).AsSelectorPreValidated(), o.Template, at), onlyAlways(o.Template, at)...)
}

// onlyPods validates what the API server does not validate in templates.
func onlyPods(o *corev1.Pod) field.ErrorList {
	at := field.NewPath("spec")
	errs := imageSpaces(o.Spec.Containers, at.Child("containers"))
	errs = append(errs, imageSpaces(o.Spec.InitContainers, at.Child("initContainers"))...)
	if o.Spec.NodeName != "" && len(o.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(at.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return errs
}

func imageSpaces(containers []corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range containers {
		if strings.TrimSpace(c.Image) != c.Image {
			errs = append(errs, field.Invalid(at.Index(i).Child("image"), c.Image, "must not have leading or trailing whitespace"))
		}
	}
	return errs
}

func job(o *batchv1.JobSpec, at *field.Path) field.ErrorList {
	errs := onlyEnding(o, at)
	if o.MaxFailedIndexes != nil && o.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(at.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	errs = append(errs, indexes(o, at)...)
	if o.PodFailurePolicy != nil {
		errs = append(errs, failurePolicy(o, at.Child("podFailurePolicy"))...)
	}
	if o.PodReplacementPolicy != nil {
		allowed := []string{"Failed", "TerminatingOrFailed"}
		if o.PodFailurePolicy != nil {
			allowed = allowed[:1]
		}
		errs = append(errs, among(allowed...)(valueOf(o.PodReplacementPolicy), at.Child("podReplacementPolicy"))...)
	}
	return errs
}

// ownPods validates the selector of a Job that no CronJob makes.
func ownPods(o *batchv1.JobSpec, at *field.Path) field.ErrorList {
	manual := o.ManualSelector != nil && *o.ManualSelector
	switch {
	case o.Selector == nil && manual:
		return field.ErrorList{field.Required(at.Child("selector"), "")}
	case o.Selector == nil:
		return nil
	}
	s, err := metav1.LabelSelectorAsSelector(o.Selector)
	if err != nil {
		return nil // reported with the selector
	}
	return matches(s, &o.Template, at)
}

// onlyEnding validates that the pods of a Job end.
func onlyEnding(o *batchv1.JobSpec, at *field.Path) field.ErrorList {
	path := at.Child("template", "spec", "restartPolicy")
	switch policy := o.Template.Spec.RestartPolicy; policy {
	case corev1.RestartPolicyOnFailure:
		if o.PodFailurePolicy != nil {
			return field.ErrorList{field.Invalid(path, policy, `only "Never" is supported when podFailurePolicy is specified`)}
		}
	case corev1.RestartPolicyNever:
	case "", corev1.RestartPolicyAlways:
		return field.ErrorList{field.Required(path, `valid values: "OnFailure", "Never"`).WithOrigin(OriginEnding)}
	default:
		return field.ErrorList{field.NotSupported(path, policy, []string{"OnFailure", "Never"})}
	}
	return nil
}

func indexes(o *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.CompletionMode != nil && *o.CompletionMode == batchv1.IndexedCompletion {
		if o.Completions == nil {
			errs = append(errs, field.Required(at.Child("completions"), "when completion mode is Indexed"))
		}
		if o.Parallelism != nil && *o.Parallelism > 100000 {
			errs = append(
				errs,
				field.Invalid(
					at.Child("parallelism"),
					*o.Parallelism,
					"must be less than or equal to 100000 when completion mode is Indexed",
				),
			)
		}
		if o.Completions != nil && o.MaxFailedIndexes != nil && *o.MaxFailedIndexes > *o.Completions {
			errs = append(
				errs,
				field.Invalid(at.Child("maxFailedIndexes"), *o.MaxFailedIndexes, "must be less than or equal to completions"),
			)
		}
		return errs
	}
	const requires = "requires indexed completion mode"
	if o.BackoffLimitPerIndex != nil {
		errs = append(errs, field.Invalid(at.Child("backoffLimitPerIndex"), *o.BackoffLimitPerIndex, requires))
	}
	if o.MaxFailedIndexes != nil {
		errs = append(errs, field.Invalid(at.Child("maxFailedIndexes"), *o.MaxFailedIndexes, requires))
	}
	if o.SuccessPolicy != nil {
		errs = append(errs, field.Invalid(at.Child("successPolicy"), "", requires))
	}
	return errs
}

func failurePolicy(o *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	has := func(name string) bool {
		named := func(c corev1.Container) bool { return c.Name == name }
		return slices.ContainsFunc(o.Template.Spec.Containers, named) || slices.ContainsFunc(o.Template.Spec.InitContainers, named)
	}
	for i, rule := range o.PodFailurePolicy.Rules {
		path := at.Child("rules").Index(i)
		codes := rule.OnExitCodes
		if (codes != nil) == (len(rule.OnPodConditions) > 0) {
			errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specify one of onExitCodes and onPodConditions"))
		}
		if rule.Action == batchv1.PodFailurePolicyActionFailIndex && o.BackoffLimitPerIndex == nil {
			errs = append(errs, field.Invalid(path.Child("action"), rule.Action, "requires the backoffLimitPerIndex to be set"))
		}
		if codes == nil {
			continue
		}
		if codes.ContainerName != nil && !has(*codes.ContainerName) {
			errs = append(
				errs,
				field.Invalid(
					path.Child("onExitCodes", "containerName"),
					*codes.ContainerName,
					"must be one of the container or initContainer names in the pod template",
				),
			)
		}
		values := path.Child("onExitCodes", "values")
		if !slices.IsSorted(codes.Values) {
			errs = append(errs, field.Invalid(values, codes.Values, "must be ordered"))
		}
		if codes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && slices.Contains(codes.Values, 0) {
			errs = append(errs, field.Invalid(values, 0, "must not be 0 for the In operator"))
		}
	}
	return errs
}

func cronJob(o *batchv1.CronJobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, Schedule(o.Schedule, at.Child("schedule"))...)
	template := at.Child("jobTemplate", "spec")
	if selector := o.JobTemplate.Spec.Selector; selector != nil {
		errs = append(errs, field.Invalid(template.Child("selector"), "", "`selector` will be auto-generated"))
	}
	if manual := o.JobTemplate.Spec.ManualSelector; manual != nil && *manual {
		errs = append(errs, field.NotSupported(template.Child("manualSelector"), true, []string{"nil", "false"}))
	}
	if o.TimeZone != nil {
		errs = append(errs, TimeZone(*o.TimeZone, at.Child("timeZone"))...)
	}
	return errs
}

// Schedule returns why a CronJob cannot have a schedule.
func Schedule(text string, at *field.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(at, "")}
	case strings.Contains(text, "TZ"):
		return field.ErrorList{field.Invalid(at, text, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")}
	}
	if _, err := cron.ParseStandard(text); err != nil {
		return field.ErrorList{field.Invalid(at, text, err.Error())}
	}
	return nil
}

// NextTime returns the next time of a valid schedule after another one; zero if there is none in five years.
func NextTime(schedule string, after time.Time) time.Time {
	times, err := cron.ParseStandard(schedule)
	if err != nil {
		return time.Time{}
	}
	return times.Next(after)
}

// TimeZone returns why a CronJob cannot have a time zone.
func TimeZone(name string, at *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Invalid(at, name, "timeZone must be nil or non-empty string")}
	case strings.EqualFold(name, "local"):
		return field.ErrorList{
			field.Invalid(at, name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"),
		}
	}
	if !zoneName(name) {
		return field.ErrorList{field.Invalid(at, name, fmt.Sprintf("unknown time zone %s", name))}
	}
	if _, err := time.LoadLocation("UTC"); err != nil || !zonesKnown() {
		return nil // this machine has no time zones to compare with
	}
	if _, err := time.LoadLocation(name); err != nil {
		return field.ErrorList{field.Invalid(at, name, err.Error())}
	}
	return nil
}

// zonesKnown reports whether this machine has the data of time zones.
func zonesKnown() bool {
	_, err := time.LoadLocation("Europe/Berlin")
	return err == nil
}

// zoneName reports whether a text has the form of the name of a time zone.
func zoneName(name string) bool {
	return !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "/") &&
		!strings.Contains(name, "//") &&
		strings.IndexFunc(name, func(r rune) bool { return !strings.ContainsRune("+-/_", r) && !isAlphanumeric(r) }) < 0
}

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
