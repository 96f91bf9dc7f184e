package lint

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// started returns the spec of the WorkflowTemplate that a flow starts, if exactly one in the
// files has its name.
func (s *objectSet) started(f flow) (wfv1.WorkflowSpec, bool) {
	ref := f.spec.WorkflowTemplateRef
	if ref == nil {
		return wfv1.WorkflowSpec{}, false
	}
	var specs []wfv1.WorkflowSpec
	if ref.ClusterScope {
		for _, t := range findAll[*wfv1.ClusterWorkflowTemplate](s.all, "", ref.Name) {
			specs = append(specs, t.Spec)
		}
	} else {
		for _, t := range findAll[*wfv1.WorkflowTemplate](s.all, f.namespace, ref.Name) {
			specs = append(specs, t.Spec)
		}
	}
	if len(specs) != 1 {
		return wfv1.WorkflowSpec{}, false
	}
	return specs[0], true
}

// missingArguments checks the Workflows of a trigger. Argo's validator checks those of
// CronWorkflows, and those of users may have arguments on the command line.
func missingArguments(i *inspection, s *eventsv1.Sensor, t argo.Trigger) {
	n := slices.IndexFunc(i.set.flows[s], func(f flow) bool { return f.path.String() == t.ResourcePath().Child("spec").String() })
	if n < 0 {
		return
	}
	f := i.set.flows[s][n]
	started, ok := i.set.started(f)
	if !ok {
		return
	}
	filled := map[string]bool{}
	for _, p := range t.AllParameters() {
		index, isArgument := argumentAt(p.Dest)
		switch {
		case p.List == "parameters" || strings.HasPrefix(p.Dest, "spec") && !isArgument:
			return // an event writes more than the value of an argument
		case isArgument && index >= 0 && index < len(f.spec.Arguments.Parameters):
			filled[f.spec.Arguments.Parameters[index].Name] = true
		}
	}
	for _, d := range started.Arguments.Parameters {
		given := f.spec.Arguments.GetParameterByName(d.Name)
		has := filled[d.Name] || given != nil && (given.Value != nil || given.ValueFrom != nil)
		if !has && d.Value == nil && d.Default == nil && d.ValueFrom == nil {
			i.report(f.path.Child("arguments"), "WorkflowTemplate %s needs the argument %s", f.spec.WorkflowTemplateRef.Name, d.Name)
		}
	}
}

// hookArguments reports hooks that do not pass an input of their template, which Argo's validation does not check.
func hookArguments(i *inspection, f flow) {
	check := func(at *field.Path, hooks wfv1.LifecycleHooks) {
		for name, hook := range hooks {
			n := slices.IndexFunc(f.spec.Templates, func(t wfv1.Template) bool { return t.Name == hook.Template })
			if n < 0 || hook.TemplateRef != nil || f.spec.TemplateDefaults != nil || len(f.spec.Arguments.Parameters) > 0 && at == f.path {
				continue
			}
			for _, p := range f.spec.Templates[n].Inputs.Parameters {
				if p.Value == nil && p.Default == nil && p.ValueFrom == nil && hook.Arguments.GetParameterByName(p.Name) == nil {
					i.reportHint(at.Child("hooks").Child(string(name)), "add "+p.Name+" to arguments.parameters of the hook",
						"template %s needs the argument %s", hook.Template, p.Name)
				}
			}
		}
	}
	check(f.path, f.spec.Hooks)
	for _, t := range f.templates() {
		eachCall(t, func(at *field.Path, c call) { check(at, c.hooks) })
	}
}

// allParameters matches a use of workflow.parameters as a whole.
var allParameters = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`workflow\.parameters([^.\w]|\.json\b)`) })

// reads reports whether a WorkflowTemplate may use an argument: it declares the argument, its
// entrypoint has an input of that name, or a tag names it, perhaps in another template.
func reads(spec wfv1.WorkflowSpec, name string) bool {
	data, err := json.Marshal(spec)
	text := string(data)
	return err != nil || spec.Arguments.GetParameterByName(name) != nil || strings.Contains(text, "workflow.parameters."+name) ||
		strings.Contains(text, `"templateRef"`) || allParameters().MatchString(text) ||
		slices.ContainsFunc(spec.Templates, func(t wfv1.Template) bool { return t.Inputs.GetParameterByName(name) != nil })
}

func unknownArguments(i *inspection, f flow) {
	if started, ok := i.set.started(f); ok {
		for n, p := range f.spec.Arguments.Parameters {
			if !reads(started, p.Name) {
				i.report(f.path.Child("arguments", "parameters").Index(n), "WorkflowTemplate %s has no parameter %s",
					f.spec.WorkflowTemplateRef.Name, p.Name)
			}
		}
	}
	call := func(at *field.Path, name string, ref *wfv1.TemplateRef, arguments wfv1.Arguments) {
		in := f.spec
		if ref != nil {
			found := i.set.referred(ref.Name, ref.ClusterScope, f.namespace)
			if name = ref.Template; len(found) != 1 {
				return
			}
			for _, of := range found {
				in = of.spec
			}
		}
		n := slices.IndexFunc(in.Templates, func(t wfv1.Template) bool { return t.Name == name })
		if n < 0 {
			return
		}
		for k, p := range arguments.Parameters {
			if in.Templates[n].Inputs.GetParameterByName(p.Name) == nil {
				i.report(at.Child("arguments", "parameters").Index(k), "template %s has no input %s", name, p.Name)
			}
		}
	}
	for _, t := range f.templates() {
		for j, parallel := range t.Steps {
			for k, s := range parallel.Steps {
				call(t.path.Child("steps").Index(j).Index(k), s.Template, s.TemplateRef, s.Arguments)
			}
		}
		if t.DAG != nil {
			for k, task := range t.DAG.Tasks {
				call(t.path.Child("dag", "tasks").Index(k), task.Template, task.TemplateRef, task.Arguments)
			}
		}
	}
}

// ownVolumes are volumes that Argo adds to its pods.
var ownVolumes = []string{"var-run-argo", "tmp-dir-argo", "input-artifacts", "argo-staging"}

func unknownVolumes(i *inspection, f flow) {
	// a template that others call has their volumes
	called := f.inherits() || templateSpec(i.Object) != nil && !i.set.launches[i.Object]
	for _, t := range f.templates() {
		if !t.IsPodType() || !mounts(t) {
			continue
		}
		pod, err := argo.Pod{Template: t.Template, Spec: f.spec}.PodSpec()
		if err != nil {
			continue
		}
		known := slices.Clone(ownVolumes)
		for _, v := range slices.Concat(pod.Volumes, i.set.defaults.Volumes) {
			known = append(known, v.Name)
		}
		for _, claim := range f.spec.VolumeClaimTemplates {
			known = append(known, claim.Name)
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, m := range c.VolumeMounts {
				i.mount(mountPath(t, m), c.Name, m.Name, append(known, f.volumes()...), known, called)
			}
		}
	}
}

// volumes returns the names of all volumes of a Workflow.
func (f flow) volumes() []string {
	var out []string
	for _, v := range f.spec.Volumes {
		out = append(out, v.Name)
	}
	return out
}

// mount reports a mount of a volume that is not known. In a template that others call, that is one with almost the name of a
// volume.
func (i *inspection) mount(at *field.Path, container, volume string, all, known []string, called bool) {
	near := diag.Nearest(volume, all, strings.ToLower)
	if slices.Contains(known, volume) || strings.Contains(volume, "{{") || called && (near == "" || near == volume) {
		return
	}
	hint := ""
	if near != "" && near != volume {
		hint = "did you mean " + near + "?"
	}
	i.reportHint(at, hint, "container %s mounts volume %s, which the pod does not have", container, volume)
}

// volumesOfEvents reports mounts of the pod of an EventSource or a Sensor.
func volumesOfEvents(i *inspection) {
	var t *eventsv1.Template
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		t = o.Spec.Template
	case *eventsv1.Sensor:
		t = o.Spec.Template
	}
	if t == nil || t.Container == nil {
		return
	}
	known := []string{"auth-volume", "tmp"} // of Argo Events
	for _, v := range t.Volumes {
		known = append(known, v.Name)
	}
	for n, m := range t.Container.VolumeMounts {
		at := field.NewPath("spec", "template", "container", "volumeMounts").Index(n).Child("name")
		i.mount(at, "main", m.Name, known, known, false)
	}
}

// reachable returns the names of the templates that a Workflow of the flow runs, and of those that the given ones call.
func (f flow) reachable(also ...string) map[string]bool {
	out := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if out[name] {
			return
		}
		out[name] = true
		for _, t := range f.templates() {
			if t.Name == name {
				eachCall(t, func(_ *field.Path, c call) {
					visit(c.template)
					if c.inline != nil {
						out[c.inline.Name] = true
					}
					for _, hook := range c.hooks {
						visit(hook.Template)
					}
				})
			}
		}
	}
	for _, name := range slices.Concat(also, []string{f.spec.Entrypoint, f.spec.OnExit}, hooks(f.spec.Hooks)) {
		visit(name)
	}
	return out
}

// mounts reports whether a container of a template mounts something.
func mounts(t template) bool {
	for _, c := range containersOf(t) {
		if len(c.VolumeMounts) > 0 {
			return true
		}
	}
	return t.PodSpecPatch != "" || t.ContainerSet != nil && len(t.ContainerSet.VolumeMounts) > 0
}

// mountPath returns the path of a mount in a template, or that of the template.
func mountPath(t template, m corev1.VolumeMount) *field.Path {
	for at, c := range containersOf(t) {
		if n := slices.Index(c.VolumeMounts, m); n >= 0 {
			return at.Child("volumeMounts").Index(n).Child("name")
		}
	}
	if t.ContainerSet != nil {
		if n := slices.Index(t.ContainerSet.VolumeMounts, m); n >= 0 {
			return t.path.Child("containerSet", "volumeMounts").Index(n).Child("name")
		}
	}
	return t.path
}

// unknownKeys checks the references to ConfigMaps below the spec of an object.
func unknownKeys(i *inspection) {
	switch i.Object.(type) {
	case *eventsv1.EventSource, *eventsv1.Sensor, *wfv1.Workflow, *wfv1.CronWorkflow, *wfv1.WorkflowTemplate:
	default:
		return
	}
	if !i.set.configured {
		return
	}
	fields, err := i.set.all.FieldsOf(i.Object)
	if err != nil {
		return
	}
	i.keysBelow(field.NewPath("spec"), fields["spec"])
}

func (i *inspection) keysBelow(at *field.Path, value any) {
	switch v := value.(type) {
	case []any:
		for n, inner := range v {
			i.keysBelow(at.Index(n), inner)
		}
	case map[string]any:
		if ref, ok := v["configMapKeyRef"].(map[string]any); ok && ref["optional"] != true {
			i.key(at.Child("configMapKeyRef", "key"), stringOf(ref, "name"), stringOf(ref, "key"))
		}
		if ref, ok := v["artifactRepositoryRef"].(map[string]any); ok {
			i.key(at.Child("artifactRepositoryRef", "key"), stringOf(ref, "configMap"), stringOf(ref, "key"))
		}
		if volume, ok := v["configMap"].(map[string]any); ok && volume["optional"] != true {
			items, _ := volume["items"].([]any)
			for n, item := range items {
				if item, ok := item.(map[string]any); ok {
					i.key(at.Child("configMap", "items").Index(n).Child("key"), stringOf(volume, "name"), stringOf(item, "key"))
				}
			}
		}
		for key, inner := range v {
			if ref, ok := inner.(map[string]any); ok && isSelector(key, ref) {
				i.secretKey(at.Child(key, "key"), stringOf(ref, "name"), stringOf(ref, "key"))
			}
			i.keysBelow(at.Child(key), inner)
		}
		if volume, ok := v["secret"].(map[string]any); ok && volume["optional"] != true {
			items, _ := volume["items"].([]any)
			for n, item := range items {
				if item, ok := item.(map[string]any); ok {
					i.secretKey(at.Child("secret", "items").Index(n).Child("key"), stringOf(volume, "secretName"), stringOf(item, "key"))
				}
			}
		}
	}
}

// isSelector reports whether an object selects the key of a Secret.
func isSelector(field string, ref map[string]any) bool {
	_, name := ref["name"].(string)
	_, key := ref["key"].(string)
	rest := len(ref) - 2
	if _, optional := ref["optional"]; optional {
		rest--
	}
	return name && key && rest == 0 && ref["optional"] != true && !strings.Contains(strings.ToLower(field), "configmap")
}

// secretKey reports a key that none of the Secrets with the name has. Those with an owner, or without
// data, are filled by a program.
func (i *inspection) secretKey(at *field.Path, name, key string) {
	list := findAll[*corev1.Secret](i.set.all, i.Object.GetNamespace(), name)
	has := slices.ContainsFunc(list, func(s *corev1.Secret) bool {
		_, text := s.StringData[key]
		_, data := s.Data[key]
		return text || data || len(s.Data)+len(s.StringData) == 0 || len(s.OwnerReferences) > 0
	})
	if len(list) > 0 && !has && key != "" && !strings.Contains(key, "{{") && !i.set.patched.has("Secret", name) {
		i.report(at, "Secret %s has no key %s", name, key)
	}
}

// key reports a key that none of the ConfigMaps with the name has.
func (i *inspection) key(at *field.Path, name, key string) {
	list := findAll[*corev1.ConfigMap](i.set.all, i.Object.GetNamespace(), name)
	has := slices.ContainsFunc(list, func(cm *corev1.ConfigMap) bool {
		_, text := cm.Data[key]
		_, binary := cm.BinaryData[key]
		return text || binary
	})
	if len(list) > 0 && !has && key != "" && !strings.Contains(key, "{{") && !i.set.patched.has("ConfigMap", name) {
		i.report(at, "ConfigMap %s has no key %s", name, key)
	}
}

// rejectedPods checks the pods of an object whose Namespace enforces a standard.
func rejectedPods(i *inspection) {
	at := field.NewPath("spec", "template")
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		if level, ok := i.enforced(o.Namespace); ok {
			i.rejectedPod(at, o.Namespace, level, argo.EventsPod(o.Spec.Template))
		}
	case *eventsv1.Sensor:
		if level, ok := i.enforced(o.Namespace); ok {
			i.rejectedPod(at, o.Namespace, level, argo.EventsPod(o.Spec.Template))
		}
	}
	for _, f := range i.set.flows[i.Object] {
		level, ok := i.enforced(f.namespace)
		if !ok || f.inherits() {
			continue
		}
		for _, t := range f.templates() {
			if pod, err := (argo.Pod{Template: t.Template, Spec: f.spec}).PodSpec(); err == nil && t.IsPodType() {
				i.rejectedPod(t.path, f.namespace, level, pod)
			}
		}
	}
}

// enforced returns the standard that a Namespace among the objects enforces.
func (i *inspection) enforced(namespace string) (api.Level, bool) {
	of, ok := argo.Find[*corev1.Namespace](i.set.all, "", namespace)
	if !ok || of.Labels[api.EnforceLevelLabel] == "" {
		return "", false
	}
	level, err := api.ParseLevel(of.Labels[api.EnforceLevelLabel])
	return level, err == nil
}

func (i *inspection) rejectedPod(at *field.Path, namespace string, level api.Level, pod *corev1.PodSpec) {
	for _, v := range admission.PodViolations(level, pod) {
		i.report(at, "Namespace %s enforces %s: %s: %s", namespace, level, v.ForbiddenReason, v.ForbiddenDetail)
	}
}
