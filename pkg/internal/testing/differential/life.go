package differential

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// move plays one move of a life. Moves that change nothing play nothing.
func (j *player) move(at string) error {
	c := j.c
	what, how := c.moveAt(at)
	switch what {
	case "edit":
		cr, err := c.customResource(at+".cr", first)
		if err != nil {
			return err
		}
		return j.step("edit", how, func(w *world) error { return w.edit(cr) })
	case "label":
		return j.step("label", how, func(w *world) error { return w.edit(j.labelled(at, w.cr)) })
	case "ready":
		return j.settled("ready")
	case "one ready":
		return j.step("one ready", how, func(w *world) error { return w.oneReady(c.pick(at+".child", 4)) })
	case "drift":
		return j.step("drift", how, func(w *world) error { return w.drift(c.pick(at+".child", 4)) })
	case "delete a child":
		return j.step("delete a child", how, func(w *world) error { return w.deleteChild(c.pick(at+".child", 4)) })
	case "related":
		return j.otherObject(at, how)
	case "resync":
		return j.step("resync", normal, func(w *world) error { return w.Resync(context.Background()) })
	case "mixed":
		cr, err := c.customResource(at+".cr", first)
		if err != nil {
			return err
		}
		err = j.play("drift, edit, label", how, func(w *world) error {
			var err error
			if n := c.pick(at+".child", 4); !w.canWait(n) { // one that waits after the edit keeps the change, if the operator sees that first
				err = w.drift(n)
			}
			if !j.dependsOnTime() { // one that is not wanted in between would be made anew, if the operator sees that
				err = errors.Join(err, w.edit(cr))
			}
			w.late = true // the edit may be applied before the label makes a child that is rejected
			return errors.Join(err, w.edit(j.labelled(at, cr)))
		})
		if err != nil || j.done() {
			return err
		}
		return j.settled("drift, edit, label") // of one that was made anew, the status is not the same
	case "pause":
		return j.pause(at)
	case "definition":
		return j.upgrade(at)
	}
	return nil
}

// moveAt draws a move, and how its events arrive.
func (d *drawing) moveAt(at string) (string, mode) {
	how := mode(0)
	if n := d.pick(at+".mode", 2*int(modes)); n > int(modes) {
		how = mode(n - int(modes))
	}
	return oneOf(d, at, "nothing", "edit", "edit", "edit", "label", "label", "ready", "one ready", "drift", "drift",
		"delete a child", "related", "resync", "mixed", "pause", "definition"), how
}

// dependsOnTime reports whether there is a child whose content depends on when it was created: it
// is never updated, or lint says that it cannot be.
func (j *player) dependsOnTime() bool {
	never := func(one any) bool { return at(one, "update") == "Never" }
	immutable := func(f diag.Finding) bool { return f.Code == diag.ImmutableField }
	return slices.ContainsFunc(j.c.spec["children"].([]any), never) || slices.ContainsFunc(j.verdict.Findings, immutable)
}

// labelled returns the custom resource with another label that expressions read.
func (j *player) labelled(at string, cr map[string]any) map[string]any {
	metadata := cr["metadata"].(map[string]any)
	labels := with(metadata["labels"].(map[string]any), "tier", oneOf(j.c.drawing, at+".tier", "y", "x"))
	return with(cr, "metadata", with(metadata, "labels", labels))
}

// child returns one of the children; nil if there is none.
func (w *world) child(n int) map[string]any {
	own := w.own()
	if len(own) == 0 {
		return nil
	}
	return own[n%len(own)]
}

// watchedChild is child without the Secrets that are on no event bus: the operator repairs
// them with the next event of their custom resource.
func (w *world) watchedChild(n int) map[string]any {
	o := w.child(n)
	if o == nil || slices.ContainsFunc(w.plan.Children, func(c plan.Child) bool {
		return len(c.Generate) > 0 && c.Name == textAt(o, "metadata", "labels", "argoperator.dev/child")
	}) {
		return nil
	}
	return o
}

// canWait reports whether a child needs values of other objects.
func (w *world) canWait(n int) bool {
	o := w.child(n)
	return o != nil && slices.ContainsFunc(w.plan.Children, func(c plan.Child) bool {
		return c.Name == textAt(o, "metadata", "labels", "argoperator.dev/child") && len(c.Object.Needs()) > 0
	})
}

func (w *world) oneReady(n int) error {
	o := w.child(n)
	status := map[string]any(nil)
	if o != nil {
		status = statusOf(o)
	}
	if status == nil {
		return nil
	}
	return w.Patch(o, "status", controller, map[string]any{"status": status})
}

// drift changes a child by hand.
func (w *world) drift(n int) error {
	o := w.watchedChild(n)
	if o == nil || !w.plan.Reconcile.ForceConflicts { // then a change by hand stays
		return nil
	}
	var patch map[string]any
	switch kind := textAt(o, "kind"); {
	case at(o, "data", "text") != nil && kind == "Secret":
		patch = map[string]any{"data": map[string]any{"text": "Ynk="}}
	case at(o, "data", "text") != nil:
		patch = map[string]any{"data": map[string]any{"text": "by hand"}}
	case at(o, "spec", "text") != nil:
		patch = map[string]any{"spec": map[string]any{"text": "by hand"}}
	case kind == "Service":
		patch = map[string]any{"spec": map[string]any{"selector": map[string]any{"app": "by-hand"}}}
	case kind == "Deployment":
		patch = map[string]any{"spec": map[string]any{"replicas": int64(7)}}
	default:
		return nil
	}
	return w.Patch(o, "", byHand, patch)
}

func (w *world) deleteChild(n int) error {
	o := w.watchedChild(n)
	if o == nil {
		return nil
	}
	if err := w.Delete(o); !isNotFound(err) {
		return err
	}
	return nil
}

// otherObject changes or deletes one of the objects of others.
func (j *player) otherObject(at string, how mode) error {
	objects := j.c.othersObjects()
	if len(objects) == 0 {
		return nil
	}
	o := objects[j.c.pick(at+".object", len(objects))]
	change := oneOf(j.c.drawing, at+".change", "value", "label", "delete")
	if strings.HasPrefix(textAt(o, "metadata", "name"), shared) && change == "delete" { // a patch then waits for its object
		change = "value"
	}
	err := j.step(fmt.Sprintf("%s of %s", change, placeOf(o)), how, func(w *world) error {
		err := w.changeOther(o, change)
		if j.c.unwatched { // the operator looks at it at its interval only
			err = errors.Join(err, w.settle(), w.Resync(context.Background())) // one with a finalizer is gone only then
		}
		return err
	})
	if err != nil || j.done() {
		return err
	}
	return j.step("resync", normal, func(w *world) error { return w.Resync(context.Background()) })
}

func (w *world) changeOther(o map[string]any, change string) error {
	there, err := w.Get(o)
	switch {
	case err != nil:
		return err
	case there == nil:
		return w.Apply(o)
	case change == "value":
		return w.Patch(o, "", byHand, map[string]any{"data": map[string]any{"value": "changed"}})
	case change == "label":
		return w.Patch(o, "", byHand, map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "y"}}})
	}
	return w.Delete(o)
}

// tooEarly reports a child that waits for the status of others, and was made although none
// of them has ever been ready.
func (w *world) tooEarly() string {
	if w.wasReady {
		return ""
	}
	own := w.own()
	for _, c := range w.c.children {
		if c.waitsFor == "" {
			continue
		}
		waits := false
		var there []map[string]any
		for _, o := range own {
			switch textAt(o, "metadata", "labels", "argoperator.dev/child") {
			case c.waitsFor:
				waits = waits || at(o, "status", "value") == nil
			case c.name:
				there = append(there, o)
			}
		}
		for _, o := range there {
			uid := textAt(o, "metadata", "uid")
			if waits && !w.inTime[uid] {
				return fmt.Sprintf("%s exists, although it waits for the status of %s", placeOf(o), c.waitsFor)
			}
			w.inTime[uid] = true // also if the others come later
		}
	}
	return ""
}
