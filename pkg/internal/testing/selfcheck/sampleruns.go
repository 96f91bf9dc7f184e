package selfcheck

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// sampleRuns runs each program on sample events, as the Sensor does. If a program
// passes an event on, the values for its triggers must be complete and safe.
func sampleRuns(o objects) []problem.Problem {
	expected, done := expectationsOf(o), map[string]bool{}
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		for i, d := range s.Spec.Dependencies {
			program, at := o.programOf(d), field.NewPath("spec", "dependencies").Index(i).Child("transform", "jq")
			if program == nil {
				continue
			}
			consumers := consumersOf(o, s, d.Name)
			for _, t := range consumers {
				checkFieldManager(r, at, t.Trigger, program)
			}
			key := runKey(s, d, program, consumers)
			if done[key] {
				continue
			}
			done[key] = true
			code, err := program.Compiled()
			if err != nil {
				continue // already reported
			}
			for _, sample := range samples(expected, o, s, d) {
				runSample(r, at, consumers, code, sample)
			}
		}
	})
}

// consumer is a trigger that reads values from a program's output.
type consumer struct {
	argo.Trigger
	encodedKeys []string // the keys of values that a pod decodes from base64
}

// runKey is equal for programs that differ only in the objects they handle. Only
// one of them needs to run.
func runKey(s *eventsv1.Sensor, d eventsv1.EventDependency, p *Program, consumers []consumer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %p\n", s.Namespace, d.EventSourceName, d.EventName, p)
	for _, t := range consumers {
		fmt.Fprintln(&b, keyOf(t.Trigger), t.Parts() != nil, t.Template.HTTP != nil, t.encodedKeys)
		if t.Workflow() != nil {
			for _, p := range t.Template.K8s.Parameters {
				if p.Src != nil {
					fmt.Fprintln(&b, p.Src.DataKey)
				}
			}
		}
	}
	return b.String()
}

func consumersOf(o objects, s *eventsv1.Sensor, dependency string) []consumer {
	var out []consumer
	for _, t := range o.Triggers(s) {
		if slices.Contains(t.DependencyNames(), dependency) {
			out = append(out, consumer{t, encodedKeysOf(o, s, t)})
		}
	}
	return out
}

// encodedKeysOf returns the keys that a trigger passes to the variable from which
// the script decodes the computed children.
func encodedKeysOf(o objects, s *eventsv1.Sensor, t argo.Trigger) []string {
	wf := t.Workflow()
	if wf == nil {
		return nil
	}
	var out []string
	for _, p := range argo.NewLaunch(o.Objects, s, t.ResourcePath(), argo.NamespaceOf(wf, s), wf.Spec).Pods() {
		for _, c := range p.Containers() {
			for _, e := range c.Env {
				if e.Name == "ARGOPERATOR_DESIRED" {
					out = append(out, dataKeysOf(t, e.Value)...)
				}
			}
		}
	}
	return out
}

// dataKeysOf returns the keys from which a trigger fills the argument in a tag.
func dataKeysOf(t argo.Trigger, tag string) []string {
	var out []string
	for i, a := range t.Workflow().Spec.Arguments.Parameters {
		for _, p := range t.Template.K8s.Parameters {
			if tag == "{{workflow.parameters."+a.Name+"}}" && p.Src != nil &&
				p.Dest == "spec.arguments.parameters."+strconv.Itoa(i)+".value" {
				out = append(out, p.Src.DataKey)
			}
		}
	}
	return out
}

// placeholderValues replaces the placeholders in a derived request with possible
// values.
var placeholderValues = strings.NewReplacer(Escaped, "x", Boolean, "true")

// checkFieldManager reports a server-side apply without a field manager or without
// force.
func checkFieldManager(r *problem.Report, at *field.Path, t argo.Trigger, program *Program) {
	if t.Template.HTTP == nil {
		return
	}
	list, _ := program.RequestsUnder(keyOf(t))
	for _, q := range list {
		query, err := url.ParseQuery(placeholderValues.Replace(q.Query))
		if q.ContentType == ApplyType && (err != nil || query.Get("fieldManager") == "" || query.Get("force") == "") {
			r.Add(
				at,
				codeRequest,
				"add ?fieldManager=NAME&force=true to its path",
				"a server-side apply of %s says not who applies, or not whether by force",
				q.Kind.Resource,
			)
		}
	}
}

func runSample(r *problem.Report, at *field.Path, consumers []consumer, code *jq.Program, s sample) {
	value, err := code.Run(context.Background(), s.event)
	var limit *jq.LimitError
	if errors.As(err, &limit) {
		r.Add(at, codeCost, limit.Hint, "%v on %s, which holds up every event behind it", err, s.name)
		return
	}
	if err != nil {
		r.Add(
			at,
			codeRequest,
			"let it yield {go: false} for what it does not know",
			"fails on %s, which would be lost: %v",
			s.name,
			err,
		)
		return
	}
	result, ok := value.(map[string]any)
	if !ok {
		r.Add(at, codeRequest, "", "yields no object on %s: every event would be lost", s.name)
		return
	}
	if passes, isBoolean := result["go"].(bool); isBoolean && !passes {
		return
	}
	for _, t := range consumers {
		if err := t.validate(result); err != nil {
			r.Add(at, codeRequest, "", "on %s trigger %s gets what it cannot use: %v", s.name, t.Template.Name, err)
		}
		if t.Workflow() != nil {
			checkArguments(r, at, t, result, s)
		}
	}
}

// validate reports an output that the trigger cannot use.
func (t consumer) validate(result map[string]any) error {
	key := keyOf(t.Trigger)
	if t.PostsInCluster() {
		event, _ := result["event"].(map[string]any)
		return validateEventOfWorker(event)
	}
	if t.Parts() == nil || key == "" {
		return nil
	}
	of, ok := result[key].(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no object", key)
	}
	if t.Template.HTTP == nil {
		return validateManifest(of)
	}
	return validateRequest(of)
}

func validateManifest(of map[string]any) error {
	object, _ := of["manifest"].(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	for _, text := range []any{of["operation"], object["apiVersion"], object["kind"], metadata["name"], metadata["namespace"]} {
		if s, ok := text.(string); !ok || s == "" {
			return errors.New("it needs operation, apiVersion, kind, name and namespace")
		}
	}
	return nil
}

// safePath matches a path in which all special characters are escaped.
var safePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/apis?/[\w.~%/-]+(\?[\w.~%&=-]*)?$`) })

// needsEscape reports whether the API server's YAML refuses a character or treats
// it as a line break.
func needsEscape(r rune) bool {
	return r >= 0x7F && r <= 0x9F || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF
}

func validateRequest(of map[string]any) error {
	path, _ := of["path"].(string)
	body, _ := of["body"].(string)
	contentType, _ := of["type"].(string)
	var object map[string]any
	var patch []any
	switch {
	case !safePath().MatchString(path):
		return fmt.Errorf("path %q is no path of the API server", path)
	case contentType == PatchType:
		if json.Unmarshal([]byte(body), &patch) != nil {
			return fmt.Errorf("body %q is no JSON patch: make it by tojson", body)
		}
	case json.Unmarshal([]byte(body), &object) != nil || object == nil:
		return fmt.Errorf("body %q is no JSON object: make it by tojson", body)
	case contentType == ApplyType && strings.ContainsFunc(body, needsEscape):
		return errors.New(
			"the body has characters that the API server's YAML takes for line ends, or not at all: escape U+007F to U+009F, U+2028, " +
				"U+2029, U+FEFF, U+FFFE and U+FFFF",
		)
	case contentType == ApplyType && (object["apiVersion"] == nil || object["kind"] == nil):
		return errors.New("an applied object needs apiVersion and kind")
	case of["method"] == "POST":
		return validateEvent(object)
	}
	return nil
}

// validateEvent applies the API server's rules for an Event with eventTime. It must
// have a fixed name, so that a second delivery does not create a second Event.
func validateEvent(object map[string]any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var e corev1.Event
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&e); {
	case err != nil:
		return err
	case e.Name == "" || e.GenerateName != "":
		return errors.New("the Event needs a name of its own")
	case e.InvolvedObject.Kind == "" || e.InvolvedObject.Name == "" || e.InvolvedObject.UID == "":
		return errors.New("kubectl describe finds an Event by the kind, name and uid of its involvedObject")
	case e.InvolvedObject.Namespace != e.Namespace && (e.InvolvedObject.Namespace != "" || e.Namespace != "default"):
		return errors.New("an Event lives in the namespace of its involvedObject, or in default where that has none")
	case len(e.Message) > 1024:
		return fmt.Errorf("the Event's message is %d bytes long, of which 1024 are taken", len(e.Message))
	case e.ReportingController == "" || e.ReportingInstance == "" || e.Action == "" || e.Reason == "" || e.EventTime.IsZero():
		return errors.New("the Event needs reportingComponent, reportingInstance, action, reason and eventTime")
	}
	return nil
}

// checkArguments reports arguments of a Workflow with braces, which Argo would
// substitute, and values that the pod cannot decode from base64.
func checkArguments(r *problem.Report, at *field.Path, t consumer, result map[string]any, s sample) {
	for _, p := range t.Template.K8s.Parameters {
		if p.Src == nil || p.Src.DataKey == "" {
			continue
		}
		text, ok := result[p.Src.DataKey].(string)
		switch {
		case !ok:
			continue // a gjson path, or a value that cannot contain a tag by itself
		case strings.Contains(text, "{{"):
			r.Add(
				at,
				problem.CodeInjection,
				"encode it by @base64",
				"on %s %s holds braces, which Argo takes for a template",
				s.name,
				p.Src.DataKey,
			)
		case slices.Contains(t.encodedKeys, p.Src.DataKey) && !isEncodedJSON(text):
			r.Add(at, problem.CodeInjection, "encode it by tojson and @base64", "on %s %s is no JSON in base64", s.name, p.Src.DataKey)
		}
	}
}

// isEncodedJSON reports whether a text is JSON in base64, or a lower-case word in
// its place.
func isEncodedJSON(text string) bool {
	data, err := base64.StdEncoding.DecodeString(text)
	return err == nil && json.Valid(data) || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == ""
}
