package selfcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Content types of requests.
const (
	ApplyType  = "application/apply-patch+yaml"
	MergeType  = "application/merge-patch+json"
	PatchType  = "application/json-patch+json"
	deleteType = "application/json"
	createType = "application/json"
)

// Request is an API request that a program computes.
type Request struct {
	Method, ContentType string
	Kind                kindPath
	namespace           string // Escaped for the event's namespace; "" for a cluster-scoped resource
	name                string
	Query               string
}

// kindPath identifies the resource in an API path.
type kindPath struct{ Group, version, Resource, subresource string }

// verbs returns the verbs that RBAC checks. A server-side apply may create the
// object, but not a subresource.
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

// RequestsUnder returns the requests that a program may return under a key, or the
// reason why they cannot be derived.
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

// madeUnder applies read to every object literal that a program may return under a
// key. It returns the reason if one cannot be read.
func madeUnder[T any](program *gojq.Query, key string, read func(Outcome) ([]T, string)) ([]T, string) {
	values, problem := valuesUnder(program, key)
	if problem != "" {
		return nil, problem
	}
	var all []T
	for _, value := range values {
		options, ok := outcomes(value)
		if !ok {
			return nil, fmt.Sprintf("%s is not an object literal", key)
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

// valuesUnder returns the queries of a key in all results that pass the filter.
func valuesUnder(program *gojq.Query, key string) ([]*gojq.Query, string) {
	results, ok := outcomes(program)
	if !ok {
		return nil, "the program does not end in object literals"
	}
	var values []*gojq.Query
	for _, result := range results {
		if isFalse(result["go"]) {
			continue
		}
		value, ok := result[key]
		if !ok {
			return nil, fmt.Sprintf("an event can pass without %s", key)
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
		return Request{}, "method and type are not string literals"
	case !ok3:
		return Request{}, "path is not a string literal that escapes every value by @uri"
	case method == "DELETE" && contentType == deleteType:
	case method == "PATCH" && slices.Contains([]string{ApplyType, MergeType, PatchType}, contentType):
	case method == "POST" && contentType == createType:
	default:
		return Request{}, fmt.Sprintf("operators do not send %s requests of type %s", method, contentType)
	}
	out := Request{Method: method, ContentType: contentType}
	path, out.Query, _ = strings.Cut(path, "?")
	problem := out.address(path)
	if problem == "" && method == "POST" && (out.Kind != coreEvents || out.name != "") {
		problem = "POST may only create Events; apply other objects, so that a second delivery changes nothing"
	}
	return out, problem
}

// coreEvents is the resource of Events.
var coreEvents = kindPath{version: "v1", Resource: "events"}

// segment matches a literal path segment.
var segment = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// address parses the path and returns an error message, or "". Only namespaces and names
// may come from an event, each as a whole segment.
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
		parts = append(parts, "") // a collection has no name
	}
	if len(parts) > 3 && parts[0] == "namespaces" {
		q.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) < 2 || len(parts) > 3 {
		return "path is not the path of one object"
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
		return "path takes more than a namespace and a name from the event"
	}
	for _, s := range []string{q.namespace, q.name} {
		if s != "" && s != Escaped && !segment.MatchString(s) {
			return "path combines a value with other text in one segment"
		}
	}
	return ""
}

// writing is an object that a program passes to a k8s trigger.
type writing struct {
	apiVersion, kind string
	namespace, name  string // if both are literals
}

// writingsUnder is RequestsUnder for k8s triggers.
func writingsUnder(program *gojq.Query, key string) ([]writing, string) {
	return madeUnder(program, key, func(option Outcome) ([]writing, string) {
		if operation, ok := Literal(option["operation"]); !ok || operation != "patch" {
			return nil, "operation is not \"patch\""
		}
		found := manifests(option["manifest"])
		if len(found) == 0 {
			return nil, "the kind of the manifest is not a string literal"
		}
		return found, ""
	})
}

// manifests returns the object literals that a manifest may be.
func manifests(manifest *gojq.Query) []writing {
	options, ok := outcomes(manifest)
	if !ok {
		return nil
	}
	var all []writing
	for _, option := range options {
		one, ok := newWriting(option)
		if !ok {
			return nil
		}
		all = append(all, one)
	}
	return all
}

// literalName returns namespace and name in metadata if both are string literals.
func literalName(metadata *gojq.Query) (namespace, name string) {
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
	out := writing{apiVersion: apiVersion, kind: kind}
	out.namespace, out.name = literalName(of["metadata"])
	return out, ok1 && ok2
}
