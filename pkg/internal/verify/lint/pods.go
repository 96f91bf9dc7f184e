package lint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// refusedObjects runs the validation of the API server on what Argo creates for a Workflow.
func refusedObjects(i *inspection, f flow) {
	if f.writes.others {
		return // events change more than arguments
	}
	for n, claim := range f.spec.VolumeClaimTemplates {
		at := f.path.Child("volumeClaimTemplates").Index(n)
		claim.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		i.refused(&claim, func(path string) *field.Path { return fieldBelow(at, path) })
	}
	if f.spec.PodDisruptionBudget != nil {
		i.refused(&policyv1.PodDisruptionBudget{
			TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}, Spec: *f.spec.PodDisruptionBudget,
		}, func(path string) *field.Path {
			return fieldBelow(f.path.Child("podDisruptionBudget"), strings.TrimPrefix(path, "spec."))
		})
	}
	if f.spec.TemplateDefaults != nil || i.set.defaults.TemplateDefaults != nil {
		return // which merges others into the templates
	}
	for _, t := range f.templates() {
		if !t.IsPodType() {
			continue
		}
		spec, err := argo.Pod{Template: t.Template, Spec: f.spec}.PodSpec()
		switch at, patch := patchOf(f, t); {
		case err == nil:
			pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Spec: *spec}
			pod.Labels, pod.Annotations = t.Metadata.Labels, t.Metadata.Annotations
			if f.spec.PodMetadata != nil {
				pod.Labels = merged(f.spec.PodMetadata.Labels, pod.Labels)
				pod.Annotations = merged(f.spec.PodMetadata.Annotations, pod.Annotations)
			}
			i.refused(pod, func(path string) *field.Path { return podPath(f, t, spec, path) })
		case !strings.Contains(patch, "{{"):
			i.reportHint(at, "write YAML or JSON with the fields of a pod's spec", "%v", err)
		}
	}
}

// merged returns the entries of both; those of the second one count.
func merged(first, second map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, first)
	maps.Copy(out, second)
	return out
}

// patchOf returns the patches of the pods of a template, and the path of the one that counts most.
func patchOf(f flow, t template) (at *field.Path, patches string) {
	at = f.path
	if t.PodSpecPatch != "" {
		at = t.path
	}
	return at.Child("podSpecPatch"), f.spec.PodSpecPatch + t.PodSpecPatch
}

// notRefused matches fields whose values other rules report, or that only server-side apply or older API servers refuse.
var notRefused = lazily(`\.(image|imagePullPolicy|restartPolicy)$|\.(env|ports|imagePullSecrets|hostAliases)\[\d+\](\.name)?$`)

// refused reports what the API server refuses in an object, unless tags or tools may fill it in. Other rules
// report missing volumes and wrong resources.
func (i *inspection) refused(object manifest.Object, placed func(string) *field.Path) {
	r := problem.About(object)
	if admission.Values(r, object); len(r.Problems) == 0 {
		return
	}
	fields := fieldsOf(object)
	for _, p := range r.Problems {
		known := notRefused().MatchString(p.Path) && !(p.Required && strings.HasSuffix(p.Path, "].name")) ||
			strings.Contains(p.Path, ".volumeMounts[") && p.Forbidden || strings.Contains(p.Path, ".resources.") && !p.Required
		if !known && !fromTemplate(p.Value+fmt.Sprint(schema.ValueAt(fields, p.Segments()...))) {
			hint := p.Hint
			if inName().MatchString(p.Path) {
				hint = "use another name; main, init and wait are Argo's own containers"
			}
			what := ""
			if _, err := strconv.Atoi(lastOf(p)); err != nil && lastOf(p) != "spec" {
				what = lastOf(p) + ": "
			}
			i.reportHint(placed(p.Path), hint, "%s%s", what, p.Message)
		}
	}
}

// inName matches the name of a container.
var inName = lazily(`ontainers\[\d+\]\.name$`)

// fieldBelow returns the path of a field below another one.
func fieldBelow(at *field.Path, path string) *field.Path {
	return field.NewPath(at.String() + "." + path)
}

// podPath returns the path of a field of a pod in the template or the Workflow that sets it.
func podPath(f flow, t template, spec *corev1.PodSpec, path string) *field.Path {
	path = strings.TrimPrefix(path, "spec.")
	if rest, is := strings.CutPrefix(path, "metadata."); is && len(t.Metadata.Labels)+len(t.Metadata.Annotations) == 0 {
		return fieldBelow(f.path.Child("podMetadata"), rest)
	} else if is {
		return fieldBelow(t.path, path)
	}
	for list, containers := range map[string][]corev1.Container{"containers": spec.Containers, "initContainers": spec.InitContainers} {
		index, rest, _ := strings.Cut(strings.TrimPrefix(path, list+"["), "]")
		n, err := strconv.Atoi(index)
		if !strings.HasPrefix(path, list+"[") || err != nil || n >= len(containers) {
			continue
		}
		for at, c := range containersOf(t) {
			inList := strings.HasSuffix(at.String(), "]")
			if !inList {
				c.Name = common.MainContainerName
			}
			if c.Name == containers[n].Name && (inList || rest != ".name") {
				return fieldBelow(at, strings.TrimPrefix(rest, "."))
			}
		}
		return t.path
	}
	first, _, _ := strings.Cut(path, "[")
	first, _, _ = strings.Cut(first, ".")
	fields, _ := fieldsOf(t.Template).(map[string]any)
	if fields[first] != nil {
		return fieldBelow(t.path, path)
	}
	return fieldBelow(f.path, path)
}

// unknownInPatch reports fields of podSpecPatch that a pod does not have.
func unknownInPatch(i *inspection, f flow) {
	look := func(at *field.Path, patch string) {
		if patch == "" {
			return
		}
		data, err := yaml.YAMLToJSON([]byte(tag().ReplaceAllString(patch, "0")))
		if err != nil {
			return
		}
		r := problem.About(i.Object)
		argo.DecodeStrict(data, &corev1.PodSpec{}, r, nil)
		for _, p := range r.Problems {
			if p.Code == diag.UnknownField && !slices.ContainsFunc(p.Segments(), func(s string) bool { return strings.HasPrefix(s, "$") }) {
				i.reportHint(at.Child("podSpecPatch"), p.Hint, "%s", p.Message)
			}
		}
	}
	look(f.path, f.spec.PodSpecPatch)
	for _, t := range f.templates() {
		look(t.path, t.PodSpecPatch)
	}
}
