package selfcheck

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// programs reports jq that does not compile in the Sensor, and any Lua or text
// template. Only the two templates that an http trigger needs are allowed, because
// Lua and templates could evaluate the data of an event.
func programs(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		for i, d := range s.Spec.Dependencies {
			at := field.NewPath("spec", "dependencies").Index(i)
			if t := d.Transform; t != nil {
				checkTransform(r, o, at.Child("transform"), t)
			}
			checkFilter(r, at.Child("filters"), d.Filters)
		}
		for _, t := range o.Triggers(s) {
			for _, p := range t.AllParameters() {
				if p.Src != nil && (p.Src.DataTemplate != "" || p.Src.ContextTemplate != "") && !p.IsSafeTemplate() {
					r.Add(p.Path.Child("src"), codeGoTemplate, "compute it in jq and use dataKey",
						"a text template makes every value a string, and can read the pod's environment")
				}
			}
		}
	})
}

func checkTransform(r *problem.Report, o objects, at *field.Path, t *eventsv1.EventDependencyTransformer) {
	if t.Script != "" {
		r.Add(
			at.Child("script"),
			codeJQ,
			"use jq",
			"a Lua transform loses nulls and empty lists, and a Lua script in a Sensor can run programs",
		)
	}
	if t.JQ == "" {
		return
	}
	o.program(t.JQ).Check(r, codeJQ, at.Child("jq"))
}

func checkFilter(r *problem.Report, at *field.Path, f *eventsv1.EventDependencyFilter) {
	if f == nil {
		return
	}
	if f.Script != "" {
		r.Add(at.Child("script"), codeJQ, "compute a boolean in jq", "a Lua script in a Sensor can run programs")
	}
	if len(f.Exprs) > 0 {
		r.Add(
			at.Child("exprs"),
			codeJQ,
			"compute a boolean in jq",
			"the event is dropped if a field of an expression does not exist",
		)
	}
	for i, d := range f.Data {
		if d.Template != "" {
			r.Add(
				at.Child("data").Index(i).Child("template"),
				codeGoTemplate,
				"compute it in jq",
				"a text template can read the pod's environment",
			)
		}
		if d.Type == eventsv1.JSONTypeString {
			r.Add(
				at.Child("data").Index(i),
				codeJQ,
				"compute a boolean in jq",
				"the value of a string filter is an unanchored regular expression",
			)
		}
	}
}
