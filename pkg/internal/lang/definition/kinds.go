package definition

import (
	"fmt"
	"slices"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// kindRef is a kind as a definition refers to it.
type kindRef struct {
	group, version, kind, plural, scope string
}

// knownKind compares a kind with the built-in ones. p is the path of plural and scope,
// kind the path of the kind. Kinds of other groups are not checked.
func (c *checker) knownKind(ref kindRef, p, kind source.Path) (schema.BuiltinKind, bool) {
	known, ok := schema.FindBuiltin(apiVersionOf(ref.group, ref.version), ref.kind)
	if !ok {
		if isBuiltinGroup(ref.group) && !(c.Written(p.To("plural")) && c.Written(p.To("scope"))) {
			c.add(kind, diag.UnknownKind, fmt.Sprintf("%s has no kind %s", apiVersionOf(ref.group, ref.version), ref.kind), kindHint(ref))
		}
		return schema.BuiltinKind{}, false
	}
	if ref.plural != known.Plural {
		c.add(
			p.To("plural"),
			diag.BadValue,
			fmt.Sprintf("the plural of %s is %s, not %q", ref.kind, known.Plural, ref.plural),
			"remove the key",
		)
	}
	if ref.scope != known.Scope() {
		c.add(
			p.To("scope"),
			diag.BadValue,
			fmt.Sprintf("the scope of %s is %s, not %s", ref.kind, known.Scope(), ref.scope),
			"remove the key",
		)
	}
	return known, true
}

func isBuiltinGroup(group string) bool {
	return slices.ContainsFunc(schema.BuiltinKinds(), func(b schema.BuiltinKind) bool { return b.Group == group })
}

// kindHint suggests a kind with a similar name, or the group of a kind.
func kindHint(ref kindRef) string {
	apiVersion := apiVersionOf(ref.group, ref.version)
	var names []string
	for _, b := range schema.BuiltinKinds() {
		if b.APIVersion() == apiVersion {
			names = append(names, b.Kind)
		}
	}
	elsewhere, ok := schema.FindBuiltinSpelled(ref.kind)
	if hint := source.Spelling(ref.kind, names); hint != "" && (!ok || elsewhere.APIVersion() == apiVersion) {
		return hint
	}
	if ok {
		return fmt.Sprintf("%s is in %s", elsewhere.Kind, elsewhere.APIVersion())
	}
	return "write plural and scope if your cluster has it"
}

func apiVersionOf(group, version string) string {
	return schema.BuiltinKind{Group: group, Version: version}.APIVersion()
}
