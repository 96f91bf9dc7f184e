package lint

import (
	"encoding/json"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// objectSet is the set of checked objects with facts derived from them.
type objectSet struct {
	all    argo.Objects
	grants []argo.Grant
	reach  map[string]*reach // of WorkflowTemplates, by name
	flows  map[manifest.Object][]flow
	roles  map[string]map[argo.Role]bool // of service accounts, by name: a Sensor often has no namespace
	fed    map[string]map[string]bool    // keys of ConfigMaps, by name, that event-driven Workflows read
}

// reach describes how events reach a WorkflowTemplate.
type reach struct {
	launched bool // run as a Workflow: workflowTemplateRef
	fed      bool // with data of the event
}

func newObjectSet(of argo.Objects) *objectSet {
	s := &objectSet{
		all: of, grants: argo.GrantsOf(of), reach: map[string]*reach{}, flows: map[manifest.Object][]flow{},
		roles: map[string]map[argo.Role]bool{}, fed: map[string]map[string]bool{},
	}
	for _, sensor := range argo.All[*eventsv1.Sensor](of) {
		s.flows[sensor] = sensorFlows(sensor)
		for _, f := range s.flows[sensor] {
			s.follow(f.spec, f.fed)
		}
	}
	for _, object := range of.List {
		if _, carries := object.(*eventsv1.Sensor); !carries {
			s.flows[object] = s.flowsIn(object)
		}
		s.record(object)
	}
	return s
}

// record records the service account of an object and the ConfigMaps that it reads.
func (s *objectSet) record(object manifest.Object) {
	switch o := object.(type) {
	case *eventsv1.EventSource:
		add(s.roles, argo.EventsAccount(o.Spec.Template), argo.RoleSource)
	case *eventsv1.Sensor:
		add(s.roles, argo.EventsAccount(o.Spec.Template), argo.RoleSensor)
	}
	for _, f := range s.flows[object] {
		add(s.roles, f.spec.ServiceAccountName, argo.RoleIn(f.spec))
		if !f.fed {
			continue
		}
		for _, ref := range under("configMapKeyRef", f.spec) {
			add(s.fed, stringOf(ref, "name"), stringOf(ref, "key"))
		}
	}
}

func add[K comparable](sets map[string]map[K]bool, name string, one K) {
	if sets[name] == nil {
		sets[name] = map[K]bool{}
	}
	sets[name][one] = true
}

func stringOf(object map[string]any, key string) string {
	s, _ := object[key].(string)
	return s
}

// follow records the templates that a Workflow refers to.
func (s *objectSet) follow(spec wfv1.WorkflowSpec, fed bool) {
	if ref := spec.WorkflowTemplateRef; ref != nil {
		s.arrive(ref.Name, fed, true)
	}
	for _, ref := range under("templateRef", spec.Templates) {
		s.arrive(stringOf(ref, "name"), fed, false)
	}
}

func (s *objectSet) arrive(name string, fed, launched bool) {
	r := s.reach[name]
	known := r != nil && (r.fed || !fed)
	if r == nil {
		r = &reach{}
		s.reach[name] = r
	}
	r.launched, r.fed = r.launched || launched, r.fed || fed
	if known {
		return
	}
	for _, t := range argo.All[*wfv1.WorkflowTemplate](s.all) {
		if t.Name == name {
			s.follow(t.Spec, fed)
		}
	}
}

// under returns all objects with a key, at any depth of a value.
func under(key string, in any) []map[string]any {
	data, err := json.Marshal(in)
	var value any
	if err != nil || json.Unmarshal(data, &value) != nil {
		return nil
	}
	var out []map[string]any
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case map[string]any:
			if object, ok := v[key].(map[string]any); ok {
				out = append(out, object)
			}
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(value)
	return out
}

// flow is a Workflow spec in an object.
type flow struct {
	spec   wfv1.WorkflowSpec
	path   *field.Path
	whole  bool // runs as a Workflow, and is not only called
	driven bool // started by events
	fed    bool // with data of the event
}

// flowsIn returns the specs in an object other than a Sensor.
func (s *objectSet) flowsIn(object manifest.Object) []flow {
	spec := field.NewPath("spec")
	switch o := object.(type) {
	case *wfv1.Workflow:
		return []flow{{spec: o.Spec, path: spec, whole: true}}
	case *wfv1.CronWorkflow:
		return []flow{{spec: o.Spec.WorkflowSpec, path: spec.Child("workflowSpec"), whole: true}}
	case *wfv1.WorkflowTemplate:
		f := flow{spec: o.Spec, path: spec, whole: o.Spec.Entrypoint != ""}
		if r := s.reach[o.Name]; r != nil {
			f.driven, f.fed, f.whole = true, r.fed, r.launched
		}
		return []flow{f}
	case *wfv1.ClusterWorkflowTemplate:
		return []flow{{spec: o.Spec, path: spec, whole: o.Spec.Entrypoint != ""}}
	}
	return nil
}

// sensorFlows returns the Workflows that a Sensor creates.
func sensorFlows(s *eventsv1.Sensor) []flow {
	var out []flow
	for _, t := range argo.Triggers(s) {
		data, path := t.ObjectBytes()
		wf := &wfv1.Workflow{}
		if data == nil || yaml.Unmarshal(data, wf) != nil || wf.Kind != "Workflow" {
			continue
		}
		out = append(out, flow{spec: wf.Spec, path: path.Child("spec"), whole: true, driven: true, fed: len(t.ObjectParameters()) > 0})
	}
	return out
}

// template is a template of a flow with its path.
type template struct {
	wfv1.Template
	path *field.Path
}

// templates returns the templates of a flow, including inline ones.
func (f flow) templates() []template {
	var out []template
	for i, t := range f.spec.Templates {
		out = append(out, nestedTemplates(t, f.path.Child("templates").Index(i))...)
	}
	return out
}

func nestedTemplates(t wfv1.Template, path *field.Path) []template {
	out := []template{{t, path}}
	for i, parallel := range t.Steps {
		for j, step := range parallel.Steps {
			if step.Inline != nil {
				out = append(out, nestedTemplates(*step.Inline, path.Child("steps").Index(i).Index(j).Child("inline"))...)
			}
		}
	}
	if t.DAG != nil {
		for i, task := range t.DAG.Tasks {
			if task.Inline != nil {
				out = append(out, nestedTemplates(*task.Inline, path.Child("dag", "tasks").Index(i).Child("inline"))...)
			}
		}
	}
	return out
}

// find returns the object of a type and name; the namespaces must be equal if both
// are set.
func find[T manifest.Object](o argo.Objects, namespace, name string) (T, bool) {
	if list := findAll[T](o, namespace, name); len(list) > 0 {
		return list[0], true
	}
	var none T
	return none, false
}

// findAll returns all such objects: the examples in one directory often share a
// name.
func findAll[T manifest.Object](o argo.Objects, namespace, name string) []T {
	return slices.DeleteFunc(argo.All[T](o), func(object T) bool {
		otherNamespace := namespace != "" && object.GetNamespace() != "" && object.GetNamespace() != namespace
		return object.GetName() != name || otherNamespace
	})
}
