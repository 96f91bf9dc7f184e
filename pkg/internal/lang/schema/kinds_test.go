package schema

import "testing"

func TestFindBuiltin(t *testing.T) {
	for _, test := range []struct {
		apiVersion, kind  string
		namespaced, known bool
	}{
		{"apps/v1", "Deployment", true, true},
		{"v1", "Namespace", false, true},
		{"apps/v2", "Deployment", false, false},
		{"example.com/v1", "Namespace", false, false},
	} {
		k, known := FindBuiltin(test.apiVersion, test.kind)
		if known != test.known || known && k.Namespaced() != test.namespaced {
			t.Errorf("%s %s: %v %v", test.apiVersion, test.kind, k, known)
		}
	}
	if k, ok := FindBuiltinNamed("Event"); !ok || k.APIVersion() != "v1" {
		t.Errorf("Event: %v, want the one of v1", k)
	}
}
