package cluster

import (
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is a parsed API request.
type Request struct {
	method      string
	Kind        Kind
	Namespace   string
	Name        string // empty for a collection
	Subresource string
	contentType string
	agent       string // the User-Agent header
	user        string // name of the caller; empty for a user
	query       url.Values
	body        []byte
}

func (r Request) key() Key {
	return Key{GroupResource: r.Kind.Resource(), Namespace: r.Namespace, Name: r.Name}
}

// manager returns the fieldManager parameter, or else the name of the client
// program as the API server derives it.
func (r Request) manager() string {
	if m := r.query.Get("fieldManager"); m != "" {
		return m
	}
	if name, _, _ := strings.Cut(r.agent, "/"); name != "" {
		return name
	}
	return "unknown"
}

// dry reports whether the request must change nothing.
func (r Request) dry() bool { return r.query.Get("dryRun") == metav1.DryRunAll }

// strict reports whether the client asks for an error about unknown fields.
func (r Request) strict() bool {
	return r.query.Get("fieldValidation") == metav1.FieldValidationStrict
}

// Parse parses the path: /api/v1/… or /apis/GROUP/VERSION/…, then
// [namespaces/NAMESPACE/]PLURAL[/NAME[/SUBRESOURCE]].
func (c *Cluster) Parse(r *http.Request, body []byte) (Request, error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var gv schema.GroupVersion
	switch {
	case len(parts) > 2 && parts[0] == "api":
		gv.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		gv.Group, gv.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return Request{}, unknownPath(r)
	}
	out := Request{method: r.Method, query: r.URL.Query(), body: body, agent: r.UserAgent(), user: r.Header.Get(RemoteUser)}
	out.contentType, _, _ = strings.Cut(r.Header.Get("Content-Type"), ";")
	if parts[0] == "namespaces" && len(parts) > 2 && (parts[2] != "status" || len(parts) > 3) {
		out.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 3 {
		return Request{}, unknownPath(r)
	}
	parts = append(parts, "", "")
	out.Kind, out.Name, out.Subresource = c.Kinds.At(gv, parts[0]), parts[1], parts[2]
	if c.Strict && !c.Kinds.serve(out.Kind) {
		return Request{}, unknownPath(r)
	}
	if out.Kind.Namespaced && out.Namespace == "" && out.Name != "" || !out.Kind.Namespaced && out.Namespace != "" {
		return Request{}, unknownPath(r)
	}
	if out.Subresource != "" && !out.Kind.has(out.Subresource) {
		return Request{}, unknownPath(r)
	}
	return out, nil
}

func unknownPath(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "",
		"the server could not find the requested resource", 0, true)
}
