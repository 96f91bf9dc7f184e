package check

import (
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
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
		for _, t := range o.triggers(s) {
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
	if t.secureHeader() != nil { // which the rules of tokens look at
		return
	}
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
	if len(h.Headers) > 0 || len(h.SecureHeaders) > 1 || h.BasicAuth != nil || h.Host != "" {
		r.add(at, CodeRequest, "leave them out", "headers, basicAuth, host and more than one of secureHeaders are no parts of a request")
	}
	if len(t.fires()) > 1 && len(h.DynamicHeaders) > 0 {
		r.add(at.Child("dynamicHeaders"), CodeRequest, "use parameters with dest headers.NAME",
			"with several dependencies the Sensor crashes: it reads a header of every one, and only one has an event")
	}
}
