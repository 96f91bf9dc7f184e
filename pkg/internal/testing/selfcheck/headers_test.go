package selfcheck

import (
	"net/http"
	"net/http/httptest"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	httptrigger "github.com/argoproj/argo-events/pkg/sensors/triggers/http"
	"go.uber.org/zap"
)

// TestHeadersWithSeveralDependencies shows why a trigger with several dependencies
// sets its headers in parameters: Argo Events reads every entry of dynamicHeaders,
// even if its dependency has no event.
func TestHeadersWithSeveralDependencies(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers func(*eventsv1.HTTPTrigger, eventsv1.TriggerParameter)
		want    bool
	}{
		{"dynamicHeaders", func(h *eventsv1.HTTPTrigger, p eventsv1.TriggerParameter) {
			h.DynamicHeaders = append(h.DynamicHeaders, p)
		}, false},
		{"parameters", func(h *eventsv1.HTTPTrigger, p eventsv1.TriggerParameter) {
			p.Dest = "headers." + p.Dest
			h.Parameters = append(h.Parameters, p)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Content-Type") }))
			defer server.Close()
			h := &eventsv1.HTTPTrigger{URL: server.URL, Method: "PATCH"}
			for _, dependency := range []string{"blue", "green"} {
				c.headers(h, eventsv1.TriggerParameter{Src: &eventsv1.TriggerParameterSource{DependencyName: dependency, DataKey: "type"}, Dest: "Content-Type"})
			}
			if ok := executes(t, h, map[string]*eventsv1.Event{"green": {
				Context: &eventsv1.EventContext{DataContentType: eventsv1.MediaTypeJSON}, Data: []byte(`{"type":"x/y"}`),
			}}); ok != c.want || ok && got != "x/y" {
				t.Errorf("fires = %v with Content-Type %q, want %v", ok, got, c.want)
			}
		})
	}
}

// executes reports whether the trigger handles an event without a panic.
func executes(t *testing.T, h *eventsv1.HTTPTrigger, events map[string]*eventsv1.Event) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	trigger := &httptrigger.HTTPTrigger{Client: http.DefaultClient, Trigger: &eventsv1.Trigger{Template: &eventsv1.TriggerTemplate{HTTP: h}}, Logger: zap.NewNop().Sugar()}
	resource, err := trigger.ApplyResourceParameters(events, h)
	if err != nil {
		t.Fatal(err)
	}
	response, err := trigger.Execute(t.Context(), events, resource)
	if err != nil {
		t.Fatal(err)
	}
	return response.(*http.Response).Body.Close() == nil
}
