package definition

import (
	"strings"

	"github.com/gobuffalo/flect"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Plural returns the resource name that argoperator declares for a new kind
// whose definition does not set one: the name that controller-tools would give,
// which is what Kubernetes users expect. Where that is not a legal name, as for
// some acronyms (DNS), it adds "es".
//
// The resource that a Sensor calls at run time is schema.GuessedPlural.
func Plural(kind string) string {
	singular := strings.ToLower(kind)
	if name := flect.Pluralize(singular); len(validation.IsDNS1123Label(name)) == 0 {
		return name
	}
	return singular + "es"
}
