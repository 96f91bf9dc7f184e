package check

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// tag is what Argo substitutes; safeTag what may be: names that the API server
// has validated, numbers, and values that a step of ours has made safe. safeWhen
// is the condition of a CronWorkflow, of what Argo has counted itself.
var (
	tag      = regexp.MustCompile(`\{\{.*?(\}\}|$)`)
	safeWhen = regexp.MustCompile(`^\{\{= cronworkflow\.succeeded == 0 \|\| \(now\(\) - cronworkflow\.lastScheduledTime\)\.Hours\(\) >= \d+ \}\}$`)
	safeTag  = regexp.MustCompile(`^\{\{\s*(workflow\.(name|status|duration|creationTimestamp\.s|parameters\.[\w-]+)|steps\.[\w-]+\.outputs\.parameters\.[\w-]+|inputs\.parameters\.[\w-]+)\s*\}\}$`)
)

// braces: Argo substitutes text, several times over, in every string of a
// Workflow. So a tag stands only where it can do no harm: never an expression,
// never inside a program.
func braces(o objects) []Problem {
	var out []Problem
	for _, object := range o.list {
		switch object.(type) {
		case *wfv1.WorkflowTemplate, *wfv1.CronWorkflow, *eventsv1.Sensor:
			out = append(out, tags(o, object)...)
		}
	}
	return append(out, interpreted(o)...)
}

func tags(o objects, object manifest.Object) []Problem {
	r := about(object)
	fields, err := o.fieldsOf(object)
	if err != nil {
		r.add(nil, CodeInjection, "", "%v", err)
		return r.problems
	}
	allowed := map[string]bool{}
	sensor, isSensor := object.(*eventsv1.Sensor)
	if isSensor {
		allowed = safeTemplates(o, sensor)
	}
	walkText(fields["spec"], field.NewPath("spec"), func(at *field.Path, text string) {
		if !strings.Contains(text, "{{") {
			return
		}
		if isSensor && strings.HasSuffix(at.String(), ".transform.jq") || allowed[at.String()] {
			return // jq has no such braces: what looks like them is data, and stays it
		}
		if _, cron := object.(*wfv1.CronWorkflow); cron && at.String() == "spec.when" && safeWhen.MatchString(text) {
			return
		}
		for _, found := range tag.FindAllString(text, -1) {
			if !safeTag.MatchString(found) {
				r.add(at, CodeInjection, "pass names only, or compute the value in a step", "%s is not one of the tags that are safe to substitute", found)
			}
		}
	})
	return r.problems
}

// safeTemplates are the places of the text templates that an http trigger needs.
func safeTemplates(o objects, s *eventsv1.Sensor) map[string]bool {
	out := map[string]bool{}
	for _, t := range o.triggers(s) {
		for _, p := range t.parameters() {
			if p.templated() {
				out[p.path.Child("src", "dataTemplate").String()] = true
			}
		}
	}
	return out
}

// walkText visits every string below a value, in order.
func walkText(value any, at *field.Path, visit func(*field.Path, string)) {
	switch v := value.(type) {
	case string:
		visit(at, v)
	case []any:
		for i, inner := range v {
			walkText(inner, at.Index(i), visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walkText(v[key], at.Child(key), visit)
		}
	}
}

// interpreted finds tags in text that a shell or an interpreter takes for code.
func interpreted(o objects) []Problem {
	var out []Problem
	for _, p := range o.pods() {
		r := about(p.in)
		if s := p.template.Script; s != nil && strings.Contains(s.Source, "{{") {
			r.add(p.path.Child("script", "source"), CodeInjection, "pass it in an environment variable", "a tag inside a program: what it becomes is run")
		}
		for _, c := range p.containers() {
			words := slices.Concat(c.Command, c.Args)
			for i, word := range words {
				if i > 0 && slices.Contains([]string{"-c", "-e", "-ec", "-xc"}, words[i-1]) && strings.Contains(word, "{{") {
					r.add(p.path, CodeInjection, "pass it in an environment variable", "container %s runs a tag as code", c.Name)
				}
			}
		}
		out = append(out, r.problems...)
	}
	return out
}
