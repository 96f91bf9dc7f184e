package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/live"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

const twoResources = `apiVersion: example.com/v1
kind: Web
metadata:
  name: first
  resourceVersion: "7"
spec:
  size: 1
---
apiVersion: example.com/v1
kind: Web
metadata: {name: second, namespace: team}
spec:
  size: many
  ports:
  - name: http
    port: 0
`

func TestDecode(t *testing.T) {
	tests := []struct {
		name, text string
		want       []reference
		wrong      string // line:column code
	}{
		{name: "two objects", text: twoResources, want: []reference{{"example.com/v1", "Web", "", "first"}, {"example.com/v1", "Web", "team", "second"}}},
		{name: "nothing", text: "", wrong: "1:1 " + diag.NoCustomResource},
		{name: "comments only", text: "# nothing yet\n", wrong: "1:1 " + diag.NoCustomResource},
		{name: "not YAML", text: "kind: Web\nspec: [\n", wrong: "2:7 " + diag.YAMLSyntax},
		{name: "a key twice", text: "kind: Web\nkind: Web\n", want: []reference{{Kind: "Web"}}, wrong: "2:1 " + diag.DuplicateKey},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			objects, list := decode(test.text)
			var got []reference
			for _, o := range objects {
				got = append(got, o.reference())
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("objects (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.wrong, places(list)); d != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", d, list)
			}
		})
	}
}

// places returns the lines, columns and codes of findings.
func places(list diag.List) string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Code))
	}
	return strings.Join(out, ", ")
}

func TestRejections(t *testing.T) {
	resource := schema.GroupResource{Group: "example.com", Resource: "webs"}
	causes := func(list ...metav1.StatusCause) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity, Details: &metav1.StatusDetails{Causes: list},
		}}
	}
	tests := []struct {
		name     string
		document int
		err      error
		want     []finding
	}{
		{name: "none"},
		{
			name: "a field", document: 1, err: causes(metav1.StatusCause{Field: "spec.size", Message: "Invalid value: must be an integer"}),
			want: []finding{{Line: 13, Column: 9, Severity: "error", Code: diag.ServerRejected, Message: "spec.size: Invalid value: must be an integer"}},
		},
		{
			name: "a field of an item, and one that is missing", document: 1,
			err: causes(
				metav1.StatusCause{Field: "spec.ports[0].port", Message: `Invalid value: 0: spec.ports[0].port in body should be greater than or equal to 1`},
				metav1.StatusCause{Field: "spec.image", Message: "Required value"}),
			want: []finding{
				{Line: 16, Column: 11, Severity: "error", Code: diag.ServerRejected, Message: "Invalid value: 0: spec.ports[0].port in body should be greater than or equal to 1"},
				{Line: 12, Column: 1, Severity: "error", Code: diag.ServerRejected, Message: "spec.image: Required value"},
			},
		},
		{
			name: "a conflict", err: apierrors.NewConflict(resource, "first", errors.New("the object has been modified")),
			want: []finding{{Line: 5, Column: 20, Severity: "error", Code: conflict, Message: `Operation cannot be fulfilled on webs.example.com "first": the object has been modified`}},
		},
		{
			name: "no answer", document: 1, err: errors.New("connection refused"),
			want: []finding{{Line: 10, Column: 7, Severity: "error", Code: diag.ServerRejected, Message: "connection refused"}},
		},
	}
	objects, list := decode(twoResources)
	if len(list) > 0 {
		t.Fatal(list)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := findings(objects[test.document].findings(test.err))
			if test.want == nil {
				test.want = []finding{}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestYAMLOf(t *testing.T) {
	got, err := yamlOf(map[string]any{"plain": "<b> & é", "number": int64(1), "controls": "\x1b[2J\u009b\u007f\ufeff", "lines": "a\nb\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := "controls: \"\\e[2J\\x9B\\x7F\\uFEFF\"\nlines: |\n  a\n  b\nnumber: 1\nplain: <b> & é\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// project is a project with one file.
type project struct {
	content string
	saved   string
}

func (p *project) Files() ([]File, error) { return []File{{"operator.yaml", p.content, true}}, nil }

func (p *project) Check(_, content string) (diag.List, error) {
	var out diag.List
	if content == "wrong" {
		out.Add(diag.Position{File: "operator.yaml", Line: 2, Column: 3}, diag.YAMLSyntax, "no YAML", "write YAML")
	}
	return out, nil
}

func (p *project) Save(_, content, was string) error {
	if was != p.content {
		return errors.New("operator.yaml changed on disk")
	}
	p.content = content
	return nil
}

func (p *project) Samples() ([]Sample, error) { return nil, nil }
func (p *project) Tests() ([]Test, error)     { return nil, errors.New("tests/a.yaml: permission denied") }

func (p *project) RunTests(context.Context, string) ([]testsuite.Result, error) { return nil, nil }

func (p *project) SaveTest(name string, _ []byte) (string, error) {
	p.saved = name
	return name, nil
}

func TestHandlers(t *testing.T) {
	tests := []struct {
		name, request, body string
		status              int
		want                string
	}{
		{name: "files", request: "GET /api/files", status: 200, want: `[{"name":"operator.yaml","content":"old","editable":true}]`},
		{name: "no sample", request: "GET /api/samples", status: 200, want: `[]`},
		{name: "a failure", request: "GET /api/tests", status: 500, want: `{"error":"tests/a.yaml: permission denied"}`},
		{name: "a check", request: "POST /api/check", body: `{"name":"operator.yaml","content":"wrong"}`, status: 200, want: `{"findings":[{"file":"operator.yaml","line":2,"column":3,"severity":"error","code":"yaml-syntax","message":"no YAML","hint":"write YAML"}]}`},
		{name: "a saved file", request: "POST /api/save", body: `{"name":"operator.yaml","content":"new","was":"old"}`, status: 200, want: `{"findings":[],"written":true}`},
		{name: "a file that changed on disk", request: "POST /api/save", body: `{"name":"operator.yaml","content":"new","was":"older"}`, status: 409, want: `{"error":"operator.yaml changed on disk"}`},
		{name: "a request that is no JSON", request: "POST /api/save", body: `name=operator.yaml`, status: 400, want: `{"error":"the request is not the expected JSON: invalid character 'a' in literal null (expecting 'u')"}`},
		{name: "an unknown record", request: "GET /api/records/99", status: 404, want: `{"error":"the record is too old: only the newest are kept"}`},
		{name: "no number of a record", request: "GET /api/records/x", status: 400, want: `{"error":"\"x\" is not the number of a record"}`},
		{name: "an unknown switch", request: "POST /api/action", body: `{"action":"explode","on":true}`, status: 400, want: `{"error":"unknown switch \"explode\""}`},
		{name: "an event of an unknown record", request: "POST /api/action", body: `{"action":"redeliver","record":99}`, status: 404, want: `{"error":"record 99 has no event, or is too old"}`},
		{name: "a switch", request: "POST /api/action", body: `{"action":"refuse","on":true}`, status: 200, want: `{}`},
		{name: "an empty recording", request: "GET /api/recording", status: 200, want: `{"steps":[],"yaml":"","ended":""}`},
		{name: "a test without steps", request: "POST /api/recording", body: `{"name":"mine"}`, status: 400, want: `{"error":"nothing is recorded: create a custom resource"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, body := send(t, newServer(t, &project{content: "old"}), test.request, test.body)
			if status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if d := cmp.Diff(test.want, body); d != "" {
				t.Errorf("body (-want +got):\n%s", d)
			}
		})
	}
}

// TestNamesOfTests sends names that would leave the directory of the tests, or that would
// be more than a name in the YAML of the test.
func TestNamesOfTests(t *testing.T) {
	for _, name := range []string{"", "../evil", "a/b", `a\b`, "/etc/evil", "a}\nspec: {", "A", strings.Repeat("a", 64)} {
		p := &project{}
		status, body := send(t, newServer(t, p), "POST /api/recording", `{"name":`+quoted(name)+`}`)
		if status != http.StatusBadRequest || !strings.Contains(body, "is not a name for a test") || p.saved != "" {
			t.Errorf("%q: status %d, saved %q, %s", name, status, p.saved, body)
		}
	}
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(text) + `"`
}

func newServer(t *testing.T, p Project) *Server {
	t.Helper()
	l, err := live.New(live.Inputs{Server: &rest.Config{Host: "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Inputs{Live: l, Project: p}, listener, NewToken())
	t.Cleanup(func() { s.listener.Close() })
	return s
}

// send sends a request as the page does.
func send(t *testing.T, s *Server, request, body string) (int, string) {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = s.listener.Addr().String()
	r.Header.Set("Authorization", "Bearer "+s.token)
	w := httptest.NewRecorder()
	s.http.Handler.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}
