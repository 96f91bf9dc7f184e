package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Update is how a child that exists follows a change of what it is made from.
type Update string

// The ways to update a child.
const (
	InPlace  Update = "InPlace"
	Recreate Update = "Recreate" // a change of an immutable field deletes and creates it
	Never    Update = "Never"
)

// replaced compiles the fingerprint of the fields whose change replaces a child: those
// that are immutable, or everything but the metadata of a custom kind of which no rule
// is known.
func (c *compiler) replaced(child *Child, in v1alpha1.Child, path []string) {
	if child.Update != Recreate {
		return
	}
	fixed := c.fixedFields(child.Kind, in)
	if _, builtin := schema.Builtin(in.APIVersion, in.Kind); builtin && len(fixed) == 0 {
		c.findings.Add(c.d.Position(append(slices.Clone(path), "update")...), diag.BadValue,
			fmt.Sprintf("update: Recreate has no effect: no field of a %s is immutable", in.Kind),
			"remove update; changes are applied in place")
		return
	}
	source := replacedJQ(fixed)
	child.Replaced, _ = expression.Expression(source, expression.Scope{Input: schema.Any(), Name: "the " + in.Kind}, "string")
	node, problems := expression.BareForPod(source) // none: a test compiles it for every kind
	c.report(problems, append(slices.Clone(path), "update")...)
	child.podPrograms.fixed = encode(node)
}

// replacedJQ returns the jq of the fingerprint. Of a field with mutable parts, it counts
// the others at the first level.
func replacedJQ(fixed []schema.Immutable) string {
	if len(fixed) == 0 {
		return `with_entries(select(.key != "metadata" and .key != "status")) | fingerprint`
	}
	var terms []string
	for _, f := range fixed {
		term := ""
		for _, key := range f.Path {
			term += "." + quote(key) + "?"
		}
		term = cmp.Or(term, ".")
		var free []string
		for _, path := range f.Free {
			if !slices.Contains(path, "*") {
				free = append(free, quote(path[0]))
			}
		}
		if len(free) > 0 {
			term = fmt.Sprintf("(%s // {} | with_entries(select(.key | IN(%s) | not)))", term, strings.Join(free, ", "))
		}
		terms = append(terms, term)
	}
	return "[" + strings.Join(terms, ", ") + "] | fingerprint"
}
