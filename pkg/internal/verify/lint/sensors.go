package lint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/expr-lang/expr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// sensorRules check dependencies and their filters.
func sensorRules() []Rule {
	return []Rule{
		{
			Code:    "missing-trigger-conditions",
			Warning: true,
			Summary: "A Sensor has several dependencies, and a trigger has no conditions.",
			Why: "The trigger fires only after an event of every dependency, and then with the last event of each: earlier ones are " +
				"dropped. Most users expect it to fire on any of them.",
			Fix:   "set conditions: the names of dependencies, joined by || or &&",
			check: on(joins),
		},
		{
			Code:    "unknown-dependency",
			Summary: "Conditions or a parameter refer to a dependency that the Sensor does not have.",
			Why:     "The trigger never fires, or Argo Events leaves out the parameter without an error.",
			Fix:     "correct the name, or add the dependency",
			check:   on(unknownDependencies),
		},
		{
			Code:    "invalid-conditions",
			Summary: "The conditions of a trigger are not names of dependencies joined by || and &&.",
			Why:     "The Sensor cannot evaluate them, and never fires the trigger. Only its log says why.",
			Fix:     "join the names of dependencies by || and &&, and use parentheses",
			check:   eachTrigger(invalidConditions),
		},
		{
			Code:    "unused-dependency",
			Warning: true,
			Summary: "No trigger uses a dependency.",
			Why:     "The Sensor receives its events and does nothing.",
			Fix:     "add it to the conditions of a trigger, or remove it",
			check:   on(unusedDependencies),
		},
		{
			Code:    "unknown-event",
			Summary: "A Sensor depends on an event that its EventSource does not have.",
			Why:     "The Sensor waits forever and reports no error, because nothing publishes this event.",
			Fix:     "correct the eventName",
			check:   on(unknownEvents),
		},
		{
			Code:    "event-bus-mismatch",
			Summary: "A Sensor and its EventSource use different EventBuses.",
			Why:     "The Sensor never receives an event of the EventSource.",
			Fix:     "set the same eventBusName in both",
			check:   on(twoBuses),
		},
		{
			Code:    "bad-jq",
			Summary: "A jq program does not parse or compile, or uses something that a Sensor does not support.",
			Why:     "The Sensor acknowledges each event and drops it. Only its log says why.",
			Fix:     "correct the program",
			check:   on(badJQ),
		},
		{
			Code:    "lua-script",
			Warning: true,
			Summary: "A Lua script transforms or filters events.",
			Why: "A Lua transform loses nulls and turns empty lists into objects. Lua in a Sensor can also open files and start " +
				"programs, so everyone who can edit the Sensor can run anything in its pod.",
			Fix:   "use jq",
			check: on(luaScripts),
		},
		{
			Code:    "unanchored-regex",
			Warning: true,
			Summary: "A data filter of type string compares with an unanchored regular expression.",
			Why: "The values of such a filter are regular expressions that match anywhere in the text: prod also matches non-prod. The " +
				"rule looks at values that are a plain text.",
			Fix:   "anchor it: ^…$, or write .* where any text may stand",
			check: on(unanchored),
		},
		{
			Code:    "expression-filter",
			Warning: true,
			Summary: "An expression filter reads fields that an event may not have.",
			Why: "If one of the fields is missing the Sensor drops the event, whatever the expression is, even with !=. For example, " +
				"oldBody is null in every ADD of a resource event.",
			Fix:   "compute a boolean in jq, and filter on it",
			check: on(expressionFilters),
		},
		{
			Code:    "template-reads-environment",
			Warning: true,
			Summary: "A text template reads the environment of the Sensor's pod.",
			Why: "The functions env and expandenv can read tokens and other secrets. The value goes where the parameter goes, and into " +
				"the log if the trigger fails.",
			Fix:   "mount the secret where it is used; for a request header use secureHeaders",
			check: on(readsPod),
		},
		{
			Code:    "template-with-raw-data",
			Warning: true,
			Summary: "A parameter has a text template and useRawData.",
			Why:     "The result of a template is always text: the number 3 arrives as \"3\", and a large number as 9.007e+15.",
			Fix:     "compute the value in the dependency's jq, and use dataKey with useRawData",
			check:   on(textual),
		},
	}
}

func dependencyPath(n int) *field.Path { return field.NewPath("spec", "dependencies").Index(n) }

func joins(i *inspection, s *eventsv1.Sensor) {
	var names []string
	for _, d := range s.Spec.Dependencies {
		names = append(names, d.Name)
	}
	for _, t := range argo.Triggers(s) {
		if len(names) > 1 && t.Template.Conditions == "" && !t.DeadLetter && !takesAll(t, names) {
			i.reportHint(t.Path.Child("template"), "set conditions: "+strings.Join(names, " || ")+", or join the names by &&",
				"the trigger waits for an event of each of the %d dependencies", len(names))
		}
	}
}

// takesAll reports whether a trigger takes a field of its object from the event of each dependency: it
// has to wait for all. Several dependencies for one field are alternatives.
func takesAll(t argo.Trigger, names []string) bool {
	of := map[string]string{}
	taken := map[string]bool{}
	for _, p := range t.ObjectParameters() {
		if p.Src == nil || p.Src.Value != nil {
			continue
		}
		if other, has := of[p.Dest]; has && other != p.Src.DependencyName {
			return false
		}
		of[p.Dest], taken[p.Src.DependencyName] = p.Src.DependencyName, true
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !taken[name] })
}

func unknownDependencies(i *inspection, s *eventsv1.Sensor) {
	var names []string
	for _, d := range s.Spec.Dependencies {
		names = append(names, d.Name, strings.ReplaceAll(d.Name, "-", "_"))
	}
	report := func(path *field.Path, name string) {
		i.reportHint(path, cmp.Or(diag.DidYouMean(name, names, strings.ToLower), i.rule.Fix), "the Sensor has no dependency %q", name)
	}
	for _, t := range argo.Triggers(s) {
		for _, name := range t.DependencyNames() {
			if !slices.Contains(names, name) {
				report(t.Path.Child("template", "conditions"), name)
			}
		}
		for _, p := range t.AllParameters() {
			if replacesDependency(t) {
				continue
			}
			if p.Src != nil && p.Src.DependencyName != "" && !slices.Contains(names, p.Src.DependencyName) {
				report(p.Path.Child("src", "dependencyName"), p.Src.DependencyName)
			}
		}
	}
}

// invalidConditions evaluates conditions as a Sensor does: each name is a text, and so is what joins them.
func invalidConditions(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	names := map[string]string{}
	for _, name := range t.DependencyNames() {
		names[strings.ReplaceAll(name, "-", "_")] = "name"
	}
	text := conditionsAsText.Replace(t.Template.Conditions)
	if t.Template.Conditions == "" || strings.Contains(text, "{{") {
		return
	}
	if _, err := expr.Compile(text, expr.Env(names)); err != nil {
		i.report(t.Path.Child("template", "conditions"), "%s is no combination of dependencies", t.Template.Conditions)
	}
}

var conditionsAsText = strings.NewReplacer("&&", ` + "&&" + `, "||", ` + "||" + `, "-", "_", "(", `"(" + `, ")", ` + ")"`)

// dependencyTwice reports a dependency with the name of a later one, which replaces it when the Sensor starts.
func dependencyTwice(i *inspection, s *eventsv1.Sensor) {
	last := map[string]int{}
	for n, d := range s.Spec.Dependencies {
		last[d.Name] = n
	}
	for n, d := range s.Spec.Dependencies {
		if last[d.Name] > n && d.Name != "" {
			i.report(dependencyPath(n).Child("name"), "a later dependency is called %s too, and this one gets no events", d.Name)
		}
	}
}

func unusedDependencies(i *inspection, s *eventsv1.Sensor) {
	fired := map[string]bool{}
	for _, t := range argo.Triggers(s) {
		if t.Template.Conditions == "" && !t.DeadLetter {
			return // such a trigger waits for all dependencies
		}
		for _, name := range t.DependencyNames() {
			fired[name] = true
		}
	}
	for n, d := range s.Spec.Dependencies {
		if !fired[d.Name] && !fired[strings.ReplaceAll(d.Name, "-", "_")] {
			i.report(dependencyPath(n).Child("name"), "no trigger uses dependency %q", d.Name)
		}
	}
}

func unknownEvents(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		var names []string
		for _, source := range findAll[*eventsv1.EventSource](i.set.all, s.Namespace, d.EventSourceName) {
			for _, e := range eventsOf(source) {
				names = append(names, e.name)
			}
		}
		if len(names) > 0 && !slices.Contains(names, d.EventName) {
			others := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
				return slices.ContainsFunc(s.Spec.Dependencies, func(other eventsv1.EventDependency) bool {
					return other.EventSourceName == d.EventSourceName && other.EventName == name
				})
			})
			i.reportHint(dependencyPath(n).Child("eventName"), cmp.Or(diag.DidYouMean(d.EventName, others, strings.ToLower), i.rule.Fix),
				"EventSource %s has no event %q", d.EventSourceName, d.EventName)
		}
	}
}

func twoBuses(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		source, ok := find[*eventsv1.EventSource](i.set.all, s.Namespace, d.EventSourceName)
		if ok && argo.BusName(source.Spec.EventBusName) != argo.BusName(s.Spec.EventBusName) {
			i.report(dependencyPath(n).Child("eventSourceName"), "EventSource %s uses EventBus %q, the Sensor uses %q",
				source.Name, argo.BusName(source.Spec.EventBusName), argo.BusName(s.Spec.EventBusName))
		}
	}
}

func badJQ(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		if d.Transform == nil || d.Transform.JQ == "" {
			continue
		}
		r := problem.About(s)
		argo.NewProgram(d.Transform.JQ).Check(r, i.rule.Code, dependencyPath(n).Child("transform", "jq"))
		for _, p := range r.Problems {
			i.adopt(p)
		}
	}
}

func luaScripts(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		if d.Transform != nil && d.Transform.Script != "" {
			i.report(dependencyPath(n).Child("transform", "script"),
				"a Lua transform loses nulls and empty lists, and a Lua script in a Sensor can run programs")
		}
		if d.Filters != nil && d.Filters.Script != "" {
			i.reportHint(dependencyPath(n).Child("filters", "script"), "compute a boolean in jq",
				"a Lua script in a Sensor can run programs")
		}
	}
}

func expressionFilters(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		if f := d.Filters; f != nil && (len(f.Exprs) == 1 || len(f.Exprs) > 1 && f.ExprLogicalOperator != eventsv1.OrLogicalOperator) {
			i.reportHint(dependencyPath(n).Child("filters", "exprs"), "compute a boolean in jq",
				"the event is dropped if a field of an expression does not exist")
		}
	}
}

// anchored matches a regular expression that must match the whole text.
var anchored = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\^.*\$$`) })

var (
	// plainWord matches a value that looks like a text, and is one with few exceptions.
	plainWord = lazily(`^[-\w/. :]+$`)
	// enumerated matches a path to a field of GitHub or GitLab with few possible values.
	enumerated = lazily(`^body\.(action|state|object_kind|event_name|ref_type|(\w+\.)+(state|action|conclusion|status))$`)
)

// headerPath matches a path to a header without an index.
var headerPath = lazily(`^headers?\.[-\w]+$`)

func unanchored(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		if d.Filters == nil {
			continue
		}
		for m, f := range d.Filters.Data {
			if f.Type != eventsv1.JSONTypeString {
				continue
			}
			for k, value := range f.Value {
				if anchored().MatchString(value) || !plainWord().MatchString(value) || enumerated().MatchString(f.Path) {
					continue
				}
				hint := ""
				if headerPath().MatchString(f.Path) { // of a request: each header is a list
					hint = "write path: " + f.Path + ".0, and ^" + value + "$"
				}
				i.reportHint(dependencyPath(n).Child("filters", "data").Index(m).Child("value").Index(k), hint,
					"the regular expression %q also matches longer text", value)
			}
		}
	}
}

// readsEnvironment matches a template function that reads the environment.
var readsEnvironment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{(?:[^}]*[^$.\w}])?(expand)?env\b`) })

func readsPod(i *inspection, s *eventsv1.Sensor) {
	for _, t := range argo.Triggers(s) {
		for _, p := range t.AllParameters() {
			if p.Src == nil || p.IsSafeTemplate() {
				continue
			}
			for name, text := range map[string]string{"dataTemplate": p.Src.DataTemplate, "contextTemplate": p.Src.ContextTemplate} {
				if readsEnvironment().MatchString(text) {
					i.report(p.Path.Child("src", name), "the template reads the environment of the Sensor's pod")
				}
			}
		}
	}
}

func textual(i *inspection, s *eventsv1.Sensor) {
	for _, t := range argo.Triggers(s) {
		for _, p := range t.AllParameters() {
			if p.Src != nil && p.Src.UseRawData && (p.Src.DataTemplate != "" || p.Src.ContextTemplate != "") {
				i.report(p.Path.Child("src", "useRawData"), "useRawData has no effect with a template: the result is text")
			}
		}
	}
}

// replacesDependency reports whether an event sets the dependency of another
// parameter.
func replacesDependency(t argo.Trigger) bool {
	return slices.ContainsFunc(
		t.Parameters,
		func(p eventsv1.TriggerParameter) bool { return strings.HasSuffix(p.Dest, ".src.dependencyName") },
	)
}
