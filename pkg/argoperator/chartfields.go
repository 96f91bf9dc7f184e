package argoperator

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// The marks of the fields of pods that a chart can change.
const (
	markLabels       = "argoperator-value/labels"
	markAnnotations  = "argoperator-value/annotations"
	markNodes        = "argoperator-value/nodes"
	markTolerations  = "argoperator-value/tolerations"
	markAffinity     = "argoperator-value/affinity"
	markPullSecrets  = "argoperator-value-secrets"
	markPriority     = "argoperator-value-priority"
	markRuntimeSize  = "argoperator-value/runtime-size"
	markLogicSize    = "argoperator-value/logic-size"
	priorityPattern  = "^$|^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$"
	quantityPattern  = "^[0-9.]+([eE][0-9]+|[a-zA-Z]*)$"
	noTemplate       = "^([^{]|[{][^{])*[{]?$" // of Argo
	podTemplateGroup = "podTemplate."
)

// podFields returns the values of a chart that are fields of pods: install.podTemplate and
// the resources of the containers of the definition.
func podFields(p *plan.Plan) []output.Field {
	object := func(more map[string]any) map[string]any {
		more["type"] = "object"
		return more
	}
	texts := func() map[string]any {
		return object(map[string]any{"additionalProperties": map[string]any{"type": "string", "pattern": noTemplate}})
	}
	items := func(of map[string]any) map[string]any { return map[string]any{"type": "array", "items": of} }
	quantity := map[string]any{"type": []string{"string", "number"}, "pattern": quantityPattern}
	quantities := object(map[string]any{"additionalProperties": quantity})
	size := output.Closed(map[string]any{"requests": quantities, "limits": quantities})
	secret := output.Closed(map[string]any{"name": map[string]any{"type": "string", "minLength": 1}})
	return []output.Field{
		{
			Path: podTemplateGroup + "labels", Description: "Further labels of the pods.", Schema: texts(),
			Marker: markLabels, Entries: true, Default: anyMap(p.Shared.PodTemplate.Labels),
		},
		{
			Path: podTemplateGroup + "annotations", Description: "Annotations of the pods.", Schema: texts(),
			Marker: markAnnotations, Entries: true, Default: anyMap(p.Shared.PodTemplate.Annotations),
		},
		{
			Path: podTemplateGroup + "nodeSelector", Description: "Labels of the nodes that the pods may run on.", Schema: texts(),
			Keys: []string{"nodeSelector"}, Marker: markNodes, Default: map[string]any{},
		},
		{
			Path: podTemplateGroup + "tolerations", Description: "Taints of nodes that the pods tolerate.",
			Schema: items(object(map[string]any{})), Keys: []string{"tolerations"}, Marker: markTolerations, Default: []any{},
		},
		{
			Path: podTemplateGroup + "affinity", Description: "Affinity of the pods.", Schema: object(map[string]any{}),
			Keys: []string{"affinity"}, Marker: markAffinity, Default: map[string]any{},
		},
		{
			Path: podTemplateGroup + "imagePullSecrets", Description: "Secrets with the credentials of registries.", Schema: items(secret),
			Keys: []string{"imagePullSecrets"}, Marker: markPullSecrets, Default: []any{},
		},
		{
			Path: podTemplateGroup + "priorityClassName", Description: "Name of a PriorityClass.",
			Schema: map[string]any{"type": "string", "pattern": priorityPattern},
			Keys:   []string{"priorityClassName", "podPriorityClassName"}, Marker: markPriority, Default: "",
		},
		{
			Path: "resources.runtime", Description: "Requests and limits of the container that reconciles.", Schema: size,
			Keys: []string{"resources"}, Marker: markRuntimeSize, Default: map[string]any{},
		},
		{
			Path: "resources.logic", Description: "Requests and limits of the container of the logic.", Schema: size,
			Keys: []string{"resources"}, Marker: markLogicSize, Default: map[string]any{},
		},
	}
}

func anyMap(in map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range in {
		out[key] = value
	}
	return out
}

// mark puts the marks of the fields into a plan.
func mark(p *plan.Plan) {
	p.Shared.PodTemplate = plan.PodTemplate{
		Labels: map[string]string{markLabels: ""}, Annotations: map[string]string{markAnnotations: ""},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{markNodes: ""},
			Tolerations:  []corev1.Toleration{{Key: markTolerations}},
			Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: markAffinity}},
			}},
			ImagePullSecrets:  []corev1.LocalObjectReference{{Name: markPullSecrets}},
			PriorityClassName: markPriority,
		},
	}
	p.Shared.Resources = v1alpha1.Resources{Limits: map[string]string{markRuntimeSize: "1"}}
	p.Logic.Resources = v1alpha1.Resources{Limits: map[string]string{markLogicSize: "1"}}
}
