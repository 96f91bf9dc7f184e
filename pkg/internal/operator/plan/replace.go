package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
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
	fixed, sealed := c.fixedFields(child.Kind, in), c.sealedFields(child.Kind, in)
	if _, builtin := schema.Builtin(in.APIVersion, in.Kind); builtin && len(fixed)+len(sealed) == 0 {
		c.findings.Add(c.d.Position(append(slices.Clone(path), "update")...), diag.BadValue,
			fmt.Sprintf("update: Recreate has no effect: no field of %s is immutable", article.With(in.Kind)),
			"remove update; changes are applied in place")
		return
	}
	child.Sealed = len(sealed) > 0
	source := replacedJQ(fixed, sealed)
	child.Replaced, _ = expression.Expression(source, expression.Scope{Input: schema.Any(), Name: "the " + in.Kind}, "string")
	node, problems := expression.BareForPod(source) // none: a test compiles it for every kind
	c.report(problems, append(slices.Clone(path), "update")...)
	child.podPrograms.fixed = encode(node)
}

// sealedFields returns the fields that are immutable if the template computes that
// `immutable` is true.
func (c *compiler) sealedFields(k Kind, in v1alpha1.Child) []schema.Immutable {
	if text, _ := in.Template["immutable"].(string); !schema.IsComputed(text) {
		return nil
	}
	always := c.fixedFields(k, in)
	in.Template = maps.Clone(in.Template)
	in.Template["immutable"] = true
	return slices.DeleteFunc(c.fixedFields(k, in), func(f schema.Immutable) bool {
		return slices.ContainsFunc(always, func(other schema.Immutable) bool { return slices.Equal(other.Path, f.Path) })
	})
}

// replacedJQ returns the jq of the fingerprint. That of sealed fields follows a dot while
// `immutable` is true, so that an object is not replaced when it is sealed.
func replacedJQ(fixed, sealed []schema.Immutable) string {
	if len(fixed)+len(sealed) == 0 {
		return `with_entries(select(.key != "metadata" and .key != "status")) | fingerprint`
	}
	source := fingerprintOf(fixed)
	if len(sealed) > 0 {
		source = fmt.Sprintf(`(%s) + (if .immutable == true then "." + (%s) else "" end)`, source, fingerprintOf(sealed))
	}
	return source
}

func fingerprintOf(fields []schema.Immutable) string {
	var terms []string
	for _, f := range fields {
		term := ""
		for _, key := range f.Path {
			term += "." + quote(key) + "?"
		}
		free := slices.DeleteFunc(slices.Clone(f.Free), func(path []string) bool { return slices.Contains(path, "*") })
		terms = append(terms, fixedParts(cmp.Or(term, "."), free)...)
	}
	return "[" + strings.Join(terms, ", ") + "] | fingerprint"
}

// fixedParts returns the jq of a field without its mutable parts, one term for each level
// that has some.
func fixedParts(term string, free [][]string) []string {
	if len(free) == 0 {
		return []string{term}
	}
	var keys []string
	below := map[string][][]string{}
	for _, path := range free {
		if !slices.Contains(keys, quote(path[0])) {
			keys = append(keys, quote(path[0]))
		}
		if len(path) > 1 {
			below[path[0]] = append(below[path[0]], path[1:])
		}
	}
	terms := []string{fmt.Sprintf("(%s // {} | with_entries(select(.key | IN(%s) | not)))", term, strings.Join(keys, ", "))}
	for _, key := range slices.Sorted(maps.Keys(below)) {
		terms = append(terms, fixedParts(term+"."+quote(key)+"?", below[key])...)
	}
	return terms
}
