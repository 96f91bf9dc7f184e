package definition

import (
	"maps"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// managedBy is the label by which an operator knows its objects.
const managedBy = "app.kubernetes.io/managed-by"

// childMetadata adds the labels and annotations of all children to the templates, where
// these do not have the key themselves. It leaves expressions to ChildMetadata.
func (c *checker) childMetadata() {
	common := c.op.Spec.ChildMetadata
	if common == nil {
		return
	}
	p := source.PathOf("spec", "childMetadata")
	c.commonKeys(common.Labels, p.To("labels"), managedBy)
	c.commonKeys(common.Annotations, p.To("annotations"))
	for i := range c.op.Spec.Children {
		child := &c.op.Spec.Children[i]
		metadata, written := child.Template["metadata"].(map[string]any)
		if !written {
			continue
		}
		metadata = maps.Clone(metadata)
		for field, values := range commonFields(common) {
			metadata[field] = merge(values, metadata[field])
		}
		child.Template = maps.Clone(child.Template)
		child.Template["metadata"] = metadata
	}
}

func (c *checker) commonKeys(values any, p source.Path, reserved ...string) {
	if values == nil && c.Written(p) {
		c.add(p, diag.NullValue, p.String()+" has no value, want a mapping", "remove the key, or write {}")
	}
	entries, _ := values.(map[string]any)
	for _, key := range source.SortedKeys(entries) {
		c.keyBeside(key, p.To(key), reserved...)
	}
}

// merge returns the common entries, with those of a child over them. If one of both is an
// expression, they are those of the child.
func merge(common, own any) any {
	entries, isMap := common.(map[string]any)
	mine, both := own.(map[string]any)
	switch {
	case own == nil && isMap:
		return maps.Clone(entries)
	case own == nil:
		return common
	case !isMap || !both:
		return own
	}
	merged := maps.Clone(entries)
	maps.Copy(merged, mine)
	return merged
}

// origin returns where a value is written: a label or an annotation of a template, or all of
// them, may be under childMetadata.
func (d *Definition) origin(path []string) []string {
	const all = 6 // spec.children[i].template.metadata.labels
	if len(path) < all || path[1] != "children" || path[3] != "template" || path[4] != "metadata" {
		return path
	}
	from := append([]string{"spec", "childMetadata"}, path[all-1:]...)
	for depth := all; depth <= min(len(path), all+1); depth++ {
		if !d.positions.Written(path[:depth]) && d.positions.Written(from[:depth-3]) {
			return from
		}
	}
	return path
}

// ChildMetadata returns the labels and annotations of all children as a template.
func (d *Definition) ChildMetadata() map[string]any {
	if d.Operator.Spec.ChildMetadata == nil {
		return nil
	}
	return commonFields(d.Operator.Spec.ChildMetadata)
}

func commonFields(common *v1alpha1.ChildMetadata) map[string]any {
	out := map[string]any{}
	for field, values := range map[string]any{"labels": common.Labels, "annotations": common.Annotations} {
		if entries, isMap := values.(map[string]any); values != nil && !(isMap && len(entries) == 0) {
			out[field] = values
		}
	}
	return out
}
