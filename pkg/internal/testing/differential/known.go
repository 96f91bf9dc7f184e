package differential

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
func Defects() []Known { return nil }
