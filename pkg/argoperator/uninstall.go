package argoperator

import (
	"fmt"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Stage is a step of taking operators away. What it deletes must be gone before
// the next one begins: kubectl asks for all deletions first and waits afterwards,
// so that in one go the operator would go while its custom resources wait for it.
type Stage string

const (
	// StageAPI deletes the CustomResourceDefinitions, and with each of them its
	// custom resources. The operator runs on and does their clean-up.
	StageAPI Stage = "api"
	// StageOperator deletes everything else.
	StageOperator Stage = "operator"
)

// Stages in their order.
func Stages() []Stage { return []Stage{StageAPI, StageOperator} }

// Uninstall returns the objects to delete in a stage, the last applied first,
// and in a line each what the stage leaves behind or waits for. A stage without
// objects has such a line.
func (r Result) Uninstall(stage Stage) (objects []manifest.Object, notes []string) {
	for _, o := range r.Objects() {
		if stageOf(o) == stage {
			objects = append(objects, o)
		}
	}
	slices.Reverse(objects)
	for _, o := range r.Operators {
		notes = append(notes, o.leaves(stage, r.brings(o.plan.API.Kind))...)
	}
	return objects, notes
}

func stageOf(o manifest.Object) Stage {
	if kindOf(o) == "CustomResourceDefinition" {
		return StageAPI
	}
	return StageOperator
}

// brings tells whether one of the operators defines a kind.
func (r Result) brings(k plan.Kind) bool {
	return slices.ContainsFunc(r.Objects(), func(o manifest.Object) bool {
		return stageOf(o) == StageAPI && o.GetName() == k.Plural+"."+k.Group
	})
}

// leaves says what a stage does not delete at once, or not at all.
func (o Operator) leaves(stage Stage, brought bool) []string {
	kind, finalizer := o.plan.API.Kind.Kind, o.plan.Reconcile.Finalizer
	if stage == StageAPI {
		if brought {
			return nil
		}
		return []string{fmt.Sprintf("operator %s did not bring the kind %s: there is no API to delete, and all of that kind stays", o.Name, kind)}
	}
	var notes []string
	if !brought {
		notes = append(notes, fmt.Sprintf("operator %s: its children stay as long as the %s that owns them; they have the label %s=%s",
			o.Name, kind, plan.ManagedBy, o.plan.Runtime.Operator))
	}
	if !brought && finalizer != "" {
		notes = append(notes, fmt.Sprintf("operator %s: every %s that has the finalizer %s cannot go until somebody removes it", o.Name, kind, finalizer))
	}
	for _, object := range o.Objects {
		if kindOf(object) == "EventBus" {
			notes = append(notes, fmt.Sprintf("operator %s: Argo Events keeps the EventBus %s until no EventSource and no Sensor of anybody uses it",
				o.Name, object.GetName()))
		}
	}
	return notes
}

func kindOf(o manifest.Object) string { return o.GetObjectKind().GroupVersionKind().Kind }
