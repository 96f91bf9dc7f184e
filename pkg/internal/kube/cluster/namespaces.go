package cluster

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// immortal are the Namespaces that nobody may delete.
var immortal = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}

// unwelcome returns why the namespace of a new object takes no new objects. A namespace
// that never was an object of this cluster is one that tests do not mention.
func (c *Cluster) unwelcome(req Request) error {
	in := c.Objects[Key{GroupResource: namespaces, Name: req.Namespace}]
	if in != nil && in.GetDeletionTimestamp() != nil {
		return apierrors.NewForbidden(req.Kind.Resource(), req.Name,
			fmt.Errorf("unable to create new content in namespace %s because it is being terminated", req.Namespace))
	}
	if c.ended[req.Namespace] || c.Strict && in == nil && req.Namespace != "" {
		return apierrors.NewNotFound(namespaces, req.Namespace)
	}
	return nil
}

// held reports whether an object stays after its deletion until others have cleaned up.
func held(o Object) bool {
	return len(o.GetFinalizers()) > 0 || len(spaceFinalizers(o)) > 0
}

// spaceFinalizers returns the finalizers in the spec of a Namespace.
func spaceFinalizers(o Object) []any {
	if o.GetKind() != "Namespace" || o.GetAPIVersion() != "v1" {
		return nil
	}
	out, _, _ := unstructured.NestedSlice(o.Object, "spec", "finalizers")
	return out
}

// endNamespaces deletes what is in the Namespaces that are being deleted, and then the
// Namespaces. It returns how many objects it deleted.
func (c *Cluster) endNamespaces() int {
	deleted, background := 0, metav1.DeletePropagationBackground
	for _, space := range c.sorted(c.ending) {
		left := 0
		for _, k := range slices.Clone(c.Order) {
			o := c.Objects[k]
			if k.Namespace != space.Name || o == nil {
				continue
			}
			if o.GetDeletionTimestamp() == nil {
				c.end(k, o, metav1.DeleteOptions{PropagationPolicy: &background})
				deleted++
			}
			if c.Objects[k] != nil {
				left++
			}
		}
		if left == 0 {
			c.finalize(space)
			deleted++
		}
	}
	return deleted
}

// finalize removes the finalizers in the spec of a Namespace.
func (c *Cluster) finalize(space Key) {
	delete(c.ending, space)
	o := c.Objects[space].DeepCopy()
	unstructured.RemoveNestedField(o.Object, "spec", "finalizers")
	if held(o) {
		c.write(space, o)
	} else {
		c.remove(space, o)
	}
}
