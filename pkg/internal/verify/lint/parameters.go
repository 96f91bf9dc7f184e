package lint

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// parameterRules check what triggers take from events, and where they write it.
func parameterRules() []Rule {
	return []Rule{
		{
			Code:    "invalid-parameter-source",
			Summary: "A parameter has a path that finds nothing, or a template that does not compile.",
			Why: "The trigger fails for each event, or always uses the parameter's value. Only the log of the Sensor says " +
				"why.",
			Fix:   "correct the path or the template",
			check: eachTrigger(invalidSource),
		},
		{
			Code:    "wrong-parameter-type",
			Summary: "A parameter writes text into a field of another type.",
			Why: "Without useRawData, and from a template or a value, a parameter is text: the API server rejects the object of each " +
				"event.",
			Fix:   "take the value with dataKey, and set useRawData: true",
			check: eachTrigger(wrongType),
		},
		{
			Code:    "ignored-parameter",
			Summary: "A parameter writes a field that the trigger does not read.",
			Why:     "Argo Events writes the value into a copy, and uses the field of the Sensor.",
			Fix:     "move it to the parameters of the trigger, next to template",
			check:   eachTrigger(ignoredParameters),
		},
		{
			Code:    "refused-recipient",
			Summary: "An email trigger sends to an address that Argo Events refuses.",
			Why:     "It accepts only addresses whose last part has two to four characters, so not example.online.",
			Fix:     "use an address in a domain such as .com or .net",
			check:   eachTrigger(refusedRecipients),
		},
		{
			Code:    "payload-without-event",
			Summary: "A payload takes a field of an event that may be missing.",
			Why: "The trigger fires for one event of several, and there is no value in place of the missing one: Argo Events then " +
				"reads a nil pointer, and the pod of the Sensor ends.",
			Fix:   "set value, which counts if the event is missing",
			check: eachTrigger(payloadWithoutEvent),
		},
	}
}

// contextFields are the fields that contextKey can name.
var contextFields = []string{"id", "source", "specversion", "type", "datacontenttype", "subject", "time"}

// hyphen matches a field of a template whose name has a hyphen.
var hyphen = lazily(`\.\w+-\w`)

func invalidSource(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	for _, p := range t.AllParameters() {
		if p.Src == nil {
			continue
		}
		at := p.Path.Child("src")
		if why := badPath(p.Src.DataKey); why != "" {
			i.reportHint(at.Child("dataKey"), pathHint(p.Src.DataKey), "%s", why)
		}
		if key := p.Src.ContextKey; key != "" && !slices.Contains(contextFields, key) {
			hint := diag.DidYouMean(key, contextFields, strings.ToLower)
			if hint == "" {
				hint = "use one of " + strings.Join(contextFields, ", ")
			}
			i.reportHint(at.Child("contextKey"), hint, "an event has no context %s", key)
		}
		for name, text := range map[string]string{"dataTemplate": p.Src.DataTemplate, "contextTemplate": p.Src.ContextTemplate} {
			if text == "" {
				continue
			}
			if err := parseTemplate(name, text); err != nil {
				hint := i.rule.Fix
				if hyphen().MatchString(text) {
					hint = `a name with a hyphen needs index: {{ index .Input.header "X-Name" }}`
				}
				i.reportHint(at.Child(name), hint, "%v", err)
			}
		}
	}
}

// typeOf returns the type of a trigger's object, if its kind is known.
func (t objectOf) typeOf() (schema.Type, bool) {
	kind := kindOf(t.data)
	if object := argo.NewObject(kind); object != nil && kind.Group == argo.Group {
		return schema.OfGo(reflect.TypeOf(object)), true
	}
	return schema.Builtin(kind.GroupVersion().String(), kind.Kind)
}

type objectOf struct{ data []byte }

// placed walks the dest of a parameter through the type of the object. It returns the type of the
// field, or the first step that is no field of its object.
func placed(of schema.Type, dest string) (is schema.Type, missing string, in schema.Type) {
	is = of
	for _, step := range argo.Segments(dest) {
		switch is.Kind() {
		case schema.Array:
			if _, err := strconv.Atoi(step); err != nil {
				return is, step, is
			}
			is = is.Item()
		case schema.Object:
			inner, ok := is.Field(step)
			if !ok {
				return is, step, is
			}
			is = inner
		default:
			return schema.Any(), "", nil
		}
	}
	return is, "", nil
}

func wrongType(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	data, _ := t.ObjectBytes()
	of, known := objectOf{data}.typeOf()
	if data == nil || !known {
		return
	}
	for _, p := range t.ObjectParameters() {
		if p.Src == nil || p.Operation == eventsv1.TriggerParameterOpAppend || p.Operation == eventsv1.TriggerParameterOpPrepend {
			continue
		}
		is, missing, _ := placed(of, p.Dest)
		if missing != "" || !notText(is) {
			continue
		}
		raw := p.Src.UseRawData && p.Src.DataKey != "" && p.Src.DataTemplate == "" && p.Src.ContextTemplate == ""
		if raw || len(t.Parameters) > 0 {
			continue // another parameter may change this one
		}
		i.report(p.Path.Child("dest"), "%s is %s, and the parameter is text", p.Dest, describe(is))
	}
}

// notText reports whether a field of a type never holds text.
func notText(is schema.Type) bool {
	switch is.Kind() {
	case schema.Boolean, schema.Integer, schema.Number, schema.Array, schema.Object:
		return true
	}
	return false
}

func describe(is schema.Type) string {
	switch is.Kind() {
	case schema.Boolean:
		return "a boolean"
	case schema.Integer:
		return "an integer"
	case schema.Number:
		return "a number"
	case schema.Array:
		return "a list"
	}
	return "an object"
}

// unknownDestination returns why a dest is no field of the trigger's object, if its kind is known.
func unknownDestination(of schema.Type, dest string) (why, hint string) {
	switch {
	case strings.HasPrefix(dest, "$"), strings.HasPrefix(dest, "."):
		return "a path begins with the name of a field", "write " + strings.TrimLeft(dest, "$.")
	case brackets().MatchString(dest):
		return "a path has no brackets", pathHint(dest)
	}
	_, missing, in := placed(of, dest)
	if missing == "" {
		return "", ""
	}
	var names []string
	if fields, ok := in.(interface{ Fields() []string }); ok {
		names = fields.Fields()
	}
	if in.Kind() == schema.Array {
		return "there is a list, and " + missing + " is no index", ""
	}
	return "there is no field " + missing, diag.DidYouMean(missing, names, strings.ToLower)
}

func payloadWithoutEvent(i *inspection, s *eventsv1.Sensor, t argo.Trigger) {
	if !strings.Contains(t.Template.Conditions, "||") {
		return
	}
	always := alwaysThere(t.Template.Conditions)
	for _, p := range t.AllParameters() {
		if p.List != "payload" || p.Src == nil || p.Dest == "" || p.Src.Value != nil || p.Src.DependencyName == "" {
			continue
		}
		if name := p.Src.DependencyName; !slices.Contains(always, name) && !slices.Contains(always, strings.ReplaceAll(name, "-", "_")) &&
			slices.ContainsFunc(s.Spec.Dependencies, func(d eventsv1.EventDependency) bool { return d.Name == name }) {
			i.report(p.Path.Child("src"), "the event of %s may be missing, and there is no value", name)
		}
	}
}

// alwaysThere returns the dependencies without which conditions are never true: those that are in
// every alternative outside of parentheses.
func alwaysThere(conditions string) []string {
	var out []string
	for n, alternative := range strings.Split(conditions, "||") {
		if strings.ContainsAny(alternative, "()!") {
			return nil
		}
		var names []string
		for _, name := range strings.Split(alternative, "&&") {
			names = append(names, strings.TrimSpace(name))
		}
		if n == 0 {
			out = names
		} else {
			out = slices.DeleteFunc(out, func(name string) bool { return !slices.Contains(names, name) })
		}
	}
	return out
}

// copied are the types of triggers that take only these fields from the copy into which their
// own parameters write.
var copied = map[string][]string{
	"azureEventHubs": {"payload"}, "azureServiceBus": {"payload"}, "email": nil, "nats": {"payload"}, "pulsar": {"payload"}, "slack": nil,
}

// byName are the operations of an argoWorkflow trigger that only name an object.
var byName = []eventsv1.ArgoWorkflowOperation{
	eventsv1.Resubmit, eventsv1.Resume, eventsv1.Retry, eventsv1.Stop, eventsv1.SubmitFrom, eventsv1.Suspend, eventsv1.Terminate,
}

func ignoredParameters(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	for _, p := range t.AllParameters() {
		first := argo.Segments(p.Dest)[0]
		if reads, known := copied[p.List]; known && !slices.Contains(reads, first) {
			i.reportHint(p.Path.Child("dest"), "move it to the parameters of the trigger, with dest: "+p.List+"."+p.Dest,
				"a trigger of type %s takes %s from the Sensor", p.List, first)
		}
		w := t.Template.ArgoWorkflow
		if p.List == "argoWorkflow" && slices.Contains(byName, w.Operation) && first == "spec" {
			i.reportHint(p.Path.Child("dest"), "write the values into args, such as [-p, NAME=VALUE]",
				"the operation %s takes only the kind and the name of the object", w.Operation)
		}
	}
}

// recipient matches the addresses to which an email trigger sends.
var recipient = lazily(`^[\w-\.]+@([\w-]+\.)+[\w-]{2,4}$`)

func refusedRecipients(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	if t.Template.Email == nil {
		return
	}
	for n, address := range t.Template.Email.To {
		written := slices.ContainsFunc(t.Parameters, func(p eventsv1.TriggerParameter) bool {
			return strings.HasPrefix(p.Dest, "email.to")
		})
		if !written && !recipient().MatchString(address) {
			i.report(t.Path.Child("template", "email", "to").Index(n), "an email trigger does not send to %s", address)
		}
	}
}

// twoTypes reports a template with several types of triggers: Argo Events uses one of them.
func twoTypes(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	var set []string
	template := reflect.ValueOf(*t.Template)
	for n := range template.NumField() {
		if of := template.Field(n); of.Kind() == reflect.Pointer && !of.IsNil() {
			name, _, _ := strings.Cut(template.Type().Field(n).Tag.Get("json"), ",")
			if name != "conditionsReset" {
				set = append(set, name)
			}
		}
	}
	if len(set) > 1 {
		i.report(t.Path.Child("template"), "the trigger has the types %s", strings.Join(set, " and "))
	}
}
