package simulate

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	shapes "github.com/argoperator/argoperator/pkg/schema"
)

// TestBuiltinKinds compares the kinds that the cluster knows with the table: a
// definition sets neither plural nor scope of them.
func TestBuiltinKinds(t *testing.T) {
	known := &kinds{list: builtinKinds()}
	compared := 0
	for gvk := range scheme.Scheme.AllKnownTypes() {
		builtin, ok := shapes.FindBuiltin(gvk.GroupVersion().String(), gvk.Kind)
		if !ok {
			continue
		}
		compared++
		k := known.of(gvk, nil)
		if !k.Builtin || k.Namespaced != builtin.Namespaced() {
			t.Errorf("%s: built in %t, namespaced %t, want true, %t", gvk, k.Builtin, k.Namespaced, builtin.Namespaced())
		}
		if at := known.at(gvk.GroupVersion(), k.Plural); at != k {
			t.Errorf("%s: its path leads to %+v, want %+v", gvk, at, k)
		}
	}
	if compared < 50 {
		t.Errorf("%d kinds compared", compared)
	}
	if crd := known.of(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, nil); !crd.Builtin || crd.Namespaced {
		t.Errorf("APIService: %+v", crd)
	}
}
