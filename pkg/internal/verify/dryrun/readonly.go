package dryrun

import (
	"net/http"
	"net/url"
	"slices"
)

// readOnly is a transport that sends only reads and dry runs. It is the last one
// before the network, so no client can pass it.
type readOnly struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t readOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	if !harmless(r) {
		if r.Body != nil {
			_ = r.Body.Close() // a transport must, also after an error
		}
		return nil, errWrites(r)
	}
	return t.next.RoundTrip(r)
}

// harmless reports whether a request writes nothing. A query that cannot be parsed
// might be read in another way by the server.
func harmless(r *http.Request) bool {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	case http.MethodPatch, http.MethodPost, http.MethodPut, http.MethodDelete:
		query, err := url.ParseQuery(r.URL.RawQuery)
		return err == nil && slices.Equal(query["dryRun"], []string{"All"})
	}
	return false
}
