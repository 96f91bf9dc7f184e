package differential

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// Shrink returns the simplest case with the same difference that it finds: it tries
// the simplest alternative for many choices at once, then for fewer, then for each.
func Shrink(c *Case, found *Difference, runner simulate.Runner) (*Case, *Difference, error) {
	best, choices, left := c, c.Choices(), replays
	for changed := true; changed; {
		changed = false
		for size := (len(choices.nonzero()) + 1) / 2; size > 0; size /= 2 {
			for start := 0; start < len(choices.nonzero()) && left > 0; start += size {
				left--
				names := choices.nonzero()
				less := choices.without(names[start:min(start+size, len(names))])
				simpler, difference, err := redraw(c.seed, less, runner)
				if err != nil {
					return nil, nil, err
				}
				if difference == nil || difference.Kind != found.Kind || difference.Engine != found.Engine {
					continue
				}
				best, found, choices, changed = simpler, difference, keep(less, simpler.Choices()), true
				start -= size // the next ones have taken their place
			}
		}
	}
	return best, found, nil
}

// replays limits the cases that Shrink plays: one that does not converge takes seconds.
const replays = 150

// keep returns the choices that a case has made.
func keep(choices, made Choices) Choices {
	out := maps.Clone(made)
	for name := range out {
		out[name] = choices[name]
	}
	maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
	return out
}

func redraw(seed uint64, choices Choices, runner simulate.Runner) (*Case, *Difference, error) {
	c, err := Draw(seed, choices)
	if err != nil {
		return nil, nil, err
	}
	v, err := Play(c, runner)
	return c, v.Difference, err
}

// lifeTest creates and deletes the custom resource. It leaves out the moves between.
const lifeTest = `apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: t}
spec:
  resource: {file: ../cr.yaml}
  steps:
  - {name: created, create: {}}
  - {name: deleted, delete: {}}
`

// Write writes a case to a directory, for argoperator lint and test: the definition, the
// custom resource, a test that creates it, and the difference.
func (c *Case) Write(dir string, found *Difference) error {
	if err := os.MkdirAll(filepath.Join(dir, "tests"), 0o755); err != nil {
		return fmt.Errorf("writing a case: %w", err)
	}
	cr, err := c.customResource("cr.0", first)
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"operator.yaml": c.Definition(found.Engine), "difference.txt": []byte(found.String() + "\n"),
		"cr.yaml": text(cr), "tests/t.yaml": []byte(lifeTest),
	}
	for name, file := range c.files {
		files[name] = file.Data
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("writing a case: %w", err)
		}
	}
	return nil
}
