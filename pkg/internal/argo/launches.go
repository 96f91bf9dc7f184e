package argo

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Launch is one way in which a Workflow comes to be.
type Launch struct {
	By        manifest.Object // who creates it: a Sensor, a CronWorkflow, or the template whose script does
	Path      *field.Path     // where in by the Workflow's spec is
	Namespace string
	Given     wfv1.WorkflowSpec      // what the creator states
	Template  *wfv1.WorkflowTemplate // what it refers to; nil for none, or one that is not emitted
	filled    []string               // destinations that a Sensor's parameters write, below the Workflow

	Spec func() wfv1.WorkflowSpec // what runs
	Pods func() []Pod             // of every template that can be reached from its entrypoint and its exit handlers
}

// launchesIn finds every Workflow that will ever run: those of Sensors and
// CronWorkflows, and those that the script in their pods creates in turn.
func launchesIn(o Objects) []Launch {
	var out []Launch
	for _, s := range All[*eventsv1.Sensor](o) {
		for _, t := range o.Triggers(s) {
			if wf := t.Workflow(); wf != nil {
				l := NewLaunch(o, s, t.ResourcePath().Child("spec"), NamespaceOf(wf, s), wf.Spec)
				for _, p := range t.Template.K8s.Parameters {
					l.filled = append(l.filled, p.Dest)
				}
				out = append(out, l)
			}
		}
	}
	for _, c := range All[*wfv1.CronWorkflow](o) {
		out = append(out, NewLaunch(o, c, field.NewPath("spec", "workflowSpec"), c.Namespace, c.Spec.WorkflowSpec))
	}
	return append(out, Submitted(o, out)...)
}

// NewLaunch returns a launch of a Workflow, with the WorkflowTemplate that it refers to.
func NewLaunch(o Objects, by manifest.Object, path *field.Path, namespace string, spec wfv1.WorkflowSpec) Launch {
	l := Launch{By: by, Path: path, Namespace: namespace, Given: spec}
	if ref := spec.WorkflowTemplateRef; ref != nil && !ref.ClusterScope {
		l.Template, _ = Find[*wfv1.WorkflowTemplate](o, namespace, ref.Name)
	}
	l.Spec = sync.OnceValue(l.joined)
	l.Pods = sync.OnceValue(func() []Pod { return l.reached(o) })
	return l
}

// Submitted are the Workflows that the pod-side script creates: on a resync or
// where something related has changed, unless it leaves that to the Sensor, and
// for a later time. It states the key as an argument, whatever the template is.
func Submitted(o Objects, first []Launch) []Launch {
	var out []Launch
	for _, l := range first {
		for _, p := range l.Pods() {
			for _, s := range p.Scripts(o) {
				switch {
				case (s.Command == "resync" || s.Command == "enqueue") && !s.Config.Templates:
					out = append(out, s.creates(o, p, s.Config.WorkflowTemplate, "key"))
				case s.Command == "apply" && s.Config.Timer != "":
					out = append(out, s.creates(o, p, s.Config.Timer, "key", "seconds"))
				}
			}
		}
	}
	return out
}

// creates is a Workflow that a script in a pod creates, with the arguments that
// it states.
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

// joined is the template's spec with the creator's laid over it, as Argo joins
// them.
func (l Launch) joined() wfv1.WorkflowSpec {
	if l.Template == nil {
		return l.Given
	}
	below, err1 := json.Marshal(l.Template.Spec)
	above, err2 := json.Marshal(l.Given)
	joined, err3 := strategicpatch.StrategicMergePatch(below, above, wfv1.WorkflowSpec{})
	var spec wfv1.WorkflowSpec
	if err1 != nil || err2 != nil || err3 != nil || json.Unmarshal(joined, &spec) != nil {
		return l.Template.Spec
	}
	return spec
}

// Holder is the object that has the templates, and where its spec is.
func (l Launch) Holder() (manifest.Object, *field.Path) {
	if l.Template == nil {
		return l.By, l.Path
	}
	return l.Template, field.NewPath("spec")
}

func (l Launch) reached(o Objects) []Pod {
	spec := l.Spec()
	in, path := l.Holder()
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
	objects Objects
	launch  Launch
	spec    wfv1.WorkflowSpec
	seen    map[*wfv1.Template]bool
	pods    []Pod
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

// Gives tells whether the creator gives an argument, or a Sensor fills it in.
func (l Launch) Gives(name string) bool {
	for i, p := range l.Given.Arguments.Parameters {
		if p.Name == name {
			return p.Value != nil || p.ValueFrom != nil || slices.Contains(l.filled, "spec.arguments.parameters."+strconv.Itoa(i)+".value")
		}
	}
	return false
}

// Rotates tells whether a CronWorkflow replaces a token.
func (l Launch) Rotates(o Objects, want RuntimeToken) bool {
	if _, ok := l.By.(*wfv1.CronWorkflow); !ok {
		return false
	}
	return slices.ContainsFunc(l.Pods(), func(p Pod) bool {
		return slices.ContainsFunc(p.Scripts(o), func(s Script) bool { return s.Command == "rotate" && s.Config.Token == want })
	})
}
