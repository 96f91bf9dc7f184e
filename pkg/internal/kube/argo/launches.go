package argo

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Launch is one way in which a Workflow is created.
type Launch struct {
	By          manifest.Object // creator: a Sensor, a CronWorkflow, or the template with the script
	Path        *field.Path     // of the Workflow's spec in By
	Namespace   string
	CreatorSpec wfv1.WorkflowSpec      // the spec as the creator sets it
	Template    *wfv1.WorkflowTemplate // the referenced template; nil if there is none or it is not among the objects

	Spec func() wfv1.WorkflowSpec // the effective spec
	Pods func() []Pod             // of every template reachable from the entrypoint and the exit handlers
}

// launchesIn returns every Workflow that can run: those of Sensors and
// CronWorkflows, and those that the scripts in their pods create.
func launchesIn(o Objects) []Launch {
	var out []Launch
	for _, s := range All[*eventsv1.Sensor](o) {
		out = append(out, diagnoses(o, s)...)
		for _, t := range o.Triggers(s) {
			if wf := t.Workflow(); wf != nil {
				out = append(out, NewLaunch(o, s, t.ResourcePath().Child("spec"), NamespaceOf(wf, s), wf.Spec))
			}
		}
	}
	for _, c := range All[*wfv1.CronWorkflow](o) {
		out = append(out, NewLaunch(o, c, field.NewPath("spec", "workflowSpec"), c.Namespace, c.Spec.WorkflowSpec))
	}
	return append(append(out, ScriptLaunches(o, out)...), shown(o)...)
}

// shown returns the Workflows that workers make to show a reconcile.
func shown(o Objects) []Launch {
	var out []Launch
	for _, w := range o.Workers() {
		for _, name := range slices.Sorted(maps.Keys(w.Shown())) {
			spec := w.Shown()[name]
			for _, argument := range []string{"key", "until"} {
				spec.Arguments.Parameters = append(spec.Arguments.Parameters, wfv1.Parameter{Name: argument, Value: wfv1.AnyStringPtr("")})
			}
			out = append(out, NewLaunch(o, w.Deployment, field.NewPath(manifest.ShownVariable).Key(name), w.Namespace, spec))
		}
	}
	return out
}

// diagnoses returns the Workflows that a Sensor creates to ask why its requests failed:
// one for each WorkflowTemplate.
func diagnoses(o Objects, s *eventsv1.Sensor) []Launch {
	var out []Launch
	seen := map[string]bool{}
	for _, t := range o.Triggers(s) {
		for _, p := range t.AllParameters() {
			template, ok := p.diagnosis()
			if !ok || template == "" || seen[template] {
				continue
			}
			seen[template] = true
			var arguments wfv1.Arguments
			for _, name := range []string{"partition", "rejected"} {
				arguments.Parameters = append(arguments.Parameters, wfv1.Parameter{Name: name, Value: wfv1.AnyStringPtr("")})
			}
			out = append(out, NewLaunch(o, s, t.Path.Child("template", "http", "payload"), s.Namespace, wfv1.WorkflowSpec{
				WorkflowTemplateRef: &wfv1.WorkflowTemplateRef{Name: template}, Arguments: arguments,
			}))
		}
	}
	return out
}

// NewLaunch returns a launch of a Workflow with the WorkflowTemplate that it refers
// to.
func NewLaunch(o Objects, by manifest.Object, path *field.Path, namespace string, spec wfv1.WorkflowSpec) Launch {
	l := Launch{By: by, Path: path, Namespace: namespace, CreatorSpec: spec}
	if ref := spec.WorkflowTemplateRef; ref != nil && !ref.ClusterScope {
		l.Template, _ = Find[*wfv1.WorkflowTemplate](o, namespace, ref.Name)
	}
	l.Spec = sync.OnceValue(l.joined)
	l.Pods = sync.OnceValue(func() []Pod { return l.reached(o) })
	return l
}

// ScriptLaunches returns the Workflows that scripts in pods create: on a resync,
// after a change of a related object if the Sensor does not start them, and for
// requeues. The key is always an argument.
func ScriptLaunches(o Objects, first []Launch) []Launch {
	var out []Launch
	for _, l := range first {
		for _, p := range l.Pods() {
			for _, s := range p.Scripts(o) {
				switch {
				case (s.Command == "resync" || s.Command == "enqueue") && !s.Config.SensorTemplates:
					out = append(out, s.creates(o, p, s.Config.WorkflowTemplate, "key"))
				case s.Command == "apply" && s.Config.Timer != "":
					out = append(out, s.creates(o, p, s.Config.Timer, "key", "seconds"))
				}
			}
		}
	}
	return out
}

// creates returns a Workflow that a script in a pod creates, with its arguments.
func (s Script) creates(o Objects, p Pod, template string, arguments ...string) Launch {
	var parameters []wfv1.Parameter
	for _, name := range arguments {
		parameters = append(parameters, wfv1.Parameter{Name: name, Value: wfv1.AnyStringPtr("")})
	}
	return NewLaunch(o, p.In, p.Path, s.Config.Namespace, wfv1.WorkflowSpec{
		WorkflowTemplateRef: &wfv1.WorkflowTemplateRef{Name: template},
		Arguments:           wfv1.Arguments{Parameters: parameters},
	})
}

// joined merges the creator's spec into the template's, as Argo does.
func (l Launch) joined() wfv1.WorkflowSpec {
	if l.Template == nil {
		return l.CreatorSpec
	}
	below, err1 := json.Marshal(l.Template.Spec)
	above, err2 := json.Marshal(l.CreatorSpec)
	joined, err3 := strategicpatch.StrategicMergePatch(below, above, wfv1.WorkflowSpec{})
	var spec wfv1.WorkflowSpec
	if err1 != nil || err2 != nil || err3 != nil || json.Unmarshal(joined, &spec) != nil {
		return l.Template.Spec
	}
	return spec
}

// TemplateOwner returns the object with the templates, and the path of its spec.
func (l Launch) TemplateOwner() (manifest.Object, *field.Path) {
	if l.Template == nil {
		return l.By, l.Path
	}
	return l.Template, field.NewPath("spec")
}

func (l Launch) reached(o Objects) []Pod {
	spec := l.Spec()
	in, path := l.TemplateOwner()
	walk := &walk{objects: o, launch: l, spec: spec, seen: map[*wfv1.Template]bool{}}
	scope := scope{in: in, path: path.Child("templates"), templates: spec.Templates, inline: true}
	for _, name := range roots(spec) {
		walk.visit(scope, name)
	}
	return walk.pods
}

func roots(spec wfv1.WorkflowSpec) []string {
	names := []string{spec.Entrypoint}
	if spec.OnExit != "" {
		names = append(names, spec.OnExit)
	}
	for _, hook := range spec.Hooks {
		names = append(names, hook.Template)
	}
	slices.Sort(names[1:])
	return names
}

// scope is a list of templates for looking up names.
type scope struct {
	in        manifest.Object
	path      *field.Path
	templates []wfv1.Template
	inline    bool // part of the Workflow's own spec
}

// walk visits the templates of one Workflow.
type walk struct {
	objects Objects
	launch  Launch
	spec    wfv1.WorkflowSpec
	seen    map[*wfv1.Template]bool
	pods    []Pod
}

func (w *walk) visit(in scope, name string) {
	i := slices.IndexFunc(in.templates, func(t wfv1.Template) bool { return t.Name == name })
	if i < 0 || w.seen[&in.templates[i]] {
		return // Argo's validator reports unknown names
	}
	t := &in.templates[i]
	w.seen[t] = true
	w.body(in, in.path.Index(i), t)
}

func (w *walk) body(in scope, path *field.Path, t *wfv1.Template) {
	if t.IsPodType() {
		w.pods = append(w.pods, Pod{In: in.in, Path: path, Namespace: w.launch.Namespace, Spec: w.spec, Template: *t})
	}
	for _, parallel := range t.Steps {
		for _, s := range parallel.Steps {
			w.call(in, path, s.Template, s.TemplateRef, s.Inline)
		}
	}
	if t.DAG != nil {
		for _, task := range t.DAG.Tasks {
			w.call(in, path, task.Template, task.TemplateRef, task.Inline)
		}
	}
}

func (w *walk) call(in scope, path *field.Path, name string, ref *wfv1.TemplateRef, inline *wfv1.Template) {
	switch {
	case inline != nil:
		w.body(in, path, inline)
	case ref == nil:
		w.visit(in, name)
	case !ref.ClusterScope:
		if t, ok := Find[*wfv1.WorkflowTemplate](w.objects, w.launch.Namespace, ref.Name); ok {
			w.visit(scope{in: t, path: field.NewPath("spec", "templates"), templates: t.Spec.Templates}, ref.Template)
		}
	}
}
