package simulate

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
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
	add := func(calls []cluster.Call) {
		for _, c := range calls {
			if w, ok := writeOf(c); ok {
				out = append(out, w)
			}
		}
	}
	for _, step := range t {
		if step.Delivery != nil {
			for _, a := range step.Delivery.Attempts {
				add(a.Calls)
			}
		}
		if step.Workflow != nil {
			for _, c := range step.Workflow.Containers {
				add(c.Calls)
			}
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
		out.Applied, _ = withoutNulls(body).(map[string]any)
	}
	return out, true
}

// withoutNulls returns a value without the fields that a merge patch removes.
func withoutNulls(value any) any {
	fields, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for key, inner := range fields {
		if inner != nil {
			out[key] = withoutNulls(inner)
		}
	}
	return out
}
