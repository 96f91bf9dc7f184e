package argoperator

import (
	"fmt"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Stage is a step of uninstalling operators. All objects of a stage must be gone
// before the next stage starts: kubectl requests all deletions first and waits
// afterwards, so deleting everything at once would delete the operator while custom
// resources still wait for its finalizer.
type Stage string

const (
	// StageAPI deletes the CustomResourceDefinitions with their custom resources.
	// The operator is still running and finalizes them.
	StageAPI Stage = "api"
	// StageOperator deletes everything else.
	StageOperator Stage = "operator"
)

// Stages returns the stages in order.
func Stages() []Stage { return []Stage{StageAPI, StageOperator} }

// Uninstall returns the objects to delete in a stage, in reverse apply order, and
// notes on what the stage leaves behind or waits for. A stage without objects has
// such a note.
func (r Result) Uninstall(stage Stage) (objects []manifest.Object, notes []string) {
	for _, o := range r.Objects() {
		if stageOf(o) == stage {
			objects = append(objects, o)
		}
	}
	slices.Reverse(objects)
	for _, o := range r.Operators {
		notes = append(notes, o.leftovers(stage, r.defines(o.plan.API.Kind))...)
	}
	for _, g := range r.groups() {
		notes = append(notes, g.remainingBus(stage)...)
	}
	return objects, notes
}

func stageOf(o manifest.Object) Stage {
	if kindOf(o) == "CustomResourceDefinition" {
		return StageAPI
	}
	return StageOperator
}

// defines reports whether one of the operators defines a kind.
func (r Result) defines(k plan.Kind) bool {
	return slices.ContainsFunc(r.Objects(), func(o manifest.Object) bool {
		return stageOf(o) == StageAPI && o.GetName() == k.Plural+"."+k.Group
	})
}

// leftovers returns notes on what a stage deletes late or not at all.
func (o Operator) leftovers(stage Stage, defined bool) []string {
	kind, finalizer := o.plan.API.Kind.Kind, o.plan.Reconcile.Finalizer
	if stage == StageAPI {
		if defined {
			return nil
		}
		return []string{
			fmt.Sprintf("operator %s did not install the kind %s: there is no API to delete, and its objects are kept", o.Name, kind),
		}
	}
	var notes []string
	if !defined {
		notes = append(
			notes,
			fmt.Sprintf("operator %s: its children are kept until the %s that owns them is deleted; they have the label %s=%s",
				o.Name, kind, plan.ManagedBy, o.Name),
		)
	}
	if !defined && finalizer != "" {
		notes = append(
			notes,
			fmt.Sprintf(
				"operator %s: %s with the finalizer %s cannot be deleted until you remove the finalizer",
				o.Name,
				article.With(kind),
				finalizer,
			),
		)
	}
	return append(notes, o.remainingBus(stage)...)
}

// remainingBus returns a note if the stage deletes an EventBus.
func (b Bundle) remainingBus(stage Stage) []string {
	var notes []string
	for _, object := range b.Objects {
		if kindOf(object) == "EventBus" && stage == StageOperator {
			notes = append(notes, fmt.Sprintf("operator %s: Argo Events keeps the EventBus %s until no EventSource and no Sensor uses it",
				b.Name, object.GetName()))
		}
	}
	return notes
}

func kindOf(o manifest.Object) string { return o.GetObjectKind().GroupVersionKind().Kind }
