package childcheck

import (
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// family is all children of an operator, after their templates were tried. What it reports,
// the API server accepts: objects that are valid one by one and do harm together, or with time.
type family struct {
	d       *definition.Definition
	p       *plan.Plan
	samples *samples
	runs    []*run                // by the index of the child; nil for one without a template
	made    map[memberOf][]member // the results of objects, because each rule asks for them
}

// memberOf is a child of a sample.
type memberOf struct {
	child  int
	sample string // its id
}

// member is an object of a child.
type member struct {
	child  int
	kind   plan.Kind
	object map[string]any
}

// maxHazardSamples limits the samples that are rendered again for each child.
const maxHazardSamples = 40

// hazards returns the warnings about all children.
func (f *family) hazards() diag.List {
	var findings diag.List
	for i, r := range f.runs {
		if r != nil && r.child.Guessed == nil {
			for _, rule := range []func(child int) diag.List{
				f.scaled, f.repeated, f.unmatched, f.unmatchedReferences, f.unsafeContainers, f.openToAll, f.interpreted, f.ambiguous,
				f.endlessWaits,
			} {
				findings = append(findings, rule(i)...)
			}
		}
	}
	return slices.Concat(findings, f.shared(), f.flips(), f.endlessWrites(), f.refusedStatus(), f.refusedVersions(), f.failingRules())
}

// at returns the position of a value in the template of a child.
func (f *family) at(child int, path ...string) diag.Position {
	return f.d.Position(slices.Concat([]string{"spec", "children", strconv.Itoa(child), "template"}, path)...)
}

// declared returns a child as it is written.
func (f *family) declared(child int) v1alpha1.Child { return f.d.Operator.Spec.Children[child] }

// having returns some samples that have a child.
func (f *family) having(child int) []customResource {
	all := f.runs[child].having
	return all[:min(len(all), maxHazardSamples)]
}

// objects returns the objects of a child for a custom resource.
func (f *family) objects(child int, cr customResource) []member {
	r := f.runs[child]
	if r == nil {
		return nil
	}
	of := memberOf{child, cr.id}
	if known, ok := f.made[of]; ok && cr.id != "" {
		return known
	}
	var out []member
	for _, env := range r.environments(cr) {
		for _, object := range r.render(cr, env).objects {
			out = append(out, member{child, r.child.Kind, f.p.Owned(r.child, object, cr.served)})
		}
	}
	f.made[of] = out
	return out
}

// all returns the objects of all children for a custom resource.
func (f *family) all(cr customResource) []member {
	var out []member
	for i := range f.runs {
		out = append(out, f.objects(i, cr)...)
	}
	return out
}

// beside reports whether two objects are in one namespace.
func (m member) beside(other member) bool {
	return schema.ValueAt(m.object, "metadata", "namespace") == schema.ValueAt(other.object, "metadata", "namespace")
}

// isNamed reports whether two objects have one name.
func (m member) isNamed(other member) bool {
	return schema.ValueAt(m.object, "metadata", "name") == schema.ValueAt(other.object, "metadata", "name")
}
