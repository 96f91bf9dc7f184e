package childcheck

import (
	"slices"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// forbiddenUsers warns of containers that may not run as root, and whose user is root: the kubelet does not start them.
func (f *family) forbiddenUsers(child int) diag.List {
	for _, cr := range f.having(child) {
		for _, made := range f.objects(child, cr) {
			in, makes := podAt(made)
			if !makes {
				continue
			}
			pod := slices.Concat(in, []string{"spec"})
			for _, list := range containerLists {
				for _, container := range mappings(made.object, nil, slices.Concat(pod, []string{list, "*"})) {
					user, at := securityOf(made, "runAsUser", container, pod)
					nonRoot, _ := securityOf(made, "runAsNonRoot", container, pod)
					if nonRoot == true && (user == float64(0) || user == int64(0) || user == 0) {
						var findings diag.List
						findings.Warn(f.at(child, at...), diag.ConflictingKeys,
							"runAsNonRoot is true, and runAsUser is the user root: the kubelet does not start the container",
							"write a runAsUser greater than 0, or remove it")
						return findings
					}
				}
			}
		}
	}
	return nil
}

// securityOf returns a field of the securityContext of the first place that has it, and where it is.
func securityOf(m member, name string, places ...[]string) (value any, at []string) {
	for _, place := range places {
		at = slices.Concat(place, []string{"securityContext", name})
		if value = schema.ValueAt(m.object, at...); value != nil {
			return value, at
		}
	}
	return nil, nil
}
