package simulate

import "context"

// Publish delivers an event once more, as an EventSource or its bus may.
func (s *Simulation) Publish(ctx context.Context, e Event) error { return s.publish(ctx, e) }
