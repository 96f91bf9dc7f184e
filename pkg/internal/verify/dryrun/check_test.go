package dryrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/testing/apiservertest"
)

// connected returns a client of a scripted server.
func connected(t *testing.T, answers ...apiservertest.Answer) (*Client, *apiservertest.Server) {
	t.Helper()
	server := apiservertest.Start(apiservertest.Script{
		Kinds: map[string][]apiservertest.Kind{
			"v1":             {{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}, {Name: "namespaces", Kind: "Namespace"}},
			"example.com/v1": {{Name: "webs", Kind: "Web", Namespaced: true}},
		},
		Answers: answers,
	})
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := server.Kubeconfig(kubeconfig, "team"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	client, err := Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// rejection is an answer for some requests.
func rejection(to, message string, causes ...any) apiservertest.Answer {
	return apiservertest.Answer{To: to, Status: map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422.0, "message": message, "details": map[string]any{"causes": causes},
	}}
}

// object returns an object whose positions are the number of steps to a field.
func object(kind, name, source, sample string, data map[string]any) Object {
	version := "v1"
	if kind == "Web" {
		version = "example.com/v1"
	}
	return Object{
		Fields:  map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name}, "data": data},
		Manager: "web", Source: source, Sample: sample,
		At: func(path []string) diag.Position { return diag.Position{File: source, Line: len(path)} },
	}
}

func TestRequests(t *testing.T) {
	server := rejection(`"(uid|resourceVersion|managedFields|status)"`, "what the server sets was sent")
	client, api := connected(t, server)
	full := object("ConfigMap", "a", "s", "", map[string]any{"n": 1})
	full.Fields["status"] = map[string]any{"phase": "up"}
	full.Fields["metadata"] = map[string]any{
		"name": "a", "uid": "1", "resourceVersion": "2", "managedFields": []any{}, "generation": 3,
		"annotations": map[string]any{"argoperator.dev/attempt": "7"},
	}
	elsewhere := object("ConfigMap", "a", "s", "", nil)
	elsewhere.Fields["metadata"] = map[string]any{"name": "a", "namespace": "other"}
	global := object("Namespace", "b", "s", "", nil)
	global.Fields["metadata"] = map[string]any{"name": "b", "namespace": "wrong"}
	generated := object("ConfigMap", "", "s", "", nil)
	generated.Fields["metadata"] = map[string]any{"generateName": "x-"}
	again := object("ConfigMap", "a", "s", "", map[string]any{"n": 1})
	found, err := client.Check(context.Background(), []Object{full, again, elsewhere, global, generated, generated}, nil)
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	const query = "?dryRun=All&fieldManager=web&fieldValidation=Strict"
	want := []string{
		"GET /api/v1", "GET /version",
		"PATCH /api/v1/namespaces/b" + query + "&force=true",
		"PATCH /api/v1/namespaces/other/configmaps/a" + query + "&force=true",
		"PATCH /api/v1/namespaces/team/configmaps/a" + query + "&force=true",
		"POST /api/v1/namespaces/team/configmaps" + query,
	}
	got := api.Requests()
	for i := range got {
		got[i] = strings.TrimSuffix(strings.TrimSuffix(got[i], "&timeout=40s"), "?timeout=40s")
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestFindings(t *testing.T) {
	data := func(value any) map[string]any { return map[string]any{"size": value} }
	field := map[string]any{"field": "data.size", "message": "Invalid value: 5: too much", "reason": "FieldValueInvalid"}
	sized := rejection(`"size":(5|50)\b`, "invalid", field)
	tests := []struct {
		name, reason string
		answers      []apiservertest.Answer
		objects      []Object
		want         []string
	}{
		{
			"all samples", "the template cannot be applied",
			[]apiservertest.Answer{rejection("PATCH", "denied")},
			[]Object{object("ConfigMap", "a", "s", `{"long":1}`, data(1)), object("ConfigMap", "a", "s", `{"b":2}`, data(2))},
			[]string{`s:0 error the API server rejected the ConfigMap: denied, for example where the custom resource has {"b":2}`},
		},
		{
			"some samples", "a user's custom resource may have it",
			[]apiservertest.Answer{sized},
			[]Object{object("ConfigMap", "a", "s", `{"x":50}`, data(50)), object("ConfigMap", "a", "s", `{"x":5}`, data(5)), object("ConfigMap", "a", "s", `{}`, data(1))},
			[]string{`s:2 warning the API server rejected the ConfigMap: data.size: Invalid value: 5: too much, where the custom resource has {"x":5}`},
		},
		{
			"a custom resource of a user", "it is what will be applied",
			[]apiservertest.Answer{sized},
			[]Object{object("ConfigMap", "a", "s", "", data(5)), object("ConfigMap", "b", "s", "", data(1))},
			[]string{`s:2 error the API server rejected the ConfigMap: data.size: Invalid value: 5: too much`},
		},
		{
			"another reason first", "the server stops at the first policy that denies",
			[]apiservertest.Answer{rejection(`"size":50\b`, "quota"), rejection("PATCH", "no limit")},
			[]Object{object("ConfigMap", "a", "s", `{"x":50}`, data(50)), object("ConfigMap", "a", "s", `{"x":5}`, data(5)), object("ConfigMap", "a", "s", `{}`, data(1))},
			[]string{
				`s:0 warning the API server rejected the ConfigMap: quota, where the custom resource has {"x":50}`,
				`s:0 error the API server rejected the ConfigMap: no limit, for example where the custom resource has {}`,
			},
		},
		{
			"two templates", "each has its own findings",
			[]apiservertest.Answer{rejection("PATCH", "denied")},
			[]Object{object("ConfigMap", "a", "s", "", nil), object("ConfigMap", "a", "t", "", nil)},
			[]string{"s:0 error the API server rejected the ConfigMap: denied", "t:0 error the API server rejected the ConfigMap: denied"},
		},
		{
			"warnings", "each belongs to its own request",
			[]apiservertest.Answer{{To: `"size":5\b`, Warnings: []string{"old", "older"}}},
			[]Object{object("ConfigMap", "a", "s", "", data(5)), object("ConfigMap", "b", "t", "", data(1))},
			[]string{"s:0 warning the API server warns about the ConfigMap: old", "s:0 warning the API server warns about the ConfigMap: older"},
		},
		{
			"kind that is missing", "it is reported once",
			nil,
			[]Object{
				object("Secret", "a", "s", "", nil), object("Secret", "b", "s", "", nil), object("Secret", "c", "t", "", nil), object("ConfigMap", "c", "t", "", nil),
			},
			[]string{"s:0 warning the API server did not check 3 objects: it does not have the kind Secret of v1"},
		},
		{
			"status", "it can be checked only where the object exists",
			[]apiservertest.Answer{{To: "/webs/gone/status", Status: map[string]any{
				"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404.0, "message": "webs \"gone\" not found", "details": map[string]any{"kind": "webs", "name": "gone"},
			}}, rejection("/webs/here/status.*\"size\":5", "no such phase")},
			[]Object{status("gone", 5), status("here", 5)},
			[]string{
				"s:0 error the API server rejected the Web: no such phase",
				"s:0 warning the API server did not check 1 object: it checks a status only for an existing object, and this Web does not exist",
			},
		},
		{
			"part of an object of others", "without the object there is nothing to change, and the part alone is invalid",
			[]apiservertest.Answer{{To: "GET /api/v1/namespaces/team/configmaps/gone", Status: map[string]any{
				"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404.0, "message": "not found", "details": map[string]any{"kind": "configmaps", "name": "gone"},
			}}, rejection("PATCH .*gone", "it was sent")},
			[]Object{part("gone")},
			[]string{"s:0 warning the API server did not check 1 object: this ConfigMap does not exist"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, _ := connected(t, tt.answers...)
			found, err := client.Check(context.Background(), tt.objects, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.Severity, f.Message))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func status(name string, size int) Object {
	o := object("Web", name, "s", "", nil)
	o.Fields["status"], o.Status = map[string]any{"size": size}, true
	return o
}

func part(name string) Object {
	o := object("ConfigMap", name, "s", "", nil)
	o.Partial = true
	return o
}

// TestComputedText covers a text that an expression computes: the text of a sample says
// nothing about that of a user.
func TestComputedText(t *testing.T) {
	cause := map[string]any{"field": "data.image", "message": "Invalid value", "reason": "FieldValueInvalid"}
	for value, want := range map[string]diag.Severity{"${ .spec.image }": diag.Warning, "fixed": diag.Error} {
		client, _ := connected(t, rejection("PATCH", "invalid", cause))
		o := object("ConfigMap", "a", "s", "{}", map[string]any{"image": "sample"})
		o.Template = map[string]any{"data": map[string]any{"image": value}}
		found, err := client.Check(context.Background(), []Object{o}, nil)
		if err != nil || len(found) != 1 || found[0].Severity != want {
			t.Errorf("%s: %v %v, want a %s", value, found, err, want)
		}
	}
}

// slow starts a server that answers each write when release is closed, and counts the
// writes in flight.
func slow(t *testing.T, release chan struct{}) (client *Client, most *atomic.Int32) {
	t.Helper()
	var now atomic.Int32
	most = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true}]}`)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not noticed
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}`)
	}))
	t.Cleanup(server.Close)
	client, err := newClient(&rest.Config{Host: server.URL}, "team")
	if err != nil {
		t.Fatal(err)
	}
	return client, most
}

func many() []Object {
	var out []Object
	for i := range 20 {
		out = append(out, object("ConfigMap", fmt.Sprint("a", i), "s", "", nil))
	}
	return out
}

func TestConcurrency(t *testing.T) {
	release := make(chan struct{})
	client, most := slow(t, release)
	time.AfterFunc(100*time.Millisecond, func() { close(release) })
	var last, total int
	if _, err := client.Check(context.Background(), many(), func(done, all int) { last, total = done, all }); err != nil {
		t.Fatal(err)
	}
	if most.Load() > maxConcurrent || most.Load() < 2 || last != 20 || total != 20 {
		t.Errorf("%d requests at a time, progress %d of %d", most.Load(), last, total)
	}
}

func TestCancel(t *testing.T) {
	client, most := slow(t, make(chan struct{}))
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(50*time.Millisecond, func() { cancel(interrupted) })
	if _, err := client.Check(ctx, many(), nil); !errors.Is(err, interrupted) {
		t.Errorf("error %v, want %v", err, interrupted)
	}
	if most.Load() > maxConcurrent {
		t.Errorf("%d requests", most.Load())
	}
}

// TestLost covers a server that stops while it checks.
func TestLost(t *testing.T) {
	client, api := connected(t)
	api.Close()
	var lost *ConnectionError
	if _, err := client.Check(context.Background(), many(), nil); !errors.As(err, &lost) {
		t.Errorf("error %v, want a ConnectionError", err)
	}
}
