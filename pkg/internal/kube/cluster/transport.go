package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"sigs.k8s.io/yaml"
)

// Recorder forwards requests and records the calls. It is a transport for Argo's
// clients and a handler for programs.
type Recorder struct {
	Cluster http.Handler
	Account string // service account of the caller as namespace/name; empty for a user
	mu      sync.Mutex
	calls   []Call
}

// RemoteUser is the header with the authenticated name of the caller.
const RemoteUser = "X-Remote-User"

// TakeCalls returns the calls since the last call.
func (r *Recorder) TakeCalls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// RoundTrip answers without a network. It ignores the host, which comes from the
// environment of a pod.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := NewAnswer(http.Header{})
	r.ServeHTTP(answer, req)
	return &http.Response{
		Status: http.StatusText(answer.code), StatusCode: answer.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.Headers, Body: io.NopCloser(&answer.body), ContentLength: int64(answer.body.Len()), Request: req,
	}, nil
}

func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	if namespace, name, found := strings.Cut(r.Account, "/"); found {
		req.Header.Set(RemoteUser, serviceaccount.MakeUsername(namespace, name))
	}
	answer := NewAnswer(w.Header())
	start := time.Now()
	r.Cluster.ServeHTTP(answer, req)
	call := Call{
		Duration: time.Since(start),
		Account:  r.Account, Method: req.Method, Path: req.URL.RequestURI(), ContentType: req.Header.Get("Content-Type"),
		Body: Decoded(body), Status: answer.code, Answer: Decoded(answer.body.Bytes()),
	}
	r.mu.Lock()
	r.calls = append(r.calls, call)
	r.mu.Unlock()
	answer.Send(w)
}

// Decoded returns a body as data if it is JSON or YAML, else as text.
func Decoded(body []byte) any {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err == nil {
		return value
	}
	if err := yaml.Unmarshal(body, &value); err == nil {
		return value
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

// Answer buffers a response.
type Answer struct {
	Headers http.Header
	code    int
	body    bytes.Buffer
}

// NewAnswer returns an answer without a body.
func NewAnswer(headers http.Header) *Answer { return &Answer{Headers: headers, code: http.StatusOK} }

// OK returns the body, if the request succeeded.
func (a *Answer) OK() ([]byte, bool) { return a.body.Bytes(), a.code < http.StatusMultipleChoices }

// Send sends the answer, whose headers are those of the writer.
func (a *Answer) Send(w http.ResponseWriter) {
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body.Bytes()) // the client may have disconnected
}

// Header implements http.ResponseWriter.
func (a *Answer) Header() http.Header { return a.Headers }

// WriteHeader implements http.ResponseWriter.
func (a *Answer) WriteHeader(code int) { a.code = code }

// Write implements http.ResponseWriter.
func (a *Answer) Write(data []byte) (int, error) { return a.body.Write(data) }

// IsRetry reports whether next retries this call after a failure.
func (c Call) IsRetry(next Call) bool {
	return c.Status >= http.StatusBadRequest && next.Status >= http.StatusBadRequest && c.Method == next.Method && c.Path == next.Path
}

// Outcome returns the status of the answer, with the message if it is an error.
func (c Call) Outcome() string {
	out := fmt.Sprintf("%d %s", c.Status, http.StatusText(c.Status))
	if fields, ok := c.Answer.(map[string]any); ok && c.Status >= http.StatusMultipleChoices {
		out += fmt.Sprintf(": %v", fields["message"])
	}
	return out
}

// Call is one request to the API server, without credentials.
type Call struct {
	Account                   string // service account of the caller as namespace/name
	Method, Path, ContentType string // Path includes the query
	Body                      any
	Status                    int
	Answer                    any
	Duration                  time.Duration
}
