package differential

import "bytes"

// Known is a defect that is not fixed yet. A difference that it explains is no failure.
type Known struct {
	Name    string
	Reason  string
	Seed    uint64
	Choices Choices // with Seed: the simplest case that shows it; nil: the one of the seed
	covers  func(c *Case, d *Difference) bool
}

// Covers reports whether the defect explains the difference of a case.
func (k Known) Covers(c *Case, d *Difference) bool { return k.covers(c, d) }

// Defects returns the defects that are not fixed yet.
func Defects() []Known {
	return []Known{{
		Name:    "unwanted beside a failure",
		Reason:  "While the template of one object of a child fails, direct deletes the others that are no longer wanted, and the pods keep them.",
		Seed:    3001967,
		Choices: Choices{"c0.forEach": 4, "c0.text.enum": 3, "c0.text.source": 1, "field.0": 3, "life.3": 13, "life.3.cr.sample": 5},
		covers: func(c *Case, d *Difference) bool {
			definition := c.Definition("")
			return d.Kind == "engines" && bytes.Contains(definition, []byte("error(")) && bytes.Contains(definition, []byte("forEach"))
		},
	}}
}
