package selfcheck

import (
	"slices"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// workflowReferences reports references of Workflows that do not exist, and
// WorkflowTemplates that nothing starts. Argo's validator resolves the references
// inside a template.
func workflowReferences(o objects) []problem.Problem {
	var out []problem.Problem
	used := map[*wfv1.WorkflowTemplate]bool{}
	for _, l := range o.Launches() {
		r := problem.About(l.By)
		if ref := l.CreatorSpec.WorkflowTemplateRef; ref != nil && l.Template == nil {
			r.Add(
				l.Path.Child("workflowTemplateRef"),
				codeTemplateRef,
				"",
				"no WorkflowTemplate %q in namespace %q",
				ref.Name,
				l.Namespace,
			)
		}
		used[l.Template] = true
		spec := l.Spec()
		if spec.Entrypoint == "" && (l.Template != nil || l.CreatorSpec.WorkflowTemplateRef == nil) {
			r.Add(l.Path, codeTemplateRef, "set entrypoint in the template", "no entrypoint: nothing would run")
		}
		out = append(out, r.Problems...)
		for _, p := range l.Pods() {
			if t, ok := p.In.(*wfv1.WorkflowTemplate); ok {
				used[t] = true
			}
		}
	}
	out = append(out, argo.Each(o.Objects, func(r *problem.Report, t *wfv1.WorkflowTemplate) {
		if !used[t] {
			r.Add(nil, codeUnusedTemplate, "remove it", "no Sensor or script starts this template")
		}
	})...)
	return append(out, volumeMounts(o)...)
}

// volumeMounts reports mounts of undefined volumes, and ConfigMaps or keys that are
// not emitted.
func volumeMounts(o objects) []problem.Problem {
	var out []problem.Problem
	for _, p := range o.pods() {
		r := problem.About(p.In)
		volumes := p.Volumes()
		for _, c := range p.Containers() {
			for _, m := range c.VolumeMounts {
				i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
				if i < 0 {
					r.Add(
						p.Path,
						codeVolume,
						"state it in the template's own volumes",
						"container %s mounts volume %q, which Argo does not give to the pod",
						c.Name,
						m.Name,
					)
				} else if source := volumes[i].ConfigMap; source != nil {
					checkConfigMapVolume(r, o, p, source)
				}
			}
		}
		out = append(out, r.Problems...)
	}
	return out
}

func checkConfigMapVolume(r *problem.Report, o objects, p argo.Pod, source *corev1.ConfigMapVolumeSource) {
	cm, ok := argo.Find[*corev1.ConfigMap](o.Objects, p.Namespace, source.Name)
	if !ok {
		r.Add(p.Path, codeConfigMap, "emit it", "no ConfigMap %q in namespace %q", source.Name, p.Namespace)
		return
	}
	for _, item := range source.Items {
		_, text := cm.Data[item.Key]
		_, binary := cm.BinaryData[item.Key]
		if !text && !binary {
			r.Add(p.Path, codeConfigMap, "", "ConfigMap %q has no key %q", source.Name, item.Key)
		}
	}
}

// workflowArguments reports arguments that the template does not declare, and
// parameters without a value. Argo reports neither if the WorkflowTemplate has a
// default.
func workflowArguments(o objects) []problem.Problem {
	var out []problem.Problem
	for _, l := range o.Launches() {
		if l.Template == nil {
			continue
		}
		r := problem.About(l.By)
		declared, given := l.Template.Spec.Arguments.Parameters, l.CreatorSpec.Arguments.Parameters
		at := l.Path.Child("arguments", "parameters")
		for i, p := range given {
			if !slices.ContainsFunc(declared, func(d wfv1.Parameter) bool { return d.Name == p.Name }) {
				r.Add(
					at.Index(i),
					codeArgument,
					"declare it in the template",
					"WorkflowTemplate %s has no parameter %q",
					l.Template.Name,
					p.Name,
				)
			}
		}
		for _, d := range declared {
			if d.Value == nil && d.Default == nil && d.ValueFrom == nil && !hasArgument(l, d.Name) {
				r.Add(at, codeArgument, "give it", "parameter %q of WorkflowTemplate %s gets no value", d.Name, l.Template.Name)
			}
		}
		out = append(out, r.Problems...)
	}
	return append(out, stepArguments(o)...)
}

// stepArguments reports arguments of a step that are not inputs of its template.
func stepArguments(o objects) []problem.Problem {
	return argo.EachSpec(o.Objects, func(r *problem.Report, path *field.Path, spec wfv1.WorkflowSpec) {
		for i, t := range spec.Templates {
			for j, parallel := range t.Steps {
				for k, s := range parallel.Steps {
					at := path.Child("templates").Index(i).Child("steps").Index(j).Index(k)
					checkStepInputs(r, at, spec.Templates, s)
				}
			}
		}
	})
}

func checkStepInputs(r *problem.Report, at *field.Path, list []wfv1.Template, s wfv1.WorkflowStep) {
	i := slices.IndexFunc(list, func(t wfv1.Template) bool { return t.Name == s.Template })
	if i < 0 {
		return // in another WorkflowTemplate, or already reported by Argo
	}
	for _, p := range s.Arguments.Parameters {
		if list[i].Inputs.GetParameterByName(p.Name) == nil {
			r.Add(at.Child("arguments"), codeArgument, "", "template %s has no input %q", s.Template, p.Name)
		}
	}
}
