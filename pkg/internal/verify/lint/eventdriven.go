package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// eventDrivenRules check Workflows that events start, and the objects that these
// create.
func eventDrivenRules() []Rule {
	return []Rule{
		{
			Code:    "injection",
			Summary: "Data of an event becomes part of a script or a shell command.",
			Why: "A Sensor writes event data into a parameter, and Argo replaces the parameter's tag in the text of the program. " +
				"Everyone who can cause the event can run any command with the permissions of the Workflow.",
			Fix:   "pass the value in an environment variable",
			check: eachFlow(func(i *inspection, f flow) { i.code(f, true) }),
		},
		{
			Code:    "manifest-injection",
			Warning: true,
			Summary: "Data of an event becomes part of a manifest.",
			Why: "A quote or a line break in the value adds fields to the manifest, or whole objects. Everyone who can cause the event " +
				"can create what the service account of the Workflow can.",
			Fix:   "write the value as JSON: {{=toJson(inputs.parameters.name)}}",
			check: eachFlow(manifestInjection),
		},
		{
			Code:    "template-settings-ignored",
			Warning: true,
			Summary: "A WorkflowTemplate has settings that have no effect.",
			Why: "A templateRef uses only the templates of a WorkflowTemplate. ttlStrategy, podGC, deadline, mutex and exit handler are " +
				"those of the calling Workflow.",
			Fix:   "start it by workflowTemplateRef, or move the setting into the calling Workflow",
			check: on(ignoredSettings),
		},
		{
			Code:    "no-mutex",
			Warning: true,
			Summary: "Workflows for changes of the same object can run at the same time.",
			Why:     "Two quick changes of an object start two Workflows, and the one for the older change can finish last.",
			Fix:     "add synchronization.mutexes whose name has the object's namespace and name",
			check:   eachFlow(noMutex),
		},
		{
			Code:    "fixed-child-name",
			Summary: "A Workflow creates an object of the same name for every watched object, or for every item of a step.",
			Why: "All watched objects share the created object: each overwrites it for the others, and deleting one can delete it " +
				"for all. Of the items of a step, one creates the object and the others fail.",
			Fix: "make its name or namespace from the name of the watched object",
			check: func(i *inspection) {
				fixedChild(i)
				eachFlow(sharedObjects)(i)
			},
		},
		{
			Code:    "no-owner-reference",
			Warning: true,
			Summary: "A Workflow creates an object for a watched object without an owner reference.",
			Why: "If the watched object is deleted while no event is received, the created object remains. With an owner reference " +
				"Kubernetes deletes it.",
			Fix:   "set metadata.ownerReferences to the watched object, with its uid",
			check: eachFlow(noOwner),
		},
		{
			Code:    "no-status-subresource",
			Warning: true,
			Summary: "A watched custom resource has no status subresource.",
			Why: "Every write to its status then changes metadata.generation. A program that writes the status when the generation " +
				"changes triggers itself.",
			Fix:   "set subresources: {status: {}} in every version",
			check: on(noStatus),
		},
	}
}

func manifestInjection(i *inspection, f flow) {
	for _, t := range f.templates() {
		if t.Resource == nil {
			continue
		}
		for _, tag := range i.set.taint.tags(i.Object, f, t, t.Resource.Manifest) {
			if !strings.Contains(tag, "toJson(") && !strings.Contains(tag, "asInt(") {
				hint := strings.Replace(i.rule.Fix, "inputs.parameters.name", strings.Trim(tag, "{}= "), 1)
				i.reportHint(t.path.Child("resource", "manifest"), hint, "the value of %s can add to the manifest", tag)
				break
			}
		}
	}
}

func ignoredSettings(i *inspection, t *wfv1.WorkflowTemplate) {
	r := i.set.reach[t]
	if r == nil || r.launched || t.Spec.Entrypoint != "" { // one with an entrypoint may also be submitted
		return
	}
	spec := field.NewPath("spec")
	for name, set := range map[string]bool{
		"ttlStrategy": t.Spec.TTLStrategy != nil, "podGC": t.Spec.PodGC != nil,
		"activeDeadlineSeconds": t.Spec.ActiveDeadlineSeconds != nil,
		"synchronization":       t.Spec.Synchronization != nil, "onExit": t.Spec.OnExit != "",
	} {
		if set {
			i.report(spec.Child(name), "%s has no effect: Workflows use this WorkflowTemplate only by templateRef", name)
		}
	}
}

func noMutex(i *inspection, f flow) {
	if f.repeated && !f.inherits() && f.fed && f.spec.Synchronization == nil {
		i.report(f.path, "Workflows for the same object can run at the same time")
	}
}

// fixedChild finds constant names in manifests of resource templates that events
// start, and in ConfigMaps that such Workflows read.
func fixedChild(i *inspection) {
	if cm, ok := i.Object.(*corev1.ConfigMap); ok {
		for _, key := range slices.Sorted(maps.Keys(i.set.fed[cm])) {
			if name := constantName(cm.Data[key]); name != "" {
				i.report(field.NewPath("data").Key(key), "the name of %s is the same for every watched object", name)
			}
		}
	}
	for _, f := range i.set.flows[i.Object] {
		for _, t := range f.templates() {
			if !f.fed || !f.changes || t.Resource == nil || !slices.Contains([]string{"create", "apply"}, t.Resource.Action) {
				continue
			}
			if name := constantName(t.Resource.Manifest); name != "" {
				i.report(t.path.Child("resource", "manifest"), "the name of %s is the same for every watched object", name)
			}
		}
	}
}

// placeholder matches a template tag, which would make a manifest unreadable.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"?\{\{.*?\}\}"?`) })

// constantName returns the kind and name of an object if its name and namespace do
// not depend on the custom resource's name; otherwise "".
func constantName(text string) string {
	const tag, shared = "tag0", "tag0-namespace" // objects of one namespace share the latter
	read := placeholder().ReplaceAllStringFunc(text, func(found string) string {
		if strings.Contains(found, "namespace") {
			return shared
		}
		return tag
	})
	var object metav1.PartialObjectMetadata
	if yaml.Unmarshal([]byte(read), &object) != nil || object.Kind == "" || object.APIVersion == "" {
		return ""
	}
	if object.Name == "" || strings.Contains(object.Name, tag) || strings.Contains(strings.ReplaceAll(object.Namespace, shared, ""), tag) {
		return ""
	}
	return object.Kind + " " + object.Name
}

func noOwner(i *inspection, f flow) {
	for _, t := range f.templates() {
		m := t.Resource
		if !f.fed || !f.changes || m == nil || !slices.Contains([]string{"create", "apply"}, m.Action) || m.SetOwnerReference {
			continue
		}
		var object metav1.PartialObjectMetadata
		if yaml.Unmarshal([]byte(placeholder().ReplaceAllString(m.Manifest, "tag0")), &object) == nil && object.Kind != "" &&
			len(object.OwnerReferences) == 0 && !expires().MatchString(m.Manifest) {
			i.report(t.path.Child("resource", "manifest"), "%s has no ownerReferences", object.Kind)
		}
	}
}

// expires matches a field by which Kubernetes deletes a finished Job, or Argo a finished Workflow.
var expires = lazily(`\bttl(SecondsAfterFinished|Strategy)["']?\s*:`)

func noStatus(i *inspection, crd *apiextensionsv1.CustomResourceDefinition) {
	watched := slices.ContainsFunc(argo.All[*eventsv1.EventSource](i.set.all), func(s *eventsv1.EventSource) bool {
		for _, e := range s.Spec.Resource {
			if e.Group == crd.Spec.Group && e.Resource == crd.Spec.Names.Plural {
				return true
			}
		}
		return false
	})
	for n, v := range crd.Spec.Versions {
		if watched && v.Served && (v.Subresources == nil || v.Subresources.Status == nil) {
			i.report(field.NewPath("spec", "versions").Index(n), "version %s has no status subresource", v.Name)
		}
	}
}

// configMap finds a ConfigMap by name.
func (s *objectSet) configMap(namespace, name string) (*corev1.ConfigMap, bool) {
	return find[*corev1.ConfigMap](s.all, namespace, name)
}
