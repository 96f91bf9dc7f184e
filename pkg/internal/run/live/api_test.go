package live

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// apiServer notes the requests that reach it.
type apiServer struct {
	method, path, body string
	header             http.Header
	requests           int
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // as far as it came
	s.method, s.path, s.body, s.header = r.Method, r.URL.RequestURI(), string(body), r.Header
	s.requests++
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"kind":"Answer"}`)
}

const sensorUser = "system:serviceaccount:argo-events:web-sensor"

func newTestAPI(t *testing.T) (*api, *apiServer, *[]string) {
	t.Helper()
	upstream := &apiServer{}
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	a, err := newAPI(&rest.Config{Host: server.URL, BearerToken: "administrator"}, newSwitches())
	if err != nil {
		t.Fatal(err)
	}
	var requested []string
	a.requested = func(method, path string) { requested = append(requested, method+" "+path) }
	return a, upstream, &requested
}

// TestIdentity sends requests of a program that wants to be somebody else.
func TestIdentity(t *testing.T) {
	tests := []struct {
		name      string
		user      string
		want      http.Header
		requested []string
	}{
		{
			name: "an operator has the identity of its service account", user: sensorUser,
			want: http.Header{
				"Impersonate-User":  {sensorUser},
				"Impersonate-Group": {"system:serviceaccounts", "system:serviceaccounts:argo-events", "system:authenticated"},
			},
			requested: []string{"POST /api/v1/namespaces/default/configmaps"},
		},
		{name: "everybody else is the administrator", want: http.Header{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, upstream, requested := newTestAPI(t)
			r := httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All", strings.NewReader(`{"kind":"ConfigMap"}`))
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "program", "Authorization": "Bearer mine",
				"Impersonate-User": "system:admin", "Impersonate-Group": "system:masters", "Impersonate-Uid": "0", "Impersonate-Extra-Scopes": "all",
				"X-Forwarded-For": "10.0.0.1", "X-Remote-Group": "system:masters",
			} {
				r.Header.Set(name, value)
			}
			if test.user != "" {
				r.Header.Set(cluster.RemoteUser, test.user)
			}
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)

			if w.Code != http.StatusCreated || w.Body.String() != `{"kind":"Answer"}` || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("answer %d %s", w.Code, w.Body)
			}
			if upstream.method != http.MethodPost || upstream.path != "/api/v1/namespaces/default/configmaps?dryRun=All" || upstream.body != `{"kind":"ConfigMap"}` {
				t.Errorf("the API server received %s %s %s", upstream.method, upstream.path, upstream.body)
			}
			want := test.want
			want["Authorization"], want["Content-Type"], want["Accept"], want["User-Agent"] = []string{"Bearer administrator"}, []string{"application/json"}, []string{"application/json"}, []string{"program"}
			for _, name := range []string{"Accept-Encoding", "Content-Length"} { // of Go's client
				upstream.header.Del(name)
			}
			if d := cmp.Diff(want, upstream.header); d != "" {
				t.Errorf("headers (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.requested, *requested); d != "" {
				t.Errorf("requests of operators (-want +got):\n%s", d)
			}
		})
	}
}

// TestRefusedWrites uses the switches that fail writes of operators.
func TestRefusedWrites(t *testing.T) {
	tests := []struct {
		name, method, user, on string
		code                   int // 0: the request reaches the API server
		reason                 metav1.StatusReason
	}{
		{name: "a write", method: http.MethodPatch, user: sensorUser},
		{name: "a refused write", method: http.MethodPatch, user: sensorUser, on: "refuse", code: 503, reason: metav1.StatusReasonServiceUnavailable},
		{name: "a conflict", method: http.MethodPut, user: sensorUser, on: "conflict", code: 409, reason: metav1.StatusReasonConflict},
		{name: "a refused deletion", method: http.MethodDelete, user: sensorUser, on: "refuse", code: 503, reason: metav1.StatusReasonServiceUnavailable},
		{name: "a read", method: http.MethodGet, user: sensorUser, on: "refuse"},
		{name: "a write of the administrator", method: http.MethodPatch, on: "refuse"},
		{name: "a write while events are lost", method: http.MethodPatch, user: sensorUser, on: "loseEvents"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, upstream, requested := newTestAPI(t)
			if test.on != "" {
				if err := a.switches.set(test.on, true); err != nil {
					t.Fatal(err)
				}
			}
			r := httptest.NewRequest(test.method, "/api/v1/namespaces/default/configmaps/a", nil)
			r.Header.Set(cluster.RemoteUser, test.user)
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			if test.code == 0 {
				if upstream.requests != 1 {
					t.Errorf("the API server received %d requests, want 1: %d %s", upstream.requests, w.Code, w.Body)
				}
				return
			}
			var status metav1.Status
			if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Code != test.code || status.Kind != "Status" || status.Reason != test.reason || int(status.Code) != test.code || status.Message == "" {
				t.Errorf("answer %d %+v, want %d %s", w.Code, status, test.code, test.reason)
			}
			if upstream.requests > 0 || len(*requested) > 0 {
				t.Errorf("the request reached the API server: %v", *requested)
			}
		})
	}
}

func TestNoAPIServer(t *testing.T) {
	a, err := newAPI(&rest.Config{Host: "http://127.0.0.1:1"}, newSwitches())
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil))
	if w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "the API server does not answer") {
		t.Errorf("answer %d %s", w.Code, w.Body)
	}
}
