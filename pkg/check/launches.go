package check

import (
	"encoding/json"
	"slices"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// launch is one way in which a Workflow comes to be.
type launch struct {
	by        manifest.Object // who creates it: a Sensor, a CronWorkflow, or the template whose script does
	path      *field.Path     // where in by the Workflow's spec is
	namespace string
	given     wfv1.WorkflowSpec      // what the creator states
	template  *wfv1.WorkflowTemplate // what it refers to; nil for none, or one that is not emitted
	filled    []string               // destinations that a Sensor's parameters write, below the Workflow

	spec func() wfv1.WorkflowSpec // what runs
	pods func() []pod             // of every template that can be reached from its entrypoint and its exit handlers
}

// launchesIn finds every Workflow that will ever run: those of Sensors and
// CronWorkflows, and those that the script in their pods creates in turn.
func launchesIn(o objects) []launch {
	var out []launch
	for _, s := range all[*eventsv1.Sensor](o) {
		for _, t := range o.triggers(s) {
			if wf := t.workflow(); wf != nil {
				l := newLaunch(o, s, t.resourcePath().Child("spec"), namespaceOf(wf, s), wf.Spec)
				for _, p := range t.Template.K8s.Parameters {
					l.filled = append(l.filled, p.Dest)
				}
				out = append(out, l)
			}
		}
	}
	for _, c := range all[*wfv1.CronWorkflow](o) {
		out = append(out, newLaunch(o, c, field.NewPath("spec", "workflowSpec"), c.Namespace, c.Spec.WorkflowSpec))
	}
	return append(out, submitted(o, out)...)
}

func newLaunch(o objects, by manifest.Object, path *field.Path, namespace string, spec wfv1.WorkflowSpec) launch {
	l := launch{by: by, path: path, namespace: namespace, given: spec}
	if ref := spec.WorkflowTemplateRef; ref != nil && !ref.ClusterScope {
		l.template, _ = find[*wfv1.WorkflowTemplate](o, namespace, ref.Name)
	}
	l.spec = sync.OnceValue(l.joined)
	l.pods = sync.OnceValue(func() []pod { return l.reached(o) })
	return l
}

// submitted are the Workflows that the pod-side script creates: on a resync or
// where something related has changed, unless it leaves that to the Sensor, and
// for a later time. It states the key as an argument, whatever the template is.
func submitted(o objects, first []launch) []launch {
	var out []launch
	for _, l := range first {
		for _, p := range l.pods() {
			for _, s := range p.scripts(o) {
				switch {
				case (s.command == "resync" || s.command == "wake") && !s.config.Templates:
					out = append(out, s.creates(o, p, s.config.WorkflowTemplate, "key"))
				case s.command == "apply" && s.config.Later != "":
					out = append(out, s.creates(o, p, s.config.Later, "key", "seconds"))
				}
			}
		}
	}
	return out
}

// creates is a Workflow that a script in a pod creates, with the arguments that
// it states.
func (s script) creates(o objects, p pod, template string, arguments ...string) launch {
	var parameters []wfv1.Parameter
	for _, name := range arguments {
		parameters = append(parameters, wfv1.Parameter{Name: name, Value: wfv1.AnyStringPtr("")})
	}
	return newLaunch(o, p.in, p.path, s.config.Namespace, wfv1.WorkflowSpec{
		WorkflowTemplateRef: &wfv1.WorkflowTemplateRef{Name: template},
		Arguments:           wfv1.Arguments{Parameters: parameters},
	})
}

// joined is the template's spec with the creator's laid over it, as Argo joins
// them.
func (l launch) joined() wfv1.WorkflowSpec {
	if l.template == nil {
		return l.given
	}
	below, err1 := json.Marshal(l.template.Spec)
	above, err2 := json.Marshal(l.given)
	joined, err3 := strategicpatch.StrategicMergePatch(below, above, wfv1.WorkflowSpec{})
	var spec wfv1.WorkflowSpec
	if err1 != nil || err2 != nil || err3 != nil || json.Unmarshal(joined, &spec) != nil {
		return l.template.Spec
	}
	return spec
}

// holder is the object that has the templates, and where its spec is.
func (l launch) holder() (manifest.Object, *field.Path) {
	if l.template == nil {
		return l.by, l.path
	}
	return l.template, field.NewPath("spec")
}

func (l launch) reached(o objects) []pod {
	spec := l.spec()
	in, path := l.holder()
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

// scope is a list of templates in which a name is looked up.
type scope struct {
	in        manifest.Object
	path      *field.Path
	templates []wfv1.Template
	inline    bool // the Workflow's own, which the creator's spec governs
}

// walk goes through the templates of one Workflow.
type walk struct {
	objects objects
	launch  launch
	spec    wfv1.WorkflowSpec
	seen    map[*wfv1.Template]bool
	pods    []pod
}

func (w *walk) visit(in scope, name string) {
	i := slices.IndexFunc(in.templates, func(t wfv1.Template) bool { return t.Name == name })
	if i < 0 || w.seen[&in.templates[i]] {
		return // Argo's validator reports a name that is not there
	}
	t := &in.templates[i]
	w.seen[t] = true
	w.body(in, in.path.Index(i), t)
}

func (w *walk) body(in scope, path *field.Path, t *wfv1.Template) {
	if t.IsPodType() {
		w.pods = append(w.pods, pod{in: in.in, path: path, namespace: w.launch.namespace, spec: w.spec, template: *t})
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
		if t, ok := find[*wfv1.WorkflowTemplate](w.objects, w.launch.namespace, ref.Name); ok {
			w.visit(scope{in: t, path: field.NewPath("spec", "templates"), templates: t.Spec.Templates}, ref.Template)
		}
	}
}
