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

	"github.com/argoperator/argoperator/pkg/internal/cluster"
	shapes "github.com/argoperator/argoperator/pkg/internal/schema"
)

// What others do in the cluster while an operator works on it: those who play
// through more than one event.

// Path is where the API serves an object; suffix is appended.
func (s *Simulation) Path(fields map[string]any, suffix string) string {
	return s.path(s.placed(fields), suffix)
}

// Publish delivers an event once more, as an EventSource or its bus may.
func (s *Simulation) Publish(ctx context.Context, e Event) error { return s.publish(ctx, e) }

// Announce lets every EventSource start anew: it tells of everything there is.
// What comes of that is for the next Run.
func (s *Simulation) Announce(ctx context.Context) error {
	for _, k := range slices.Clone(s.cluster.Order) {
		for _, w := range s.watches {
			o := s.cluster.Objects[k]
			if o == nil { // it has gone over an earlier one
				break
			}
			event, ok := w.sees(cluster.Change{Resource: k.GroupResource, New: o})
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

// Resync does what the operators' CronWorkflows do. One that replaces the pod
// of an EventSource has everything announced; any other one runs. What comes of
// that is for the next Run. One with a condition replaces tokens, which nobody
// asks for here.
func (s *Simulation) Resync(ctx context.Context) error {
	for _, c := range s.crons {
		if c.Spec.When != "" {
			continue
		}
		ref := c.Spec.WorkflowSpec.WorkflowTemplateRef
		if ref == nil || s.templates[c.Namespace+"/"+ref.Name] == nil {
			return fmt.Errorf("CronWorkflow %s: only those of a WorkflowTemplate are simulated", c.Name)
		}
		if replaysSources(s.templates[c.Namespace+"/"+ref.Name]) {
			if err := s.Announce(ctx); err != nil {
				return err
			}
			continue
		}
		if err := s.beat(ctx, c.Namespace); err != nil {
			return err
		}
		path := "/apis/argoproj.io/v1alpha1/namespaces/" + c.Namespace + "/workflows"
		w := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": shapes.ArgoGroup + "/v1alpha1", "kind": "Workflow",
			"metadata": map[string]any{"generateName": c.Name + "-", "namespace": c.Namespace},
			"spec":     map[string]any{"workflowTemplateRef": map[string]any{"name": ref.Name}},
		}}
		if _, err := s.ask(http.MethodPost, path, "application/json", w.Object); err != nil {
			return fmt.Errorf("starting CronWorkflow %s: %w", c.Name, err)
		}
	}
	return nil
}

// beat lets the calendars of the EventSources in a namespace tick: a resync
// looks at the traces that these leave on the EventSource.
func (s *Simulation) beat(ctx context.Context, namespace string) error {
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
			if err := s.publish(ctx, Event{Source: source.Name, Name: name, Type: "tick", Object: Name{Resource: "calendar", Name: name}, Data: data}); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaysSources tells whether a Workflow gives an EventSource another pod.
func replaysSources(t *wfv1.WorkflowTemplate) bool {
	return slices.ContainsFunc(t.Spec.Templates, func(t wfv1.Template) bool {
		if t.Resource == nil || t.Resource.Action != "patch" {
			return false
		}
		fields, _ := cluster.Readable([]byte(t.Resource.Manifest)).(map[string]any)
		return fields["kind"] == "EventSource"
	})
}

// Patch changes an object by a merge patch, as somebody else does whose name as
// a field manager is given. The subresource may be empty.
func (s *Simulation) Patch(fields map[string]any, subresource, manager string, patch map[string]any) error {
	if subresource != "" {
		subresource = "/" + subresource
	}
	o := s.placed(fields)
	if _, err := s.ask(http.MethodPatch, s.path(o, subresource+"?fieldManager="+manager), "application/merge-patch+json", patch); err != nil {
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

// Intercept puts something between the operators and the API server; nil takes
// it away. What others do does not pass through it.
func (s *Simulation) Intercept(with func(api http.Handler) http.Handler) {
	s.api = s.cluster
	if with != nil {
		s.api = with(s.cluster)
	}
}

// Objects are all that the cluster holds, in the order in which they were
// written first, but for the operators' own: their EventSources, and the
// Workflows that did their work.
func (s *Simulation) Objects() []map[string]any {
	s.cluster.Mu.Lock()
	defer s.cluster.Mu.Unlock()
	var out []map[string]any
	for _, k := range s.cluster.Order {
		if o := s.cluster.Objects[k]; !s.works(k, o) {
			out = append(out, o.DeepCopy().Object)
		}
	}
	return out
}

// works tells whether an object is a part of the operators, or a Workflow from
// one of their templates.
func (s *Simulation) works(k cluster.Key, o cluster.Object) bool {
	if k.Group == workflows.Group && o.GetKind() == "EventSource" {
		return slices.ContainsFunc(s.sources, func(e *eventsv1.EventSource) bool { return e.Namespace == k.Namespace && e.Name == k.Name })
	}
	if k.GroupResource != workflows {
		return false
	}
	ref, _, _ := unstructured.NestedString(o.Object, "spec", "workflowTemplateRef", "name")
	return s.templates[k.Namespace+"/"+ref] != nil
}

// Shown is an object as it would be applied: without what the API server makes,
// and with the machine's own times made steady.
func (s *Simulation) Shown(fields map[string]any) map[string]any {
	out, _ := s.steadied((&unstructured.Unstructured{Object: fields}).DeepCopy().Object).(map[string]any)
	withoutServerMade(out)
	return out
}

// Parts are the names in the path of a request: what an interceptor goes by.
type Parts struct{ Kind, Namespace, Name, Subresource string }

// PartsOf reads a path of the API. Where the cluster does not know the kind, it
// is that of the object in the body, which stays there.
func (s *Simulation) PartsOf(r *http.Request) (Parts, bool) {
	req, err := s.cluster.Parse(r, nil)
	if err != nil {
		return Parts{}, false
	}
	out := Parts{Kind: req.Kind.Kind, Namespace: req.Namespace, Name: req.Name, Subresource: req.Subresource}
	if out.Kind == "" && r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return Parts{}, false
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		fields, _ := cluster.Readable(data).(map[string]any)
		out.Kind, _ = fields["kind"].(string)
	}
	return out, true
}

// Restless is an operator that never comes to rest.
type Restless struct{ message string }

func (r *Restless) Error() string { return r.message }

// Merged is an object changed by a merge patch (RFC 7396); both stay as they are.
func Merged(fields, patch map[string]any) map[string]any {
	if patch == nil {
		patch = map[string]any{}
	}
	out, _ := cluster.Merge((&unstructured.Unstructured{Object: fields}).DeepCopy().Object, patch).(map[string]any)
	return out
}
