package argo

import (
	"regexp"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// A computed trigger executes a request, or applies an object, that a jq program
// computed from the event and stored under one key.

// Templates that a trigger may use for the API server's address, which comes from
// the pod's environment, and for the token.
const (
	BearerTemplate = `Bearer {{ env "API_TOKEN" }}`
	ServerTemplate = `{{ $host := env "KUBERNETES_SERVICE_HOST" }}https://{{ if contains ":" $host }}[{{ $host }}]{{ else }}{{ $host ` +
		`}}{{ end }}:{{ env "KUBERNETES_SERVICE_PORT" }}`
)

// httpParts maps the destinations of an http trigger to the parts of a request.
var httpParts = map[string]string{"url": "path", "method": "method", "headers.Content-Type": "type", "payload": "body"}

// k8sParts does the same for a k8s trigger.
var k8sParts = map[string]string{"k8s.source.resource": "manifest", "k8s.operation": "operation"}

// Authorization is the destination of the Authorization header.
const Authorization = "headers.Authorization"

// Parts returns the destinations and parts of a computed trigger; nil for other
// triggers.
func (t Trigger) Parts() map[string]string {
	if t.Template.HTTP != nil {
		return httpParts
	}
	if slices.ContainsFunc(t.Parameters, func(p eventsv1.TriggerParameter) bool { return p.Dest == "k8s.source.resource" }) {
		return k8sParts
	}
	return nil
}

// Target returns the destination of a parameter, whichever of the trigger's lists
// it is in.
func (p Parameter) Target() string {
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

// RequestPart returns the key and the part of the request that a parameter reads.
func (p Parameter) RequestPart() (key, part string) {
	source := p.Src.DataKey
	if p.IsDiagnosis() {
		return "failed", httpParts[p.Target()]
	}
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

// diagnosisNames match the WorkflowTemplate and the namespace in the templates of a request
// that may create a Workflow.
var diagnosisNames = regexp.MustCompile(`"workflowTemplateRef":\{"name":"([a-z0-9-]+)"|/namespaces/([a-z0-9-]+)/workflows`)

// diagnosis reports whether a parameter is one of a request after a failure that may create
// a Workflow, which asks why. It returns the WorkflowTemplate if the parameter names
// one.
func (p Parameter) diagnosis() (template string, ok bool) {
	if p.Src == nil || !strings.Contains(p.Src.DataTemplate, manifest.DiagnosisAsked) {
		return "", false
	}
	name, namespace := "", ""
	if found := diagnosisNames.FindStringSubmatch(p.Src.DataTemplate); found != nil {
		name, namespace = found[1], found[2]
	}
	dest := p.Target()
	if dest == "payload" {
		dest = ""
	}
	known, ok := manifest.DiagnosisTemplates(name, namespace)[dest]
	return name, ok && known == p.Src.DataTemplate
}

// IsDiagnosis reports whether a parameter is one of a request after a failure that may
// create a Workflow, which asks why.
func (p Parameter) IsDiagnosis() bool {
	_, ok := p.diagnosis()
	return ok
}

// IsSafeTemplate reports whether a parameter uses one of the permitted templates, which
// insert nothing from the event except a path and base64.
func (p Parameter) IsSafeTemplate() bool {
	if p.Src == nil || p.Src.ContextTemplate != "" {
		return false
	}
	if p.Target() == Authorization {
		return p.Src.DataTemplate == BearerTemplate
	}
	key, part := p.RequestPart()
	return p.IsDiagnosis() || p.Src.DataTemplate != "" && p.Target() == "url" && key != "" && part == "path"
}
