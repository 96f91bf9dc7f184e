package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/argo"
)

// eventDrivenRules check Workflows that events start, and the objects that these
// create.
func eventDrivenRules() []Rule {
	return []Rule{
		{
			Code:    "injection",
			Summary: "Data of an event becomes part of a program.",
			Why: "A Sensor fills a parameter from the event, and Argo puts it into the text of a script or a command line: whoever may " +
				"create the watched object runs what he likes with the rights of the Workflow.",
			Fix:   "pass it in an environment variable, or names only",
			check: eachFlow(func(i *inspection, f flow) { i.code(f, true) }),
		},
		{
			Code:    "template-settings-ignored",
			Warning: true,
			Summary: "A WorkflowTemplate has settings that never apply.",
			Why: "Called by templateRef, only its templates are used: ttlStrategy, podGC, deadline, mutex and exit handler are those of the " +
				"calling Workflow, which has none.",
			Fix:   "start it by workflowTemplateRef, or put the settings into the calling Workflow",
			check: on(ignoredSettings),
		},
		{
			Code:    "no-mutex",
			Warning: true,
			Summary: "Workflows of the same object run at the same time.",
			Why:     "Two quick changes of one object start two Workflows, and the one of the older change may be the last to write.",
			Fix:     "add synchronization.mutexes with the object's namespace and name in its name",
			check:   eachFlow(noMutex),
		},
		{
			Code:    "fixed-child-name",
			Summary: "What a Workflow makes for each object always has the same name.",
			Why:     "All objects share it: each overwrites what the last one wanted, and deleting one of them removes it for all.",
			Fix:     "make the name, or the namespace, from the name of the object",
			check:   fixedChild,
		},
		{
			Code:    "no-owner-reference",
			Warning: true,
			Summary: "What a Workflow makes for an object has no owner.",
			Why:     "A deletion that no event reports leaves it behind; with an owner reference Kubernetes removes it by itself.",
			Fix:     "set metadata.ownerReferences to the object, with its uid",
			check:   eachFlow(noOwner),
		},
		{
			Code:    "no-status-subresource",
			Warning: true,
			Summary: "A watched kind has no status subresource.",
			Why:     "Each report of a status changes the generation: an operator that reacts to changes of the generation answers itself.",
			Fix:     "set subresources: {status: {}} in every version",
			check:   on(noStatus),
		},
	}
}

func ignoredSettings(i *inspection, t *wfv1.WorkflowTemplate) {
	r := i.set.reach[t.Name]
	if r == nil || r.launched {
		return
	}
	spec := field.NewPath("spec")
	for name, set := range map[string]bool{
		"ttlStrategy": t.Spec.TTLStrategy != nil, "podGC": t.Spec.PodGC != nil, "activeDeadlineSeconds": t.Spec.ActiveDeadlineSeconds != nil,
		"synchronization": t.Spec.Synchronization != nil, "onExit": t.Spec.OnExit != "",
	} {
		if set {
			i.report(spec.Child(name), "never applies: the template is only called by templateRef")
		}
	}
}

func noMutex(i *inspection, f flow) {
	if f.driven && !f.inherits() && f.fed && f.spec.Synchronization == nil {
		i.report(f.path, "two Workflows of one object run at once")
	}
}

// fixedChild finds constant names in manifests of resource templates that events
// start, and in ConfigMaps that such Workflows read.
func fixedChild(i *inspection) {
	if cm, ok := i.Object.(*corev1.ConfigMap); ok {
		for _, key := range slices.Sorted(maps.Keys(i.set.fed[cm.Name])) {
			if name := constantName(cm.Data[key]); name != "" {
				i.report(field.NewPath("data").Key(key), "every object makes %s", name)
			}
		}
	}
	for _, f := range i.set.flows[i.Object] {
		for _, t := range f.templates() {
			if !f.fed || t.Resource == nil || !slices.Contains([]string{"create", "apply"}, t.Resource.Action) {
				continue
			}
			if name := constantName(t.Resource.Manifest); name != "" {
				i.report(t.path.Child("resource", "manifest"), "every object makes %s", name)
			}
		}
	}
}

// placeholder matches a template tag, which would make a manifest unreadable.
var placeholder = regexp.MustCompile(`"?\{\{.*?\}\}"?`)

// constantName returns the kind and name of an object if its name and namespace do
// not depend on the custom resource's name; otherwise "".
func constantName(text string) string {
	const tag, shared = "tag0", "tag0-namespace" // objects of one namespace share the latter
	read := placeholder.ReplaceAllStringFunc(text, func(found string) string {
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
		if !f.fed || m == nil || !slices.Contains([]string{"create", "apply"}, m.Action) || m.SetOwnerReference {
			continue
		}
		var object metav1.PartialObjectMetadata
		if yaml.Unmarshal([]byte(placeholder.ReplaceAllString(m.Manifest, "tag0")), &object) == nil && object.Kind != "" && len(object.OwnerReferences) == 0 {
			i.report(t.path.Child("resource", "manifest"), "%s has no ownerReferences", object.Kind)
		}
	}
}

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
