package simulate

import (
	"strconv"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestAttempts checks the retries of triggers and the reported failures.
func TestAttempts(t *testing.T) {
	tests := []struct {
		name, reason string
		change       func(*eventsv1.Trigger)
		want         string // of each attempt: trigger, calls, failure
	}{
		{"once", "it works", func(*eventsv1.Trigger) {}, "deployment 1"},
		{
			"policy", "an answer that the policy does not name is a failure", func(t *eventsv1.Trigger) { t.Policy.Status.Allow = []int32{202} },
			"deployment 1 policy|deployment 1 policy|deployment 1 policy|deployment-failed 1",
		},
		{
			"not at least once", "then Argo does not try again", func(t *eventsv1.Trigger) { t.Policy.Status.Allow, t.AtLeastOnce = []int32{200}, false },
			"deployment 1 policy|deployment-failed 1",
		},
		{
			"no retries", "without retryStrategy there is one attempt", func(t *eventsv1.Trigger) {
				t.Policy.Status.Allow, t.RetryStrategy, t.DlqTrigger = []int32{200}, nil, nil
			},
			"deployment 1 policy",
		},
		{
			"no policy", "then every answer is a success", func(t *eventsv1.Trigger) {
				t.Policy, t.Template.HTTP.Parameters[0].Src.DataTemplate = nil, "https://host/nothing"
			},
			"deployment 1",
		},
		{
			"parameter", "a key that is not there is a failure before any call", func(t *eventsv1.Trigger) { t.Template.HTTP.Parameters[1].Src.DataKey = "nothing" },
			"deployment 0 unable|deployment 0 unable|deployment 0 unable|deployment-failed 1",
		},
		{"crash", "a header of a dependency that did not fire takes Argo's Sensor down", func(t *eventsv1.Trigger) {
			t.Template.HTTP.DynamicHeaders[1].Src.DependencyName, t.RetryStrategy = "child", nil
		}, "deployment 0 the Sensor would crash|deployment-failed 1"},
		{"log", "what does not act on the cluster is noted", func(t *eventsv1.Trigger) {
			t.Template = &eventsv1.TriggerTemplate{Name: "log", Conditions: "cr", Log: &eventsv1.LogTrigger{}}
		}, "log 0 logs"},
		{"k8s patch", "a k8s trigger reads, and creates what it was to patch", k8s(eventsv1.Patch), "deployment 2"},
		{"k8s delete", "what is not there needs no deletion", k8s(eventsv1.Delete), "deployment 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objects := operator(t, "direct.yaml")
			tt.change(&objects[2].(*eventsv1.Sensor).Spec.Triggers[0])
			if diff := cmp.Diff(tt.want, attempted(t, objects)); diff != "" {
				t.Errorf("%s:\n%s", tt.reason, diff)
			}
		})
	}
}

// k8s converts a trigger to one that takes the whole manifest from the event.
func k8s(operation eventsv1.KubernetesResourceOperation) func(*eventsv1.Trigger) {
	return func(t *eventsv1.Trigger) {
		source := eventsv1.NewK8SResource(map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "any"}})
		t.Template.HTTP, t.Policy = nil, nil
		t.Template.K8s = &eventsv1.StandardK8STrigger{Operation: operation, Source: &eventsv1.ArtifactLocation{Resource: &source}}
		t.Parameters = []eventsv1.TriggerParameter{{
			Src: &eventsv1.TriggerParameterSource{DependencyName: "cr", DataKey: "body", UseRawData: true}, Dest: "k8s.source.resource",
		}}
	}
}

// attempted fires the first trigger and summarizes the attempts.
func attempted(t *testing.T, objects []manifest.Object) string {
	t.Helper()
	s, err := New(Inputs{Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, memcached(map[string]any{"size": int64(1)}))
	var out []string
	for _, a := range s.Trace()[1].Delivery.Attempts {
		words := []string{a.Trigger, strconv.Itoa(len(a.Calls))}
		for _, known := range []string{"policy", "unable", "the Sensor would crash", "logs"} {
			if strings.HasPrefix(a.Failure+a.Note, known) {
				words = append(words, known)
			}
		}
		if len(words) == 2 && a.Failure != "" {
			words = append(words, a.Failure)
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, "|")
}
