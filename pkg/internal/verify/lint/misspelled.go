package lint

import (
	"slices"
	"strings"
	"unicode"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// misspelledReference compares the names of other objects that are not among the files with those that are.
func misspelledReference(i *inspection) {
	switch o := i.Object.(type) {
	case *eventsv1.Sensor:
		for n, d := range o.Spec.Dependencies {
			at := dependencyPath(n).Child("eventSourceName")
			reference[*eventsv1.EventSource](i, at, o.Namespace, d.EventSourceName)
			i.elsewhere(at, o.Namespace, d.EventSourceName)
		}
		i.bus(o.Namespace, o.Spec.EventBusName)
	case *eventsv1.EventSource:
		i.bus(o.Namespace, o.Spec.EventBusName)
	}
	template := func(at *field.Path, namespace, name string, clusterScope bool) {
		inCluster := len(findAll[*wfv1.ClusterWorkflowTemplate](i.set.all, "", name)) > 0
		inNamespace := len(findAll[*wfv1.WorkflowTemplate](i.set.all, namespace, name)) > 0
		switch {
		case inCluster && !inNamespace && !clusterScope:
			i.reportHint(at, "add clusterScope: true", "%s is a ClusterWorkflowTemplate", name)
		case inNamespace && !inCluster && clusterScope:
			i.reportHint(at, "remove clusterScope", "%s is a WorkflowTemplate", name)
		case !inNamespace && !clusterScope && len(findAll[*wfv1.WorkflowTemplate](i.set.all, "", name)) > 0:
			other := findAll[*wfv1.WorkflowTemplate](i.set.all, "", name)[0].Namespace
			i.reportHint(at, "create it in the namespace "+namespace+" too",
				"%s is in the namespace %s, where Argo does not look for it", name, other)
		case clusterScope:
			reference[*wfv1.ClusterWorkflowTemplate](i, at, "", name)
		default:
			reference[*wfv1.WorkflowTemplate](i, at, namespace, name)
		}
	}
	if len(i.set.flows[i.Object]) > 0 && i.set.configured {
		if fields, err := i.set.all.FieldsOf(i.Object); err == nil {
			i.configNames(field.NewPath("spec"), fields["spec"])
		}
	}
	for _, f := range i.set.flows[i.Object] {
		if ref := f.spec.WorkflowTemplateRef; ref != nil {
			template(f.path.Child("workflowTemplateRef", "name"), f.namespace, ref.Name, ref.ClusterScope)
		}
		for _, t := range f.templates() {
			eachCall(t, func(at *field.Path, c call) {
				if c.ref != nil {
					template(at.Child("templateRef", "name"), f.namespace, c.ref.Name, c.ref.ClusterScope)
				}
			})
		}
	}
}

// elsewhere reports an EventSource that is only in other namespaces than its Sensor.
func (i *inspection) elsewhere(at *field.Path, namespace, name string) {
	all := findAll[*eventsv1.EventSource](i.set.all, "", name)
	if namespace == "" || len(all) != 1 || sameNamespace(namespace, all[0].Namespace) {
		return
	}
	i.reportHint(at, "use one namespace for both",
		"EventSource %s is in namespace %s, and a Sensor only gets events of its own", name, all[0].Namespace)
}

// bus reports an EventBus that is not among the files if they have one in its namespace, and nothing uses that.
func (i *inspection) bus(namespace, name string) {
	at := field.NewPath("spec", "eventBusName")
	before := len(i.Problems)
	if reference[*eventsv1.EventBus](i, at, namespace, name); len(i.Problems) > before || name == "" || fromTemplate(name) {
		return
	}
	used := map[string]bool{}
	for _, s := range argo.All[*eventsv1.Sensor](i.set.all) {
		used[argo.BusName(s.Spec.EventBusName)] = true
	}
	for _, s := range argo.All[*eventsv1.EventSource](i.set.all) {
		used[argo.BusName(s.Spec.EventBusName)] = true
	}
	var others []string
	for _, b := range argo.All[*eventsv1.EventBus](i.set.all) {
		if sameNamespace(namespace, b.Namespace) {
			others = append(others, b.Name)
		}
	}
	if len(others) == 1 && others[0] != name && !used[others[0]] {
		i.reportHint(at, "did you mean "+others[0]+"?", "there is no EventBus %s in the files, and nothing uses %s", name, others[0])
	}
}

// configNames reports almost the names of ConfigMaps, Secrets and claims below the spec of an object with Workflows.
func (i *inspection) configNames(at *field.Path, value any) {
	switch v := value.(type) {
	case []any:
		for n, inner := range v {
			i.configNames(at.Index(n), inner)
		}
	case map[string]any:
		for key, inner := range v {
			place, ref := at.Child(key), map[string]any{}
			if key == "cache" {
				continue // Argo creates the ConfigMap
			}
			if of, ok := inner.(map[string]any); ok && of["optional"] != true {
				ref = of
			}
			switch key {
			case "configMapKeyRef", "configMapRef", "configMap":
				reference[*corev1.ConfigMap](i, place.Child("name"), i.Object.GetNamespace(), stringOf(ref, "name"))
			case "secretKeyRef", "secretRef":
				reference[*corev1.Secret](i, place.Child("name"), i.Object.GetNamespace(), stringOf(ref, "name"))
			case "persistentVolumeClaim":
				reference[*corev1.PersistentVolumeClaim](i, place.Child("claimName"), i.Object.GetNamespace(), stringOf(ref, "claimName"))
			case "secret":
				reference[*corev1.Secret](i, place.Child("secretName"), i.Object.GetNamespace(), stringOf(ref, "secretName"))
			}
			i.configNames(place, inner)
		}
	}
}

// reference reports a name that no object of a type has, if it is almost that of one.
func reference[T manifest.Object](i *inspection, at *field.Path, namespace, name string) {
	if name == "" || strings.Contains(name, "{{") {
		return
	}
	var names []string
	for _, other := range argo.All[T](i.set.all) {
		if sameNamespace(namespace, other.GetNamespace()) {
			names = append(names, other.GetName())
		}
	}
	if len(names) == 0 || slices.Contains(names, name) {
		return
	}
	names = slices.DeleteFunc(names, func(other string) bool { return letters(other) == letters(name) }) // numbered on purpose
	if near := diag.Nearest(name, names, strings.ToLower); near != "" {
		i.reportHint(at, "did you mean "+near+"?", "there is no %s in the files, and it is almost the name of %s", name, near)
	}
}

func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name)
}
