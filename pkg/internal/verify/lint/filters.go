package lint

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	texttemplate "text/template"
	parsetree "text/template/parse"

	"github.com/Knetic/govaluate"
	"github.com/Masterminds/sprig/v3"
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// filterRules check the filters and transforms of dependencies, with the libraries that a Sensor
// evaluates them with.
func filterRules() []Rule {
	return []Rule{
		{
			Code:    "invalid-filter",
			Summary: "A filter cannot be evaluated, or has the same result for every event.",
			Why:     "The Sensor drops each event, or lets each pass. Only its log says why.",
			Fix:     "correct the filter",
			check:   on(invalidFilters),
		},
		{
			Code:    "invalid-transform",
			Summary: "A transform does not return an object, or its Lua script does not compile.",
			Why:     "The Sensor drops each event. Only its log says why.",
			Fix:     "return an object, such as {value: .body.value}",
			check:   on(invalidTransforms),
		},
		{
			Code:    "unknown-event-field",
			Summary: "A path names a field that the events of the EventSource do not have.",
			Why: "The Sensor drops each event of the filter, or uses the parameter's value in place of the field. Only its log " +
				"says why.",
			Fix:   "correct the path",
			check: on(unknownEventFields),
		},
	}
}

// eachFilter calls a check for every dependency with filters.
func eachFilter(s *eventsv1.Sensor, check func(at *field.Path, d eventsv1.EventDependency)) {
	for n, d := range s.Spec.Dependencies {
		if d.Filters != nil {
			check(dependencyPath(n).Child("filters"), d)
		}
	}
}

func invalidFilters(i *inspection, s *eventsv1.Sensor) {
	eachFilter(s, func(at *field.Path, d eventsv1.EventDependency) {
		f := d.Filters
		if f.Context != nil {
			i.contextFilter(at.Child("context"), f.Context, d, i.set.eventOf(s, d))
		}
		for n, data := range f.Data {
			i.dataFilter(at.Child("data").Index(n), data)
		}
		for n, e := range f.Exprs {
			i.exprFilter(at.Child("exprs").Index(n), e)
		}
		if f.Script == "" {
			return
		}
		chunk, err := lua(f.Script)
		switch name := unknownGlobal(chunk); {
		case err != nil:
			i.report(at.Child("script"), "%v", err)
		case len(returned(chunk)) == 0:
			i.reportHint(at.Child("script"), returnBoolean, "the script returns nothing, so it drops each event")
		case !slices.ContainsFunc(returned(chunk), mayBeTrue):
			i.reportHint(at.Child("script"), returnBoolean, "the script never returns true, so it drops each event")
		case name != "":
			i.reportHint(at.Child("script"), "write event, which has the fields of the event", "the script has no variable %s", name)
		}
	})
}

// contextFilter reports texts that the context of a dependency's events never has: an EventSource writes its
// name, and the name and the type of the event.
func (i *inspection) contextFilter(at *field.Path, f *eventsv1.EventContext, d eventsv1.EventDependency, of *namedEvent) {
	is := map[string][2]string{
		"source": {f.Source, d.EventSourceName}, "subject": {f.Subject, d.EventName},
		"datacontenttype": {f.DataContentType, "application/json"},
	}
	if of != nil {
		is["type"] = [2]string{f.Type, contextType(of.kind)}
	}
	for name, texts := range is {
		if wanted, always := texts[0], texts[1]; wanted != "" && wanted != always && !strings.Contains(wanted+always, "{{") {
			i.reportHint(at.Child(name), "write "+always+", or remove it", "%s of these events is %s", name, always)
		}
	}
}

// contextType returns the type in the context of events: of two it is written in lower case.
func contextType(kind string) string {
	if lower := strings.ToLower(kind); slices.Contains([]eventsv1.EventSourceType{eventsv1.PubSubEvent, eventsv1.StorageGridEvent},
		eventsv1.EventSourceType(lower)) {
		return lower
	}
	return kind
}

// dataFilter checks a data filter as the Sensor evaluates it.
func (i *inspection) dataFilter(at *field.Path, f eventsv1.DataFilter) {
	if why := badPath(f.Path); why != "" {
		i.reportHint(at.Child("path"), pathHint(f.Path), "%s", why)
	}
	if f.Template != "" {
		if err := parseTemplate("template", f.Template); err != nil {
			i.report(at.Child("template"), "%v", err)
		} else if name := fieldOfInput(f.Template); name != "" {
			i.reportHint(at.Child("template"), "write .Input", ".Input is the text at the path, and has no field %s", name)
		}
	}
	if len(f.Value) == 0 {
		i.reportHint(at.Child("value"), "add a value", "a filter without values is never true")
		return
	}
	values := at.Child("value")
	switch f.Type {
	case eventsv1.JSONTypeBool:
		for n, value := range f.Value {
			if _, err := strconv.ParseBool(value); err != nil {
				i.reportHint(values.Index(n), `write "true" or "false"`, "%q is no boolean", value)
			}
		}
		if f.Comparator != eventsv1.EmptyComparator && f.Comparator != eventsv1.EqualTo {
			i.reportHint(at.Child("comparator"), "remove it, and filter on the other value",
				"type bool ignores the comparator %s", f.Comparator)
		}
	case eventsv1.JSONTypeNumber:
		for n, value := range f.Value {
			if _, err := strconv.ParseFloat(value, 64); err != nil {
				i.reportHint(values.Index(n), "write a number", "%q is no number", value)
			}
		}
		i.comparator(at, f, eventsv1.GreaterThan, eventsv1.GreaterThanOrEqualTo, eventsv1.LessThan, eventsv1.LessThanOrEqualTo)
	case eventsv1.JSONTypeString:
		for n, value := range f.Value {
			i.pattern(values.Index(n), value)
		}
		i.comparator(at, f)
	default:
		types := []string{string(eventsv1.JSONTypeBool), string(eventsv1.JSONTypeNumber), string(eventsv1.JSONTypeString)}
		hint := "use " + strings.Join(types, ", ")
		if near := diag.DidYouMean(string(f.Type), types, strings.ToLower); near != "" {
			hint = near
		}
		i.reportHint(at.Child("type"), hint, "there is no type %q", f.Type)
	}
}

// pattern reports a text that is no regular expression.
func (i *inspection) pattern(at *field.Path, text string) {
	_, err := syntax.Parse(text, syntax.Perl)
	if err == nil {
		return
	}
	hint := "the value is a regular expression; write " + regexp.QuoteMeta(text)
	if wrong := (*syntax.Error)(nil); errors.As(err, &wrong) && wrong.Code == syntax.ErrMissingRepeatArgument {
		hint = "the value is a regular expression; write ^" + globs.Replace(regexp.QuoteMeta(text)) + "$"
	}
	i.reportHint(at, hint, "%v", err)
}

// globs turns the quoted wildcards of file names into regular expressions.
var globs = strings.NewReplacer(`\*`, ".*", `\?`, ".")

// comparator checks a comparator: != and = always apply.
func (i *inspection) comparator(at *field.Path, f eventsv1.DataFilter, more ...eventsv1.Comparator) {
	known := append(more, eventsv1.EmptyComparator, eventsv1.EqualTo, eventsv1.NotEqualTo)
	different := len(slices.Compact(slices.Sorted(slices.Values(f.Value)))) > 1
	switch {
	case !slices.Contains(known, f.Comparator):
		i.reportHint(at.Child("comparator"), "use = or !=",
			"a filter of type %s with the comparator %s is never true", f.Type, f.Comparator)
	case f.Comparator != eventsv1.NotEqualTo || !different:
	case f.Type == eventsv1.JSONTypeNumber:
		i.reportHint(at.Child("value"), "write a filter for each value", "every number is unequal to one of several values")
	case !slices.ContainsFunc(f.Value, func(value string) bool { return !exact().MatchString(value) }):
		i.reportHint(at.Child("value"), "write a filter for each value", "every text is unequal to one of several values")
	}
}

// exact matches a regular expression that matches one text only.
var exact = lazily(`^\^[-\w/ ]*\$$`)

// exprFilter checks an expression filter. Argo evaluates none without fields.
func (i *inspection) exprFilter(at *field.Path, e eventsv1.ExprFilter) {
	var names []string
	for n, f := range e.Fields {
		names = append(names, f.Name)
		if why := badPath(f.Path); why != "" {
			i.reportHint(at.Child("fields").Index(n).Child("path"), pathHint(f.Path), "%s", why)
		}
	}
	if len(names) == 0 {
		return
	}
	expression, err := govaluate.NewEvaluableExpression(e.Expr)
	if err != nil {
		i.report(at.Child("expr"), "%v", err)
		return
	}
	for _, name := range expression.Vars() {
		if !slices.Contains(names, name) {
			listed, _ := regexp.MatchString(`\bin\s*\[`+regexp.QuoteMeta(name)+`\]`, e.Expr)
			if listed || strings.ContainsAny(name, `"',`) { // brackets are for names with blanks
				i.reportHint(at.Child("expr"), listHint(name), "brackets make no list: no field is called %s", name)
				continue
			}
			hint := diag.DidYouMean(name, names, strings.ToLower)
			if hint == "" {
				hint = "add it to fields, or quote a text: '" + name + "'"
			}
			i.reportHint(at.Child("expr"), hint, "no field is called %s", name)
		}
	}
}

// listHint returns how the library for conditions reads a list: one of a single element is the element.
func listHint(elements string) string {
	var list []string
	for _, e := range strings.Split(elements, ",") {
		e = strings.TrimSpace(e)
		if _, err := strconv.ParseFloat(e, 64); err != nil && !strings.ContainsAny(e, `"'`) {
			e = strconv.Quote(e)
		}
		list = append(list, e)
	}
	if len(list) == 1 {
		return "write == " + list[0]
	}
	return "write in (" + strings.Join(list, ", ") + ")"
}

// brackets matches an index in the form of JavaScript.
var brackets = lazily(`\[\d*\]`)

// badPath returns why a path of gjson finds nothing.
func badPath(path string) string {
	switch {
	case strings.HasPrefix(path, "$"):
		return "a path has no $ at its start"
	case strings.HasPrefix(path, "."):
		return "a path has no dot at its start"
	case brackets().MatchString(path) && !strings.ContainsAny(path, `#|@"`):
		return "a path has no brackets"
	}
	return ""
}

// pathHint returns the path as gjson reads it.
func pathHint(path string) string {
	path = strings.TrimLeft(path, "$.")
	return "write " + brackets().ReplaceAllStringFunc(path, func(index string) string {
		if index == "[]" {
			return ".#"
		}
		return "." + strings.Trim(index, "[]")
	})
}

// parseTemplate compiles a text template as a Sensor does.
func parseTemplate(name, text string) error {
	if _, err := texttemplate.New(name).Funcs(templateFunctions()).Parse(text); err != nil {
		return err
	}
	for _, path := range fieldsRead(text) {
		if path[0] != "Input" {
			return fmt.Errorf("there is no .%[1]s: the event is .Input, so write .Input.%[1]s", strings.Join(path, "."))
		}
	}
	return nil
}

// templateFunctions are the functions that a text template of a Sensor can call.
var templateFunctions = sync.OnceValue(sprig.FuncMap)

// fieldOfInput returns a field of .Input that a template always evaluates; "" if there is none.
func fieldOfInput(text string) string {
	for _, path := range fieldsRead(text) {
		if len(path) > 1 && path[0] == "Input" {
			return strings.Join(path[1:], ".")
		}
	}
	return ""
}

// fieldsRead returns the paths of the fields that a template always evaluates.
func fieldsRead(text string) [][]string {
	parsed, err := texttemplate.New("template").Funcs(templateFunctions()).Parse(text)
	if err != nil || parsed.Tree == nil {
		return nil
	}
	var found [][]string
	var look func(n parsetree.Node)
	look = func(n parsetree.Node) {
		switch n := n.(type) {
		case *parsetree.ActionNode:
			look(n.Pipe)
		case *parsetree.PipeNode:
			for _, c := range n.Cmds {
				for _, argument := range c.Args {
					look(argument)
				}
			}
		case *parsetree.FieldNode:
			found = append(found, n.Ident)
		}
	}
	for _, n := range parsed.Tree.Root.Nodes {
		look(n)
	}
	return found
}

func invalidTransforms(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		if d.Transform == nil {
			continue
		}
		at := dependencyPath(n).Child("transform")
		switch {
		case d.Transform.JQ != "":
			if query, err := gojq.Parse(d.Transform.JQ); err == nil { // bad-jq reports others
				if is := neverObject(query); is != "" {
					i.report(at.Child("jq"), "the program returns %s, and a Sensor takes an object only", is)
				}
			}
		case d.Transform.Script != "":
			chunk, err := lua(d.Transform.Script)
			switch name := unknownGlobal(chunk); {
			case err != nil:
				i.report(at.Child("script"), "%v", err)
			case len(returned(chunk)) == 0:
				i.reportHint(at.Child("script"), "return event", "the script returns nothing, and a Sensor takes an object only")
			case name != "":
				i.reportHint(at.Child("script"), "write event, which has the fields of the event", "the script has no variable %s", name)
			}
		}
	}
}

var (
	// logical are the operators of jq whose result is a boolean.
	logical = []gojq.Operator{gojq.OpAnd, gojq.OpOr, gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe}
	// resultsOfJQ is what functions of jq return that never return an object.
	resultsOfJQ = map[string]string{
		"ascii_downcase": "a text", "ascii_upcase": "a text", "join": "a text", "sub": "a text", "gsub": "a text", "tojson": "a text",
		"tostring": "a text", "type": "a text", "length": "a number", "tonumber": "a number", "keys": "a list", "map": "a list",
		"split": "a list", "sort": "a list", "sort_by": "a list", "unique": "a list", "to_entries": "a list", "any": "a boolean",
		"all": "a boolean", "contains": "a boolean", "has": "a boolean", "not": "a boolean", "startswith": "a boolean",
		"endswith": "a boolean", "test": "a boolean",
	}
)

// neverObject returns what a program returns that is never an object; "" if it may be one.
func neverObject(q *gojq.Query) string {
	if len(q.FuncDefs) > 0 {
		return "" // one may have the name of a function of jq
	}
	if q.Op == gojq.OpPipe {
		return neverObject(q.Right)
	}
	if slices.Contains(logical, q.Op) {
		return "a boolean"
	}
	if q.Term == nil || q.Left != nil || len(q.Term.SuffixList) > 0 {
		return ""
	}
	switch q.Term.Type {
	case gojq.TermTypeTrue, gojq.TermTypeFalse:
		return "a boolean"
	case gojq.TermTypeNull:
		return "null"
	case gojq.TermTypeFunc:
		return resultsOfJQ[q.Term.Func.Name]
	case gojq.TermTypeArray:
		return "a list"
	case gojq.TermTypeString, gojq.TermTypeFormat:
		return "a text"
	case gojq.TermTypeNumber:
		return "a number"
	case gojq.TermTypeQuery:
		return neverObject(q.Term.Query)
	}
	return ""
}

// keysOf returns the keys of the object that a program returns, if it writes them all.
func keysOf(q *gojq.Query) (keys []string, known bool) {
	if q.Op == gojq.OpPipe {
		return keysOf(q.Right)
	}
	if q.Term == nil || q.Left != nil || len(q.Term.SuffixList) > 0 {
		return nil, false
	}
	switch q.Term.Type {
	case gojq.TermTypeObject:
		for _, entry := range q.Term.Object.KeyVals {
			key := strings.TrimPrefix(entry.Key, "$")
			if text := entry.KeyString; text != nil && len(text.Queries) == 0 {
				key = text.Str
			}
			if key == "" {
				return nil, false
			}
			keys = append(keys, key)
		}
		return keys, true
	case gojq.TermTypeQuery:
		return keysOf(q.Term.Query)
	}
	return nil, false
}

// shapes are the fields of the events of each type, from the structs in
// pkg/eventsources/events of Argo Events. All have metadata.
var shapes = map[string][]string{
	"amqp": {
		"contentType", "contentEncoding", "deliveryMode", "priority", "correlationId", "replyTo", "expiration", "messageId", "timestamp",
		"type", "appId", "exchange", "routingKey", "body",
	},
	"azureEventsHub":    {"id", "partitionKey", "body"},
	"azureQueueStorage": {"body", "messageID", "insertionTime"},
	"bitbucket":         {"headers", "body"},
	"bitbucketserver":   {"headers", "body"},
	"calendar":          {"eventTime"},
	"emitter":           {"topic", "body"},
	"gerrit":            {"headers", "body"},
	"github":            {"headers", "body"},
	"gitlab":            {"headers", "body"},
	"kafka":             {"topic", "key", "partition", "body", "timestamp", "headers"},
	"minio":             {"notification"},
	"mqtt":              {"topic", "messageId", "body"},
	"nats":              {"subject", "body", "header"},
	"nsq":               {"body", "timestamp", "nsqdAddress"},
	"pubSub":            {"id", "body", "attributes", "publishTime"},
	"pulsar":            {"key", "publishTime", "body"},
	"redis":             {"channel", "pattern", "body"},
	"redisStream":       {"stream", "message_id", "values"},
	"resource":          {"type", "body", "oldBody", "group", "version", "resource"},
	"sns":               {"header", "body"},
	"sqs":               {"messageId", "messageAttributes", "body"},
	"webhook":           {"header", "body"},
}

// slackHasNo are fields that events of other types have: those of Slack are what Slack sends.
var slackHasNo = []string{"body", "header", "headers"}

// httpHeaders is the field with the headers of a request, by the type: each header is a list.
var httpHeaders = map[string]string{
	"bitbucket": "headers", "bitbucketserver": "headers", "gerrit": "headers", "github": "headers", "gitlab": "headers",
	"sns": "header", "webhook": "header",
}

// headerFilter reports a filter that compares a list of header values with a text.
func (i *inspection) headerFilter(at *field.Path, of *namedEvent, f eventsv1.DataFilter) {
	header, is := strings.CutPrefix(f.Path, httpHeaders[of.kind]+".")
	if httpHeaders[of.kind] == "" || !is || f.Template != "" || f.Type != eventsv1.JSONTypeString || !plainHeader().MatchString(header) {
		return
	}
	for n, value := range f.Value {
		if bounded().MatchString(value) {
			i.reportHint(at.Child("value").Index(n), "write path: "+f.Path+".0",
				"a header is a list, so the text is like [\"push\"], which %s never matches", value)
		}
	}
}

var (
	// plainHeader matches the name of a header without an index.
	plainHeader = lazily(`^[-\w]+$`)
	// bounded matches a regular expression that only matches texts that begin or end with a letter or digit.
	bounded = lazily(`^\^[A-Za-z0-9]([^|?*{][^|]*)?$|^[^|\\]*[A-Za-z0-9]\$$`)
)

// unknownEventFields checks the paths of filters and parameters with the events of EventSources among
// the objects. A transform changes the events.
func unknownEventFields(i *inspection, s *eventsv1.Sensor) {
	for n, d := range s.Spec.Dependencies {
		source := i.set.eventOf(s, d)
		var keys []string // that the transform returns
		if d.Transform != nil {
			query, err := gojq.Parse(d.Transform.JQ)
			if source = nil; err != nil || d.Transform.JQ == "" {
				continue
			}
			var known bool
			if keys, known = keysOf(query); !known {
				continue
			}
			r := problem.About(s)
			if argo.NewProgram(d.Transform.JQ).Check(r, i.rule.Code, dependencyPath(n)); len(r.Problems) > 0 {
				continue // bad-jq reports it
			}
		} else if source == nil {
			continue
		}
		check := func(at *field.Path, path string) {
			if badPath(path) != "" {
				return
			}
			if source != nil {
				i.eventPath(at, source, path)
			} else if m := plainStep().FindStringSubmatch(path); m != nil && !slices.Contains(keys, m[1]) {
				i.reportHint(at, cmp.Or(diag.DidYouMean(m[1], keys, strings.ToLower), "it returns "+strings.Join(keys, ", ")),
					"the transform returns no field %s", m[1])
			}
		}
		if f := d.Filters; f != nil {
			at := dependencyPath(n).Child("filters")
			for m, data := range f.Data {
				check(at.Child("data").Index(m).Child("path"), data.Path)
				if source != nil {
					i.headerFilter(at.Child("data").Index(m), source, data)
				}
			}
			for m, e := range f.Exprs {
				for k, one := range e.Fields {
					check(at.Child("exprs").Index(m).Child("fields").Index(k).Child("path"), one.Path)
				}
			}
		}
		for _, t := range argo.Triggers(s) {
			for _, p := range t.AllParameters() {
				if p.Src != nil && p.Src.DependencyName == d.Name && p.Src.DataKey != "" && !replacesDependency(t) {
					check(p.Path.Child("src", "dataKey"), p.Src.DataKey)
				}
			}
		}
	}
}

// plainStep matches the first step of a path that is the name of a field.
var plainStep = lazily(`^([A-Za-z_][-\w]*)(\.|$)(.*)`)

func (i *inspection) eventPath(at *field.Path, of *namedEvent, path string) {
	if first, rest, _ := strings.Cut(path, "."); of.kind == "slack" && slices.Contains(slackHasNo, first) {
		i.reportHint(at, "write "+cmp.Or(rest, "the name of a field"),
			"events of type slack have no field %s: they are what Slack sends", first)
		return
	}
	if rest, is := strings.CutPrefix(path, "data."); of.kind == "slack" && is {
		i.reportHint(at, "write Data."+rest, "the field is called Data in events of type slack")
		return
	}
	if of.kind == "sns" && strings.HasPrefix(path, "body.Message.") {
		i.reportHint(at, "take body.Message, and read it with fromJson in a template", "body.Message is a text")
		return
	}
	fields := append(slices.Clone(shapes[of.kind]), "metadata")
	m := plainStep().FindStringSubmatch(path)
	if len(fields) == 1 || m == nil {
		return
	}
	if !slices.Contains(fields, m[1]) {
		hint := diag.DidYouMean(m[1], fields, strings.ToLower)
		switch {
		case hint != "":
		case m[1] == "context" && strings.HasSuffix(at.String(), ".dataKey"):
			hint = "write contextKey: " + m[3]
		case m[1] == "context":
			hint = "filters.context compares the context of an event"
		case slices.Contains(fields, "body") && of.text:
			hint = fmt.Sprintf("set jsonBody: true in %s, and write body.%s", of.path, path)
		case slices.Contains(fields, "body"):
			hint = "write body." + path
		default:
			hint = "they have " + strings.Join(fields, ", ")
		}
		i.reportHint(at, hint, "events of type %s have no field %s", of.kind, m[1])
		return
	}
	if m[1] == httpHeaders[of.kind] {
		name, rest, _ := strings.Cut(m[3], ".")
		if canonical := http.CanonicalHeaderKey(name); plainHeader().MatchString(name) && name != canonical {
			i.reportHint(at, "write "+strings.TrimSuffix(m[1]+"."+canonical+"."+rest, "."), "the header is called %s here", canonical)
		}
	}
	if m[1] == "body" && m[3] != "" && of.text {
		i.reportHint(at, "set jsonBody: true in "+of.path.String(), "without jsonBody, the body of events of type %s is text", of.kind)
	}
}

// eventOf returns the event of a dependency, if exactly one EventSource among the objects has it.
func (s *objectSet) eventOf(sensor *eventsv1.Sensor, d eventsv1.EventDependency) *namedEvent {
	var found []namedEvent
	for _, source := range findAll[*eventsv1.EventSource](s.all, sensor.Namespace, d.EventSourceName) {
		for _, e := range eventsOf(source) {
			if e.name == d.EventName {
				found = append(found, e)
			}
		}
	}
	if len(found) != 1 {
		return nil
	}
	return &found[0]
}
