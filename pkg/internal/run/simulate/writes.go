package simulate

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// Write is a request of an operator that writes an object.
type Write struct {
	Path string // of the object in the API, without the subresource status
	// Applied is the object, or the part of one, in the request; nil for a request
	// that has none.
	Applied map[string]any
	Manager string         // the field manager; empty if the request names none
	Answer  map[string]any // the object as the API server returned it
}

// Writes returns the writes of a trace in order, without those that failed.
func (t Trace) Writes() []Write {
	var out []Write
	for _, c := range t.Calls() {
		if w, ok := writeOf(c); ok {
			out = append(out, w)
		}
	}
	return out
}

func writeOf(c cluster.Call) (Write, bool) {
	if c.Method != http.MethodPatch && c.Method != http.MethodPost && c.Method != http.MethodPut {
		return Write{}, false
	}
	answer, ok := c.Answer.(map[string]any)
	if !ok || c.Status >= http.StatusMultipleChoices {
		return Write{}, false
	}
	path, query, _ := strings.Cut(c.Path, "?")
	out := Write{Path: strings.TrimSuffix(path, "/status"), Answer: answer}
	if values, err := url.ParseQuery(query); err == nil {
		out.Manager = values.Get("fieldManager")
	}
	if body, ok := c.Body.(map[string]any); ok && body["kind"] != nil && !strings.HasSuffix(path, "/status") {
		out.Applied, _ = cluster.Merge(nil, body).(map[string]any) // without the nulls of a merge patch
	}
	return out, true
}
