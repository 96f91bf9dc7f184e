package simulate

import (
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	cloudevents "github.com/cloudevents/sdk-go/v2"
)

// TestFailedTransform checks that the error contains the cause. Argo reports "must
// be a JSON object" for every failure.
func TestFailedTransform(t *testing.T) {
	tests := []struct{ jq, has string }{
		{`{a: (null - 5)}`, "cannot subtract"},
		{`error("no such thing")`, "no such thing"},
		{`empty`, "no result, expected an object"},
		{`[1]`, "expected an object, got array"},
		{`"text"`, "expected an object, got string"},
	}
	for _, test := range tests {
		prepared := NewPrepared()
		for try := range 2 { // the first run is compared with Argo's
			event := cloudevents.NewEvent()
			if err := event.SetData(cloudevents.ApplicationJSON, map[string]any{"body": 1}); err != nil {
				t.Fatal(err)
			}
			_, err := prepared.transform(t.Context(), &event, &eventsv1.EventDependencyTransformer{JQ: test.jq})
			if err == nil || !strings.Contains(err.Error(), test.has) {
				t.Errorf("%s, try %d: %v, want %q", test.jq, try, err, test.has)
			}
		}
	}
}
