package differential

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Written is the difference that an operator writes for a custom resource that is paused.
const Written = "written" // although the custom resource is paused

// paused returns a custom resource with the annotation that pauses it, or with another value of
// that, which does not.
func paused(cr map[string]any, value string) map[string]any {
	metadata := cr["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return with(cr, "metadata", with(metadata, "annotations", with(annotations, plan.PausedAnnotation, value)))
}

// pause pauses the custom resource, changes what an operator would react to, and resumes it.
func (j *player) pause(at string) error {
	if err := j.stop(j.worlds[0].cr); err != nil || j.done() {
		return err
	}
	cr := j.worlds[0].cr
	for i := range 2 {
		var err error
		if cr, err = j.whilePaused(fmt.Sprintf("%s.%d", at, i), cr); err != nil || j.done() {
			return err
		}
	}
	return j.resume(at, cr)
}

// stop pauses the custom resource: its condition says so.
func (j *player) stop(cr map[string]any) error {
	err := j.step("pause", normal, func(w *world) error { return w.edit(paused(cr, "true")) })
	if err != nil || j.done() {
		return err
	}
	for _, w := range j.worlds {
		w.noWrites = true
		if why := w.notShownAsPaused(); why != "" {
			j.report(Written, w, "pause", why)
		}
	}
	return nil
}

// resume ends the pause. What has happened meanwhile is repaired.
func (j *player) resume(at string, cr map[string]any) error {
	how := oneOf(j.c.drawing, at+".resume", twice, lost, shuffled) // what the pause has hidden may make a request fail
	removed := j.c.pick(at+".value", 2) == 0
	// What is repaired is written again, and its controller has not seen that: they are compared when it has.
	err := j.play("resume", how, func(w *world) error {
		w.noWrites = false
		if removed {
			return w.edit(resumed(cr))
		}
		return w.edit(paused(cr, "false"))
	})
	if err != nil || j.done() {
		return err
	}
	return j.settled("resume")
}

// resumed returns a custom resource without the annotation.
func resumed(cr map[string]any) map[string]any {
	metadata := cr["metadata"].(map[string]any)
	annotations := with(metadata["annotations"].(map[string]any))
	delete(annotations, plan.PausedAnnotation)
	return with(cr, "metadata", with(metadata, "annotations", annotations))
}

// whilePaused plays a move that causes no write. It returns the custom resource after it.
func (j *player) whilePaused(name string, cr map[string]any) (map[string]any, error) {
	c := j.c
	next, err := c.customResource(name+".cr", first)
	if err != nil {
		return nil, err
	}
	what := oneOf(c.drawing, name, "drift", "delete a child", "edit", "label", "one ready", "related", "resync")
	how := oneOf(c.drawing, name+".mode", normal, twice, lost, shuffled)
	switch what {
	case "edit":
		cr = paused(next, "true")
	case "label":
		cr = j.labelled(name, cr)
	}
	if what == "related" && j.worlds[0].hasOthers() { // the other custom resource is not paused
		what = "resync"
	}
	n := c.pick(name+".child", 4)
	for _, w := range j.worlds {
		if err := w.meanwhile(what, name, n, cr); err != nil {
			return nil, j.failed(w, "paused: "+what, err)
		}
		before := snapshot{essence: maps.Clone(w.snapshot().essence)}
		if err := j.deliver(w, how, len(w.Trace())); err != nil {
			return nil, j.failed(w, "paused: "+what, err)
		}
		after := w.snapshot()
		maps.DeleteFunc(before.essence, func(place string, o any) bool { // what was going is gone
			return after.essence[place] == nil && at(o, "metadata", "deletionTimestamp") != nil
		})
		if change := difference(before.essence, after.essence); change != "" {
			j.report(Written, w, "paused: "+what+modeNames[how], change)
		}
		j.reportWrites(w, "paused: "+what+modeNames[how])
	}
	return cr, nil
}

func (j *player) reportWrites(w *world, step string) {
	if len(w.written) > 0 {
		j.report(Written, w, step, strings.Join(w.written, "\n"))
	}
}

// meanwhile does in one world what happens while the custom resource is paused.
func (w *world) meanwhile(what, at string, n int, cr map[string]any) error {
	switch what {
	case "drift":
		return w.drift(n)
	case "delete a child":
		return w.deleteChild(n)
	case "edit", "label":
		return w.edit(cr)
	case "one ready":
		return w.oneReady(n)
	case "related":
		objects := w.c.othersObjects()
		if len(objects) == 0 {
			return nil
		}
		return w.changeOther(objects[w.c.pick(at+".object", len(objects))], "value")
	}
	return nil
}

// notShownAsPaused returns why the condition Ready does not say that the custom resource is
// paused. One that is not selected need not say it.
func (w *world) notShownAsPaused() string {
	if !w.plan.WritesStatus() || !w.plan.API.HasConditions || w.plan.API.SelectorJQ != "" {
		return ""
	}
	cr, err := w.Get(w.cr)
	conditions, _ := at(cr, "status", "conditions").([]any)
	shown := slices.ContainsFunc(conditions, func(c any) bool {
		return at(c, "type") == "Ready" && at(c, "status") == "False" && at(c, "reason") == "Paused"
	})
	if err != nil || shown {
		return ""
	}
	return "its condition Ready does not say that it is paused:\n" + string(text(cr["status"]))
}

// hasOthers reports whether there are other custom resources: a second one, or related objects of an
// existing kind.
func (w *world) hasOthers() bool {
	return w.c.hasSecond() || slices.ContainsFunc(w.c.othersObjects(), func(o map[string]any) bool {
		return w.plan.API.Existing && textAt(o, "kind") == w.plan.API.Kind.Kind
	})
}

// checkPause notes a request of the operator that writes the custom resource or its children
// while that is paused. The direct engine keeps what it observes of the children. Another custom
// resource is not paused.
func (w *world) checkPause(call cluster.Call, group, resource string) {
	mine := group == w.plan.API.Kind.Group && resource == w.plan.API.Kind.Plural
	ofOthers := slices.Contains([]string{"argoproj.io", "events.k8s.io", "coordination.k8s.io"}, group) || group == "" && resource == "events"
	if !w.noWrites || w.hasOthers() || call.Method == http.MethodGet || ofOthers || mine && w.engine == plan.Direct {
		return
	}
	w.written = append(w.written, fmt.Sprintf("%s %s: %v", call.Method, call.Path, call.Body))
}

// deletedWhilePaused deletes the custom resource while it is paused, and resumes it if a finalizer
// keeps it.
func (j *player) deletedWhilePaused() error {
	if err := j.stop(j.worlds[0].cr); err != nil || j.done() {
		return err
	}
	for _, w := range j.worlds {
		if err := errors.Join(w.Delete(w.cr), w.settle(), w.resync()); err != nil {
			return j.failed(w, "delete while paused", err)
		}
		j.reportWrites(w, "delete while paused")
		there, err := w.Get(w.cr)
		if err != nil || j.done() {
			return err
		}
		w.noWrites = false
		if there == nil {
			continue
		}
		if err := errors.Join(w.edit(resumed(w.cr)), w.settle()); err != nil {
			return j.failed(w, "resume the deletion", err)
		}
	}
	return nil
}
