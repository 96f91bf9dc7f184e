package testsuite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// byHand is the field manager of writes that do not come from the operator.
const byHand = "kubectl-edit"

// stepError reports a step that cannot be executed as written.
type stepError struct {
	path          []string // below the step
	message, hint string
}

func (p *stepError) Error() string { return p.message }

// act executes the action of the step. Running the operator follows.
func (s *stepRun) act() error {
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
	switch action { // actions without a request of a user
	case "definition":
		return s.upgrade()
	case "resync":
		return s.s.Resync(s.ctx)
	case "timer":
		ran, err := s.s.FireTimers(s.ctx)
		if err == nil && ran == 0 {
			return &stepError{
				[]string{"timer"},
				"no timer is set",
				"deleteAfter and a schedule set one, and the logic with resyncAfterSeconds if logic.resyncAfter is true",
			}
		}
		return err
	case "replay":
		return s.replay()
	}
	err := acts[action]()
	s.before = s.snapshot()
	return err
}

func (s *stepRun) create() error {
	s.resource = simulate.Merged(s.test.Resource, s.step.Create)
	s.testRun.resource = s.resource
	there, err := s.s.Get(s.resource)
	if err != nil {
		return err
	}
	if there != nil {
		return &stepError{[]string{"create"}, "the custom resource already exists", "use edit to change it"}
	}
	return s.s.Apply(s.resource)
}

// replay publishes all earlier events again and runs the operator after each, then
// resyncs: a late event may be visible until the next resync.
func (s *stepRun) replay() error {
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

// ready makes one child or all children ready, as their controllers would.
func (s *stepRun) ready() error {
	ready := s.children()
	if r := *s.step.Ready; r != (v1alpha1.Reference{}) {
		child, err := s.named(r, "ready")
		if err != nil {
			return err
		}
		if s.readyStatus(child) == nil {
			return &stepError{
				[]string{"ready"},
				"the ready status of a " + kindOf(child) + " is unknown",
				"set the status with childStatus",
			}
		}
		ready = []map[string]any{child}
	}
	if len(ready) == 0 {
		return &stepError{[]string{"ready"}, "the custom resource has no child", ""}
	}
	for _, child := range ready {
		status := s.readyStatus(child)
		if status == nil {
			continue
		}
		if err := s.s.WriteStatus(child, status); err != nil {
			return err
		}
	}
	return nil
}

// readyStatus returns the status of a ready object: that of a built-in kind, or for
// a custom kind the usual fields that its schema has; nil if neither is known.
func (s *stepRun) readyStatus(o map[string]any) map[string]any {
	if status := ReadyStatus(o); status != nil {
		return status
	}
	known := map[string]any{
		"conditions":         []any{condition("Ready", "Reconciled")},
		"observedGeneration": valueOf(o, "metadata", "generation"),
	}
	fields := s.s.StatusFields(o)
	if len(fields) == 0 {
		return nil
	}
	maps.DeleteFunc(known, func(field string, _ any) bool { return !slices.Contains(fields, field) })
	return known
}

func (s *stepRun) childStatus() error {
	child, err := s.named(s.step.ChildStatus.Reference, "childStatus")
	if err != nil {
		return err
	}
	return s.s.WriteStatus(child, s.step.ChildStatus.Status)
}

func (s *stepRun) objectStatus() error {
	o, why := s.object(s.step.ObjectStatus.Reference)
	if o == nil {
		return &stepError{[]string{"objectStatus"}, why.message, why.hint()}
	}
	return s.s.WriteStatus(o, s.step.ObjectStatus.Status)
}

func (s *stepRun) childEdit() error {
	child, err := s.named(s.step.ChildEdit.Reference, "childEdit")
	if err != nil {
		return err
	}
	return s.s.Patch(child, "", byHand, s.step.ChildEdit.Patch)
}

func (s *stepRun) childDelete() error {
	child, err := s.named(*s.step.ChildDelete, "childDelete")
	if err != nil {
		return err
	}
	return s.s.Delete(child)
}

// named returns the child that the step refers to.
func (s *stepRun) named(r v1alpha1.Reference, key string) (map[string]any, error) {
	child, why := s.child(r)
	if child == nil {
		return nil, &stepError{[]string{key}, why.message, why.hint()}
	}
	return child, nil
}

func (s *stepRun) apply() error {
	for _, o := range s.test.Applied[s.index] {
		if err := s.s.Put(o); err != nil {
			return err
		}
	}
	return nil
}

func (s *stepRun) remove() error {
	o, why := s.object(*s.step.Remove)
	if o == nil {
		return &stepError{[]string{"remove"}, why.message, why.hint()}
	}
	if err := s.s.Delete(o); err != nil {
		return fmt.Errorf("removing: %w", err)
	}
	return nil
}
