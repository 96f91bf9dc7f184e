package check

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// programs: the jq of every transform compiles as the Sensor compiles it, and
// there is no Lua, and no text template but the two that an http trigger needs:
// either could evaluate what is in an event.
func programs(o objects) []Problem {
	return each(o, func(r *report, s *eventsv1.Sensor) {
		for i, d := range s.Spec.Dependencies {
			at := field.NewPath("spec", "dependencies").Index(i)
			if t := d.Transform; t != nil {
				transform(r, o, at.Child("transform"), t)
			}
			filterPrograms(r, at.Child("filters"), d.Filters)
		}
		for _, t := range o.triggers(s) {
			for _, p := range t.parameters() {
				if p.Src != nil && (p.Src.DataTemplate != "" || p.Src.ContextTemplate != "") && !p.templated() {
					r.add(p.path.Child("src"), CodeGoTemplate, "compute it in jq and use dataKey",
						"a text template makes every value a string, and can read the pod's environment")
				}
			}
		}
	})
}

func transform(r *report, o objects, at *field.Path, t *eventsv1.EventDependencyTransformer) {
	if t.Script != "" {
		r.add(at.Child("script"), CodeJQ, "use jq", "a Lua transform loses nulls and empty lists, and Lua can run programs")
	}
	if t.JQ == "" {
		return
	}
	program := o.program(t.JQ)
	if program.err != nil {
		r.add(at.Child("jq"), CodeJQ, "", "does not parse: %v", program.err)
		return
	}
	if _, err := program.compiled(); err != nil {
		r.add(at.Child("jq"), CodeJQ, "", "does not compile: %v", err)
	}
	calls := program.calls()
	for _, name := range []string{"$ENV", "env", "input", "inputs", "input_line_number"} {
		if calls[name] {
			r.add(at.Child("jq"), CodeJQ, "compute from the event alone", "uses %s, which the Sensor does not have", name)
		}
	}
}

func filterPrograms(r *report, at *field.Path, f *eventsv1.EventDependencyFilter) {
	if f == nil {
		return
	}
	if f.Script != "" {
		r.add(at.Child("script"), CodeJQ, "compute a boolean in jq", "a Lua filter can run programs")
	}
	if len(f.Exprs) > 0 {
		r.add(at.Child("exprs"), CodeJQ, "compute a boolean in jq", "an expression on a field that is not there drops the event")
	}
	for i, d := range f.Data {
		if d.Template != "" {
			r.add(at.Child("data").Index(i).Child("template"), CodeGoTemplate, "compute it in jq", "a text template can read the pod's environment")
		}
		if d.Type == eventsv1.JSONTypeString {
			r.add(at.Child("data").Index(i), CodeJQ, "compute a boolean in jq", "the value of a string filter is an unanchored regular expression")
		}
	}
}
