package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A computed trigger does what a program has computed from the event: it takes
// a whole request, or an object and what to do with it, from under one key.

// The texts in which a template may stand: the address of the API server, which
// pods find in their environment, and the token.
const (
	bearerTemplate = `Bearer {{ env "API_TOKEN" }}`
	serverTemplate = `{{ $host := env "KUBERNETES_SERVICE_HOST" }}https://{{ if contains ":" $host }}[{{ $host }}]{{ else }}{{ $host }}{{ end }}:{{ env "KUBERNETES_SERVICE_PORT" }}`
)

// What an http trigger takes from a request, by destination.
var httpParts = map[string]string{"url": "path", "method": "method", "headers.Content-Type": "type", "payload": "body"}

// What a k8s trigger takes.
var k8sParts = map[string]string{"k8s.source.resource": "manifest", "k8s.operation": "operation"}

const authorization = "headers.Authorization"

// parts are what a computed trigger takes; nil for another trigger.
func (t trigger) parts() map[string]string {
	if t.Template.HTTP != nil {
		return httpParts
	}
	if slices.ContainsFunc(t.Parameters, func(p eventsv1.TriggerParameter) bool { return p.Dest == "k8s.source.resource" }) {
		return k8sParts
	}
	return nil
}

// target is where a parameter writes, whichever list of the trigger it is in.
func (p sourced) target() string {
	switch p.list {
	case "dynamicHeaders":
		return "headers." + p.Dest
	case "payload":
		return strings.TrimSuffix("payload."+p.Dest, ".")
	case "parameters", "http":
		return p.Dest
	}
	return p.list + "." + p.Dest
}

// takes says what a parameter takes from a request: KEY and one of its parts.
func (p sourced) takes() (key, part string) {
	source := p.Src.DataKey
	if path, ok := strings.CutPrefix(p.Src.DataTemplate, serverTemplate+"{{ .Input."); ok && p.target() == "url" {
		source, ok = strings.CutSuffix(path, " }}")
		if !ok || !strings.HasSuffix(source, ".path") {
			return "", ""
		}
	}
	key, part, _ = strings.Cut(source, ".")
	if !keyPattern(key) {
		return "", ""
	}
	return key, part
}

func keyPattern(key string) bool { return identifier.FindString(key) == key && key != "" }

// templated tells whether a parameter holds one of the two text templates that
// are safe: neither puts anything of the event but a path into its text.
func (p sourced) templated() bool {
	if p.Src == nil || p.Src.ContextTemplate != "" {
		return false
	}
	if p.target() == authorization {
		return p.Src.DataTemplate == bearerTemplate
	}
	key, part := p.takes()
	return p.Src.DataTemplate != "" && p.target() == "url" && key != "" && part == "path"
}

// key is under what the trigger finds its request: "" where it takes none.
func (t trigger) key() string {
	for _, p := range t.parameters() {
		if p.Src != nil && t.parts()[p.target()] != "" {
			if key, _ := p.takes(); key != "" {
				return key
			}
		}
	}
	return ""
}

// requests: a computed trigger takes all of a request and nothing else.
func requests(o objects) []Problem {
	return each(o, func(r *report, s *eventsv1.Sensor) {
		for _, t := range triggers(s) {
			if parts, key := t.parts(), t.key(); key != "" {
				for _, dependency := range t.fires() {
					complete := wholeRequest(r, t, dependency, key, parts)
					if t.Template.HTTP != nil && complete {
						authorized(r, t, dependency)
					}
				}
				plainly(r, t)
			}
		}
	})
}

// wholeRequest: each part comes from the same request, and no other.
func wholeRequest(r *report, t trigger, dependency, key string, parts map[string]string) bool {
	taken := map[string]bool{}
	for _, p := range t.parameters() {
		if p.Src == nil || p.Src.DependencyName != dependency || p.target() == authorization {
			continue
		}
		want := parts[p.target()]
		from, part := p.takes()
		switch {
		case want == "":
			r.add(p.path, CodeRequest, "leave it out", "%s is no part of a request", p.target())
		case from != key || part != want:
			r.add(p.path.Child("src"), CodeRequest, "take "+key+"."+want, "%s is not taken from the %s of %s", p.target(), want, key)
		case p.target() == "k8s.source.resource" && !p.Src.UseRawData:
			r.add(p.path.Child("src", "useRawData"), CodeRequest, "set it to true", "the object would become text")
		default:
			taken[want] = true
		}
	}
	for _, part := range slices.Sorted(maps.Values(parts)) {
		if !taken[part] {
			r.add(t.path.Child("template"), CodeRequest, "take "+key+"."+part, "the trigger takes no %s from the request of dependency %q", part, dependency)
		}
	}
	return len(taken) == len(parts)
}

func authorized(r *report, t trigger, dependency string) {
	for _, p := range t.parameters() {
		if p.Src != nil && p.Src.DependencyName == dependency && p.target() == authorization {
			if !p.templated() {
				r.add(p.path.Child("src"), CodeToken, "take it from the environment: "+bearerTemplate, "Authorization is not the token of the Sensor")
			}
			return
		}
	}
	r.add(t.path.Child("template", "http"), CodeToken, "set the header Authorization to "+bearerTemplate, "the API server would not know who calls on an event of dependency %q", dependency)
}

// plainly: nothing beside the request decides where it goes and what it says.
func plainly(r *report, t trigger) {
	h := t.Template.HTTP
	if h == nil {
		return
	}
	at := t.path.Child("template", "http")
	if !strings.HasPrefix(h.URL, "https://") {
		r.add(at.Child("url"), CodeRequest, "https://kubernetes.default.svc", "the token would travel in the open")
	}
	if len(h.Headers) > 0 || len(h.SecureHeaders) > 0 || h.BasicAuth != nil || h.Host != "" {
		r.add(at, CodeRequest, "leave them out", "headers, secureHeaders, basicAuth and host are no parts of a request")
	}
	if len(t.fires()) > 1 && len(h.DynamicHeaders) > 0 {
		r.add(at.Child("dynamicHeaders"), CodeRequest, "use parameters with dest headers.NAME",
			"with several dependencies the Sensor crashes: it reads a header of every one, and only one has an event")
	}
}

// callsOfComputed derives the calls of a computed trigger from the programs of
// its dependencies, and reports what keeps them from being derived.
func callsOfComputed(r *report, o objects, s *eventsv1.Sensor, t trigger) []call {
	key := t.key()
	if key == "" {
		r.add(t.path.Child("template"), CodeCall, "take method, path, type and body of a request from the event, or use a k8s or log trigger", "its API calls cannot be told from here")
		return nil
	}
	var out []call
	for i, d := range s.Spec.Dependencies {
		if !slices.Contains(t.fires(), d.Name) {
			continue
		}
		at := field.NewPath("spec", "dependencies").Index(i).Child("transform", "jq")
		program := programOf(d)
		if program == nil {
			r.add(at, CodeCall, "compute "+key+" in jq", "the calls of trigger %s cannot be told without a program", t.Template.Name)
			continue
		}
		calls, problem := computedCalls(o, s, t, d, program)
		if problem != "" {
			r.add(at, CodeCall, "write it as an object literal with method, path, type and body", "the calls of trigger %s cannot be told from here: %s", t.Template.Name, problem)
		}
		out = append(out, calls...)
	}
	return out
}

// programOf is the parsed jq of a dependency; nil for none, and for what does
// not parse, which is reported elsewhere.
func programOf(d eventsv1.EventDependency) *gojq.Query {
	if d.Transform == nil || d.Transform.JQ == "" {
		return nil
	}
	program, err := gojq.Parse(d.Transform.JQ)
	if err != nil {
		return nil
	}
	return program
}

func computedCalls(o objects, s *eventsv1.Sensor, t trigger, d eventsv1.EventDependency, program *gojq.Query) ([]call, string) {
	entry := entryOf(o, s, d)
	base := call{why: "the Sensor's trigger " + t.Template.Name, in: s, path: t.path.Child("template"), namespace: entry.Namespace}
	var out []call
	if t.Template.HTTP == nil {
		list, problem := writingsUnder(program, t.key())
		for _, w := range list {
			out = append(out, base.of(o, w)...)
		}
		return out, problem
	}
	list, problem := requestsUnder(program, t.key())
	for _, q := range list {
		at := base
		at.group, at.resource = q.kind.group, q.kind.resource
		if q.kind.subresource != "" {
			at.resource += "/" + q.kind.subresource
		}
		if q.namespace != escaped {
			at.namespace = q.namespace
		}
		if q.name != escaped {
			at.name = q.name
		}
		out = append(out, at.each(q.verbs()...)...)
	}
	return out, problem
}

// of are the calls of a k8s trigger that writes an object. A patch of an object
// that is not there becomes a create. Where it is one of the custom resources
// that is withheld: the patch fails, and what was deleted stays deleted.
func (c call) of(o objects, w writing) []call {
	gv, _ := schema.ParseGroupVersion(w.apiVersion)
	c.group, c.resource = gv.Group, guessedPlural(w.kind)
	switch {
	case w.operation == "delete":
		return c.each("get", "delete")
	case w.marks && watchedParent(o, c.group, c.resource):
		return c.each("get", "patch")
	}
	return c.each("get", "patch", "create")
}

// watchedParent tells whether an EventSource watches every object of a kind.
func watchedParent(o objects, group, resource string) bool {
	for _, s := range all[*eventsv1.EventSource](o) {
		for _, e := range s.Spec.Resource {
			if e.Filter == nil && e.Group == group && e.Resource == resource {
				return true
			}
		}
	}
	return false
}

// entryOf is what a dependency listens to; empty if it is not emitted.
func entryOf(o objects, s *eventsv1.Sensor, d eventsv1.EventDependency) eventsv1.ResourceEventSource {
	source, ok := find[*eventsv1.EventSource](o, s.Namespace, d.EventSourceName)
	if !ok {
		return eventsv1.ResourceEventSource{}
	}
	return source.Spec.Resource[d.EventName]
}

// requestsOf are the requests of all http triggers.
func requestsOf(o objects) []request {
	var out []request
	for _, s := range all[*eventsv1.Sensor](o) {
		for _, t := range triggers(s) {
			for _, d := range s.Spec.Dependencies {
				if program := programOf(d); t.Template.HTTP != nil && program != nil && slices.Contains(t.fires(), d.Name) {
					found, _ := requestsUnder(program, cmp.Or(t.key(), "call"))
					out = append(out, found...)
				}
			}
		}
	}
	return out
}
