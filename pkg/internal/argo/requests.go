package argo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Content types of requests, by which the API server knows what is meant.
const (
	ApplyType  = "application/apply-patch+yaml"
	MergeType  = "application/merge-patch+json"
	patchType  = "application/json-patch+json"
	deleteType = "application/json"
	createType = "application/json"
)

// Request is a call to the API server that a program computes.
type Request struct {
	Method, ContentType string
	Kind                kindPath
	namespace           string // escaped: that of the event; "" for a cluster-scoped resource
	name                string
	Query               string
}

// kindPath is where the API server has the objects of a kind.
type kindPath struct{ Group, version, Resource, subresource string }

// verbs are what the API server asks a permission for. A server-side apply
// creates what is not there, but no subresource of it.
func (q Request) verbs() []string {
	switch {
	case q.Method == "DELETE":
		return []string{"delete"}
	case q.Method == "POST":
		return []string{"create"}
	case q.ContentType == ApplyType && q.Kind.subresource == "":
		return []string{"patch", "create"}
	}
	return []string{"patch"}
}

// RequestsUnder are the requests that a program may yield under a key. The
// second result says why they cannot be told; "" if they can.
func (p *Program) RequestsUnder(key string) ([]Request, string) {
	known, ok := p.requests[key]
	if !ok {
		known.list, known.problem = madeUnder(p.Query, key, func(option Outcome) ([]Request, string) {
			one, problem := newRequest(option)
			return []Request{one}, problem
		})
		p.requests[key] = known
	}
	return known.list, known.problem
}

// madeUnder reads every object literal that a program may yield under a key.
// The second result says why one cannot be read; "" if all can.
func madeUnder[T any](program *gojq.Query, key string, read func(Outcome) ([]T, string)) ([]T, string) {
	values, problem := valuesUnder(program, key)
	if problem != "" {
		return nil, problem
	}
	var all []T
	for _, value := range values {
		options, ok := outcomes(value)
		if !ok {
			return nil, fmt.Sprintf("%s is not made of object literals", key)
		}
		for _, option := range options {
			some, problem := read(option)
			if problem != "" {
				return nil, fmt.Sprintf("%s: %s", key, problem)
			}
			all = append(all, some...)
		}
	}
	return all, ""
}

// valuesUnder are the queries of a key in whatever a program lets pass.
func valuesUnder(program *gojq.Query, key string) ([]*gojq.Query, string) {
	results, ok := outcomes(program)
	if !ok {
		return nil, "the program does not end in object literals"
	}
	var values []*gojq.Query
	for _, result := range results {
		if never(result["go"]) {
			continue
		}
		value, ok := result[key]
		if !ok {
			return nil, fmt.Sprintf("an event may pass without %s", key)
		}
		values = append(values, value)
	}
	return values, ""
}

func newRequest(of Outcome) (Request, string) {
	method, ok1 := Literal(of["method"])
	contentType, ok2 := Literal(of["type"])
	path, ok3 := text(of["path"])
	switch {
	case !ok1 || !ok2:
		return Request{}, "method and type are no string literals"
	case !ok3:
		return Request{}, "path is no string literal in which every value goes through @uri"
	case method == "DELETE" && contentType == deleteType:
	case method == "PATCH" && slices.Contains([]string{ApplyType, MergeType, patchType}, contentType):
	case method == "POST" && contentType == createType:
	default:
		return Request{}, fmt.Sprintf("%s of %s is no request of an operator", method, contentType)
	}
	out := Request{Method: method, ContentType: contentType}
	path, out.Query, _ = strings.Cut(path, "?")
	problem := out.address(path)
	if problem == "" && method == "POST" && (out.Kind != coreEvents || out.name != "") {
		problem = "POST is for Events: apply anything else, so that a second delivery changes nothing"
	}
	return out, problem
}

// coreEvents is where Events are created.
var coreEvents = kindPath{version: "v1", Resource: "events"}

// segment is a part of a path that is stated.
var segment = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// address fills in what a path addresses, and says what is wrong with it: only
// namespaces and names may come from an event, each a segment of its own.
func (q *Request) address(path string) string {
	parts := strings.Split(path, "/")
	switch {
	case len(parts) > 3 && parts[0] == "" && parts[1] == "api":
		q.Kind, parts = kindPath{version: parts[2]}, parts[3:]
	case len(parts) > 4 && parts[0] == "" && parts[1] == "apis":
		q.Kind, parts = kindPath{Group: parts[2], version: parts[3]}, parts[4:]
	default:
		return "path does not begin with /api/VERSION/ or /apis/GROUP/VERSION/"
	}
	if q.Method == "POST" {
		parts = append(parts, "") // it has no name yet
	}
	if len(parts) > 3 && parts[0] == "namespaces" {
		q.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) < 2 || len(parts) > 3 {
		return "path is not that of one object"
	}
	q.Kind.Resource, q.name = parts[0], parts[1]
	fixed := []string{q.Kind.version, q.Kind.Resource}
	if q.Kind.Group != "" {
		fixed = append(fixed, q.Kind.Group)
	}
	if len(parts) == 3 {
		q.Kind.subresource = parts[2]
		fixed = append(fixed, parts[2])
	}
	if slices.ContainsFunc(fixed, func(s string) bool { return !segment.MatchString(s) }) {
		return "path takes more of an event than a namespace and a name"
	}
	for _, s := range []string{q.namespace, q.name} {
		if s != "" && s != Escaped && !segment.MatchString(s) {
			return "path joins a value with other text"
		}
	}
	return ""
}

// writing is an object that a program gives to a k8s trigger.
type writing struct {
	operation  string
	apiVersion string
	kind       string
	marks      bool // it has metadata only, of an object that is there

	namespace, name string // where both are stated
}

// writingsUnder is requestsUnder for k8s triggers.
func writingsUnder(program *gojq.Query, key string) ([]writing, string) {
	return madeUnder(program, key, func(option Outcome) ([]writing, string) {
		operation, ok := Literal(option["operation"])
		if !ok || operation != "patch" && operation != "create" {
			return nil, "operation is neither \"patch\" nor \"create\""
		}
		found := manifests(program, option["manifest"])
		if len(found) == 0 {
			return nil, "the kind of the manifest is not stated"
		}
		for i := range found {
			found[i].operation = operation
		}
		return found, ""
	})
}

// manifests are the objects that a manifest may be: itself a literal, or made
// of what the program has under child.
func manifests(program, manifest *gojq.Query) []writing {
	if options, ok := outcomes(manifest); ok {
		var all []writing
		for _, option := range options {
			one, ok := newWriting(option)
			if !ok {
				return nil
			}
			one.marks = len(option) == 3 && option["metadata"] != nil
			one.namespace, one.name = stated(option["metadata"])
			all = append(all, one)
		}
		return all
	}
	return templatesIn(program)
}

// stated are namespace and name in metadata, where both are string literals.
func stated(metadata *gojq.Query) (namespace, name string) {
	options, ok := outcomes(metadata)
	if !ok || len(options) != 1 {
		return "", ""
	}
	namespace, ok1 := Literal(options[0]["namespace"])
	name, ok2 := Literal(options[0]["name"])
	if !ok1 || !ok2 {
		return "", ""
	}
	return namespace, name
}

func newWriting(of Outcome) (writing, bool) {
	apiVersion, ok1 := Literal(of["apiVersion"])
	kind, ok2 := Literal(of["kind"])
	return writing{apiVersion: apiVersion, kind: kind}, ok1 && ok2
}
