package schema

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ImmutableByRules returns the fields of a custom kind whose validation rules make
// them immutable.
func ImmutableByRules(s *apiextensionsv1.JSONSchemaProps, path []string) []Immutable {
	known := rulesOf(s)
	if known.equal("self", "oldSelf") {
		return []Immutable{{Path: path}}
	}
	var out []Immutable
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, at := s.Properties[name], append(slices.Clone(path), name)
		if known.equal("self."+name, "oldSelf."+name) || known.keeps("."+name) {
			out = append(out, Immutable{Path: at})
			continue
		}
		out = append(out, ImmutableByRules(&p, at)...)
	}
	return out
}

func withoutSpace(rule string) string { return strings.Join(strings.Fields(rule), "") }

// Change is what the rules of a schema allow to happen to a value.
type Change int

// The changes, each of which allows less than the one before.
const (
	Changes  Change = iota // another value, or one that the rules do not decide
	Appears                // a value may be set later or removed, but not change
	NoChange               // the API server rejects every change
)

// ChangeOf returns how a field of a custom resource may change, by the rules that forbid
// every change. It takes rules that it does not know for rules that allow changes.
func ChangeOf(s *apiextensionsv1.JSONSchemaProps, path []string) Change {
	return changeOf(s, path, true, nested{})
}

// nested are the rules of a value and of those around it, the outermost first, and the fields of
// these that lead to it.
type nested struct {
	rules  []rules
	fields []string
}

// stays reports whether a rule says that a field of the value can neither appear nor vanish.
func (n nested) stays(path ...string) bool {
	for i, known := range n.rules {
		at := "." + strings.Join(slices.Concat(n.fields[i:], path), ".")
		if known.equal("has(self"+at+")", "has(oldSelf"+at+")") {
			return true
		}
	}
	return false
}

// changeOf is ChangeOf of a value; kept reports whether it can neither appear nor vanish.
func changeOf(s *apiextensionsv1.JSONSchemaProps, path []string, kept bool, around nested) Change {
	known := rulesOf(s)
	here := nested{append(slices.Clip(around.rules), known), around.fields}
	same := Appears
	if kept {
		same = NoChange
	}
	if known.equal("self", "oldSelf") {
		return same
	}
	if len(path) == 0 {
		return allOf(s, kept, around)
	}
	for end := 1; end <= len(path); end++ {
		at := "." + strings.Join(path[:end], ".")
		switch {
		case known.equal("self"+at, "oldSelf"+at):
			return same
		case known.keeps(at):
			if here.stays(path[:end]...) {
				return same
			}
			return Appears
		}
	}
	name := path[0]
	below, there := s.Properties[name]
	if !there {
		if s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil {
			return Changes
		}
		return changeOf(s.AdditionalProperties.Schema, path[1:], false, nested{})
	}
	inside := nested{here.rules, append(slices.Clip(here.fields), name)}
	return changeOf(&below, path[1:], kept && (isSet(s, name) || here.stays(name)), inside)
}

// isSet reports whether an object has a field: it is required, or has a default. A custom
// resource counts as having a spec, because it cannot be of use without it.
func isSet(s *apiextensionsv1.JSONSchemaProps, name string) bool {
	return slices.Contains(s.Required, name) || s.Properties[name].Default != nil || name == "spec"
}

// IsSet reports whether every custom resource has a field.
func IsSet(s *apiextensionsv1.JSONSchemaProps, path []string) bool {
	for _, name := range path {
		below, there := s.Properties[name]
		if !there || !isSet(s, name) {
			return false
		}
		s = &below
	}
	return true
}

// allOf returns the change that all fields of an object allow.
func allOf(s *apiextensionsv1.JSONSchemaProps, kept bool, around nested) Change {
	if len(s.Properties) == 0 || s.AdditionalProperties != nil {
		return Changes
	}
	out := NoChange
	for name := range s.Properties {
		out = min(out, changeOf(s, []string{name}, kept, around))
	}
	return out
}

// rules are the conditions that must all be true, without white space.
type rules []string

func rulesOf(s *apiextensionsv1.JSONSchemaProps) rules {
	var out rules
	for _, rule := range s.XValidations {
		if rule.OptionalOldSelf == nil || !*rule.OptionalOldSelf {
			out = append(out, parts(withoutSpace(rule.Rule), "&&")...)
		}
	}
	return out
}

// parts splits a rule at an operator that is in no parentheses and in no text, and removes
// the parentheses around each part.
func parts(rule, operator string) []string {
	depth, quote, start := 0, byte(0), 0
	var out []string
	for i := 0; i < len(rule); i++ {
		switch at := rule[i]; {
		case quote != 0:
			if at == quote {
				quote = 0
			}
		case at == '"' || at == '\'':
			quote = at
		case strings.IndexByte("([{", at) >= 0:
			depth++
		case strings.IndexByte(")]}", at) >= 0:
			depth--
		case depth == 0 && strings.HasPrefix(rule[i:], operator):
			out = append(out, bare(rule[start:i]))
			i += len(operator) - 1
			start = i + 1
		}
	}
	return append(out, bare(rule[start:]))
}

// bare removes the parentheses around a rule.
func bare(rule string) string {
	for strings.HasPrefix(rule, "(") && strings.HasSuffix(rule, ")") {
		depth, end := 0, 0
		for i := range len(rule) {
			switch rule[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				end = i
				break
			}
		}
		if end != len(rule)-1 {
			return rule
		}
		rule = rule[1:end]
	}
	return rule
}

// equal reports whether a rule says that two terms are equal.
func (r rules) equal(one, other string) bool {
	return slices.Contains(r, one+"=="+other) || slices.Contains(r, other+"=="+one)
}

// keeps reports whether a rule keeps the value of a field while it is there: its other
// alternatives are that the field is missing.
func (r rules) keeps(at string) bool {
	return slices.ContainsFunc(r, func(rule string) bool {
		alternatives := parts(rule, "||")
		same := slices.DeleteFunc(slices.Clone(alternatives), func(a string) bool {
			return a == "!has(self"+at+")" || a == "!has(oldSelf"+at+")"
		})
		return len(same) > 0 && len(same) < len(alternatives) &&
			!slices.ContainsFunc(same, func(a string) bool { return !rules{a}.equal("self"+at, "oldSelf"+at) })
	})
}
