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

// eventDrivenRules are about Workflows that events start, and what they make.
func eventDrivenRules() []Rule {
	return []Rule{
		{
			Code:    "injection",
			Summary: "Data of an event becomes part of a program.",
			Why: "A Sensor fills a parameter from the event, and Argo puts it into the text of a script or a command line: whoever may " +
				"create the watched object runs what he likes with the rights of the Workflow.",
			Fix:  "pass it in an environment variable, or names only",
			look: eachFlow(func(i *inspection, f flow) { i.code(f, true) }),
		},
		{
			Code:    "template-settings-ignored",
			Warning: true,
			Summary: "A WorkflowTemplate has settings that never apply.",
			Why: "Called by templateRef, only its templates are used: ttlStrategy, podGC, deadline, mutex and exit handler are those of the " +
				"calling Workflow, which has none.",
			Fix:  "start it by workflowTemplateRef, or put the settings into the calling Workflow",
			look: on(ignoredSettings),
		},
		{
			Code:    "no-mutex",
			Warning: true,
			Summary: "Workflows of the same object run at the same time.",
			Why:     "Two quick changes of one object start two Workflows, and the one of the older change may be the last to write.",
			Fix:     "add synchronization.mutexes with the object's namespace and name in its name",
			look:    eachFlow(noMutex),
		},
		{
			Code:    "fixed-child-name",
			Summary: "What a Workflow makes for each object always has the same name.",
			Why:     "All objects share it: each overwrites what the last one wanted, and deleting one of them removes it for all.",
			Fix:     "make the name, or the namespace, from the name of the object",
			look:    fixedChild,
		},
		{
			Code:    "no-owner-reference",
			Warning: true,
			Summary: "What a Workflow makes for an object has no owner.",
			Why:     "A deletion that no event reports leaves it behind; with an owner reference Kubernetes removes it by itself.",
			Fix:     "set metadata.ownerReferences to the object, with its uid",
			look:    eachFlow(noOwner),
		},
		{
			Code:    "no-status-subresource",
			Warning: true,
			Summary: "A watched kind has no status subresource.",
			Why:     "Each report of a status changes the generation: an operator that reacts to changes of the generation answers itself.",
			Fix:     "set subresources: {status: {}} in every version",
			look:    on(noStatus),
		},
	}
}

func ignoredSettings(i *inspection, t *wfv1.WorkflowTemplate) {
	r := i.among.reach[t.Name]
	if r == nil || r.launched {
		return
	}
	spec := field.NewPath("spec")
	for name, set := range map[string]bool{
		"ttlStrategy": t.Spec.TTLStrategy != nil, "podGC": t.Spec.PodGC != nil, "activeDeadlineSeconds": t.Spec.ActiveDeadlineSeconds != nil,
		"synchronization": t.Spec.Synchronization != nil, "onExit": t.Spec.OnExit != "",
	} {
		if set {
			i.wrong(spec.Child(name), "never applies: the template is only called by templateRef")
		}
	}
}

func noMutex(i *inspection, f flow) {
	if f.driven && !f.settled() && f.fed && f.spec.Synchronization == nil {
		i.wrong(f.path, "two Workflows of one object run at once")
	}
}

// fixedChild finds constant names in the manifests of resource templates that
// events start, and in ConfigMaps that feed such Workflows.
func fixedChild(i *inspection) {
	if cm, ok := i.Object.(*corev1.ConfigMap); ok {
		for _, key := range slices.Sorted(maps.Keys(i.among.fed[cm.Name])) {
			if name := constantName(cm.Data[key]); name != "" {
				i.wrong(field.NewPath("data").Key(key), "every object makes %s", name)
			}
		}
	}
	for _, f := range i.among.flows[i.Object] {
		for _, t := range f.templates() {
			if !f.fed || t.Resource == nil || !slices.Contains([]string{"create", "apply"}, t.Resource.Action) {
				continue
			}
			if name := constantName(t.Resource.Manifest); name != "" {
				i.wrong(t.path.Child("resource", "manifest"), "every object makes %s", name)
			}
		}
	}
}

// placeholder is a tag in a manifest, which is in the way of reading it.
var placeholder = regexp.MustCompile(`"?\{\{.*?\}\}"?`)

// constantName is kind and name of an object in text, where name and namespace
// are the same for all custom resources of a namespace; "" for none.
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
			i.wrong(t.path.Child("resource", "manifest"), "%s has no ownerReferences", object.Kind)
		}
	}
}

func noStatus(i *inspection, crd *apiextensionsv1.CustomResourceDefinition) {
	watched := slices.ContainsFunc(argo.All[*eventsv1.EventSource](i.among.all), func(s *eventsv1.EventSource) bool {
		for _, e := range s.Spec.Resource {
			if e.Group == crd.Spec.Group && e.Resource == crd.Spec.Names.Plural {
				return true
			}
		}
		return false
	})
	for n, v := range crd.Spec.Versions {
		if watched && v.Served && (v.Subresources == nil || v.Subresources.Status == nil) {
			i.wrong(field.NewPath("spec", "versions").Index(n), "version %s has no status subresource", v.Name)
		}
	}
}

// configMap by its name.
func (s *surroundings) configMap(namespace, name string) (*corev1.ConfigMap, bool) {
	return alike[*corev1.ConfigMap](s.all, namespace, name)
}
