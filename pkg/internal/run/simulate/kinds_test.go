package simulate

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestBuiltinKinds compares the cluster's built-in kinds with the table, because
// definitions set neither plural nor scope for them.
func TestBuiltinKinds(t *testing.T) {
	known := &cluster.Kinds{List: cluster.BuiltinKinds()}
	compared := 0
	for gvk := range scheme.Scheme.AllKnownTypes() {
		builtin, ok := shapes.FindBuiltin(gvk.GroupVersion().String(), gvk.Kind)
		if !ok {
			continue
		}
		compared++
		k := known.Of(gvk, nil)
		if !k.Builtin || k.Namespaced != builtin.Namespaced() {
			t.Errorf("%s: built in %t, namespaced %t, want true, %t", gvk, k.Builtin, k.Namespaced, builtin.Namespaced())
		}
		if at := known.At(gvk.GroupVersion(), k.Plural); at != k {
			t.Errorf("%s: its path resolves to %+v, want %+v", gvk, at, k)
		}
	}
	if compared < 50 {
		t.Errorf("%d kinds compared", compared)
	}
	if crd := known.Of(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, nil); !crd.Builtin || crd.Namespaced {
		t.Errorf("APIService: %+v", crd)
	}
}
