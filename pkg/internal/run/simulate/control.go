package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Actions of users, controllers and EventSources while an operator runs, for tests
// and scenarios of several events.

// Path returns the API path of an object with a suffix.
func (s *Simulation) Path(fields map[string]any, suffix string) string {
	return s.path(s.withNamespace(fields), suffix)
}

// Publish delivers an event again, as an EventSource or the event bus may.
func (s *Simulation) Publish(ctx context.Context, e Event) error { return s.publish(ctx, e) }

// Relist restarts every EventSource, which publishes an event for every existing
// object. The next Run handles the resulting changes.
func (s *Simulation) Relist(ctx context.Context) error {
	if s.remote != nil {
		s.remote.Relist()
		return nil
	}
	for _, k := range slices.Clone(s.cluster.Order) {
		for _, w := range s.watches {
			o := s.cluster.Objects[k]
			if o == nil { // deleted by the delivery of an earlier event
				break
			}
			event, ok := w.eventFor(s.cluster, cluster.Change{Resource: k.GroupResource, New: o})
			if !ok {
				continue
			}
			if err := s.publish(ctx, event); err != nil {
				return err
			}
		}
	}
	return nil
}

// Resync does the work of the operators' CronWorkflows. One that replaces an
// EventSource's pod causes a relist; any other runs as a Workflow. The next Run
// handles the resulting changes. CronWorkflows with a condition rotate tokens,
// which the simulation does not need.
func (s *Simulation) Resync(ctx context.Context) error {
	for _, w := range s.workers {
		if _, err := w.do(ctx, workerCommand{}); err != nil {
			return err
		}
	}
	for _, c := range s.CronWorkflows() {
		if err := s.RunCron(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// CronWorkflows returns the CronWorkflows that resync.
func (s *Simulation) CronWorkflows() []*wfv1.CronWorkflow {
	return slices.DeleteFunc(slices.Clone(s.crons), func(c *wfv1.CronWorkflow) bool { return c.Spec.When != "" })
}

// RunCron does the work of one CronWorkflow.
func (s *Simulation) RunCron(ctx context.Context, c *wfv1.CronWorkflow) error {
	if restartsSource(c.Spec.WorkflowSpec) {
		return s.Relist(ctx)
	}
	if err := s.tick(ctx, c.Namespace); err != nil {
		return err
	}
	spec, err := json.Marshal(c.Spec.WorkflowSpec)
	if err != nil {
		return fmt.Errorf("encoding CronWorkflow %s: %w", c.Name, err)
	}
	path := "/apis/argoproj.io/v1alpha1/namespaces/" + c.Namespace + "/workflows"
	w := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": shapes.ArgoGroup + "/v1alpha1", "kind": "Workflow",
		"metadata": map[string]any{"generateName": c.Name + "-", "namespace": c.Namespace},
		"spec":     cluster.Decoded(spec),
	}}
	if _, err := s.ask(http.MethodPost, path, "application/json", w.Object); err != nil {
		return fmt.Errorf("starting CronWorkflow %s: %w", c.Name, err)
	}
	return nil
}

// tick fires the calendars of the EventSources in a namespace, because a resync
// checks the last-tick annotations that they leave on the EventSource.
func (s *Simulation) tick(ctx context.Context, namespace string) error {
	for _, source := range s.sources {
		if source.Namespace != namespace || len(source.Spec.Calendar) == 0 {
			continue
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(source)
		if err != nil {
			return fmt.Errorf("encoding EventSource %s: %w", source.Name, err)
		}
		if there, err := s.Get(fields); err != nil {
			return err
		} else if there == nil {
			if err := s.Apply(fields); err != nil {
				return err
			}
		}
		for _, name := range slices.Sorted(maps.Keys(source.Spec.Calendar)) {
			data, err := json.Marshal(map[string]any{"eventTime": s.now()})
			if err != nil {
				return fmt.Errorf("encoding a tick: %w", err)
			}
			tick := Event{Source: source.Name, Name: name, Type: "tick", Object: Name{Resource: "calendar", Name: name}, Data: data}
			if err := s.publish(ctx, tick); err != nil {
				return err
			}
		}
	}
	return nil
}

// restartsSource reports whether a Workflow patches an EventSource so that it gets
// a new pod.
func restartsSource(spec wfv1.WorkflowSpec) bool {
	return slices.ContainsFunc(spec.Templates, func(t wfv1.Template) bool {
		if t.Resource == nil || t.Resource.Action != "patch" {
			return false
		}
		fields, _ := cluster.Decoded([]byte(t.Resource.Manifest)).(map[string]any)
		return fields["kind"] == "EventSource"
	})
}

// Patch sends a merge patch with the given field manager. The subresource may be
// empty.
func (s *Simulation) Patch(fields map[string]any, subresource, manager string, patch map[string]any) error {
	if subresource != "" {
		subresource = "/" + subresource
	}
	o := s.withNamespace(fields)
	path := s.path(o, subresource+"?fieldManager="+manager)
	if _, err := s.ask(http.MethodPatch, path, "application/merge-patch+json", patch); err != nil {
		return fmt.Errorf("changing %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

func (s *Simulation) ask(method, path, contentType string, fields map[string]any) (map[string]any, error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding an object: %w", err)
	}
	req, err := http.NewRequest(method, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	return s.Do(req)
}

// Intercept wraps the API server that the operators use; nil removes the wrapper.
// Requests of users and controllers bypass it.
func (s *Simulation) Intercept(with func(api http.Handler) http.Handler) {
	s.api = s.cluster
	if with != nil {
		s.api = with(s.cluster)
	}
}

// Objects returns all objects in creation order, except the operators' EventSources
// and Workflows.
func (s *Simulation) Objects() []map[string]any {
	s.cluster.Mu.Lock()
	defer s.cluster.Mu.Unlock()
	var out []map[string]any
	for _, k := range s.cluster.Order {
		if o := s.cluster.Objects[k]; !s.internal(k, o) {
			out = append(out, o.DeepCopy().Object)
		}
	}
	return out
}

// internal reports whether an object belongs to the operators or is one of their
// Workflows.
func (s *Simulation) internal(k cluster.Key, o cluster.Object) bool {
	if k.Group == workflowsResource.Group && o.GetKind() == "EventSource" {
		return slices.ContainsFunc(s.sources, func(e *eventsv1.EventSource) bool { return e.Namespace == k.Namespace && e.Name == k.Name })
	}
	if k.GroupResource != workflowsResource {
		return false
	}
	which := version{k, o.GetResourceVersion()}
	internal, known := s.internals[which]
	if !known {
		if w, err := workflowOf(o); err == nil { // else the Workflow controller would not run it either
			_, _, internal = s.origin(w)
		}
		s.internals[which] = internal
	}
	return internal
}

// version identifies a state of an object.
type version struct {
	key     cluster.Key
	version string
}

// Normalized returns an object as a user would apply it: without what the API server
// sets, and with wall-clock times replaced by a fixed one.
func (s *Simulation) Normalized(fields map[string]any) map[string]any {
	o := s.cluster.WithoutAssigned(&unstructured.Unstructured{Object: fields})
	out, _ := s.normalize(o.DeepCopy().Object).(map[string]any)
	removeServerMetadata(out)
	return out
}

// RequestInfo identifies the object of a request, for interceptors.
type RequestInfo struct{ Kind, Namespace, Name, Subresource string }

// RequestInfo parses the path of a request. If the cluster does not know the kind,
// it reads the kind from the body and keeps the body readable.
func (s *Simulation) RequestInfo(r *http.Request) (RequestInfo, bool) {
	target, ok := s.target(r)
	if !ok {
		return RequestInfo{}, false
	}
	out := target.RequestInfo
	if out.Kind == "" && r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return RequestInfo{}, false
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		fields, _ := cluster.Decoded(data).(map[string]any)
		out.Kind, _ = fields["kind"].(string)
	}
	return out, true
}

// NotConvergedError reports an operator that keeps reacting to its own changes.
type NotConvergedError struct{ message string }

func (r *NotConvergedError) Error() string { return r.message }

// Merged returns an object with a merge patch (RFC 7396) applied; both arguments
// stay unchanged.
func Merged(fields, patch map[string]any) map[string]any {
	if patch == nil {
		patch = map[string]any{}
	}
	out, _ := cluster.Merge((&unstructured.Unstructured{Object: fields}).DeepCopy().Object, patch).(map[string]any)
	return out
}
