package simulate

import "context"

// Publish delivers an event once more, as an EventSource or its bus may.
func (s *Simulation) Publish(ctx context.Context, e Event) error { return s.publish(ctx, e) }

// Path is where the API serves an object; suffix is appended.
func (s *Simulation) Path(fields map[string]any, suffix string) string {
	return s.path(s.placed(fields), suffix)
}
