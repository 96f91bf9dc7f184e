package diag

import (
	"slices"
	"testing"
)

func TestSteps(t *testing.T) {
	object := map[string]any{
		"spec": map[string]any{
			"ports":  []any{map[string]any{"name": "a"}},
			"labels": map[string]any{"a.b/c": "x", "a": map[string]any{"b/c": "y"}, "a[0]": "z"},
		},
	}
	for path, want := range map[string][]string{
		"":                          nil,
		"spec":                      {"spec"},
		".spec.ports":               {"spec", "ports"},
		"spec.ports[0].name":        {"spec", "ports", "0", "name"},
		"spec.ports[7].name":        {"spec", "ports", "7", "name"},
		"spec.labels.a.b/c":         {"spec", "labels", "a.b/c"},
		"spec.labels[a.b/c]":        {"spec", "labels", "a.b/c"},
		"spec.labels[a][b/c]":       {"spec", "labels", "a", "b/c"},
		"spec.labels.a[0]":          {"spec", "labels", "a[0]"},
		"spec.missing.inner[3].end": {"spec", "missing", "inner", "3", "end"},
		"spec.labels[open":          {"spec", "labels", "open"},
	} {
		if got := Steps(object, path); !slices.Equal(got, want) {
			t.Errorf("Steps(%q) = %q, want %q", path, got, want)
		}
	}
}
