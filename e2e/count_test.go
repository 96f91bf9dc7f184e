//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// counter counts the Workflows of an operator and their pods while a scenario
// runs. It has to watch: both are taken away soon after they are done.
type counter struct {
	templates []string // the WorkflowTemplates of the operator
	mu        sync.Mutex
	workflows map[types.UID]*unstructured.Unstructured
	pods      map[types.UID]string // the name of the Workflow
	stop      context.CancelFunc
	running   sync.WaitGroup
}

func count(c *cluster, templates []string) *counter {
	ctx, cancel := context.WithCancel(context.Background())
	n := &counter{templates: templates, workflows: map[types.UID]*unstructured.Unstructured{}, pods: map[types.UID]string{}}
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
				if gvr == workflows && slices.Contains(n.templates, template(o)) {
					n.workflows[o.GetUID()] = o
				} else if name := o.GetLabels()["workflows.argoproj.io/workflow"]; name != "" {
					n.pods[o.GetUID()] = name
				}
			}
			return false
		})
	}
}

// template is the WorkflowTemplate that a Workflow is made of.
func template(w *unstructured.Unstructured) string {
	return nested(w, "spec", "workflowTemplateRef", "name")
}

// templates are the names of the operator's WorkflowTemplates.
func (o *operator) templates() []string {
	var names []string
	for _, object := range o.objects {
		if object.GetKind() == "WorkflowTemplate" {
			names = append(names, object.GetName())
		}
	}
	return names
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

// awaitIdle waits until every Workflow of the operator has come to its end, so that what comes
// after is counted by itself. The short run has no time for it.
func (o *operator) awaitIdle(t *testing.T) {
	t.Helper()
	if testing.Short() {
		return
	}
	o.cluster.await(t, "all Workflows to end", 10*time.Minute, workflows, operators, func(s seen) bool {
		return !slices.ContainsFunc(s, func(w *unstructured.Unstructured) bool {
			return !completed(w) && slices.Contains(o.counts.templates, template(w))
		})
	})
}
