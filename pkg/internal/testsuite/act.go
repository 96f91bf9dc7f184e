package testsuite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/cluster"
	"github.com/argoperator/argoperator/pkg/internal/simulate"
)

// Who writes what the operator does not: the field managers.
const (
	byHand     = "kubectl-edit"
	controller = "kube-controller-manager"
)

// problem is a step that cannot happen the way it is written.
type problem struct {
	path          []string // from the step
	message, hint string
}

func (p *problem) Error() string { return p.message }

// act does what the step says. What comes of it is the operator's.
func (s *scene) act() error {
	acts := map[string]func() error{
		"create":       s.create,
		"edit":         func() error { return s.s.Patch(s.resource, "", byHand, s.step.Edit) },
		"delete":       func() error { return s.s.Delete(s.resource) },
		"ready":        s.ready,
		"childStatus":  s.childStatus,
		"childEdit":    s.childEdit,
		"childDelete":  s.childDelete,
		"objectStatus": s.objectStatus,
		"apply":        s.apply,
		"remove":       s.remove,
	}
	action := s.test.Action(s.index)
	switch action { // the operator's own doing
	case "resync":
		return s.s.Resync(s.ctx)
	case "later":
		ran, err := s.s.FireTimers(s.ctx)
		if err == nil && ran == 0 {
			return &problem{[]string{"later"}, "the operator waits for no time", "the logic asks for one by resyncAfterSeconds, with logic.resyncAfter: true"}
		}
		return err
	case "replay":
		return s.replay()
	}
	err := acts[action]()
	s.before = s.snapshot()
	return err
}

func (s *scene) create() error {
	s.resource = simulate.Merged(s.test.Resource, s.step.Create)
	s.play.resource = s.resource
	there, err := s.s.Get(s.resource)
	if err != nil {
		return err
	}
	if there != nil {
		return &problem{[]string{"create"}, "the custom resource is there already", "edit changes it"}
	}
	return s.s.Apply(s.resource)
}

// replay delivers all events of the past, each with what comes of it, then looks
// at everything again: until then what came late may show.
func (s *scene) replay() error {
	var events []simulate.Event
	for _, step := range s.s.Trace() {
		if step.Event != nil {
			events = append(events, *step.Event)
		}
	}
	for _, e := range events {
		if err := s.s.Publish(s.ctx, e); err != nil {
			return err
		}
		if err := s.s.Run(s.ctx); err != nil {
			return err
		}
	}
	return s.s.Resync(s.ctx)
}

// ready lets the controllers of one or of all children do their work.
func (s *scene) ready() error {
	ready := s.children()
	if r := *s.step.Ready; r != (v1alpha1.Reference{}) {
		child, err := s.named(r, "ready")
		if err != nil {
			return err
		}
		if s.readyStatus(child) == nil {
			return &problem{[]string{"ready"}, "what the status of a " + kindOf(child) + " is when it is ready is not known", "say it with childStatus"}
		}
		ready = []map[string]any{child}
	}
	if len(ready) == 0 {
		return &problem{[]string{"ready"}, "the custom resource has no child", ""}
	}
	for _, child := range ready {
		status := s.readyStatus(child)
		if status == nil {
			continue
		}
		if err := s.writeStatus(child, status); err != nil {
			return err
		}
	}
	return nil
}

// readyStatus is the status of a ready object: that of its kind or, where a
// schema says how the controller of a custom kind reports, what such controllers
// write; nil where nothing is known.
func (s *scene) readyStatus(o map[string]any) map[string]any {
	if status := readyStatus(o); status != nil {
		return status
	}
	known := map[string]any{"conditions": []any{condition("Ready", "Reconciled")}, "observedGeneration": valueOf(o, "metadata", "generation")}
	fields := s.s.StatusFields(o)
	if len(fields) == 0 {
		return nil
	}
	maps.DeleteFunc(known, func(field string, _ any) bool { return !slices.Contains(fields, field) })
	return known
}

func (s *scene) childStatus() error {
	child, err := s.named(s.step.ChildStatus.Reference, "childStatus")
	if err != nil {
		return err
	}
	return s.writeStatus(child, s.step.ChildStatus.Status)
}

func (s *scene) objectStatus() error {
	o, why := s.object(s.step.ObjectStatus.Reference)
	if o == nil {
		return &problem{path: []string{"objectStatus"}, message: why}
	}
	return s.writeStatus(o, s.step.ObjectStatus.Status)
}

// writeStatus does what the controller of an object does.
func (p *play) writeStatus(o map[string]any, status any) error {
	if fields, ok := status.(map[string]any); ok {
		status = p.s.CompleteConditions(o, fields)
	}
	change := map[string]any{"status": status}
	err := p.s.Patch(o, "status", controller, change)
	if cluster.IsNotFound(err) { // its kind has no status of its own
		return p.s.Patch(o, "", controller, change)
	}
	return err
}

// put writes an object of others. The API server takes its status from a
// controller alone.
func (p *play) put(o map[string]any) error {
	if err := p.s.Apply(o); err != nil || o["status"] == nil {
		return err
	}
	return p.writeStatus(o, o["status"])
}

func (s *scene) childEdit() error {
	child, err := s.named(s.step.ChildEdit.Reference, "childEdit")
	if err != nil {
		return err
	}
	return s.s.Patch(child, "", byHand, s.step.ChildEdit.Patch)
}

func (s *scene) childDelete() error {
	child, err := s.named(*s.step.ChildDelete, "childDelete")
	if err != nil {
		return err
	}
	return s.s.Delete(child)
}

// named is a child that the step is about.
func (s *scene) named(r v1alpha1.Reference, key string) (map[string]any, error) {
	child, why := s.child(r)
	if child == nil {
		return nil, &problem{path: []string{key}, message: why}
	}
	return child, nil
}

func (s *scene) apply() error {
	for _, o := range s.test.Applied[s.index] {
		if err := s.put(o); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) remove() error {
	o, why := s.object(*s.step.Remove)
	if o == nil {
		return &problem{path: []string{"remove"}, message: why}
	}
	if err := s.s.Delete(o); err != nil {
		return fmt.Errorf("removing: %w", err)
	}
	return nil
}
