package differential_test

import (
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/testing/differential"
)

// TestRepeated plays cases that have shown a difference, each with the only choices that it needs.
func TestRepeated(t *testing.T) {
	python := start(t)
	for name, repeated := range map[string]struct {
		seed    uint64
		choices differential.Choices
	}{
		"the text that a hand has changed is no longer wanted": {2000082, differential.Choices{
			"c0.more": 1, "c0.text.metadata": 3, "c0.text.source": 4, "life.1": 3, "life.1.cr.note": 2, "life.3": 13,
		}},
		"what others wait for is wanted later": {2000834, differential.Choices{
			"api.form": 7, "c0.kind": 3, "c0.when": 4, "c1.forEach": 4, "c1.text.read.Widgetfalse": 7, "c1.text.source": 7, "children": 1,
			"cr.0.sample": 5, "field.0": 3, "life.1": 1,
		}},
		"a child with a status goes elsewhere and returns": {3000020, differential.Choices{
			"c0.kind": 5, "c0.namespace": 6, "c0.type": 2, "life.0": 7, "life.2": 13, "life.2.cr.tier": 1,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := differential.Draw(repeated.seed, repeated.choices)
			if err != nil {
				t.Fatal(err)
			}
			v, err := differential.Play(c, python)
			if err != nil || v.Difference != nil || v.Steps == 0 {
				t.Error(v.Steps, v.Difference, err)
			}
			taken := c.Choices()
			for choice, n := range repeated.choices {
				if taken[choice] != n {
					t.Errorf("%s is not chosen any more: the case is another one", choice)
				}
			}
		})
	}
}
