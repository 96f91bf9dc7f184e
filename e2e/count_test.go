//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// sightings are the Workflows of the operators and their pods, as they were seen
// last: both are taken away soon after they are done. One informer of each kind
// looks on for the whole suite. One for each operator would give the API server
// more to do than the operators.
type sightings struct {
	once      sync.Once
	mu        sync.Mutex
	workflows map[types.UID]sighting
	pods      map[types.UID]sighting
}

type sighting struct {
	first  time.Time
	object *unstructured.Unstructured // slim
}

var lookout = &sightings{workflows: map[types.UID]sighting{}, pods: map[types.UID]sighting{}}

// start looks on until the suite ends.
func (s *sightings) start(t *testing.T, c *cluster) {
	t.Helper()
	s.once.Do(func() {
		for gvr, into := range map[schema.GroupVersionResource]map[types.UID]sighting{workflows: s.workflows, pods: s.pods} {
			informer := dynamicinformer.NewFilteredDynamicInformer(c.objects, gvr, operators, 0, cache.Indexers{}, nil).Informer()
			handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(object any) { s.note(into, object) },
				UpdateFunc: func(_, object any) { s.note(into, object) },
			})
			if err := errors.Join(err, informer.SetTransform(slim)); err != nil {
				t.Fatal(err)
			}
			go informer.Run(context.Background().Done())
			if !cache.WaitForCacheSync(t.Context().Done(), handler.HasSynced) {
				t.Fatalf("no %s can be listed", gvr.Resource)
			}
		}
	})
}

// slim is what counting needs of an object.
func slim(object any) (any, error) {
	full, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": full.GetAPIVersion(), "kind": full.GetKind()}}
	for _, path := range [][]string{{"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"}, {"metadata", "resourceVersion"}, {"metadata", "labels"}, {"spec", "workflowTemplateRef"}} {
		if value, found, err := unstructured.NestedFieldNoCopy(full.Object, path...); err == nil && found {
			if err := unstructured.SetNestedField(out.Object, value, path...); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s *sightings) note(into map[types.UID]sighting, object any) {
	o, ok := object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	first := time.Now()
	if known, ok := into[o.GetUID()]; ok {
		first = known.first
	}
	into[o.GetUID()] = sighting{first, o}
}

// counter counts the Workflows of an operator and their pods since it was made.
type counter struct {
	of    func(workflow *unstructured.Unstructured) bool // whether it is the operator's; nil: none is
	since time.Time
}

func count(t *testing.T, c *cluster, of func(*unstructured.Unstructured) bool) *counter {
	t.Helper()
	lookout.start(t, c)
	return &counter{of, time.Now()}
}

// runs tells whether a Workflow is made of a WorkflowTemplate or a CronWorkflow of the
// operator.
func (o *operator) runs(workflow *unstructured.Unstructured) bool {
	template, cron := nested(workflow, "spec", "workflowTemplateRef", "name"), workflow.GetLabels()[cronWorkflowLabel]
	return slices.ContainsFunc(o.objects, func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "WorkflowTemplate" && object.GetName() == template ||
			object.GetKind() == "CronWorkflow" && object.GetName() == cron
	})
}

// cronWorkflowLabel is Argo's label of the Workflows of a CronWorkflow.
const cronWorkflowLabel = "workflows.argoproj.io/cron-workflow"

func completed(w *unstructured.Unstructured) bool {
	return w.GetLabels()["workflows.argoproj.io/completed"] == "true"
}

// tally is what was counted: completed Workflows that a Sensor made, one an
// accepted event, and the pods of those.
type tally struct{ events, pods int }

func (n *counter) tally() tally {
	events, pods := n.count(func(w *unstructured.Unstructured) bool {
		return w.GetLabels()["events.argoproj.io/sensor"] != "" && completed(w)
	})
	return tally{events, pods}
}

// all is every Workflow of the operator that was seen, and the pods of all.
func (n *counter) all() (workflows, pods int) {
	return n.count(func(*unstructured.Unstructured) bool { return true })
}

func (n *counter) count(among func(workflow *unstructured.Unstructured) bool) (workflows, pods int) {
	if n.of == nil {
		return 0, 0
	}
	lookout.mu.Lock()
	defer lookout.mu.Unlock()
	names := map[string]bool{}
	for _, w := range lookout.workflows {
		if !w.first.Before(n.since) && n.of(w.object) && among(w.object) {
			names[w.object.GetName()] = true
		}
	}
	for _, pod := range lookout.pods {
		if !pod.first.Before(n.since) && names[pod.object.GetLabels()["workflows.argoproj.io/workflow"]] {
			pods++
		}
	}
	return len(names), pods
}

// after is what came after an earlier tally.
func (n *counter) after(before tally) tally {
	now := n.tally()
	return tally{events: now.events - before.events, pods: now.pods - before.pods}
}

func (t tally) perEvent() string {
	if t.events == 0 {
		return "no events"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(t.pods)/float64(t.events)), ".0")
}

// awaitIdle waits until every Workflow of the operator has come to its end, so
// that what comes after is counted by itself. The short run has no time for it.
func (o *operator) awaitIdle(t *testing.T) {
	t.Helper()
	if testing.Short() {
		return
	}
	o.awaitEnd(t, "all Workflows to end", func(*unstructured.Unstructured) bool { return true })
}

// awaitEnd waits until some of the operator's Workflows have come to their end.
func (o *operator) awaitEnd(t *testing.T, what string, among func(workflow *unstructured.Unstructured) bool) {
	t.Helper()
	o.cluster.await(t, what, slow, workflows, operators, func(s seen) bool {
		return !slices.ContainsFunc(s, func(w *unstructured.Unstructured) bool { return o.runs(w) && !completed(w) && among(w) })
	})
}
