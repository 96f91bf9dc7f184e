package cluster

import (
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is what a call asks for.
type Request struct {
	method      string
	Kind        Kind
	Namespace   string
	Name        string // empty: the collection
	Subresource string
	contentType string
	agent       string // the caller's program
	user        string // the caller; empty: a user
	query       url.Values
	body        []byte
}

func (r Request) key() Key {
	return Key{GroupResource: r.Kind.Resource(), Namespace: r.Namespace, Name: r.Name}
}

// manager is the field manager that the caller names, else its program as the
// API server knows it.
func (r Request) manager() string {
	if m := r.query.Get("fieldManager"); m != "" {
		return m
	}
	if name, _, _ := strings.Cut(r.agent, "/"); name != "" {
		return name
	}
	return "unknown"
}

// Parse reads the path: /api/v1/… or /apis/GROUP/VERSION/…, then
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
	out := Request{method: r.Method, query: r.URL.Query(), body: body, agent: r.UserAgent(), user: r.Header.Get(remoteUser)}
	out.contentType, _, _ = strings.Cut(r.Header.Get("Content-Type"), ";")
	if parts[0] == "namespaces" && len(parts) > 2 && (parts[2] != "status" || len(parts) > 3) {
		out.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 3 {
		return Request{}, unknownPath(r)
	}
	parts = append(parts, "", "")
	out.Kind, out.Name, out.Subresource = c.Kinds.At(gv, parts[0]), parts[1], parts[2]
	if out.Kind.Namespaced && out.Namespace == "" && out.Name != "" || !out.Kind.Namespaced && out.Namespace != "" {
		return Request{}, unknownPath(r)
	}
	if out.Subresource != "" && (out.Subresource != "status" || !out.Kind.Status) {
		return Request{}, unknownPath(r)
	}
	return out, nil
}

func unknownPath(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "",
		"the server could not find the requested resource", 0, true)
}
