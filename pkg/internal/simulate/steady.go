package simulate

import (
	"time"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
)

// stamp is a label that Argo's trigger makes of the machine's clock.
const stamp = "events.argoproj.io/action-timestamp"

// steady replaces, in what is shown of calls, the times that programs, jq and
// Argo took from the machine's clock: two runs must show the same.
func (s *Simulation) steady(calls []cluster.Call) {
	for i := range calls {
		calls[i].Body = s.steadied(calls[i].Body)
		calls[i].Answer = s.steadied(calls[i].Answer)
	}
}

// steadied returns a value with such times replaced.
func (s *Simulation) steadied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			if _, text := inner.(string); text && name == stamp {
				inner = "0"
			}
			out[name] = s.steadied(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = s.steadied(inner)
		}
		return out
	case string:
		if s.ownTime(v) {
			return "2000-01-01T00:00:00Z"
		}
	}
	return value
}

// ownTime tells whether a text is a moment of this simulation.
func (s *Simulation) ownTime(text string) bool {
	if len(text) < len("2000-01-01T00:00:00Z") {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && !t.Before(s.started.Add(-time.Second)) && !t.After(time.Now().Add(s.later+time.Second))
}
