package childcheck

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// refusedStatus warns of a status that the schema does not permit for a custom resource: the API server then rejects all of it.
func (f *family) refusedStatus() diag.List {
	s := f.samples
	if s.schema == nil || len(f.p.Status.Fields) == 0 {
		return nil
	}
	var findings diag.List
	reported := map[string]bool{}
	for _, cr := range slices.Concat(s.plausible, s.unlikely) {
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
	first := f.write(cr, output{})
	object := maps.Clone(cr.served)
	object["status"] = f.write(cr, first).status
	return slices.DeleteFunc(f.samples.schema.Validate(object, nil), func(err *field.Error) bool {
		return err.Type == field.ErrorTypeRequired || !strings.HasPrefix(err.Field, "status.")
	})
}
