package simulate

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"sigs.k8s.io/yaml"
)

// recorder hands requests on and keeps what was said. It is a transport for
// Argo's clients and a handler for programs.
type recorder struct {
	cluster http.Handler
	account string // the service account of the caller: namespace/name; empty: a user
	mu      sync.Mutex
	calls   []Call
}

// remoteUser is the header with the name of the caller, who has been authenticated.
const remoteUser = "X-Remote-User"

// take returns the calls since it was asked last.
func (r *recorder) take() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// RoundTrip answers without a network. The host does not matter: it comes from
// the environment of a pod.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := &answer{header: http.Header{}, code: http.StatusOK}
	r.ServeHTTP(answer, req)
	return &http.Response{
		Status: http.StatusText(answer.code), StatusCode: answer.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.header, Body: io.NopCloser(&answer.body), ContentLength: int64(answer.body.Len()), Request: req,
	}, nil
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	if namespace, name, found := strings.Cut(r.account, "/"); found {
		req.Header.Set(remoteUser, serviceaccount.MakeUsername(namespace, name))
	}
	answer := &answer{header: w.Header(), code: http.StatusOK}
	r.cluster.ServeHTTP(answer, req)
	call := Call{
		Account: r.account, Method: req.Method, Path: req.URL.RequestURI(), ContentType: req.Header.Get("Content-Type"),
		Body: readable(body), Status: answer.code, Answer: readable(answer.body.Bytes()),
	}
	r.mu.Lock()
	r.calls = append(r.calls, call)
	r.mu.Unlock()
	w.WriteHeader(answer.code)
	_, _ = w.Write(answer.body.Bytes()) // a program that hung up learns nothing more
}

// readable is a body as data, or as text where it is none.
func readable(body []byte) any {
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

// answer is a response on its way.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header            { return a.header }
func (a *answer) WriteHeader(code int)           { a.code = code }
func (a *answer) Write(data []byte) (int, error) { return a.body.Write(data) }
