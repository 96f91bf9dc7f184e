package childcheck

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// refusedStatus warns of a status that the schema does not permit for a custom resource: the API server then rejects all of it.
func (f *family) refusedStatus() diag.List {
	s := f.samples
	if s.schema == nil || len(f.p.Status.Fields) == 0 {
		return nil
	}
	var findings diag.List
	reported := map[string]bool{}
	tried := slices.Concat(s.plausible, s.unlikely)
	if !f.statusVaries() {
		tried = tried[:min(len(tried), 1)]
	}
	for _, cr := range tried {
		for _, err := range f.statusErrors(cr) {
			path := problem.Problem{Path: err.Field}.Segments()
			if reported[path[1]] {
				continue
			}
			reported[path[1]] = true
			same := func(object map[string]any) bool { return f.refusal(object, err) != nil }
			least := s.schema.Shorten(s.schema.Shrink(cr.written, same), same)
			err = cmp.Or(f.refusal(least, err), err)
			findings.Warn(f.d.Position(append([]string{"spec"}, path...)...), diag.BadValue,
				diag.About(err.Field, err.ErrorBody())+", where the custom resource has "+specOf(least),
				"restrict the field in the schema, or guard against the value in the expression")
		}
	}
	return findings
}

// statusVaries reports whether the samples can have different values of a computed field: one reads more than the status
// of children, which no sample has.
func (f *family) statusVaries() bool {
	return slices.ContainsFunc(f.p.Status.Fields, func(field plan.StatusField) bool {
		if len(field.Value.Reads()) > 0 || field.Value.UsesRelated() {
			return true
		}
		reads := field.Value.ReadsChildren()
		return slices.ContainsFunc(f.p.Children, func(c plan.Child) bool {
			return slices.ContainsFunc(reads[c.Name], func(path []string) bool {
				return c.ForEach != nil || len(path) == 0 || path[0] != "status"
			})
		})
	})
}

// refusal returns an error in the status of a custom resource at the place of another; nil if there is none.
func (f *family) refusal(object map[string]any, as *field.Error) *field.Error {
	all := f.statusErrors(f.samples.served(object))
	i := slices.IndexFunc(all, func(err *field.Error) bool { return err.Field == as.Field && err.Type == as.Type })
	if i < 0 {
		return nil
	}
	return all[i]
}

// statusErrors returns what the schema does not permit in the status of a custom resource. The operator adds what its
// conditions lack.
func (f *family) statusErrors(cr customResource) field.ErrorList {
	var written output
	switch {
	case !f.statusVaries():
		written.status = f.status(cr, nil)
	case slices.ContainsFunc(f.runs, (*run).readsChildren):
		written = f.write(cr, f.write(cr, written))
	default:
		written = f.write(cr, written)
	}
	object := map[string]any{"status": written.status}
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		object[key] = cr.served[key]
	}
	return slices.DeleteFunc(f.samples.schema.Validate(object, nil), func(err *field.Error) bool {
		return err.Type == field.ErrorTypeRequired || !strings.HasPrefix(err.Field, "status.")
	})
}

// readsChildren reports whether the template reads other children.
func (r *run) readsChildren() bool {
	return r != nil && slices.ContainsFunc(r.programs(), func(p *expression.Program) bool { return len(p.ReadsChildren()) > 0 })
}
