package lint

import (
	"slices"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// standIns are WorkflowTemplates in place of those that are not among the files, so that Argo's validator can look at the rest
// of a Workflow. Their templates need no arguments, and have each output that a tag of an object names.
type standIns struct {
	templates map[string][]string // the names that a templateRef gives, by the WorkflowTemplate
	outputs   wfv1.Outputs
}

var (
	// outputTag matches an output of a step or a task in a text.
	outputTag = lazily(`\b(?:steps|tasks)(?:\.[-\w]+|\[['"][-\w]+['"]\])` +
		`\.outputs\.(parameters|artifacts)(?:\.([-\w]+)|\[['"]([-\w]+)['"]\])`)
	// globalTag matches an output of the Workflow in a text.
	globalTag = lazily(`\bworkflow\.outputs\.(parameters|artifacts)\.([-\w]+)`)
)

// newStandIns returns those for the objects.
func newStandIns(objects []manifest.Object) *standIns {
	s := &standIns{templates: map[string][]string{}}
	names := map[string]bool{}
	add := func(kind, name, global string) {
		switch known := names[kind+name]; {
		case known:
			return
		case kind == "parameters":
			s.outputs.Parameters = append(s.outputs.Parameters, wfv1.Parameter{
				Name: name, GlobalName: global, ValueFrom: &wfv1.ValueFrom{Path: "/" + name},
			})
		default:
			s.outputs.Artifacts = append(s.outputs.Artifacts, wfv1.Artifact{Name: name, GlobalName: global, Path: "/" + name})
		}
		names[kind+name] = true
	}
	for _, object := range objects {
		refs := under("templateRef", object)
		for _, ref := range refs {
			name, template := stringOf(ref, "name"), stringOf(ref, "template")
			if !slices.Contains(s.templates[name], template) {
				s.templates[name] = append(s.templates[name], template)
			}
		}
		if len(refs) == 0 {
			continue
		}
		texts := map[*field.Path]string{}
		textsBelow(field.NewPath("object"), fieldsOf(object), texts)
		for _, text := range texts {
			for _, m := range outputTag().FindAllStringSubmatch(text, -1) {
				add(m[1], m[2]+m[3], "")
			}
			for _, m := range globalTag().FindAllStringSubmatch(text, -1) {
				add(m[1], "global-"+m[2], m[2])
			}
		}
	}
	return s
}

// specOf returns the spec of the stand-in for a WorkflowTemplate; false for one that a workflowTemplateRef names.
func (s *standIns) specOf(name string) (spec wfv1.WorkflowSpec, known bool) {
	daemon := true // it has an address
	for _, template := range s.templates[name] {
		main := &corev1.Container{Name: common.MainContainerName, Image: "image"}
		spec.Templates = append(spec.Templates, wfv1.Template{Name: template, Container: main, Outputs: s.outputs, Daemon: &daemon})
	}
	return spec, len(spec.Templates) > 0
}
