package lint

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// objectSet is the set of checked objects with facts derived from them.
type objectSet struct {
	all      argo.Objects
	grants   []argo.Grant
	reach    map[manifest.Object]*reach // of WorkflowTemplates and ClusterWorkflowTemplates
	flows    map[manifest.Object][]flow
	accounts map[string][]accountUse               // of service accounts, by name
	fed      map[*corev1.ConfigMap]map[string]bool // keys of ConfigMaps that Workflows for watched objects read
	defaults wfv1.WorkflowSpec                     // workflowDefaults of the controller's ConfigMap
	taint    *taint
	patched  patched
	called   map[manifest.Object][]string // names of the templates of an object that other objects call
	launches map[manifest.Object]bool     // another object runs it as a Workflow
	// repositories are the keys of ConfigMaps that Workflows name as an artifact repository, as NAME/KEY.
	repositories map[string]bool
	standIns     func() *standIns

	configured bool // the set has a ConfigMap, a Secret or a claim
}

// reach describes how events reach a template.
type reach struct {
	launched bool // run as a Workflow: workflowTemplateRef
	feed
}

// feed describes the events that start a Workflow.
type feed struct {
	fed      bool // data of the event is passed to it
	changes  bool // the events are changes of objects that an EventSource watches
	repeated bool // one object can have several of them
}

func (f feed) or(other feed) feed {
	return feed{f.fed || other.fed, f.changes || other.changes, f.repeated || other.repeated}
}

// accountUse is a use of a service account. Its namespace is empty if the manifest has
// none.
type accountUse struct {
	namespace string
	role      argo.Role
}

func newObjectSet(of argo.Objects) *objectSet {
	s := &objectSet{
		all: of, grants: argo.GrantsOf(of), reach: map[manifest.Object]*reach{}, flows: map[manifest.Object][]flow{},
		accounts: map[string][]accountUse{}, fed: map[*corev1.ConfigMap]map[string]bool{}, defaults: workflowDefaults(of),
		repositories: map[string]bool{},
		standIns:     sync.OnceValue(func() *standIns { return newStandIns(of.List) }),
		configured:   hasOne[*corev1.ConfigMap](of) || hasOne[*corev1.Secret](of) || hasOne[*corev1.PersistentVolumeClaim](of),
	}
	for _, sensor := range argo.All[*eventsv1.Sensor](of) {
		s.flows[sensor] = s.sensorFlows(sensor)
		for _, f := range s.flows[sensor] {
			s.follow(f.spec, f.namespace, f.feed)
		}
	}
	for _, object := range of.List {
		if _, isSensor := object.(*eventsv1.Sensor); !isSensor {
			s.flows[object] = s.flowsIn(object)
		}
		for n := range s.flows[object] {
			s.flows[object][n].every = s.flows[object][n].templates()
		}
		s.record(object)
	}
	s.called, s.launches = s.calledTemplates()
	s.taint = newTaint(s)
	return s
}

// calledTemplates returns the templates that a templateRef of another object names, and the objects that a
// workflowTemplateRef names.
func (s *objectSet) calledTemplates() (called map[manifest.Object][]string, launches map[manifest.Object]bool) {
	called, launches = map[manifest.Object][]string{}, map[manifest.Object]bool{}
	for object, flows := range s.flows {
		for _, f := range flows {
			if ref := f.spec.WorkflowTemplateRef; ref != nil {
				for other := range s.referred(ref.Name, ref.ClusterScope, f.namespace) {
					launches[other] = true
				}
			}
			for _, t := range f.templates() {
				eachCall(t, func(_ *field.Path, c call) {
					if c.ref == nil {
						return
					}
					for other := range s.referred(c.ref.Name, c.ref.ClusterScope, f.namespace) {
						if other != object {
							called[other] = append(called[other], c.ref.Template)
						}
					}
				})
			}
		}
	}
	return called, launches
}

// referred returns the flows of the templates with a name that a Workflow in a namespace may refer to.
func (s *objectSet) referred(name string, clusterScope bool, namespace string) map[manifest.Object]flow {
	out := map[manifest.Object]flow{}
	if clusterScope {
		for _, t := range findAll[*wfv1.ClusterWorkflowTemplate](s.all, "", name) {
			out[t] = s.flowsIn(t)[0]
		}
		return out
	}
	for _, t := range findAll[*wfv1.WorkflowTemplate](s.all, namespace, name) {
		out[t] = s.flowsIn(t)[0]
	}
	return out
}

// workflowDefaults returns the spec that the workflow controller merges into every
// Workflow, if its ConfigMap is among the objects.
func workflowDefaults(o argo.Objects) wfv1.WorkflowSpec {
	var defaults wfv1.Workflow
	for _, cm := range argo.All[*corev1.ConfigMap](o) {
		if text := cm.Data["workflowDefaults"]; text != "" && yaml.Unmarshal([]byte(text), &defaults) == nil {
			break
		}
	}
	return defaults.Spec
}

// record records the service account of an object, its artifact repository, and the ConfigMaps that it reads.
func (s *objectSet) record(object manifest.Object) {
	use := func(name, namespace string, role argo.Role) {
		s.accounts[name] = append(s.accounts[name], accountUse{namespace, role})
	}
	switch o := object.(type) {
	case *eventsv1.EventSource:
		use(argo.EventsAccount(o.Spec.Template), o.Namespace, argo.RoleSource)
	case *eventsv1.Sensor:
		use(argo.EventsAccount(o.Spec.Template), o.Namespace, argo.RoleSensor)
	}
	for _, f := range s.flows[object] {
		use(f.spec.ServiceAccountName, f.namespace, argo.RoleIn(f.spec))
		if ref := f.spec.ArtifactRepositoryRef; ref != nil {
			s.repositories[cmp.Or(ref.ConfigMap, artifactRepositories)+"/"+ref.Key] = true
		}
		if !f.fed || !f.changes {
			continue
		}
		for _, ref := range under("configMapKeyRef", f.spec) {
			for _, cm := range findAll[*corev1.ConfigMap](s.all, f.namespace, stringOf(ref, "name")) {
				if s.fed[cm] == nil {
					s.fed[cm] = map[string]bool{}
				}
				s.fed[cm][stringOf(ref, "key")] = true
			}
		}
	}
}

func stringOf(object map[string]any, key string) string {
	s, _ := object[key].(string)
	return s
}

// follow records the templates that a Workflow in a namespace refers to.
func (s *objectSet) follow(spec wfv1.WorkflowSpec, namespace string, by feed) {
	if ref := spec.WorkflowTemplateRef; ref != nil {
		s.arrive(namespace, ref.Name, ref.ClusterScope, by, true)
	}
	for _, ref := range under("templateRef", spec.Templates) {
		s.arrive(namespace, stringOf(ref, "name"), ref["clusterScope"] == true, by, false)
	}
}

func (s *objectSet) arrive(namespace, name string, clusterScope bool, by feed, launched bool) {
	if clusterScope {
		for _, t := range findAll[*wfv1.ClusterWorkflowTemplate](s.all, "", name) {
			s.enter(t, t.Spec, namespace, by, launched)
		}
		return
	}
	for _, t := range findAll[*wfv1.WorkflowTemplate](s.all, namespace, name) {
		s.enter(t, t.Spec, cmp.Or(t.Namespace, namespace), by, launched)
	}
}

func (s *objectSet) enter(t manifest.Object, spec wfv1.WorkflowSpec, namespace string, by feed, launched bool) {
	r := s.reach[t]
	known := r != nil && r.or(by) == r.feed
	if r == nil {
		r = &reach{}
		s.reach[t] = r
	}
	r.launched, r.feed = r.launched || launched, r.or(by)
	if !known {
		s.follow(spec, namespace, by)
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
	spec      wfv1.WorkflowSpec
	namespace string
	path      *field.Path
	whole     bool // runs as a Workflow, and is not only called
	driven    bool // started by events
	writes    writes
	every     []template // of templates, if they are known
	feed
}

// flowsIn returns the specs in an object other than a Sensor.
func (s *objectSet) flowsIn(object manifest.Object) []flow {
	f := flow{namespace: object.GetNamespace(), path: field.NewPath("spec"), whole: true}
	switch o := object.(type) {
	case *wfv1.Workflow:
		f.spec = o.Spec
	case *wfv1.CronWorkflow:
		f.spec, f.path = o.Spec.WorkflowSpec, f.path.Child("workflowSpec")
	case *wfv1.WorkflowTemplate:
		f.spec, f.whole = o.Spec, o.Spec.Entrypoint != ""
	case *wfv1.ClusterWorkflowTemplate:
		f.spec, f.whole = o.Spec, o.Spec.Entrypoint != ""
	default:
		return nil
	}
	if r := s.reach[object]; r != nil {
		f.driven, f.feed, f.whole = true, r.feed, r.launched
	}
	return []flow{f}
}

// marked returns the flow with eventTag in place of what events write.
func (f flow) marked() flow {
	f.spec, f.every = f.writes.spec, nil
	return f
}

// sensorFlows returns the Workflows that a Sensor creates.
func (s *objectSet) sensorFlows(sensor *eventsv1.Sensor) []flow {
	var out []flow
	for _, t := range argo.Triggers(sensor) {
		data, path := t.ObjectBytes()
		wf := &wfv1.Workflow{}
		if data == nil || yaml.Unmarshal(data, wf) != nil || wf.Kind != "Workflow" {
			continue
		}
		watches, only := s.watches(sensor, t)
		out = append(out, flow{
			spec: wf.Spec, namespace: argo.NamespaceOf(wf, sensor), path: path.Child("spec"), whole: true, driven: true,
			feed:   feed{len(t.ObjectParameters()) > 0, len(watches) > 0, slices.ContainsFunc(watches, repeats)},
			writes: written(t, wf, only),
		})
	}
	return out
}

// watches returns the watches of EventSources among the objects on whose events a trigger fires, and
// whether it fires on no others.
func (s *objectSet) watches(sensor *eventsv1.Sensor, t argo.Trigger) (of []eventsv1.ResourceEventSource, only bool) {
	names := t.DependencyNames()
	only = true
	for _, d := range sensor.Spec.Dependencies {
		if len(names) > 0 && !slices.Contains(names, d.Name) && !slices.Contains(names, strings.ReplaceAll(d.Name, "-", "_")) {
			continue
		}
		watched := false
		for _, source := range findAll[*eventsv1.EventSource](s.all, sensor.Namespace, d.EventSourceName) {
			if watch, ok := source.Spec.Resource[d.EventName]; ok {
				of, watched = append(of, watch), true
			}
		}
		only = only && watched
	}
	return of, only
}

// repeats reports whether one object can cause several events: changes, or its creation and its
// deletion.
func repeats(watch eventsv1.ResourceEventSource) bool {
	has := func(t eventsv1.ResourceEventType) bool { return slices.Contains(watch.EventTypes, t) }
	return has(eventsv1.UPDATE) || has(eventsv1.ADD) && has(eventsv1.DELETE)
}

// template is a template of a flow with its path.
type template struct {
	wfv1.Template
	path *field.Path
}

// templates returns the templates of a flow, including inline ones.
func (f flow) templates() []template {
	if f.every != nil {
		return f.every
	}
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

func hasOne[T manifest.Object](of argo.Objects) bool { return len(argo.All[T](of)) > 0 }
