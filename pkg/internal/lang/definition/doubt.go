package definition

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// A definition with errors is checked as far as it is understood. These functions tell what
// is not, so that nothing is reported that only follows from an error.

// Rejected reports whether the value at a path, or one that contains it, has an error.
func (d *Definition) Rejected(path ...string) bool {
	for i := range len(path) + 1 {
		if d.rejected[source.Path(path[:i]).ID()] {
			return true
		}
	}
	return false
}

// Guessed reports whether a line is not YAML and is read as it is probably meant.
func (d *Definition) Guessed(at diag.Position) bool { return d.positions.Guessed(at) }

// Doubtful reports whether a child or a patch has keys that are unknown or have errors,
// other than within its template.
func (d *Definition) Doubtful(path ...string) bool {
	id := source.Path(path).ID()
	template := source.Path(path).To("template").ID()
	if d.Rejected(path...) || d.unknown[id] {
		return true
	}
	for rejected := range d.rejected {
		if strings.HasPrefix(rejected, id+"\x00") && !strings.HasPrefix(rejected, template+"\x00") {
			return true
		}
	}
	return false
}

// SchemaKnown reports whether [Definition.Schema] of the working version has all fields that
// the definition declares.
func (d *Definition) SchemaKnown() bool { return !d.doubtfulSchema }

// DoubtfulField reports whether the type of a field, of one around it or of one in it has an
// error.
func (d *Definition) DoubtfulField(path []string) bool {
	at := d.Schema(d.WorkingVersion())
	for _, name := range path {
		if at == nil || shortschema.IsDoubtful(at) {
			return at != nil
		}
		switch field, ok := at.Properties[name]; {
		case ok:
			at = &field
		case at.Items != nil:
			at = at.Items.Schema
		case at.AdditionalProperties != nil:
			at = at.AdditionalProperties.Schema
		default:
			return false
		}
	}
	return holdsDoubtful(at)
}

func holdsDoubtful(s *props) bool {
	if s == nil || shortschema.IsDoubtful(s) {
		return s != nil
	}
	for _, field := range s.Properties {
		if holdsDoubtful(&field) {
			return true
		}
	}
	return s.Items != nil && holdsDoubtful(s.Items.Schema) || s.AdditionalProperties != nil && holdsDoubtful(s.AdditionalProperties.Schema)
}

// ChildrenKnown reports whether the names of all children are known.
func (d *Definition) ChildrenKnown() bool {
	children := source.PathOf("spec", "children")
	if d.Rejected(children...) || d.unknown[source.PathOf("spec").ID()] && !d.Written(children...) {
		return false
	}
	for i, child := range d.Operator.Spec.Children {
		if child.Name == "" || d.Rejected(children.To(i, "name")...) {
			return false
		}
	}
	return true
}

// RelatedKnown is ChildrenKnown for related objects.
func (d *Definition) RelatedKnown() bool {
	related := source.PathOf("spec", "related")
	if d.Rejected(related...) || d.unknown[source.PathOf("spec").ID()] && !d.Written(related...) {
		return false
	}
	for i, r := range d.Operator.Spec.Related {
		if r.Name == "" || d.Rejected(related.To(i, "name")...) {
			return false
		}
	}
	return true
}

// noteDoubts records what the checks of a definition have found.
func (c *checker) noteDoubts() {
	c.def.rejected, c.def.unknown = c.dec.Rejected, c.dec.Unknown
	api := source.PathOf("spec", "api")
	if c.wasRejected(api) || c.doubtfulCRD || c.wasRejected(api.To("versions")) {
		c.def.doubtfulSchema = true
		return
	}
	working := slices.IndexFunc(c.op.Spec.API.Versions, func(v v1alpha1.Version) bool { return v.Name == c.def.WorkingVersion() })
	if working < 0 {
		return
	}
	p := versionPath(working)
	short := p.To("schema")
	c.def.doubtfulSchema = c.wasRejected(short) || c.dec.Unknown[short.ID()] ||
		c.Written(p.To("openAPIV3Schema")) && c.doubtful[c.op.Spec.API.Versions[working].Name]
}
