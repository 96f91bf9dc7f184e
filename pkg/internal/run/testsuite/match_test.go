package testsuite

import (
	"strings"
	"testing"
)

// TestConditionLimits requires that a condition which does not end, or uses too much
// memory, has a finding with its text.
func TestConditionLimits(t *testing.T) {
	for source, want := range map[string]string{
		"${ [repeat(1)] | length > 0 }":            "does not end in time",
		"${ any(range(infinite); . < 0) }":         "does not end in time",
		"${ (\"x\" * 1e9 | length) > 0 }":          "makes more than 4 MiB of text",
		"${ [range(1e6) | \"x\" * 1e6] == [] }":    "", // memory, or time on a busy machine
		"${ (try (\"x\" * 1e9) catch .) == \"\" }": "makes more than 4 MiB of text",
	} {
		found := match(map[string]any{"spec": map[string]any{"size": source}}, map[string]any{"spec": map[string]any{"size": 3.0}})
		if len(found) != 1 || !strings.Contains(found[0].message, source) || !strings.Contains(found[0].message, want) || found[0].hint == "" {
			t.Errorf("%s: %+v, want one mismatch that names it, says %q and has a hint", source, found, want)
		}
	}
}
