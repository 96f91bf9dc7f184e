package definition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// losses warns of fields of spec that a custom resource loses, or needs, because it is written in
// another version than the stored one. There is no conversion webhook: the API server drops what
// the stored version does not have, and adds of what it requires only the defaults.
func (c *checker) losses() {
	versions := c.op.Spec.API.Versions
	stored := slices.IndexFunc(versions, func(v v1alpha1.Version) bool { return v.Storage != nil && *v.Storage })
	if stored < 0 || c.doubtful[versions[stored].Name] || c.def.Schemas[versions[stored].Name] == nil {
		return
	}
	in := versions[stored].Name
	for i, v := range versions {
		if i == stored || v.Served != nil && !*v.Served || c.def.Schemas[v.Name] == nil || c.doubtful[v.Name] {
			continue
		}
		written, kept := c.def.Schemas[v.Name].Properties["spec"], c.def.Schemas[in].Properties["spec"]
		for _, path := range lost(&written, &kept, []string{"spec"}) {
			field := strings.Join(path, ".")
			c.warn(c.schemaField(versionPath(i), field), diag.LossyVersion,
				fmt.Sprintf("%s of %s is not in the stored version %s: the API server drops it", named(path), v.Name, in),
				fmt.Sprintf("add it to %s, or stop serving %s: served: false", in, v.Name))
		}
		for _, path := range needed(&written, &kept, []string{"spec"}) {
			field := strings.Join(path, ".")
			c.warn(c.schemaField(versionPath(stored), field), diag.LossyVersion,
				fmt.Sprintf("%s is required in the stored version %s, but not in %s: custom resources that were written "+
					"without it have none, and expressions read null", named(path), in, v.Name),
				fmt.Sprintf("give it a default, require it in %s, too, or stop serving %s: served: false", v.Name, v.Name))
		}
	}
}

// named returns a path as findings write it.
func named(path []string) string { return strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]") }

// lost returns the fields of the written schema that the kept one does not have.
func lost(written, kept *props, path []string) [][]string {
	if written == nil || kept == nil || kept.XPreserveUnknownFields != nil && *kept.XPreserveUnknownFields {
		return nil
	}
	var out [][]string
	for _, name := range source.SortedKeys(written.Properties) {
		at := append(slices.Clone(path), name)
		one := written.Properties[name]
		switch other, both := kept.Properties[name]; {
		case both:
			out = append(out, lost(&one, &other, at)...)
		case kept.AdditionalProperties != nil:
		default:
			out = append(out, at)
		}
	}
	return append(out, below(written, kept, path, lost)...)
}

// needed returns the fields that the kept schema requires and the written one does not.
func needed(written, kept *props, path []string) [][]string {
	if written == nil || kept == nil {
		return nil
	}
	var out [][]string
	for _, name := range source.SortedKeys(kept.Properties) {
		at := append(slices.Clone(path), name)
		one := kept.Properties[name]
		other, both := written.Properties[name]
		given := both && (slices.Contains(written.Required, name) || other.Default != nil)
		switch {
		case slices.Contains(kept.Required, name) && one.Default == nil && !given:
			out = append(out, at)
		case both:
			out = append(out, needed(&other, &one, at)...)
		}
	}
	return append(out, below(written, kept, path, needed)...)
}

// below compares the items of lists and the values of maps.
func below(a, b *props, path []string, compare func(a, b *props, path []string) [][]string) [][]string {
	var out [][]string
	if a.Items != nil && b.Items != nil {
		out = append(out, compare(a.Items.Schema, b.Items.Schema, append(slices.Clone(path), "[]"))...)
	}
	if a.AdditionalProperties != nil && b.AdditionalProperties != nil {
		out = append(out, compare(a.AdditionalProperties.Schema, b.AdditionalProperties.Schema, append(slices.Clone(path), "*"))...)
	}
	return out
}
