package live

// Recording is what users did, as a test.
type Recording struct {
	Steps []RecordedStep `json:"steps"`
	YAML  string         `json:"yaml"`
}

// RecordedStep is one action.
type RecordedStep struct {
	Name   string `json:"name"`
	Action string `json:"action"`
}

// Recorded returns the number of recorded steps.
func (l *Live) Recorded() int { return 0 }

// Recording returns the test so far.
func (l *Live) Recording(name string) (Recording, error) {
	return Recording{Steps: []RecordedStep{}}, nil
}

// DropRecording starts over.
func (l *Live) DropRecording() {}
