package simulate

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

func TestLocalised(t *testing.T) {
	mounts := []cluster.Mount{{Path: "/out.json", Source: "/tmp/x/out"}, {Path: "/operator", Source: "/tmp/x/o"}, {Path: "/operator/logic", Source: "/tmp/x/l"}}
	for text, want := range map[string]string{
		`open("/out.json")`:          `open("/tmp/x/out")`,
		`/out.json /out.json`:        `/tmp/x/out /tmp/x/out`,
		`/var/out.json`:              `/var/out.json`,
		`./out.json`:                 `./out.json`,
		`/out.json.bak`:              `/out.json.bak`,
		`/operator/logic/main.py`:    `/tmp/x/l/main.py`,
		`/operator/parameters/a`:     `/tmp/x/o/parameters/a`,
		`/operators`:                 `/operators`,
		`: > /out.json`:              `: > /tmp/x/out`,
		`unrelated text`:             `unrelated text`,
		`https://a.example/operator`: `https://a.example/operator`,
	} {
		if got := cluster.LocalPaths(text, mounts); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestTransform compares compiled jq with Argo's own code, which must run programs
// that read the clock.
func TestTransform(t *testing.T) {
	for jq, trusted := range map[string]bool{
		`{go: (.n > 1), n, m: (.n * 2)}`:     true,
		`.n`:                                 true, // not an object: both refuse it
		`empty`:                              true,
		`error("no")`:                        true,
		`{at: (now | tostring), go: true}`:   false,
		`{a: [.list[] | select(. != null)]}`: true,
	} {
		p := NewPrepared()
		for range 3 {
			event := cloudevents.NewEvent()
			if err := event.SetData(cloudevents.ApplicationJSON, map[string]any{"n": 2, "list": []any{1, nil, "<é>"}}); err != nil {
				t.Fatal(err)
			}
			theirs, ours := event.Clone(), event.Clone()
			transformer := &eventsv1.EventDependencyTransformer{JQ: jq}
			want, wantErr := (*Prepared)(nil).transform(t.Context(), &theirs, transformer)
			got, err := p.transform(t.Context(), &ours, transformer)
			if (err == nil) != (wantErr == nil) {
				t.Errorf("%s: %v, want %v", jq, err, wantErr)
			}
			if err == nil && trusted && string(got.Data()) != string(want.Data()) {
				t.Errorf("%s: %s, want %s", jq, got.Data(), want.Data())
			}
		}
		if known := p.programs[jq]; known.useArgo == trusted {
			t.Errorf("%s: left to Argo: %v", jq, known.useArgo)
		}
	}
}

// TestTransformEnds checks that endless programs stop with an error, in our code
// and before Argo's runs, and that a canceled context is an error.
func TestTransformEnds(t *testing.T) {
	event := cloudevents.NewEvent()
	if err := event.SetData(cloudevents.ApplicationJSON, map[string]any{"n": 2}); err != nil {
		t.Fatal(err)
	}
	p := NewPrepared()
	for jq, want := range map[string]string{`{n: ("x" * 1e9)}`: "more than 4 MiB of text", `{n: [repeat(.n)]}`: "does not end in time", `{n: (null | .[536870911] = 1)}`: "writes to an index"} {
		in := event.Clone()
		if _, err := p.transform(t.Context(), &in, &eventsv1.EventDependencyTransformer{JQ: jq}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", jq, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := event.Clone()
	if out, err := p.transform(ctx, &in, &eventsv1.EventDependencyTransformer{JQ: `{n}`}); out == nil && err == nil {
		t.Error("neither an event nor an error")
	}
}

// TestRelist checks that a relist publishes every object and changes nothing.
func TestRelist(t *testing.T) {
	s := start(t, "direct.yaml")
	apply(t, s, memcached(map[string]any{"size": int64(2)}))
	before, events := s.Objects(), s.events
	if err := s.Relist(context.Background()); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	if s.events == events {
		t.Error("no event was published")
	}
	if diff := cmp.Diff(before, s.Objects()); diff != "" {
		t.Errorf("the operator writes again: %s", diff)
	}
}

// TestIntercept checks that only the operator's requests pass the interceptor.
func TestIntercept(t *testing.T) {
	s := start(t, "direct.yaml")
	intercepted := map[RequestInfo]bool{}
	s.Intercept(func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			parts, ok := s.RequestInfo(r)
			if !ok {
				t.Errorf("%s is not parsed", r.URL.Path)
			}
			intercepted[parts] = true
			api.ServeHTTP(w, r)
		})
	})
	apply(t, s, memcached(map[string]any{"size": int64(2)}))
	deployment := RequestInfo{Kind: "Deployment", Namespace: "default", Name: "sample"}
	if !intercepted[deployment] || intercepted[RequestInfo{Kind: "Memcached", Namespace: "default", Name: "sample"}] {
		t.Errorf("intercepted: %v", slices.Collect(maps.Keys(intercepted)))
	}
	intercepted = map[RequestInfo]bool{}
	s.Intercept(nil)
	apply(t, s, memcached(map[string]any{"size": int64(3)}))
	if len(intercepted) > 0 {
		t.Errorf("still intercepted: %v", intercepted)
	}
}

// TestRequestInfo checks that an unknown kind is read from the body.
func TestRequestInfo(t *testing.T) {
	s := start(t, "direct.yaml")
	for path, want := range map[string]RequestInfo{
		"/apis/example.com/v1/namespaces/a/gadgets/b":           {Kind: "Gadget", Namespace: "a", Name: "b"},
		"/apis/apps/v1/namespaces/a/deployments/b/status":       {Kind: "Deployment", Namespace: "a", Name: "b", Subresource: "status"},
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/a":     {Kind: "ClusterRole", Name: "a"},
		"/api/v1/namespaces/a/configmaps?fieldManager=somebody": {Kind: "ConfigMap", Namespace: "a"},
	} {
		req, err := http.NewRequest(http.MethodPatch, path, strings.NewReader(`{"kind": "Gadget"}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := s.RequestInfo(req); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
		if body := bodyOf(req); body != `{"kind": "Gadget"}` {
			t.Errorf("%s: the body is %s", path, body)
		}
	}
	if _, ok := s.RequestInfo(&http.Request{URL: &url.URL{Path: "/healthz"}}); ok {
		t.Error("a path without an object is parsed")
	}
}

// TestPatch checks that another field manager owns its change, and that an invalid
// change is refused.
func TestPatch(t *testing.T) {
	s := start(t, "direct.yaml")
	apply(t, s, memcached(map[string]any{"size": int64(2)}))
	if err := s.Patch(memcached(nil), "", "someone", map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}); err != nil {
		t.Fatal(err)
	}
	o, err := s.Get(memcached(nil))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"manager":"someone"`) || !strings.Contains(string(text), `"a":"b"`) {
		t.Errorf("%s", text)
	}
	if err := s.Patch(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "none"}}, "status", "someone", nil); !cluster.IsNotFound(err) {
		t.Error(err)
	}
}
