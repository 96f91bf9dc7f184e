package selfcheck

import (
	"errors"
	"fmt"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// roleWorker is the role of the service account of a worker.
const roleWorker argo.Role = "worker"

// pods returns the pods of Workflows and of workers.
func (o objects) pods() []argo.Pod {
	out := slices.Clone(o.Pods())
	for _, w := range o.Workers() {
		out = append(out, w.Pod)
	}
	return out
}

// checkPost reports a trigger that does not pass each event, and nothing else, to a worker.
func checkPost(r *problem.Report, o objects, t argo.Trigger) {
	h, at := t.Template.HTTP, t.Path.Child("template", "http")
	if _, why := o.Receiver(t); why != "" {
		r.Add(at.Child("url"), codeRequest, "", "no worker gets the events: %s", why)
		return
	}
	if h.Method != "POST" || len(h.Headers)+len(h.SecureHeaders)+len(h.DynamicHeaders) > 0 || h.BasicAuth != nil {
		r.Add(at, codeRequest, "leave them out", "a worker takes POST requests, and nothing that identifies their sender")
	}
	for _, dependency := range t.DependencyNames() {
		if !slices.ContainsFunc(h.Payload, func(p eventsv1.TriggerParameter) bool {
			return p.Dest == "event" && p.Src != nil && p.Src.DependencyName == dependency && p.Src.DataKey == "event" && p.Src.UseRawData
		}) {
			r.Add(at.Child("payload"), codeRequest, "take event", "the worker does not get the event of dependency %q", dependency)
		}
	}
}

// repairs reports whether a worker that a Sensor posts to repairs what the bus has lost: it
// looks at all custom resources, and replaces the pods of the Sensor and of its EventSource.
func repairs(o objects, s *eventsv1.Sensor) bool {
	for _, t := range o.Triggers(s) {
		if !t.PostsInCluster() {
			continue
		}
		script, why := o.Receiver(t)
		if why != "" {
			continue // requests reports it
		}
		knows := slices.ContainsFunc(s.Spec.Dependencies, func(d eventsv1.EventDependency) bool {
			return d.EventSourceName == script.Config.EventSource
		})
		if knows && slices.Contains(script.Config.Sensors, s.Name) && script.Config.ResyncSeconds > 0 {
			return true
		}
	}
	return false
}

// validateEventOfWorker reports an event that a worker does not understand.
func validateEventOfWorker(of map[string]any) error {
	if len(of) == 0 {
		return errors.New("event is no object, or is empty")
	}
	for key, value := range of {
		text, isText := value.(string)
		_, isObject := value.(map[string]any)
		switch {
		case (key == "key" || key == "heartbeat" || key == "sensor") && isText && text != "", key == "cause" && isText, key == "related" && isObject:
		default:
			return fmt.Errorf("event.%s is %v", key, value)
		}
	}
	return nil
}
