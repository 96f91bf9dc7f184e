package definition

import (
	"strings"

	"github.com/gobuffalo/flect"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Plural returns the resource name of a new kind whose definition sets none. It is the
// name that controller-tools would generate, which Kubernetes users expect. If that is
// not a valid name, as for some acronyms (DNS), it appends "es".
//
// The resource that a Sensor calls at run time is schema.GuessedPlural.
func Plural(kind string) string {
	singular := strings.ToLower(kind)
	if name := flect.Pluralize(singular); len(validation.IsDNS1123Label(name)) == 0 {
		return name
	}
	return singular + "es"
}
