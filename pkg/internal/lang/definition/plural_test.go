package definition

import (
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

func TestPlural(t *testing.T) {
	for kind, want := range map[string]string{
		"Memcached": "memcacheds", "Redis": "redis", "Policy": "policies", "Proxy": "proxies",
		"Gateway": "gateways", "Box": "boxes", "Mouse": "mice", "Person": "people",
		"Status": "statuses", "Data": "data", "Schema": "schemas", "Index": "indices",
		"Database": "databases", "NetworkPolicy": "networkpolicies", "KeyValueStore": "keyvaluestores",
		"Class": "classes", "Cache": "caches", "Analysis": "analyses", "DNS": "dnses", "Child": "children",
	} {
		if got := Plural(kind); got != want {
			t.Errorf("Plural(%s) = %s, want %s", kind, got, want)
		}
	}
}

// The plurals of controller-tools are right for the built-in kinds, with the exception
// below.
func TestPluralOfBuiltinKinds(t *testing.T) {
	for _, b := range schema.BuiltinKinds() {
		if got := Plural(b.Kind); got != b.Plural && b.Kind != "Endpoints" {
			t.Errorf("Plural(%s) = %s, want %s", b.Kind, got, b.Plural)
		}
	}
}
