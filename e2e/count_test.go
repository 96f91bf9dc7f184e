//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// counter counts the Workflows of an operator and their pods while a scenario
// runs. It has to watch: both are taken away soon after they are done.
type counter struct {
	of        func(workflow *unstructured.Unstructured) bool // whether it is the operator's
	mu        sync.Mutex
	workflows map[types.UID]*unstructured.Unstructured
	pods      map[types.UID]string // the name of the Workflow
	stop      context.CancelFunc
	running   sync.WaitGroup
}

func count(c *cluster, of func(*unstructured.Unstructured) bool) *counter {
	ctx, cancel := context.WithCancel(context.Background())
	n := &counter{of: of, workflows: map[types.UID]*unstructured.Unstructured{}, pods: map[types.UID]string{}}
	n.stop = func() { cancel(); n.running.Wait() }
	n.running.Go(func() { n.watch(ctx, c, workflows) })
	n.running.Go(func() { n.watch(ctx, c, pods) })
	return n
}

func (n *counter) watch(ctx context.Context, c *cluster, gvr schema.GroupVersionResource) {
	for ctx.Err() == nil {
		c.follow(ctx, gvr, operators, map[types.UID]*unstructured.Unstructured{}, func(s seen) bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			for _, o := range s {
				if gvr == workflows && n.of(o) {
					n.workflows[o.GetUID()] = o
				} else if name := o.GetLabels()["workflows.argoproj.io/workflow"]; name != "" {
					n.pods[o.GetUID()] = name
				}
			}
			return false
		})
	}
}

// runs tells whether a Workflow is made of a WorkflowTemplate of the operator.
func (o *operator) runs(workflow *unstructured.Unstructured) bool {
	template := nested(workflow, "spec", "workflowTemplateRef", "name")
	return slices.ContainsFunc(o.objects, func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "WorkflowTemplate" && object.GetName() == template
	})
}

func completed(w *unstructured.Unstructured) bool {
	return w.GetLabels()["workflows.argoproj.io/completed"] == "true"
}

// tally is what was counted: completed Workflows that a Sensor made, one an
// accepted event, and the pods of those.
type tally struct{ events, pods int }

func (n *counter) tally() tally {
	n.mu.Lock()
	defer n.mu.Unlock()
	made := map[string]bool{}
	for _, w := range n.workflows {
		if w.GetLabels()["events.argoproj.io/sensor"] != "" && completed(w) {
			made[w.GetName()] = true
		}
	}
	var pods int
	for _, workflow := range n.pods {
		if made[workflow] {
			pods++
		}
	}
	return tally{events: len(made), pods: pods}
}

// all is every Workflow of the operator that was seen, and the pods of all.
func (n *counter) all() (workflows, pods int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	names := map[string]bool{}
	for _, w := range n.workflows {
		names[w.GetName()] = true
	}
	for _, workflow := range n.pods {
		if names[workflow] {
			pods++
		}
	}
	return len(names), pods
}

// since is what came after an earlier tally.
func (n *counter) since(before tally) tally {
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
