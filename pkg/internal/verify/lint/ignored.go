package lint

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// unreadSettings reports values that Argo reads as if they were not there.
func unreadSettings(i *inspection) {
	switch o := i.Object.(type) {
	case *eventsv1.Sensor:
		for _, t := range argo.Triggers(o) {
			i.ignoredPolicy(t)
			i.ignoredSecurity(t)
		}
	case *eventsv1.EventSource:
		i.exclusions(o)
		i.ignoredOfSource(o)
	case *eventsv1.EventBus:
		i.streamDurations(o)
		i.furtherBuses(o)
	}
	for _, f := range i.set.flows[i.Object] {
		i.ignoredCleanup(f)
		i.ignoredParameters(f)
		f.eachRetry(func(at *field.Path, r *wfv1.RetryStrategy) {
			if r.Backoff != nil && r.Limit == nil {
				i.reportHint(at.Child("backoff"), "add limit", "without limit, Argo retries at once and without an end")
			}
			if r.Backoff == nil {
				return
			}
			first, err := wfv1.ParseStringToDuration(r.Backoff.Duration)
			last, wrong := wfv1.ParseStringToDuration(r.Backoff.MaxDuration)
			if err == nil && wrong == nil && last > 0 && last < first {
				i.reportHint(at.Child("backoff", "maxDuration"), "raise maxDuration, or lower duration",
					"maxDuration ends before the first retry, so there is none")
			}
		})
	}
}

// ignoredCleanup reports strategies that Argo does not know.
func (i *inspection) ignoredCleanup(f flow) {
	check := func(at *field.Path, strategy string, known ...string) {
		if strategy != "" && !strings.Contains(strategy, "{{") && !slices.Contains(known, strategy) {
			i.reportHint(at.Child("strategy"), oneOf(strategy, known),
				"there is no strategy %s", strategy)
		}
	}
	artifacts := []string{
		string(wfv1.ArtifactGCOnWorkflowCompletion), string(wfv1.ArtifactGCOnWorkflowDeletion), string(wfv1.ArtifactGCNever),
	}
	if gc := f.spec.ArtifactGC; gc != nil {
		check(f.path.Child("artifactGC"), string(gc.Strategy), artifacts...)
	}
	if gc := f.spec.VolumeClaimGC; gc != nil {
		check(f.path.Child("volumeClaimGC"), string(gc.Strategy),
			string(wfv1.VolumeClaimGCOnCompletion), string(wfv1.VolumeClaimGCOnSuccess))
	}
	for _, t := range f.templates() {
		for n, a := range t.Outputs.Artifacts {
			if a.ArtifactGC != nil {
				check(t.path.Child("outputs", "artifacts").Index(n).Child("artifactGC"), string(a.ArtifactGC.Strategy), artifacts...)
			}
		}
	}
}

// ignoredPolicy reports a policy of the other kind of trigger: k8s looks at the labels of an object, and
// status at the status code of an answer.
func (i *inspection) ignoredPolicy(t argo.Trigger) {
	if t.Policy == nil {
		return
	}
	makesObject := t.Template.K8s != nil || t.Template.ArgoWorkflow != nil
	getsStatus := t.Template.HTTP != nil || t.Template.AWSLambda != nil || t.Template.OpenWhisk != nil
	at := t.Path.Child("policy")
	if t.Policy.K8s != nil && !makesObject {
		hint := "remove it"
		if getsStatus {
			hint = "list the status codes of success in policy.status.allow"
		}
		i.reportHint(at.Child("k8s"), hint, "only triggers of type k8s and argoWorkflow read policy.k8s")
	}
	if t.Policy.Status != nil && !getsStatus {
		i.reportHint(at.Child("status"), "remove it", "only triggers of type http, awsLambda and openWhisk read policy.status")
	}
}

// ignoredSecurity reports settings with which a trigger connects in another way.
func (i *inspection) ignoredSecurity(t argo.Trigger) {
	at := t.Path.Child("template")
	if k := t.Template.Kafka; k != nil && k.SASL != nil && k.SASL.Mechanism != "" && k.SASL.GetMechanism() != k.SASL.Mechanism {
		i.reportHint(at.Child("kafka", "sasl", "mechanism"), "use PLAIN, OAUTHBEARER, SCRAM-SHA-256, SCRAM-SHA-512 or GSSAPI",
			"there is no mechanism %s, so the trigger uses %s", k.SASL.Mechanism, k.SASL.GetMechanism())
	}
	if c := t.Template.CustomTrigger; c != nil && !c.Secure && c.CertSecret != nil {
		i.reportHint(at.Child("custom", "certSecret"), "set secure: true", "without secure, the connection has no TLS")
	}
}

func (i *inspection) exclusions(s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Calendar)) {
		for n, date := range s.Spec.Calendar[name].ExclusionDates {
			if !strings.HasPrefix(date, "EXDATE:") && !strings.Contains(date, "{{") {
				i.reportHint(field.NewPath("spec", "calendar").Key(name).Child("exclusionDates").Index(n),
					`write "EXDATE:" and the time in the form 20060102T150405Z`, "the date has no prefix EXDATE:")
			}
		}
	}
}

// ignoredOfSource reports settings of events that others replace, or that lack another one.
func (i *inspection) ignoredOfSource(s *eventsv1.EventSource) {
	for of, entry := range entriesOf(s) {
		hook := webhookOf(of, entry)
		for is, other := range map[string]string{"serverCertSecret": "serverKeySecret", "serverKeySecret": "serverCertSecret"} {
			if hook.IsValid() && isSet(hook, is) && !isSet(hook, other) {
				i.reportHint(hookPath(of).Child(is), "add "+other, "without %s, the server has no TLS", other)
			}
		}
		switch e := entry.Interface().(type) {
		case eventsv1.CalendarEventSource:
			if e.Schedule != "" && e.Interval != "" {
				i.reportHint(of.path.Child("interval"), "remove it, or remove schedule", "interval has no effect beside schedule")
			}
		case eventsv1.KafkaEventSource:
			known := []string{"range", "roundrobin", "sticky"}
			if g := e.ConsumerGroup; g != nil && g.RebalanceStrategy != "" && !slices.Contains(known, g.RebalanceStrategy) {
				i.reportHint(of.at("consumerGroup.rebalanceStrategy"), "use "+strings.Join(known, ", "),
					"there is no strategy %s, so the source uses range", g.RebalanceStrategy)
			}
		}
	}
}

// furtherBuses reports all kinds of an EventBus but the first that Argo Events looks for.
func (i *inspection) furtherBuses(b *eventsv1.EventBus) {
	first := ""
	for _, name := range []string{"nats", "jetstream", "kafka", "jetstreamExotic"} {
		switch {
		case !isSet(reflect.ValueOf(b.Spec), name):
		case first == "":
			first = name
		default:
			i.reportHint(field.NewPath("spec", name), "remove one of the two", "%s has no effect beside %s", name, first)
		}
	}
}

// streamDurations reports durations of a stream's configuration that Go does not read: they become 0.
func (i *inspection) streamDurations(b *eventsv1.EventBus) {
	settings := streamConfigOf(b)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		text, is := settings[name].(string)
		if !is || !strings.EqualFold(name, "maxAge") && !strings.EqualFold(name, "duplicates") {
			continue
		}
		_, err := time.ParseDuration(text)
		if _, number := strconv.ParseFloat(text, 64); err != nil && number != nil && !strings.Contains(text, "{{") {
			i.reportHint(field.NewPath("spec", "jetstream", "streamConfig"), "write s, m or h, such as 72h",
				"%s: %q is no duration, and counts as 0", name, text)
		}
	}
}

// streamConfigOf returns the settings of the stream of an EventBus.
func streamConfigOf(b *eventsv1.EventBus) map[string]any {
	var settings map[string]any
	if b.Spec.JetStream == nil || b.Spec.JetStream.StreamConfig == nil ||
		yaml.Unmarshal([]byte(*b.Spec.JetStream.StreamConfig), &settings) != nil {
		return nil
	}
	return settings
}
