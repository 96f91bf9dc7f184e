package childcheck

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
)

// refusedVersions warns of custom resources that are valid in the version in which they were written, and of which the API
// server then rejects the status: the operator writes it in another version, which does not permit them.
func (f *family) refusedVersions() diag.List {
	var findings diag.List
	working := f.d.WorkingVersion()
	for i, v := range f.d.Operator.Spec.API.Versions {
		if f.samples.schema == nil || v.Name == working || v.Served != nil && !*v.Served {
			continue
		}
		if written, err := f.refusedIn(v.Name); err != nil {
			why := err.ErrorBody()
			if !wholeObject(err) {
				why = diag.About(err.Field, why)
			}
			findings.Warn(f.d.Position("spec", "api", "versions", strconv.Itoa(i), "name"), diag.LossyVersion,
				fmt.Sprintf("%s permits %s, and %s does not: the API server rejects changes of it, as of its status: %s",
					v.Name, specOf(written), working, why),
				fmt.Sprintf("write the rule in %s, too, or stop serving %[1]s: served: false", v.Name))
		}
	}
	return findings
}

// wholeObject reports whether an error is that of a rule of the whole object.
func wholeObject(err *field.Error) bool { return err.Field == "<nil>" || err.Field == "" }

// refusedIn returns a custom resource of another version that the working one does not permit, and why; no error if there is none.
func (f *family) refusedIn(version string) (written map[string]any, why *field.Error) {
	k := f.samples.api
	s := schemaOf(k, version, f.d.Schema(version))
	if s == nil {
		return nil, nil
	}
	cases, err := s.Edges()
	if err != nil {
		return nil, nil
	}
	refusal := func(written map[string]any) *field.Error {
		old := s.Defaulted(written)
		if len(s.Validate(old, nil)) > 0 {
			return nil
		}
		old = f.samples.schema.Defaulted(maps.Clone(old))
		old["apiVersion"] = k.APIVersion()
		f.samples.schema.Prune(old)
		changed := maps.Clone(old)
		changed["status"] = map[string]any{"observedGeneration": int64(1)}
		errs := f.samples.schema.Validate(changed, old)
		i := slices.IndexFunc(errs, func(err *field.Error) bool {
			return err.Type != field.ErrorTypeRequired &&
				!strings.HasPrefix(err.Field, "metadata") && !strings.HasPrefix(err.Field, "status")
		})
		if i < 0 {
			return nil
		}
		return errs[i]
	}
	for _, c := range cases {
		if why := refusal(c.Object); why != nil {
			least := s.Shrink(c.Object, func(object map[string]any) bool { return refusal(object) != nil })
			return least, refusal(least)
		}
	}
	return nil, nil
}
