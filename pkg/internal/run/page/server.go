package page

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/devcluster"
	"github.com/argoperator/argoperator/pkg/internal/run/live"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

//go:embed assets
var assets embed.FS

// Project is the definitions and tests on disk.
type Project interface {
	// Files returns the files with definitions.
	Files() ([]File, error)
	// Check returns the findings of lint if a file had other content.
	Check(name, content string) (diag.List, error)
	// Save writes a file, if it still has the content that was edited.
	Save(name, content, was string) error
	// Samples returns custom resources to begin with.
	Samples() ([]Sample, error)
	// Tests returns the tests of the definitions.
	Tests() ([]Test, error)
	// RunTests runs a test, or all if the name is empty.
	RunTests(ctx context.Context, name string) ([]testsuite.Result, error)
	// SaveTest writes a test into a new file and returns its name.
	SaveTest(name string, data []byte) (string, error)
}

// File is a file of the project.
type File struct {
	Name     string `json:"name"`
	Content  string `json:"content"`
	Editable bool   `json:"editable"`
}

// Sample is a custom resource to begin with.
type Sample struct {
	Operator string `json:"operator"`
	Name     string `json:"name"`
	YAML     string `json:"yaml"`
}

// Test is a test of the project.
type Test struct {
	Name string `json:"name"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// Operator is what the page shows of an operator.
type Operator struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Namespaced bool   `json:"namespaced"`
	Engine     string `json:"engine"`
	Graph      string `json:"graph"` // SVG
}

// Definition is what was loaded last.
type Definition struct {
	Files     []string
	Findings  diag.List
	Operators []Operator
	RunLogic  bool // its programs run
	Status    Status
}

// Status tells whether the operators run with the definition.
type Status struct {
	State State     `json:"state"`
	Text  string    `json:"text"` // of Rejected: why
	Time  time.Time `json:"time"`
}

// State is a state of the definition.
type State string

// The states.
const (
	Applied  State = "applied"  // the operators run with it
	Waiting  State = "waiting"  // it has errors, and no operator runs yet
	Errors   State = "errors"   // it has errors, and the operators run on as they were
	Rejected State = "rejected" // the API server rejected it, and the operators run on as they were
)

// Inputs of New.
type Inputs struct {
	Live      *live.Live
	Installer *devcluster.Installer
	Project   Project
	// Server and Kubeconfig tell users how to reach the API server.
	Server, Kubeconfig, Version string
	// Reset deletes the kinds of the operators with all custom resources, and loads the definition again.
	Reset func(ctx context.Context) error
}

// Server serves the page.
type Server struct {
	in       Inputs
	token    string
	http     *http.Server
	listener net.Listener

	mu         sync.Mutex
	definition Definition
	changed    chan struct{} // closed and replaced when the state changes
}

// Listen listens on a local port; 0: any free one.
func Listen(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("listening for the page: %w", err)
	}
	return listener, nil
}

// New returns the server of a page, to which everybody with the token has access. Serve must follow.
func New(in Inputs, listener net.Listener, token string) *Server {
	s := &Server{in: in, token: token, listener: listener, changed: make(chan struct{})}
	s.definition = Definition{Files: []string{}, Operators: []Operator{}} // a page may be open before the first is loaded
	s.http = &http.Server{Handler: guard(s.token, s.routes()), ReadHeaderTimeout: 10 * time.Second}
	return s
}

// URL returns the address of the page with its token.
func (s *Server) URL() string { return fmt.Sprintf("http://%s/?token=%s", s.listener.Addr(), s.token) }

// Serve answers requests until Close.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends all requests.
func (s *Server) Close() error { return s.http.Close() }

// Define shows another definition.
func (s *Server) Define(d Definition) {
	s.mu.Lock()
	s.definition = d
	s.mu.Unlock()
	s.Changed()
}

// DefineFindings shows the findings of files that could not be loaded, and why.
func (s *Server) DefineFindings(list diag.List, status Status) {
	s.mu.Lock()
	if status.State == Errors && s.definition.Status.State == Waiting {
		status.State = Waiting
	}
	s.definition.Findings, s.definition.Status = list, status
	s.mu.Unlock()
	s.Changed()
}

// Changed sends the state to all pages.
func (s *Server) Changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) routes() http.Handler {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the directory is part of the program
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/stream", s.stream)
	mux.HandleFunc("GET /api/records/{id}", answer(s.record))
	mux.HandleFunc("GET /api/object", answer(s.object))
	mux.HandleFunc("POST /api/apply", answer(s.apply))
	mux.HandleFunc("POST /api/delete", answer(s.remove))
	mux.HandleFunc("GET /api/samples", answer(func(*http.Request) (any, error) { return orNone(s.in.Project.Samples()) }))
	mux.HandleFunc("GET /api/files", answer(func(*http.Request) (any, error) { return orNone(s.in.Project.Files()) }))
	mux.HandleFunc("POST /api/check", answer(s.check))
	mux.HandleFunc("POST /api/save", answer(s.save))
	mux.HandleFunc("GET /api/schema", answer(s.schema))
	mux.HandleFunc("POST /api/action", answer(s.action))
	mux.HandleFunc("GET /api/recording", answer(s.recording))
	mux.HandleFunc("POST /api/recording", answer(s.saveRecording))
	mux.HandleFunc("DELETE /api/recording", answer(s.dropRecording))
	mux.HandleFunc("GET /api/tests", answer(func(*http.Request) (any, error) { return orNone(s.in.Project.Tests()) }))
	mux.HandleFunc("POST /api/tests/run", answer(s.runTests))
	return mux
}

// maxBody limits a request, in bytes: definitions are smaller.
const maxBody = 8 << 20

// Problem is a failed request.
type problem struct {
	status int
	text   string
}

func (p problem) Error() string { return p.text }

func badRequest(format string, args ...any) error {
	return problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// answer writes the result of a function as JSON.
func answer(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		result, err := f(r)
		status := http.StatusOK
		if err != nil {
			status = http.StatusInternalServerError
			var known problem
			if errors.As(err, &known) {
				status = known.status
			}
			result = map[string]string{"error": err.Error()}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(result) // the page may be gone
	}
}

// orNone returns an empty list instead of nil, which JSON has as null.
func orNone[T any](list []T, err error) (any, error) {
	if list == nil {
		list = []T{}
	}
	return list, err
}

// input reads the JSON of a request.
func input[T any](r *http.Request) (T, error) {
	var out T
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return out, badRequest("reading the request: %v", err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, badRequest("the request is not the expected JSON: %v", err)
	}
	return out, nil
}
