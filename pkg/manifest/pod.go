package manifest

import (
	"encoding/json"
	"fmt"
	"maps"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// user is the unprivileged user of every container, the same as in Argo's images.
const user int64 = 8737

// podSecurity and containerSecurity satisfy the restricted Pod Security Standard.
func podSecurity() *corev1.PodSecurityContext {
	nonRoot, id := true, user
	return &corev1.PodSecurityContext{
		RunAsNonRoot:   &nonRoot,
		RunAsUser:      &id,
		RunAsGroup:     &id,
		FSGroup:        &id,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func containerSecurity() *corev1.SecurityContext {
	no, yes := false, true
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no,
		ReadOnlyRootFilesystem:   &yes,
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// executorPatch sets the same security context for the containers that Argo adds to a
// pod. A resource template has no wait container, and Argo restricts it itself.
func executorPatch() string {
	type container struct {
		Name            string                  `json:"name"`
		SecurityContext *corev1.SecurityContext `json:"securityContext"`
	}
	writable := containerSecurity()
	writable.ReadOnlyRootFilesystem = nil
	data, err := json.Marshal(map[string][]container{
		"initContainers": {{Name: "init", SecurityContext: writable}},
		"containers":     {{Name: "wait", SecurityContext: writable}},
	})
	if err != nil {
		panic(fmt.Sprintf("manifest: plain data does not encode: %v", err)) // unreachable
	}
	return string(data)
}

// podLabels returns the labels of a pod of the operator, given its own.
func podLabels(p *plan.Plan, own map[string]string) map[string]string {
	labels := maps.Clone(p.Shared.PodTemplate.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, p.Operator.Labels)
	maps.Copy(labels, own)
	return labels
}

// eventsPod returns the pod template of the EventSource or a Sensor.
func eventsPod(p *plan.Plan, a plan.Account, size plan.PodSize) *eventsv1.Template {
	more := p.Shared.PodTemplate
	return &eventsv1.Template{
		Metadata:           &eventsv1.Metadata{Labels: podLabels(p, nil), Annotations: more.Annotations},
		ServiceAccountName: p.ServiceAccount(a),
		SecurityContext:    podSecurity(),
		NodeSelector:       more.Spec.NodeSelector,
		Tolerations:        more.Spec.Tolerations,
		Affinity:           more.Spec.Affinity,
		ImagePullSecrets:   more.Spec.ImagePullSecrets,
		PriorityClassName:  more.Spec.PriorityClassName,
		Container: &eventsv1.Container{
			SecurityContext: containerSecurity(),
			// the heap limit is below the memory limit, so that the garbage collector
			// runs first
			Env: []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: size.HeapLimit}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{
					corev1.ResourceCPU:    resource.MustParse(size.CPU),
					corev1.ResourceMemory: resource.MustParse(size.Memory),
				},
				Limits: corev1.ResourceList{
					corev1.ResourceCPU:    resource.MustParse(size.CPULimit),
					corev1.ResourceMemory: resource.MustParse(size.MemoryLimit),
				},
			},
		},
	}
}

// workflowType returns the type of one of Argo Workflows' kinds.
func workflowType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: plan.ArgoGroup + "/v1alpha1", Kind: kind}
}

// resources converts the resources of the definition, whose quantities were validated.
func resources(r v1alpha1.Resources) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: quantities(r.Requests), Limits: quantities(r.Limits)}
}

func quantities(list map[string]string) corev1.ResourceList {
	if len(list) == 0 {
		return nil
	}
	out := corev1.ResourceList{}
	for name, quantity := range list {
		out[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return out
}
