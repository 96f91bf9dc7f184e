package definition

import "github.com/argoperator/argoperator/pkg/internal/lang/source"

// podTemplate checks the labels and annotations of the operator's pods. The rest is checked
// with the rules of Kubernetes for pods.
func (c *checker) podTemplate() {
	t, p := c.op.Spec.Install.PodTemplate, source.PathOf("spec", "install", "podTemplate", "metadata")
	if t == nil {
		return
	}
	c.objectLabels(t.Metadata.Labels, p.To("labels"))
	for _, key := range source.SortedKeys(t.Metadata.Annotations) {
		c.metaKey(key, p.To("annotations", key))
	}
}
