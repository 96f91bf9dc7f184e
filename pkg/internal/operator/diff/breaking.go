package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	"sigs.k8s.io/crdify/pkg/validations"
)

// Break is a change of a kind that breaks clients.
type Break struct {
	Version string // "" for the kind as a whole; "v1 -> v2" if two served versions differ
	Path    string // of the field in the version's schema; "" for the whole schema
	Message string
	Warning bool // the schema does not show whether it breaks clients
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
	results := run.Run(old.DeepCopy(), now.DeepCopy())
	out = append(out, breaksOf("", "", results.CRDValidation)...)
	for _, versions := range []map[string]map[string][]validations.ComparisonResult{results.SameVersionValidation, results.ServedVersionValidation} {
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			for _, path := range slices.Sorted(maps.Keys(versions[version])) {
				out = append(out, breaksOf(version, path, versions[version][path])...)
			}
		}
	}
	return tidy(out), nil
}

// removedPrefix starts the report of a removed field.
const removedPrefix = "removed field : "

// tidy reports a removed field at its path and drops the resulting changes of its
// type.
func tidy(list []Break) []Break {
	absent := map[string]bool{}
	for i, b := range list {
		if at, found := strings.CutPrefix(b.Message, removedPrefix); found {
			version, path, _ := strings.Cut(at, ".^")
			list[i] = Break{Version: version, Path: "^" + path, Message: "the field was removed"}
			absent[version+"^"+path] = true
		}
		list[i].Message = strings.ReplaceAll(list[i].Message, " : ", ": ")
	}
	return slices.DeleteFunc(list, func(b Break) bool { return absent[b.Version+b.Path] && b.Message != "the field was removed" })
}

func breaksOf(version, path string, results []validations.ComparisonResult) []Break {
	var out []Break
	slices.SortFunc(results, func(a, b validations.ComparisonResult) int { return cmp.Compare(a.Name, b.Name) })
	for _, r := range results {
		if r.Name == "description" {
			continue // no client reads it
		}
		for _, message := range r.Errors {
			out = append(out, Break{version, path, message, false})
		}
		for _, message := range r.Warnings {
			out = append(out, Break{version, path, message, true})
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
