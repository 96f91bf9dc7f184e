package childcheck

import (
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
			if name := path[1]; reported[name] {
				continue
			} else {
				reported[name] = true
			}
			least := s.schema.Shorten(cr.written, func(object map[string]any) bool { return f.refuses(object, err) })
			least = s.schema.Shrink(least, func(object map[string]any) bool { return f.refuses(object, err) })
			findings.Warn(f.d.Position(append([]string{"spec"}, path...)...), diag.BadValue,
				diag.About(err.Field, err.ErrorBody())+", where the custom resource has "+specOf(least),
				"restrict the field in the schema, or guard against the value in the expression")
		}
	}
	return findings
}

// refuses reports whether the status of a custom resource has an error at the place of another.
func (f *family) refuses(object map[string]any, as *field.Error) bool {
	return slices.ContainsFunc(f.statusErrors(f.samples.served(object)), func(err *field.Error) bool {
		return err.Field == as.Field && err.Type == as.Type
	})
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
