package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Knetic/govaluate"
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

const codeIgnoredField = "ignored-field"

// Fixes of what decode reports.
const (
	wrongTypeFix    = "write a value of the field's type"
	unknownFieldFix = "correct the name or the indentation, or remove the field"
	unlaunchableFix = "correct it, or remove what only a Workflow of the whole template uses"
	newerFieldFix   = "remove the field, or upgrade Argo Workflows and change targets.argoWorkflows"
)

const codeUnlaunchable = "unlaunchable-template"

// shapeRules check single objects of all kinds.
func shapeRules() []Rule {
	return []Rule{
		{
			Code:    codeMisspelledKind,
			Summary: "The apiVersion or the kind of an object of Argo is misspelled or missing.",
			Why:     "The API server has no such kind, and kubectl rejects the object.",
			Fix:     "correct the apiVersion and the kind",
			check:   func(*inspection) {}, // reported for what cannot be decoded
		},
		{
			Code:    CodeWrongFieldType,
			Summary: "A field has a value of the wrong type.",
			Why:     "The API server rejects the object, or Argo's controller cannot read it.",
			Fix:     wrongTypeFix,
			check:   on(unreadTexts(false)), // Decode reports the others
		},
		{
			Code:    CodeUnknownManifestField,
			Summary: "The kind has no such field, or a field is misspelled.",
			Why: "The CustomResourceDefinitions of Argo Events accept any field, and so do the default ones of Argo Workflows. kubectl " +
				"applies a misspelled field without an error, and the field has no effect.",
			Fix: unknownFieldFix,
			check: func(i *inspection) { // decode reports the others
				eachFlow(unknownInPatch)(i)
				on(unreadTexts(true))(i)
			},
		},
		{
			Code:    codeIgnoredField,
			Warning: true,
			Summary: "An object of Argo Events has a field that no field of its kind resembles, such as one of an older version.",
			Why:     "kubectl applies the object without an error, and Argo Events ignores the field.",
			Fix:     unknownFieldFix,
			check:   func(*inspection) {}, // reported by Decode
		},
		{
			Code:    codeNewerField,
			Warning: true,
			Summary: "A field is one of a newer version of Argo Workflows than the target.",
			Why:     "The target ignores the field without an error.",
			Fix:     newerFieldFix,
			check:   func(*inspection) {}, // reported by Decode
		},
		{
			Code:    CodeInvalidManifest,
			Summary: "Argo's validation, or the API server's, rejects the object.",
			Why:     "Argo validates an object after it is stored: kubectl reports success, and the error is only in the object's status.",
			Fix:     "correct the field that the message names",
			check:   legal,
		},
		{
			Code:    codeUnlaunchable,
			Warning: true,
			Summary: "A WorkflowTemplate cannot run as a Workflow, but some of its templates can.",
			Why: "argo lint and argo-server refuse it. The controller does not validate it when it is stored: a templateRef to the " +
				"other templates works, a workflowTemplateRef fails.",
			Fix:   unlaunchableFix,
			check: func(*inspection) {}, // reported by legal
		},
		{
			Code:    "moved-operator",
			Summary: "The namespace or the names of a generated operator were changed after argoperator generate.",
			Why: "Its programs, admission policies and Argo objects name each other. With another namespace, the Sensor has no " +
				"permission for what it writes; with other names, it gets no events.",
			Fix:   "generate the operator with the namespace and the name",
			check: on(movedOperator),
		},
		{
			Code:    "misspelled-reference",
			Warning: true,
			Summary: "An object refers to one that is not among the files, by almost the name of one that is.",
			Why:     "If the name is misspelled, a Sensor waits forever, and a Workflow fails.",
			Fix:     "correct the name",
			check:   misspelledReference,
		},
		{
			Code:    "ignored-setting",
			Summary: "Argo ignores a setting.",
			Why:     "It does not know the value, or does not read the field here, and reports no error.",
			Fix:     "correct the value",
			check:   unreadSettings,
		},
		{
			Code:    "unusable-name",
			Summary: "A name contains a dot, a space or a wildcard, or is the name of a dependency that an expression cannot have.",
			Why: "Argo Events publishes on the NATS subject BUS.EVENTSOURCE.EVENT and names a NATS bucket after the Sensor. With such a " +
				"name publishing fails, or the Sensor's pod does not start. It also evaluates the names of dependencies as an " +
				"expression: if it cannot read one, the trigger never fires.",
			Fix:   "use lower-case letters, digits and hyphens, and begin with a letter",
			check: subjects,
		},
		{
			Code:    "too-large-for-pod",
			Summary: "An EventSource or Sensor is too large for its pod.",
			Why: "Argo Events passes the whole object to its pod in one environment variable, in base64. Linux limits a variable to " +
				"128 KiB, and the pod of a larger object does not start (\"argument list too long\").",
			Fix:   "split the object, or move large values into ConfigMaps",
			check: tooLarge,
		},
		{
			Code:    "deprecated-field",
			Warning: true,
			Argo:    Version{3, 6},
			Summary: "A Workflow or CronWorkflow has a deprecated field: schedule, mutex or semaphore.",
			Why: "Argo Workflows 3.6 has a list for each of these fields, and 4.0 removes the old field: its value is then ignored " +
				"without an error.",
			Fix:   "use the list",
			check: deprecated,
		},
	}
}

// legal runs Argo's own validators, and the API server's for a
// CustomResourceDefinition. It skips Workflows that refer to templates outside of
// the objects.
func legal(i *inspection) {
	r := problem.About(i.Object)
	if _, crd := i.Object.(*apiextensionsv1.CustomResourceDefinition); !crd && !templated(i.Object) { // see below
		admission.Values(r, metadataOf(i.Object))
	}
	switch o := i.Object.(type) {
	case *eventsv1.EventBus:
		admission.EventBus(r, i.rule.Code, o.DeepCopy())
		streamReplicas(r, i.rule.Code, o)
	case *eventsv1.EventSource:
		for _, name := range slices.Sorted(maps.Keys(o.Spec.Resource)) {
			admission.ResourceEntry(r, i.rule.Code, field.NewPath("spec", "resource").Key(name), o.Spec.Resource[name])
		}
		for _, name := range slices.Sorted(maps.Keys(o.Spec.Calendar)) {
			admission.CalendarEntry(r, i.rule.Code, field.NewPath("spec", "calendar").Key(name), o.Spec.Calendar[name])
		}
	case *eventsv1.Sensor:
		admission.OnBus(r, i.rule.Code, i.set.all, o.DeepCopy())
		kindless(r, i.rule.Code, o)
	case *apiextensionsv1.CustomResourceDefinition:
		admission.CustomResource(r, o.DeepCopy())
	default:
		i.legalWorkflow(r, field.NewPath("spec"), i.Object)
		i.calledOnly(r)
	}
	if s, ok := i.Object.(*eventsv1.Sensor); ok {
		i.inlineWorkflows(r, s)
		builtinObjects(r, s)
	}
	for _, p := range r.Problems {
		if whole().MatchString(p.Path) {
			fields, _ := fieldsOf(i.Object).(map[string]any)
			near, _ := walked(place{field.NewPath("spec"), fields["spec"]}, p.Path)
			p.Path = placeIn(near.value, near.at, p.Message).String()
		}
		if p.Code != codeUnlaunchable {
			p.Code = i.rule.Code // of Kubernetes' own kinds it is another
		}
		i.Problems = append(i.Problems, p)
	}
}

// metadataOf returns a copy of what Values checks in an object: the metadata if its kind is not built in.
func metadataOf(o manifest.Object) manifest.Object {
	kind := o.GetObjectKind().GroupVersionKind()
	if kind.Group != argo.Group {
		return o.DeepCopyObject().(manifest.Object)
	}
	out := meta.AsPartialObjectMetadata(o)
	out.SetGroupVersionKind(kind)
	return out
}

// whole matches the path of an object, or of one of its dependencies or triggers.
var whole = lazily(`^(spec(\.(dependencies|triggers)\[\d+\])?)?$`)

// templateSpec returns the spec of a WorkflowTemplate or a ClusterWorkflowTemplate; nil for other objects.
func templateSpec(object manifest.Object) *wfv1.WorkflowSpec {
	switch o := object.(type) {
	case *wfv1.WorkflowTemplate:
		return &o.Spec
	case *wfv1.ClusterWorkflowTemplate:
		return &o.Spec
	}
	return nil
}

// legalWorkflow runs Argo's validator, which stops at the first error: a template with one is replaced, until
// there is no other.
func (i *inspection) legalWorkflow(r *problem.Report, at *field.Path, object manifest.Object) {
	err := i.set.legal(object)
	if err == nil {
		return
	}
	fields, _ := fieldsOf(object).(map[string]any)
	inner, below := fields["spec"], at
	if cron, ok := fields["spec"].(map[string]any); ok && cron["workflowSpec"] != nil {
		inner, below = cron["workflowSpec"], at.Child("workflowSpec")
	}
	object = object.DeepCopyObject().(manifest.Object)
	for n := 0; err != nil && n < maxErrors; n++ {
		message := err.Error()
		place := placeIn(inner, below, message)
		if place == below && below != at {
			place = placeIn(fields["spec"], at, message)
		}
		if spec, _ := inner.(map[string]any); place == below && spec["workflowTemplateRef"] != nil {
			place = below.Child("workflowTemplateRef") // the templates are another object's
		}
		if at, found := garbledTag(inner, below, message); found != "" {
			r.Add(at, i.rule.Code, braceHint, "the tag %s lacks a brace", found)
		} else {
			r.Add(place, i.rule.Code, hintFor(inner, message), "%s", message)
		}
		if !slices.ContainsFunc(templatesOf(message), func(name string) bool { return withoutTemplate(object, name) }) {
			return
		}
		err = i.set.legal(object)
	}
}

// maxErrors limits the errors of one object that Argo's validator finds.
const maxErrors = 8

// withoutTemplate replaces a template by one that does nothing.
func withoutTemplate(object manifest.Object, name string) bool {
	var templates []wfv1.Template
	switch o := object.(type) {
	case *wfv1.Workflow:
		templates = o.Spec.Templates
	case *wfv1.CronWorkflow:
		templates = o.Spec.WorkflowSpec.Templates
	case *wfv1.WorkflowTemplate:
		templates = o.Spec.Templates
	case *wfv1.ClusterWorkflowTemplate:
		templates = o.Spec.Templates
	}
	n := slices.IndexFunc(templates, func(t wfv1.Template) bool { return t.Name == name })
	if n < 0 || templates[n].Suspend != nil {
		return false
	}
	stub := wfv1.Template{Name: templates[n].Name, Inputs: templates[n].Inputs, Suspend: &wfv1.SuspendTemplate{}}
	stub.Inputs.Artifacts = nil
	for _, a := range templates[n].Inputs.Artifacts {
		stub.Inputs.Artifacts = append(stub.Inputs.Artifacts, wfv1.Artifact{Name: a.Name, Optional: true})
	}
	for _, p := range templates[n].Outputs.Parameters {
		stub.Outputs.Parameters = append(stub.Outputs.Parameters, wfv1.Parameter{
			Name: p.Name, ValueFrom: &wfv1.ValueFrom{Supplied: &wfv1.SuppliedValueFrom{}},
		})
	}
	templates[n] = stub
	return true
}

// inlineWorkflows validates the Workflows of triggers, with a text in place of what events write. One of
// which events write more than arguments is not known.
func (i *inspection) inlineWorkflows(r *problem.Report, s *eventsv1.Sensor) {
	for _, t := range argo.Triggers(s) {
		wf, at := workflowOf(t)
		if wf == nil || len(t.Parameters) > 0 {
			continue
		}
		filled := written(t, wf, false)
		if filled.others {
			continue
		}
		if ref := wf.Spec.WorkflowTemplateRef; ref != nil {
			of, known := i.set.started(flow{spec: wf.Spec, namespace: argo.NamespaceOf(wf, s)})
			if known && wf.Spec.Entrypoint == "" && of.Entrypoint == "" {
				r.Add(at.Child("spec", "workflowTemplateRef"), i.rule.Code, "add entrypoint to the spec of "+ref.Name,
					"the template %s has no entrypoint", ref.Name)
			}
			continue
		}
		for n := range wf.Spec.Arguments.Parameters {
			if p := &wf.Spec.Arguments.Parameters[n]; filled.arguments.of[p.Name] {
				p.Value = wfv1.AnyStringPtr("text")
			}
		}
		wf.Namespace = argo.NamespaceOf(wf, s)
		i.legalWorkflow(r, at.Child("spec"), wf)
	}
}

// workflowOf returns the Workflow that a trigger creates or submits; nil if there is none, or arguments of the argo command
// complete it.
func workflowOf(t argo.Trigger) (*wfv1.Workflow, *field.Path) {
	data, at := t.ObjectBytes()
	wf := &wfv1.Workflow{}
	if w := t.Template.ArgoWorkflow; w != nil && (w.Operation != "" && w.Operation != eventsv1.Submit || len(w.Args) > 0) {
		return nil, nil
	}
	if data == nil || json.Unmarshal(data, wf) != nil || wf.Kind != "Workflow" {
		return nil, nil
	}
	return wf, at
}

// builtinObjects reports what the API server refuses in the objects that k8s triggers create, but for what events write.
func builtinObjects(r *problem.Report, s *eventsv1.Sensor) {
	for _, t := range argo.Triggers(s) {
		if k := t.Template.K8s; k == nil || k.Operation != "" && k.Operation != eventsv1.Create || len(t.Parameters) > 0 {
			continue
		}
		for _, p := range admission.Builtin(kindOf(t.Resource()), t.Resource()) {
			at := dots.Replace(p.Path) + "."
			written := slices.ContainsFunc(t.ObjectParameters(), func(of argo.Parameter) bool {
				return strings.HasPrefix(at, of.Dest+".") || strings.HasPrefix(of.Dest+".", at)
			})
			if !written {
				p.Path, p.Message = t.ResourcePath().String()+"."+p.Path, p.Path+": "+p.Message
				r.Problems = append(r.Problems, p)
			}
		}
	}
}

// dots turns the path of a field into one of gjson.
var dots = strings.NewReplacer("[", ".", "]", "")

// streamReplicas reports a stream with more replicas than its EventBus has servers, which are three by default.
func streamReplicas(r *problem.Report, code string, b *eventsv1.EventBus) {
	for name, value := range streamConfigOf(b) {
		servers := int32(3)
		if b.Spec.JetStream.Replicas != nil {
			servers = *b.Spec.JetStream.Replicas
		}
		if replicas, ok := value.(float64); ok && strings.EqualFold(name, "replicas") && replicas > float64(servers) {
			hint := fmt.Sprintf("write replicas: %d, or change jetstream.replicas", servers)
			r.Add(field.NewPath("spec", "jetstream", "streamConfig"), code, hint,
				"the stream cannot have %.0f replicas on %d servers", replicas, servers)
		}
	}
}

// templated reports whether a program will replace parts of the metadata, such as a shell.
func templated(o manifest.Object) bool {
	text := fmt.Sprint(o.GetName(), o.GetGenerateName(), o.GetNamespace(), o.GetLabels())
	return fromTemplate(text)
}

// kindless reports objects of k8s triggers that say no apiVersion or kind, unless a parameter
// writes them.
func kindless(r *problem.Report, code string, s *eventsv1.Sensor) {
	for _, t := range argo.Triggers(s) {
		computed := slices.ContainsFunc(t.AllParameters(), func(p argo.Parameter) bool {
			return p.List == "parameters" || p.Dest == "apiVersion" || p.Dest == "kind"
		})
		if kind := kindOf(t.Resource()); t.Resource() != nil && !computed && (kind.Kind == "" || kind.Version == "") {
			r.Add(t.ResourcePath(), code, "add apiVersion and kind", "the object of the trigger has no apiVersion or kind")
		}
	}
}

// legal runs Argo's validator on an object with a Workflow. A template of another object that is not known takes and returns
// what its callers say.
func (s *objectSet) legal(object manifest.Object) error {
	whole, missing := true, false
	for _, f := range s.flowsIn(object) {
		_, known := s.started(f)
		whole = known || f.spec.WorkflowTemplateRef == nil
	}
	standIn := func(name string) (metav1.ObjectMeta, wfv1.WorkflowSpec) {
		spec, known := s.standIns().specOf(name)
		missing = missing || !known || !whole
		return metav1.ObjectMeta{Name: name}, spec
	}
	get := func(name string) (*wfv1.WorkflowTemplate, error) {
		found := findAll[*wfv1.WorkflowTemplate](s.all, object.GetNamespace(), name)
		if len(found) == 1 { // of several, nobody knows which one it is
			return found[0].DeepCopy(), nil
		}
		meta, spec := standIn(name)
		return &wfv1.WorkflowTemplate{ObjectMeta: meta, Spec: spec}, nil
	}
	cluster := func(name string) (*wfv1.ClusterWorkflowTemplate, error) {
		found := findAll[*wfv1.ClusterWorkflowTemplate](s.all, "", name)
		if len(found) == 1 {
			return found[0].DeepCopy(), nil
		}
		meta, spec := standIn(name)
		return &wfv1.ClusterWorkflowTemplate{ObjectMeta: meta, Spec: spec}, nil
	}
	err := admission.ValidWorkflow(object.DeepCopyObject(), getter(get), clusterGetter(cluster), validate.ValidateOpts{Lint: true})
	if missing || err != nil && aboutMetadata(err.Error()) {
		return nil
	}
	return err
}

// getter finds WorkflowTemplates for Argo's validator.
type getter func(name string) (*wfv1.WorkflowTemplate, error)

func (g getter) Get(name string) (*wfv1.WorkflowTemplate, error) { return g(name) }

// clusterGetter finds ClusterWorkflowTemplates for Argo's validator.
type clusterGetter func(name string) (*wfv1.ClusterWorkflowTemplate, error)

func (g clusterGetter) Get(name string) (*wfv1.ClusterWorkflowTemplate, error) { return g(name) }

// subjects checks the names that Argo Events uses in subjects and buckets.
func subjects(i *inspection) {
	bad := func(path *field.Path, name string) {
		if strings.ContainsAny(name, ". *>\t") {
			i.report(path, "%q cannot be part of a NATS subject or bucket", name)
		}
	}
	switch o := i.Object.(type) {
	case *eventsv1.EventBus:
		bad(field.NewPath("metadata", "name"), o.Name)
	case *eventsv1.Sensor:
		bad(field.NewPath("metadata", "name"), o.Name)
		for n, d := range o.Spec.Dependencies {
			if d.Name != "" && !fromTemplate(d.Name) && !isVariable(d.Name) {
				i.report(dependencyPath(n).Child("name"), "conditions cannot have the name %q", d.Name)
			}
		}
	case *eventsv1.EventSource:
		bad(field.NewPath("metadata", "name"), o.Name)
		for _, e := range eventsOf(o) {
			bad(e.path, e.name)
		}
	}
}

// isVariable reports whether a Sensor reads the name of a dependency as one variable of its conditions.
func isVariable(name string) bool {
	e, err := govaluate.NewEvaluableExpression(strings.ReplaceAll(name, "-", `\-`))
	return err == nil && slices.Equal(e.Vars(), []string{name})
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
	old := func(path *field.Path, plural string) {
		segments := path.String()
		name := segments[strings.LastIndex(segments, ".")+1:]
		i.reportHint(path, "write "+plural, "%s is deprecated since Argo Workflows %s, and 4.0 ignores it", name, i.rule.Argo)
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
