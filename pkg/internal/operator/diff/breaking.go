package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	"sigs.k8s.io/crdify/pkg/validations"
	"sigs.k8s.io/crdify/pkg/validations/crd/existingfieldremoval"
)

// Break is a change of a kind that breaks clients.
type Break struct {
	Version string // "" for the kind as a whole; "v1 -> v2" if two served versions differ
	Path    string // of the field in the version's schema; "" for the whole schema
	Message string
	Warning bool // the schema does not show whether it breaks clients
	removed bool // the field is missing, with all that was below it
}

// Breaks returns the changes of a kind's definition that break existing custom
// resources or clients.
func Breaks(old, now *apiextensionsv1.CustomResourceDefinition) ([]Break, error) {
	out := identity(old, now)
	run, err := runner.New(&config.Config{
		UnhandledEnforcement: config.EnforcementPolicyWarn,
		Validations: []config.ValidationConfig{{ // clients may keep writing the old values
			Name: "enum", Enforcement: config.EnforcementPolicyError, Configuration: map[string]any{"additionPolicy": "Allow"},
		}},
	}, runner.DefaultRegistry())
	if err != nil {
		return nil, fmt.Errorf("comparing CustomResourceDefinitions: %w", err)
	}
	old, now = withoutProse(old), withoutProse(now)
	results := run.Run(old.DeepCopy(), now.DeepCopy())
	out = append(out, breaksOf("", "", results.CRDValidation, "")...)
	for _, versions := range []map[string]map[string][]validations.ComparisonResult{
		results.SameVersionValidation,
		results.ServedVersionValidation,
	} {
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			from, before, after := old, version, version
			one, other, pair := strings.Cut(version, " -> ")
			if pair { // of the new definition
				from, before, after = now, one, other
			}
			was, is := fieldsOf(from, before), fieldsOf(now, after)
			for _, path := range slices.Sorted(maps.Keys(versions[version])) {
				list := versions[version][path]
				if pair && was[path] != nil && is[path] == nil {
					out = append(out, Break{Version: version, Path: path, Message: after + " has no such field", removed: true})
					continue
				}
				out = append(out, breaksOf(version, path, list, otherKeys(was[path], is[path], list))...)
			}
		}
	}
	return tidy(out), nil
}

// tidy drops the changes of the type of a removed field.
func tidy(list []Break) []Break {
	absent := map[string]bool{}
	for _, b := range list {
		if b.removed {
			absent[b.Version+b.Path] = true
		}
	}
	return slices.DeleteFunc(list, func(b Break) bool { return absent[b.Version+b.Path] && !b.removed })
}

// breakOf returns a result of crdify, which says only in words what it found, and where a
// field was removed.
func breakOf(version, path, text string) Break {
	if at, found := strings.CutPrefix(text, existingfieldremoval.ErrRemovedExistingField.Error()+" : "); found {
		version, path, _ := strings.Cut(at, ".^")
		return Break{Version: version, Path: "^" + path, Message: "the field was removed", removed: true}
	}
	return Break{Version: version, Path: path, Message: strings.ReplaceAll(text, " : ", ": ")}
}

// breaksOf returns the results about a field. other is the change that crdify has no rule for,
// of which it prints Go values.
func breaksOf(version, path string, results []validations.ComparisonResult, other string) []Break {
	var out []Break
	slices.SortFunc(results, func(a, b validations.ComparisonResult) int { return cmp.Compare(a.Name, b.Name) })
	for _, r := range results {
		if r.Name == "unhandled" && len(r.Warnings) > 0 {
			out = append(out, Break{Version: version, Path: path, Message: other, Warning: true})
			continue
		}
		for _, text := range r.Errors {
			out = append(out, breakOf(version, path, text))
		}
		for _, text := range r.Warnings {
			b := breakOf(version, path, text)
			b.Warning = !b.removed
			out = append(out, b)
		}
	}
	return out
}

// otherKeys returns how the keys of a schema changed that no result is about.
func otherKeys(old, now *apiextensionsv1.JSONSchemaProps, results []validations.ComparisonResult) string {
	before, after := keysOf(old), keysOf(now)
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	var changes []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		compared := slices.ContainsFunc(results, func(r validations.ComparisonResult) bool { return r.Name == key })
		if was, is := string(before[key]), string(after[key]); was != is && !compared {
			change := key + " changed"
			if len(was)+len(is) <= shortValues {
				change += fmt.Sprintf(": %s -> %s", cmp.Or(was, "none"), cmp.Or(is, "none"))
			}
			changes = append(changes, change)
		}
	}
	return strings.Join(changes, "; ")
}

// shortValues is the length of two values that a message shows.
const shortValues = 80

// keysOf returns the keys of a schema, without those that have the schemas of other fields.
func keysOf(s *apiextensionsv1.JSONSchemaProps) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if s == nil {
		return out
	}
	data, err := json.Marshal(validations.DropChildrenPropertiesFromJSONSchema(s))
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic("diff: a schema does not encode: " + err.Error()) // unreachable
	}
	return out
}

// fieldsOf returns the schemas of the fields of a version, by their paths.
func fieldsOf(crd *apiextensionsv1.CustomResourceDefinition, version string) map[string]*apiextensionsv1.JSONSchemaProps {
	for _, v := range crd.Spec.Versions {
		if v.Name == version && v.Schema != nil {
			return validations.FlattenCRDVersion(v)
		}
	}
	return nil
}

// withoutProse returns a copy without what people read: no client depends on it.
func withoutProse(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	out := crd.DeepCopy()
	var remove func(s *apiextensionsv1.JSONSchemaProps)
	remove = func(s *apiextensionsv1.JSONSchemaProps) {
		s.Title, s.Description, s.Example, s.ExternalDocs = "", "", nil, nil
		for name, field := range s.Properties {
			remove(&field)
			s.Properties[name] = field
		}
		if s.Items != nil && s.Items.Schema != nil {
			remove(s.Items.Schema)
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			remove(s.AdditionalProperties.Schema)
		}
	}
	for _, v := range out.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			remove(v.Schema.OpenAPIV3Schema)
		}
	}
	return out
}

// identity compares names and versions of a kind. A CustomResourceDefinition with
// another name is another kind, so nothing else compares them.
func identity(old, now *apiextensionsv1.CustomResourceDefinition) []Break {
	var out []Break
	if old.Spec.Names.Kind != now.Spec.Names.Kind {
		out = append(out, Break{Message: fmt.Sprintf("the kind was renamed from %s to %s", old.Spec.Names.Kind, now.Spec.Names.Kind)})
	}
	for _, v := range old.Spec.Versions {
		i := slices.IndexFunc(now.Spec.Versions, func(n apiextensionsv1.CustomResourceDefinitionVersion) bool { return n.Name == v.Name })
		switch {
		case !v.Served:
		case i < 0:
			out = append(out, Break{Version: v.Name, Message: "the version was removed: its clients get 404"})
		case !now.Spec.Versions[i].Served:
			out = append(out, Break{Version: v.Name, Message: "the version is no longer served: its clients get 404"})
		default:
			out = append(out, subresources(v, now.Spec.Versions[i])...)
		}
	}
	return out
}

func subresources(old, now apiextensionsv1.CustomResourceDefinitionVersion) []Break {
	var out []Break
	before, after := old.Subresources, now.Subresources
	if before == nil {
		return nil
	}
	if after == nil {
		after = &apiextensionsv1.CustomResourceSubresources{}
	}
	if before.Status != nil && after.Status == nil {
		out = append(out, Break{Version: old.Name, Message: "the status subresource was removed"})
	}
	if before.Scale != nil && after.Scale == nil {
		out = append(out, Break{Version: old.Name, Message: "the scale subresource was removed: kubectl scale and autoscalers fail"})
	}
	return out
}
