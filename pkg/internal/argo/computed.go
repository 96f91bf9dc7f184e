package argo

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
)

// A computed trigger does what a program has computed from the event: it takes
// a whole request, or an object and what to do with it, from under one key.

// The texts in which a template may stand: the address of the API server, which
// pods find in their environment, and the token.
const (
	BearerTemplate = `Bearer {{ env "API_TOKEN" }}`
	ServerTemplate = `{{ $host := env "KUBERNETES_SERVICE_HOST" }}https://{{ if contains ":" $host }}[{{ $host }}]{{ else }}{{ $host }}{{ end }}:{{ env "KUBERNETES_SERVICE_PORT" }}`
)

// What an http trigger takes from a request, by destination.
var httpParts = map[string]string{"url": "path", "method": "method", "headers.Content-Type": "type", "payload": "body"}

// What a k8s trigger takes.
var k8sParts = map[string]string{"k8s.source.resource": "manifest", "k8s.operation": "operation"}

// Authorization is where a parameter writes the header of that name.
const Authorization = "headers.Authorization"

// Parts are what a computed trigger takes; nil for another trigger.
func (t Trigger) Parts() map[string]string {
	if t.Template.HTTP != nil {
		return httpParts
	}
	if slices.ContainsFunc(t.Parameters, func(p eventsv1.TriggerParameter) bool { return p.Dest == "k8s.source.resource" }) {
		return k8sParts
	}
	return nil
}

// Target is where a parameter writes, whichever list of the trigger it is in.
func (p Sourced) Target() string {
	switch p.List {
	case "dynamicHeaders":
		return "headers." + p.Dest
	case "payload":
		return strings.TrimSuffix("payload."+p.Dest, ".")
	case "parameters", "http":
		return p.Dest
	}
	return p.List + "." + p.Dest
}

// Takes says what a parameter takes from a request: KEY and one of its parts.
func (p Sourced) Takes() (key, part string) {
	source := p.Src.DataKey
	if path, ok := strings.CutPrefix(p.Src.DataTemplate, ServerTemplate+"{{ .Input."); ok && p.Target() == "url" {
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

// Templated tells whether a parameter holds one of the two text templates that
// are safe: neither puts anything of the event but a path into its text.
func (p Sourced) Templated() bool {
	if p.Src == nil || p.Src.ContextTemplate != "" {
		return false
	}
	if p.Target() == Authorization {
		return p.Src.DataTemplate == BearerTemplate
	}
	key, part := p.Takes()
	return p.Src.DataTemplate != "" && p.Target() == "url" && key != "" && part == "path"
}

// Key is under what the trigger finds its request: "" where it takes none.
func (t Trigger) Key() string {
	for _, p := range t.Writes() {
		if p.Src != nil && t.Parts()[p.Target()] != "" {
			if key, _ := p.Takes(); key != "" {
				return key
			}
		}
	}
	return ""
}
