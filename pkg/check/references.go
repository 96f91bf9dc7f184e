package check

import (
	"slices"
	"strconv"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// launches: what a Workflow refers to is there, and each WorkflowTemplate is
// used. What is inside of a template Argo's validator resolves.
func launches(o objects) []Problem {
	var out []Problem
	used := map[*wfv1.WorkflowTemplate]bool{}
	for _, l := range o.launches() {
		r := about(l.by)
		if ref := l.given.WorkflowTemplateRef; ref != nil && l.template == nil {
			r.add(l.path.Child("workflowTemplateRef"), CodeTemplateRef, "", "no WorkflowTemplate %q in namespace %q", ref.Name, l.namespace)
		}
		used[l.template] = true
		spec := l.spec()
		if spec.Entrypoint == "" && (l.template != nil || l.given.WorkflowTemplateRef == nil) {
			r.add(l.path, CodeTemplateRef, "set entrypoint in the template", "no entrypoint: nothing would run")
		}
		out = append(out, r.problems...)
		for _, p := range l.pods() {
			if t, ok := p.in.(*wfv1.WorkflowTemplate); ok {
				used[t] = true
			}
		}
	}
	out = append(out, each(o, func(r *report, t *wfv1.WorkflowTemplate) {
		if !used[t] {
			r.add(nil, CodeTemplateUnused, "remove it", "no Sensor, CronWorkflow or script starts this template")
		}
	})...)
	return append(out, mounts(o)...)
}

// mounts: each mounted volume is stated, and each ConfigMap and its keys are emitted.
func mounts(o objects) []Problem {
	var out []Problem
	for _, p := range o.pods() {
		r := about(p.in)
		volumes := p.volumes()
		for _, c := range p.containers() {
			for _, m := range c.VolumeMounts {
				i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
				if i < 0 {
					r.add(p.path, CodeVolume, "state it in the template's own volumes", "container %s mounts volume %q, which Argo does not give to the pod", c.Name, m.Name)
				} else if source := volumes[i].ConfigMap; source != nil {
					configMapVolume(r, o, p, source)
				}
			}
		}
		out = append(out, r.problems...)
	}
	return out
}

func configMapVolume(r *report, o objects, p pod, source *corev1.ConfigMapVolumeSource) {
	cm, ok := find[*corev1.ConfigMap](o, p.namespace, source.Name)
	if !ok {
		r.add(p.path, CodeConfigMap, "emit it", "no ConfigMap %q in namespace %q", source.Name, p.namespace)
		return
	}
	for _, item := range source.Items {
		_, text := cm.Data[item.Key]
		_, binary := cm.BinaryData[item.Key]
		if !text && !binary {
			r.add(p.path, CodeConfigMap, "", "ConfigMap %q has no key %q", source.Name, item.Key)
		}
	}
}

// arguments: what is given is declared, and what is declared without a value is
// given. Argo reports neither where a WorkflowTemplate has a value to fall back on.
func arguments(o objects) []Problem {
	var out []Problem
	for _, l := range o.launches() {
		if l.template == nil {
			continue
		}
		r := about(l.by)
		declared, given := l.template.Spec.Arguments.Parameters, l.given.Arguments.Parameters
		at := l.path.Child("arguments", "parameters")
		for i, p := range given {
			if !slices.ContainsFunc(declared, func(d wfv1.Parameter) bool { return d.Name == p.Name }) {
				r.add(at.Index(i), CodeArgument, "declare it in the template", "WorkflowTemplate %s has no parameter %q", l.template.Name, p.Name)
			}
		}
		for _, d := range declared {
			if d.Value == nil && d.Default == nil && d.ValueFrom == nil && !l.gives(d.Name) {
				r.add(at, CodeArgument, "give it", "parameter %q of WorkflowTemplate %s gets no value", d.Name, l.template.Name)
			}
		}
		out = append(out, r.problems...)
	}
	return append(out, stepArguments(o)...)
}

// gives tells whether the creator gives an argument, or a Sensor fills it in.
func (l launch) gives(name string) bool {
	for i, p := range l.given.Arguments.Parameters {
		if p.Name == name {
			return p.Value != nil || p.ValueFrom != nil || slices.Contains(l.filled, "spec.arguments.parameters."+strconv.Itoa(i)+".value")
		}
	}
	return false
}

// stepArguments: what a step gives is an input of the template that it calls.
func stepArguments(o objects) []Problem {
	return each(o, func(r *report, wt *wfv1.WorkflowTemplate) {
		for i, t := range wt.Spec.Templates {
			for j, parallel := range t.Steps {
				for k, s := range parallel.Steps {
					at := field.NewPath("spec", "templates").Index(i).Child("steps").Index(j).Index(k)
					stepInputs(r, at, wt.Spec.Templates, s)
				}
			}
		}
	})
}

func stepInputs(r *report, at *field.Path, list []wfv1.Template, s wfv1.WorkflowStep) {
	i := slices.IndexFunc(list, func(t wfv1.Template) bool { return t.Name == s.Template })
	if i < 0 {
		return // another WorkflowTemplate's, or reported by Argo
	}
	for _, p := range s.Arguments.Parameters {
		if list[i].Inputs.GetParameterByName(p.Name) == nil {
			r.add(at.Child("arguments"), CodeArgument, "", "template %s has no input %q", s.Template, p.Name)
		}
	}
}

// segments splits the destination of a Sensor's parameter: dots separate, a
// backslash keeps one.
func segments(dest string) []string {
	parts := strings.Split(strings.ReplaceAll(dest, `\.`, "\x00"), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", ".")
	}
	return parts
}
