package childcheck

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// tag matches what Argo substitutes. safeTag matches the tags that are allowed:
// names that the API server has validated, numbers, and values that an earlier step
// has encoded. safeWhen matches the condition of a CronWorkflow, which only
// contains values that Argo computes.
var (
	tag      = regexp.MustCompile(`\{\{.*?(\}\}|$)`)
	safeWhen = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^\{\{= cronworkflow\.succeeded == 0 \|\| \(now\(\) - cronworkflow\.lastScheduledTime\)\.Hours\(\) >= \d+ \}\}$`,
		)
	})
	safeTag = regexp.MustCompile(
		`^\{\{\s*(workflow\.(name|status|duration|creationTimestamp\.s|parameters\.[\w-]+)|steps\.[\w-]+\.outputs\.parameters\.[\w-]+|` +
			`inputs\.parameters\.[\w-]+)\s*\}\}$`,
	)
)

// templateTags reports unsafe template tags. Argo substitutes tags repeatedly in
// every string of a Workflow. Expressions are never allowed.
func templateTags(o argo.Objects) []problem.Problem {
	var out []problem.Problem
	for _, object := range o.List {
		switch object.(type) {
		case *wfv1.WorkflowTemplate, *wfv1.CronWorkflow, *eventsv1.Sensor:
			out = append(out, unsafeTags(o, object)...)
		}
	}
	return out
}

func unsafeTags(o argo.Objects, object manifest.Object) []problem.Problem {
	r := problem.About(object)
	fields, err := o.FieldsOf(object)
	if err != nil {
		r.Add(nil, problem.CodeInjection, "", "%v", err)
		return r.Problems
	}
	sensor, isSensor := object.(*eventsv1.Sensor)
	_, isCron := object.(*wfv1.CronWorkflow)
	var allowed map[string]bool
	root := func() *field.Path { return field.NewPath("spec") }
	tagged(fields["spec"], root, func(at *field.Path, text string) {
		if isSensor && allowed == nil {
			allowed = safeTemplatePaths(o, sensor)
		}
		if isSensor && strings.HasSuffix(at.String(), ".transform.jq") || allowed[at.String()] {
			return // jq does not use these braces: text that looks like a tag stays data
		}
		if isCron && at.String() == "spec.when" && safeWhen().MatchString(text) {
			return
		}
		for _, found := range tag.FindAllString(text, -1) {
			if !safeTag.MatchString(found) {
				r.Add(
					at,
					problem.CodeInjection,
					"pass names only, or compute the value in a step",
					"%s is not one of the tags that are safe to substitute",
					found,
				)
			}
		}
	})
	return r.Problems
}

// safeTemplatePaths returns the paths of the text templates that an http trigger
// needs.
func safeTemplatePaths(o argo.Objects, s *eventsv1.Sensor) map[string]bool {
	out := map[string]bool{}
	for _, t := range o.Triggers(s) {
		for _, p := range t.AllParameters() {
			if p.IsSafeTemplate() {
				out[p.Path.Child("src", "dataTemplate").String()] = true
			}
		}
	}
	return out
}

// tagged visits the strings below a value that contain the beginning of a tag. Most
// strings have none, so it makes a path only for those that have.
func tagged(value any, at func() *field.Path, visit func(*field.Path, string)) {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "{{") {
			visit(at(), v)
		}
	case []any:
		for i, inner := range v {
			tagged(inner, func() *field.Path { return at().Index(i) }, visit)
		}
	case map[string]any:
		for key, inner := range v {
			tagged(inner, func() *field.Path { return at().Child(key) }, visit)
		}
	}
}

// tagsInCode reports tags in text that a shell or an interpreter runs as code.
func tagsInCode(o argo.Objects) []problem.Problem {
	var out []problem.Problem
	for _, p := range o.Pods() {
		r := problem.About(p.In)
		if s := p.Template.Script; s != nil && strings.Contains(s.Source, "{{") {
			r.Add(
				p.Path.Child("script", "source"),
				problem.CodeInjection,
				"pass it in an environment variable",
				"a tag inside a program: what it becomes is run",
			)
		}
		for _, c := range p.Containers() {
			words := slices.Concat(c.Command, c.Args)
			for i, word := range words {
				if i > 0 && slices.Contains([]string{"-c", "-e", "-ec", "-xc"}, words[i-1]) && strings.Contains(word, "{{") {
					r.Add(p.Path, problem.CodeInjection, "pass it in an environment variable", "container %s runs a tag as code", c.Name)
				}
			}
		}
		out = append(out, r.Problems...)
	}
	return out
}
