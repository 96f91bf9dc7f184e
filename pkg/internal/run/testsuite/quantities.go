package testsuite

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// typeOf returns the type of an object of a built-in kind; that of other values is unknown.
func typeOf(got any) schema.Type {
	fields, _ := got.(map[string]any)
	t, _ := schema.Builtin(textOf(fields, "apiVersion"), textOf(fields, "kind"))
	return t
}

// sameQuantity reports whether two values of a field of a built-in kind are the same quantity: the API server
// writes 500m for 0.5.
func sameQuantity(object schema.Type, path []string, a, b any) bool {
	if schema.At(object, path...).Kind() != schema.Quantity {
		return false
	}
	x, err := resource.ParseQuantity(fmt.Sprint(a))
	y, other := resource.ParseQuantity(fmt.Sprint(b))
	return err == nil && other == nil && x.Cmp(y) == 0
}
