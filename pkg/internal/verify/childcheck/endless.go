package childcheck

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// maxWrites is a number of writes after which every operator should have stopped.
const maxWrites = 20

// endlessWrites warns of an operator that never stops: children, the status and what the API server changes with each
// write are computed from each other, and have no values at which they stay.
func (f *family) endlessWrites() diag.List {
	engine := f.p.Reconcile.Execution
	if engine.RunsPods && !engine.Stays || f.d.Operator.Spec.Logic != nil || !f.readsWritten() {
		return nil // only events of the status can cause that
	}
	tried := f.samples.plausible
	if len(tried) == 0 {
		tried = []customResource{f.samples.bare()}
	}
	for _, cr := range tried {
		if at, endless := f.writesOf(cr); endless {
			message := "this value is another one after each write of the operator, which then writes again, without an end"
			if spec := specOf(cr.written); len(userFields(cr.written)) > 0 {
				message += ", where the custom resource has " + spec
			}
			var findings diag.List
			findings.Warn(at, diag.EndlessWrites, message,
				"read nothing that a write changes, such as .metadata.resourceVersion, or a status that is computed from this value")
			return findings
		}
	}
	return nil
}

// readsWritten reports whether an expression reads what a write of the operator changes.
func (f *family) readsWritten() bool {
	var programs []*expression.Program
	for _, r := range f.runs {
		if r != nil {
			programs = append(programs, r.programs()...)
		}
	}
	for _, field := range f.p.Status.Fields {
		programs = append(programs, field.Value)
	}
	return slices.ContainsFunc(programs, func(p *expression.Program) bool {
		return slices.ContainsFunc(p.Reads(), func(path []string) bool {
			return len(path) == 0 || path[0] == "status" ||
				path[0] == "metadata" && (len(path) == 1 || path[1] == "resourceVersion" || path[1] == "managedFields")
		})
	})
}

// output is what the operator writes for a custom resource: objects by child, and the fields of the status.
type output struct{ children, status map[string]any }

// writesOf writes a custom resource until nothing changes. It returns the place of a value that still changes at the end.
func (f *family) writesOf(cr customResource) (at diag.Position, endless bool) {
	object, _ := plain(cr.served).(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	delete(object, "status")
	var before output
	for version := range maxWrites {
		metadata["resourceVersion"] = strconv.Itoa(version)
		after := f.write(customResource{served: object}, before)
		sameChildren, sameStatus := reflect.DeepEqual(before.children, after.children), reflect.DeepEqual(before.status, after.status)
		if sameStatus && (sameChildren || !f.p.Reconcile.Execution.ObservedOnParent) {
			return diag.Position{}, false
		}
		if version == maxWrites-1 {
			return f.changing(before, after), true
		}
		before, object["status"] = after, after.status
	}
	return diag.Position{}, false
}

// write returns what the operator writes for a custom resource after other writes.
func (f *family) write(cr customResource, before output) output {
	after := output{children: map[string]any{}}
	vars := expression.Vars{Children: before.children, Related: f.related()}
	for _, r := range f.runs {
		if r == nil {
			continue
		}
		objects := []any{}
		for _, o := range r.render(cr, environment{vars: vars}).objects {
			objects = append(objects, plain(r.stored(o)))
		}
		switch {
		case r.child.ForEach != nil:
			after.children[r.child.Name] = objects
		case len(objects) > 0:
			after.children[r.child.Name] = objects[0]
		}
	}
	after.status = f.status(cr, after.children)
	return after
}

// status returns the computed fields of the status of a custom resource with children.
func (f *family) status(cr customResource, children map[string]any) map[string]any {
	status := map[string]any{}
	vars := expression.Vars{Children: children, Related: f.related()}
	for _, field := range f.p.Status.Fields {
		if value, err := field.Value.Run(cr.served, vars); err == nil && value != nil {
			status[field.Name] = plain(value)
		}
	}
	return status
}

// related returns related objects.
func (f *family) related() map[string]any {
	for _, r := range f.runs {
		if r != nil {
			related, _ := r.related()
			return related
		}
	}
	return map[string]any{}
}

// changing returns the place of the first value that differs.
func (f *family) changing(before, after output) diag.Position {
	for i, r := range f.runs {
		if r == nil {
			continue
		}
		was, is := before.children[r.child.Name], after.children[r.child.Name]
		if reflect.DeepEqual(was, is) {
			continue
		}
		path := schema.FirstDifference(was, is)
		if r.child.ForEach != nil && len(path) > 0 {
			path = path[1:]
		}
		return f.at(i, path...)
	}
	return f.d.Position(append([]string{"spec", "status"}, schema.FirstDifference(before.status, after.status)...)...)
}

// plain returns a value as JSON has it.
func plain(value any) any {
	var out any
	data, err := json.Marshal(value)
	if err != nil || json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}
