package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"sigs.k8s.io/yaml"
)

// Recorder hands requests on and keeps what was said. It is a transport for
// Argo's clients and a handler for programs.
type Recorder struct {
	Cluster http.Handler
	Account string // the service account of the caller: namespace/name; empty: a user
	mu      sync.Mutex
	calls   []Call
}

// remoteUser is the header with the name of the caller, who has been authenticated.
const remoteUser = "X-Remote-User"

// Take returns the calls since it was asked last.
func (r *Recorder) Take() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// RoundTrip answers without a network. The host does not matter: it comes from
// the environment of a pod.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := &Answer{Headers: http.Header{}, code: http.StatusOK}
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
		req.Header.Set(remoteUser, serviceaccount.MakeUsername(namespace, name))
	}
	answer := &Answer{Headers: w.Header(), code: http.StatusOK}
	r.Cluster.ServeHTTP(answer, req)
	call := Call{
		Account: r.Account, Method: req.Method, Path: req.URL.RequestURI(), ContentType: req.Header.Get("Content-Type"),
		Body: Readable(body), Status: answer.code, Answer: Readable(answer.body.Bytes()),
	}
	r.mu.Lock()
	r.calls = append(r.calls, call)
	r.mu.Unlock()
	w.WriteHeader(answer.code)
	_, _ = w.Write(answer.body.Bytes()) // a program that hung up learns nothing more
}

// Readable is a body as data, or as text where it is none.
func Readable(body []byte) any {
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

// Answer is a response on its way.
type Answer struct {
	Headers http.Header
	code    int
	body    bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *Answer) Header() http.Header { return a.Headers }

// WriteHeader implements http.ResponseWriter.
func (a *Answer) WriteHeader(code int) { a.code = code }

// Write implements http.ResponseWriter.
func (a *Answer) Write(data []byte) (int, error) { return a.body.Write(data) }

// Again tells whether a call is another attempt of this one, which failed.
func (c Call) Again(next Call) bool {
	return c.Status >= http.StatusBadRequest && next.Status >= http.StatusBadRequest && c.Method == next.Method && c.Path == next.Path
}

// Outcome is the status of the answer, with the message of one that refuses.
func (c Call) Outcome() string {
	out := fmt.Sprintf("%d %s", c.Status, http.StatusText(c.Status))
	if fields, ok := c.Answer.(map[string]any); ok && c.Status >= http.StatusMultipleChoices {
		out += fmt.Sprintf(": %v", fields["message"])
	}
	return out
}

// Call is one request to the API server. What a caller proves who it is with is
// left out.
type Call struct {
	Account                   string // of the caller: the namespace and name of a service account
	Method, Path, ContentType string // Path with its query
	Body                      any
	Status                    int
	Answer                    any
}
