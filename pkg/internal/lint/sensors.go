package lint

import (
	"regexp"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/check"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// sensorRules check dependencies and their filters.
func sensorRules() []Rule {
	return []Rule{
		{
			Code:    "missing-trigger-conditions",
			Warning: true,
			Summary: "A trigger of a Sensor with several dependencies states no conditions.",
			Why: "It fires only when there was an event of each of them, with the last event of each: those between are dropped. Most " +
				"people want any of them.",
			Fix:   "state conditions: dependencies joined by || or &&",
			check: on(joins),
		},
		{
			Code:    "unknown-dependency",
			Summary: "Conditions or a parameter name a dependency that the Sensor does not have.",
			Why:     "The trigger never fires, or the parameter is left out without a word.",
			Fix:     "correct the name",
			check:   on(unknownDependencies),
		},
		{
			Code:    "unused-dependency",
			Warning: true,
			Summary: "No trigger fires on a dependency.",
			Why:     "Its events are received, and nothing happens.",
			Fix:     "name it in the conditions of a trigger, or remove it",
			check:   on(unusedDependencies),
		},
		{
			Code:    "unknown-event",
			Summary: "A Sensor listens to an event that its EventSource does not have.",
			Why:     "It waits for ever: nobody publishes on that subject, and nobody says so.",
			Fix:     "correct the eventName",
			check:   on(unknownEvents),
		},
		{
			Code:    "event-bus-mismatch",
			Summary: "A Sensor and its EventSource are on different EventBuses.",
			Why:     "What one publishes the other never hears.",
			Fix:     "state the same eventBusName in both",
			check:   on(twoBuses),
		},
		{
			Code:    "bad-jq",
			Summary: "A jq program does not parse, does not compile, or asks for what a Sensor does not have.",
			Why:     "The Sensor acknowledges the event and drops it; only its log says why.",
			Fix:     "correct the program",
			check:   on(programProblems(".jq")),
		},
		{
			Code:    "lua-script",
			Warning: true,
			Summary: "A Lua script transforms or filters events.",
			Why: "As a transformation it loses nulls and turns empty lists into objects; and Lua in a Sensor can open files and run " +
				"programs: whoever may edit the Sensor may run anything in its pod.",
			Fix:   "use jq",
			check: on(programProblems(".script")),
		},
		{
			Code:    "unanchored-regex",
			Warning: true,
			Summary: "A filter of type string compares with text that is not anchored.",
			Why:     "The values are regular expressions that match anywhere: \"prod\" lets \"non-prod\" pass as well.",
			Fix:     "anchor it: ^…$",
			check:   on(unanchored),
		},
		{
			Code:    "expression-filter",
			Warning: true,
			Summary: "A filter of expressions reads fields that an event may lack.",
			Why:     "Where one of them is missing the event is dropped, even if the expression says !=: oldBody is null in every ADD.",
			Fix:     "compute a boolean in jq, and filter on it",
			check:   on(programProblems(".exprs")),
		},
		{
			Code:    "template-reads-environment",
			Warning: true,
			Summary: "A text template reads the environment of the Sensor's pod.",
			Why: "Templates have the functions env and expandenv. What they read, tokens included, goes where the parameter goes, and " +
				"into the log of a failure.",
			Fix:   "hand it over otherwise, unless it is the header of a request",
			check: on(readsPod),
		},
		{
			Code:    "template-with-raw-data",
			Warning: true,
			Summary: "A parameter has a text template and useRawData.",
			Why:     "The result of a template is text, whatever useRawData says: a number arrives as \"3\", a large one as 9.007e+15.",
			Fix:     "compute it by jq in the dependency, and use dataKey with useRawData",
			check:   on(textual),
		},
	}
}

func dependencyPath(n int) *field.Path { return field.NewPath("spec", "dependencies").Index(n) }

func joins(i *inspection, s *eventsv1.Sensor) {
	for _, t := range argo.Triggers(s) {
		if len(s.Spec.Dependencies) > 1 && t.Template.Conditions == "" && !t.DeadLetter {
			i.report(t.Path.Child("template"), "waits for an event of every one of %d dependencies", len(s.Spec.Dependencies))
		}
	}
}

func unknownDependencies(i *inspection, s *eventsv1.Sensor) {
	var names []string
	for _, d := range s.Spec.Dependencies {
		names = append(names, d.Name, strings.ReplaceAll(d.Name, "-", "_"))
	}
	for _, t := range argo.Triggers(s) {
		for _, name := range t.DependencyNames() {
			if !slices.Contains(names, name) {
				i.report(t.Path.Child("template", "conditions"), "no dependency %q", name)
			}
		}
		for _, p := range t.AllParameters() {
			if replacesDependency(t) {
				continue
			}
			if p.Src != nil && p.Src.DependencyName != "" && !slices.Contains(names, p.Src.DependencyName) {
				i.report(p.Path.Child("src", "dependencyName"), "no dependency %q", p.Src.DependencyName)
			}
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
			i.report(dependencyPath(n).Child("name"), "no trigger fires on dependency %q", d.Name)
		}
	}
}

func unknownEvents(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		var events []namedEvent
		for _, source := range findAll[*eventsv1.EventSource](i.set.all, s.Namespace, d.EventSourceName) {
			events = append(events, eventsOf(source)...)
		}
		if len(events) > 0 && !slices.ContainsFunc(events, func(e namedEvent) bool { return e.name == d.EventName }) {
			i.report(dependencyPath(n).Child("eventName"), "EventSource %s has no event %q", d.EventSourceName, d.EventName)
		}
	}
}

func twoBuses(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		source, ok := find[*eventsv1.EventSource](i.set.all, s.Namespace, d.EventSourceName)
		if ok && argo.BusName(source.Spec.EventBusName) != argo.BusName(s.Spec.EventBusName) {
			i.report(dependencyPath(n).Child("eventSourceName"), "EventSource %s publishes on bus %q, the Sensor listens on %q",
				source.Name, argo.BusName(source.Spec.EventBusName), argo.BusName(s.Spec.EventBusName))
		}
	}
}

// programProblems adopts the problems of the programs in one field of transforms
// and filters.
func programProblems(suffix string) func(*inspection, *eventsv1.Sensor) {
	return func(i *inspection, s *eventsv1.Sensor) {
		for _, p := range check.Programs(argo.NewObjects([]manifest.Object{s})) {
			if p.Code == problem.CodeJQ && strings.HasSuffix(p.Path, suffix) {
				i.adopt(p)
			}
		}
	}
}

// anchored matches a regular expression that must match the whole text.
var anchored = regexp.MustCompile(`^\^.*\$$`)

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
				if !anchored.MatchString(value) {
					i.report(dependencyPath(n).Child("filters", "data").Index(m).Child("value").Index(k), "%q matches inside of longer text as well", value)
				}
			}
		}
	}
}

// readsEnvironment matches a template function that reads the environment.
var readsEnvironment = regexp.MustCompile(`\{\{[^}]*\b(expand)?env\b`)

func readsPod(i *inspection, s *eventsv1.Sensor) {
	for _, t := range argo.Triggers(s) {
		for _, p := range t.AllParameters() {
			if p.Src == nil || p.IsSafeTemplate() {
				continue
			}
			for name, text := range map[string]string{"dataTemplate": p.Src.DataTemplate, "contextTemplate": p.Src.ContextTemplate} {
				if readsEnvironment.MatchString(text) {
					i.report(p.Path.Child("src", name), "reads the environment of the Sensor's pod")
				}
			}
		}
	}
}

func textual(i *inspection, s *eventsv1.Sensor) {
	for _, t := range argo.Triggers(s) {
		for _, p := range t.AllParameters() {
			if p.Src != nil && p.Src.UseRawData && (p.Src.DataTemplate != "" || p.Src.ContextTemplate != "") {
				i.report(p.Path.Child("src", "useRawData"), "has no effect beside a template: the result is text")
			}
		}
	}
}

// replacesDependency reports whether an event sets the dependency of another
// parameter.
func replacesDependency(t argo.Trigger) bool {
	return slices.ContainsFunc(t.Parameters, func(p eventsv1.TriggerParameter) bool { return strings.HasSuffix(p.Dest, ".src.dependencyName") })
}
