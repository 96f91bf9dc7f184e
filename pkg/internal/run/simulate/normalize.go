package simulate

import (
	"time"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// timestampLabel is a label with the wall-clock time that Argo's trigger sets.
const timestampLabel = "events.argoproj.io/action-timestamp"

// normalizeCalls replaces wall-clock times in calls, so that two runs produce the
// same output.
func (s *Simulation) normalizeCalls(calls []cluster.Call) {
	if s.remote != nil {
		return
	}
	for i := range calls {
		calls[i].Duration = 0
		calls[i].Body = s.normalize(calls[i].Body)
		calls[i].Answer = s.normalize(calls[i].Answer)
	}
}

// normalize returns a value with wall-clock times replaced. A remote API server has no
// other times.
func (s *Simulation) normalize(value any) any {
	if s.remote != nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			if _, text := inner.(string); text && name == timestampLabel {
				inner = "0"
			}
			out[name] = s.normalize(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = s.normalize(inner)
		}
		return out
	case string:
		if s.isWallClock(v) {
			return "2000-01-01T00:00:00Z"
		}
	}
	return value
}

// isWallClock reports whether a text is a time within this simulation.
func (s *Simulation) isWallClock(text string) bool {
	if len(text) < len("2000-01-01T00:00:00Z") {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && !t.Before(s.started.Add(-time.Second)) && !t.After(time.Now().Add(s.later+time.Second))
}
