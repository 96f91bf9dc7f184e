package edited_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/internal/testing/edited"
)

const text = "a: 1 # kept\nb: [x, y]\n---\nc: {d: e}\n"

func TestYAML(t *testing.T) {
	const list, replace, remove = 2, 0 << 32, 6 << 32 // the place of [x, y], and what happens to it
	if got := edited.YAML([]byte(text), 0, 0); string(got) != text {
		t.Errorf("without an edit: %q", got)
	}
	if got := edited.YAML([]byte("a: ["), 7); string(got) != "a: [" {
		t.Errorf("no YAML: %q", got)
	}
	if diff := cmp.Diff("a: 1 # kept\n---\nc: {d: e}\n", string(edited.YAML([]byte(text), remove|list))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("a: 1 # kept\nb: null\n", string(edited.YAML([]byte("a: 1 # kept\nb: [x, y]\n"), 1<<40|replace|list))); diff != "" {
		t.Error(diff)
	}
}

// TestVariantsParse: whatever the numbers are.
func TestVariantsParse(t *testing.T) {
	numbers, different := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	for range 3000 {
		made := edited.YAML([]byte(text), numbers.Uint64(), numbers.Uint64(), numbers.Uint64())
		different[string(made)] = true
		var any yaml.Node
		if err := yaml.Unmarshal(made, &any); err != nil {
			t.Errorf("%v: %s", err, made)
		}
	}
	if len(different) < 2000 {
		t.Errorf("only %d variants", len(different))
	}
}
