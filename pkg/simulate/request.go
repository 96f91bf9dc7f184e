package simulate

import (
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is what a call asks for.
type request struct {
	method      string
	kind        Kind
	namespace   string
	name        string // empty: the collection
	subresource string
	contentType string
	agent       string // the caller's program
	user        string // the caller; empty: a user
	query       url.Values
	body        []byte
}

func (r request) key() key {
	return key{GroupResource: r.kind.resource(), namespace: r.namespace, name: r.name}
}

// manager is the field manager that the caller names, else its program as the
// API server knows it.
func (r request) manager() string {
	if m := r.query.Get("fieldManager"); m != "" {
		return m
	}
	if name, _, _ := strings.Cut(r.agent, "/"); name != "" {
		return name
	}
	return "unknown"
}

// parse reads the path: /api/v1/… or /apis/GROUP/VERSION/…, then
// [namespaces/NAMESPACE/]PLURAL[/NAME[/SUBRESOURCE]].
func (c *Cluster) parse(r *http.Request, body []byte) (request, error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var gv schema.GroupVersion
	switch {
	case len(parts) > 2 && parts[0] == "api":
		gv.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		gv.Group, gv.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return request{}, unknownPath(r)
	}
	out := request{method: r.Method, query: r.URL.Query(), body: body, agent: r.UserAgent(), user: r.Header.Get(remoteUser)}
	out.contentType, _, _ = strings.Cut(r.Header.Get("Content-Type"), ";")
	if parts[0] == "namespaces" && len(parts) > 2 && (parts[2] != "status" || len(parts) > 3) {
		out.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 3 {
		return request{}, unknownPath(r)
	}
	parts = append(parts, "", "")
	out.kind, out.name, out.subresource = c.kinds.at(gv, parts[0]), parts[1], parts[2]
	if out.kind.Namespaced && out.namespace == "" && out.name != "" || !out.kind.Namespaced && out.namespace != "" {
		return request{}, unknownPath(r)
	}
	if out.subresource != "" && (out.subresource != "status" || !out.kind.Status) {
		return request{}, unknownPath(r)
	}
	return out, nil
}

func unknownPath(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "",
		"the server could not find the requested resource", 0, true)
}
