package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/admission"
	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// shapeRules check single objects of all kinds.
func shapeRules() []Rule {
	return []Rule{
		{
			Code:    CodeWrongFieldType,
			Summary: "A value has a type that its field cannot hold.",
			Why:     "The API server refuses the object, or the controller cannot read it.",
			Fix:     "write a value of the field's type",
			check:   func(*inspection) {}, // reported by Decode
		},
		{
			Code:    CodeUnknownManifestField,
			Summary: "The kind has no such field, or it stands there twice.",
			Why: "The CustomResourceDefinitions of Argo Events, and by default those of Argo Workflows, take any field: a misspelt one " +
				"is applied without a word and does nothing.",
			Fix:   "correct the name or the indentation",
			check: func(*inspection) {}, // reported by Decode
		},
		{
			Code:    "invalid-manifest",
			Summary: "Argo's own validation, or the API server's, refuses the object.",
			Why: "Argo validates after the object is stored: kubectl reports success, and the reason stands in a status that nobody " +
				"looks at.",
			Fix:   "what the message says",
			check: legal,
		},
		{
			Code:    "unusable-name",
			Summary: "A name holds a dot, a blank or a wildcard, and becomes part of a subject of the bus.",
			Why: "Argo Events publishes on BUS.EVENTSOURCE.EVENT and names a bucket after the Sensor: a dot makes one part two, and " +
				"publishing fails or the Sensor's pod does not start.",
			Fix:   "use lower-case letters, digits and -",
			check: subjects,
		},
		{
			Code:    "too-large-for-pod",
			Summary: "The object is larger than an environment variable can be.",
			Why: "Argo Events hands the whole object to its pod in one environment variable of 128 KiB at most, in base64: the pod cannot " +
				"start (\"argument list too long\").",
			Fix:   "split it, or move large objects into ConfigMaps",
			check: tooLarge,
		},
		{
			Code:    "deprecated-field",
			Warning: true,
			Summary: "A field that a later version of Argo Workflows no longer has.",
			Why:     "Argo Workflows 3.6 brought a plural for each and 4.0 drops the singular: what it stood for is then silently gone.",
			Fix:     "use the plural",
			check:   deprecated,
		},
	}
}

// legal runs Argo's own validators, and the API server's for a
// CustomResourceDefinition. It skips Workflows that refer to templates outside of
// the objects.
func legal(i *inspection) {
	r := problem.About(i.Object)
	switch o := i.Object.DeepCopyObject().(type) {
	case *eventsv1.EventBus:
		admission.EventBus(r, o)
	case *eventsv1.EventSource:
		for _, name := range slices.Sorted(maps.Keys(o.Spec.Resource)) {
			admission.ResourceEntry(r, field.NewPath("spec", "resource").Key(name), o.Spec.Resource[name])
		}
	case *eventsv1.Sensor:
		admission.OnBus(r, i.set.all, o)
	case *apiextensionsv1.CustomResourceDefinition:
		admission.CustomResource(r, o)
	default:
		if err := legalWorkflow(i.set.all, o.(manifest.Object)); err != nil {
			r.Add(field.NewPath("spec"), "", "", "%v", err)
		}
	}
	for _, p := range r.Problems {
		if p.Code != problem.CodeEventType {
			p.Code = i.rule.Code
			i.Problems = append(i.Problems, p)
		}
	}
}

func legalWorkflow(objects argo.Objects, object manifest.Object) error {
	missing := false
	get := func(name string) (*wfv1.WorkflowTemplate, error) {
		found, ok := find[*wfv1.WorkflowTemplate](objects, object.GetNamespace(), name)
		if !ok {
			missing = true
			return nil, fmt.Errorf("no WorkflowTemplate %q", name)
		}
		return found.DeepCopy(), nil
	}
	cluster := clusterTemplates{objects, &missing}
	err := admission.ValidWorkflow(object.DeepCopyObject(), getter(get), cluster, validate.ValidateOpts{Lint: true})
	if missing {
		return nil
	}
	return err
}

// getter finds WorkflowTemplates for Argo's validator.
type getter func(name string) (*wfv1.WorkflowTemplate, error)

func (g getter) Get(name string) (*wfv1.WorkflowTemplate, error) { return g(name) }

// clusterTemplates finds ClusterWorkflowTemplates for Argo's validator and records
// missing ones.
type clusterTemplates struct {
	objects argo.Objects
	missing *bool
}

func (c clusterTemplates) Get(name string) (*wfv1.ClusterWorkflowTemplate, error) {
	found, ok := find[*wfv1.ClusterWorkflowTemplate](c.objects, "", name)
	if !ok {
		*c.missing = true
		return nil, fmt.Errorf("no ClusterWorkflowTemplate %q", name)
	}
	return found.DeepCopy(), nil
}

// subjects checks the names that Argo Events uses in subjects and buckets.
func subjects(i *inspection) {
	bad := func(path *field.Path, name string) {
		if strings.ContainsAny(name, ". *>\t") {
			i.report(path, "%q cannot be part of a subject", name)
		}
	}
	switch o := i.Object.(type) {
	case *eventsv1.EventBus, *eventsv1.Sensor:
		bad(field.NewPath("metadata", "name"), i.Object.GetName())
	case *eventsv1.EventSource:
		bad(field.NewPath("metadata", "name"), o.Name)
		for _, e := range eventsOf(o) {
			bad(e.path, e.name)
		}
	}
}

func tooLarge(i *inspection) {
	r := problem.About(i.Object)
	switch o := i.Object.(type) {
	case *eventsv1.Sensor:
		admission.Variable(r, "SENSOR_OBJECT", &eventsv1.Sensor{ObjectMeta: admission.NameOnly(o.ObjectMeta), Spec: o.Spec})
	case *eventsv1.EventSource:
		admission.Variable(r, "EVENTSOURCE_OBJECT", &eventsv1.EventSource{ObjectMeta: admission.NameOnly(o.ObjectMeta), Spec: o.Spec})
	}
	for _, p := range r.Problems {
		i.report(field.NewPath("spec"), "%s", p.Message)
	}
}

// deprecated reports fields that have plurals since Argo Workflows 3.6.
func deprecated(i *inspection) {
	if !i.targets.Workflows.atLeast(3, 6) {
		return
	}
	old := func(path *field.Path, plural string) {
		i.reportHint(path, "write "+plural, "deprecated since Argo Workflows 3.6")
	}
	locks := func(path *field.Path, s *wfv1.Synchronization) {
		if s != nil && s.Mutex != nil {
			old(path.Child("synchronization", "mutex"), "mutexes: [{name: …}]")
		}
		if s != nil && s.Semaphore != nil {
			old(path.Child("synchronization", "semaphore"), "semaphores: [{…}]")
		}
	}
	if c, ok := i.Object.(*wfv1.CronWorkflow); ok && c.Spec.Schedule != "" {
		old(field.NewPath("spec", "schedule"), "schedules: [\""+c.Spec.Schedule+"\"]")
	}
	for _, f := range i.set.flows[i.Object] {
		locks(f.path, f.spec.Synchronization)
		for _, t := range f.templates() {
			locks(t.path, t.Synchronization)
		}
	}
}
