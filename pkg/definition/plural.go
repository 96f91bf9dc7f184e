package definition

import (
	"strings"

	"github.com/gobuffalo/flect"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Plural is the resource name of a kind for which nobody has said another.
func Plural(kind string) string { return plural(kind) }

// plural derives a resource name from a kind as controller-tools does, so that
// it is what Kubernetes users expect. Where that gives no name at all, as for
// some acronyms (DNS), it adds "es".
func plural(kind string) string {
	singular := strings.ToLower(kind)
	if name := flect.Pluralize(singular); len(validation.IsDNS1123Label(name)) == 0 {
		return name
	}
	return singular + "es"
}
