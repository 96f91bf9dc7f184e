package definition

import (
	"strings"

	"github.com/gobuffalo/flect"
)

// plural derives a resource name from a kind as controller-tools does, so that
// it is what Kubernetes users expect.
func plural(kind string) string { return flect.Pluralize(strings.ToLower(kind)) }
