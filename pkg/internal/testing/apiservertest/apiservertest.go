// Package apiservertest plays an API server for tests of dry runs: it serves discovery,
// accepts every object and answers some with recorded Status objects.
//
// The rule of this package: it knows nothing about the objects; the answers of a test
// choose requests by a regular expression.
package apiservertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
)

// Script says what the server has and how it answers.
type Script struct {
	// Kinds by group and version, such as apps/v1.
	Kinds map[string][]Kind `json:"kinds"`
	// Answers to requests; the first that matches counts. Every other write is
	// accepted.
	Answers []Answer `json:"answers"`
}

// Kind is a kind of objects.
type Kind struct {
	Name       string `json:"name"` // plural
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

// Answer is the answer to some requests.
type Answer struct {
	// To matches METHOD PATH?QUERY BODY.
	To string `json:"to"`
	// Status is the body: a Status object with a code, as an API server sends it; nil
	// returns the request's body.
	Status map[string]any `json:"status"`
	// Warnings in the headers.
	Warnings []string `json:"warnings"`
}

// Server is a running server.
type Server struct {
	*httptest.Server

	script   Script
	mu       sync.Mutex
	requests []string
}

// Start starts a server. The caller closes it.
func Start(script Script) *Server {
	s := &Server{script: script}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Requests returns the requests so far as METHOD PATH?QUERY, in the order of arrival.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...)
}

// Kubeconfig writes a kubeconfig whose context has a namespace.
func (s *Server) Kubeconfig(file, namespace string) error {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: "%s"}}]
users: [{name: test, user: {token: secret}}]
contexts: [{name: test, context: {cluster: test, user: test, namespace: "%s"}}]
`, s.URL, namespace)
	return os.WriteFile(file, []byte(text), 0o600)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	line := r.Method + " " + r.URL.RequestURI()
	s.mu.Lock()
	s.requests = append(s.requests, line)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for _, a := range s.script.Answers {
		if regexp.MustCompile(a.To).MatchString(line + " " + string(body)) {
			a.write(w, body)
			return
		}
	}
	if r.Method == http.MethodGet {
		s.discover(w, r)
		return
	}
	_, _ = w.Write(body) // the client may be gone
}

func (a Answer) write(w http.ResponseWriter, body []byte) {
	for _, text := range a.Warnings {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
	}
	if a.Status == nil {
		_, _ = w.Write(body)
		return
	}
	code, _ := a.Status["code"].(float64)
	w.WriteHeader(int(code))
	_ = json.NewEncoder(w).Encode(a.Status)
}

// discover serves /version and the kinds of a group and version.
func (s *Server) discover(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/version" {
		_, _ = io.WriteString(w, `{"gitVersion": "v1.34.0"}`)
		return
	}
	gv := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/")
	kinds, known := s.script.Kinds[gv]
	if !known {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
			"message": "the server could not find the requested resource", "details": {}}`)
		return
	}
	list := map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv}
	resources := []any{}
	for _, k := range kinds {
		resources = append(resources, map[string]any{
			"name": k.Name, "kind": k.Kind, "namespaced": k.Namespaced, "singularName": "", "verbs": []string{"get", "patch", "create"},
		}, map[string]any{
			"name": k.Name + "/status", "kind": k.Kind, "namespaced": k.Namespaced, "singularName": "", "verbs": []string{"get", "patch"},
		})
	}
	list["resources"] = resources
	_ = json.NewEncoder(w).Encode(list)
}
