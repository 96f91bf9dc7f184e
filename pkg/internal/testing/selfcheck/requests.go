package selfcheck

import (
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// requests reports computed triggers that do not send exactly the computed request.
func requests(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		for _, t := range o.Triggers(s) {
			if t.PostsInCluster() {
				checkPost(r, o, t)
			} else if parts, key := t.Parts(), keyOf(t); key != "" {
				for _, dependency := range t.DependencyNames() {
					complete := checkRequestParts(r, t, dependency, key, parts)
					if t.Template.HTTP != nil && complete {
						checkAuthorization(r, t, dependency)
					}
				}
				checkFixedParts(r, t)
			}
		}
	})
}

// checkRequestParts requires that a trigger takes each part from the same request,
// and returns whether it takes all of them.
func checkRequestParts(r *problem.Report, t argo.Trigger, dependency, key string, parts map[string]string) bool {
	taken := map[string]bool{}
	for _, p := range t.AllParameters() {
		if p.Src == nil || p.Src.DependencyName != dependency || p.Target() == argo.Authorization {
			continue
		}
		want := parts[p.Target()]
		from, part := p.RequestPart()
		switch {
		case want == "":
			r.Add(p.Path, codeRequest, "leave it out", "%s is no part of a request", p.Target())
		case from != key || part != want:
			r.Add(
				p.Path.Child("src"),
				codeRequest,
				"take "+key+"."+want,
				"%s is not taken from the %s of %s",
				p.Target(),
				want,
				key,
			)
		case p.Target() == "k8s.source.resource" && !p.Src.UseRawData:
			r.Add(p.Path.Child("src", "useRawData"), codeRequest, "set it to true", "the object would become text")
		default:
			taken[want] = true
		}
	}
	for _, part := range slices.Sorted(maps.Values(parts)) {
		if !taken[part] {
			r.Add(
				t.Path.Child("template"),
				codeRequest,
				"take "+key+"."+part,
				"the trigger takes no %s from the request of dependency %q",
				part,
				dependency,
			)
		}
	}
	return len(taken) == len(parts)
}

func checkAuthorization(r *problem.Report, t argo.Trigger, dependency string) {
	if secureHeader(t) != nil { // tokens checks it
		return
	}
	for _, p := range t.AllParameters() {
		if p.Src != nil && p.Src.DependencyName == dependency && p.Target() == argo.Authorization {
			if !p.IsSafeTemplate() {
				r.Add(
					p.Path.Child("src"),
					codeToken,
					"take it from the environment: "+argo.BearerTemplate,
					"Authorization is not the token of the Sensor",
				)
			}
			return
		}
	}
	r.Add(
		t.Path.Child("template", "http"),
		codeToken,
		"set the header Authorization to "+argo.BearerTemplate,
		"the API server would not know who calls on an event of dependency %q",
		dependency,
	)
}

// checkFixedParts reports fields that would change the destination or content of
// the computed request.
func checkFixedParts(r *problem.Report, t argo.Trigger) {
	h := t.Template.HTTP
	if h == nil {
		return
	}
	at := t.Path.Child("template", "http")
	if !strings.HasPrefix(h.URL, "https://") {
		r.Add(at.Child("url"), codeRequest, "https://kubernetes.default.svc", "the token would travel in the open")
	}
	if len(h.Headers) > 0 || len(h.SecureHeaders) > 1 || h.BasicAuth != nil || h.Host != "" {
		r.Add(
			at,
			codeRequest,
			"leave them out",
			"headers, basicAuth, host and more than one of secureHeaders are no parts of a request",
		)
	}
	if len(t.DependencyNames()) > 1 && len(h.DynamicHeaders) > 0 {
		r.Add(at.Child("dynamicHeaders"), codeRequest, "use parameters with dest headers.NAME",
			"with several dependencies the Sensor crashes: it reads a header of every one, and only one has an event")
	}
}

// keyOf returns the key of the trigger's request; "" if it reads none.
func keyOf(t argo.Trigger) string {
	for _, p := range t.AllParameters() {
		if p.Src != nil && t.Parts()[p.Target()] != "" {
			if key, _ := p.RequestPart(); key != "" {
				return key
			}
		}
	}
	return ""
}

// asks reports whether a trigger may create a Workflow that asks why a request failed.
func asks(t argo.Trigger) bool {
	return slices.ContainsFunc(t.AllParameters(), argo.Parameter.IsDiagnosis)
}
