package definition

import (
	"fmt"
	"maps"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// childMetadata adds the labels and annotations of all children to the templates, where
// these do not have the key themselves.
func (c *checker) childMetadata() {
	common := c.op.Spec.ChildMetadata
	if common == nil {
		return
	}
	p := source.PathOf("spec", "childMetadata")
	for _, key := range source.SortedKeys(common.Labels) {
		c.keyBeside(key, p.To("labels", key), "app.kubernetes.io/managed-by")
	}
	for _, key := range source.SortedKeys(common.Annotations) {
		c.keyBeside(key, p.To("annotations", key))
	}
	for i := range c.op.Spec.Children {
		child := &c.op.Spec.Children[i]
		metadata, written := child.Template["metadata"].(map[string]any)
		if !written {
			continue
		}
		metadata = maps.Clone(metadata)
		add := func(field string, values map[string]string) {
			if !merge(metadata, field, values) {
				c.warn(source.PathOf("spec", "children", i, "template", "metadata", field), diag.Unsupported,
					fmt.Sprintf("childMetadata.%s are not added to this child: its %s are one expression", field, field),
					fmt.Sprintf("write the keys of %s, or add those of childMetadata to the expression", field))
			}
		}
		add("labels", common.Labels)
		add("annotations", common.Annotations)
		child.Template = maps.Clone(child.Template)
		child.Template["metadata"] = metadata
	}
}

// merge reports whether it could add the values: it cannot add them to an expression.
func merge(metadata map[string]any, field string, common map[string]string) bool {
	own, isMap := metadata[field].(map[string]any)
	if metadata[field] != nil && !isMap || len(common) == 0 {
		return len(common) == 0
	}
	merged := map[string]any{}
	for key, value := range common {
		merged[key] = value
	}
	maps.Copy(merged, own)
	metadata[field] = merged
	return true
}

// origin returns where a value is written: a label or an annotation of a template may be
// under childMetadata.
func (d *Definition) origin(path []string) []string {
	const depth = 7 // spec.children[i].template.metadata.labels.KEY
	if len(path) < depth || path[1] != "children" || path[3] != "template" || path[4] != "metadata" || d.positions.Written(path[:depth]) {
		return path
	}
	if from := append([]string{"spec", "childMetadata"}, path[depth-2:]...); d.positions.Written(from[:4]) {
		return from
	}
	return path
}

// ChildMetadata returns the labels and annotations of all children as a template.
func (d *Definition) ChildMetadata() map[string]any {
	common := d.Operator.Spec.ChildMetadata
	if common == nil {
		return nil
	}
	out := map[string]any{}
	for field, values := range map[string]map[string]string{"labels": common.Labels, "annotations": common.Annotations} {
		if len(values) == 0 {
			continue
		}
		entries := map[string]any{}
		for key, value := range values {
			entries[key] = value
		}
		out[field] = entries
	}
	return out
}
