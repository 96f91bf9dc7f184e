package definition

import (
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

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
		if strings.Contains(t.Metadata.Annotations[key], "{{") {
			c.add(p.To("annotations", key), diag.BadValue, "the annotation contains {{, which begins a template of Argo",
				"write it without braces")
		}
	}
}
