package live

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// rawEvent is an event as its EventSource publishes it.
type rawEvent struct{ event simulate.Event }

// MarshalJSON implements json.Marshaler.
func (r rawEvent) MarshalJSON() ([]byte, error) { return r.event.Data, nil }

// payload is the data of an event.
type payload struct {
	Body    map[string]any `json:"body"`
	OldBody map[string]any `json:"oldBody"`
}

func payloadOf(e simulate.Event) payload {
	var out payload
	_ = json.Unmarshal(e.Data, &out) // a tick has other data
	return out
}

// maxChanged is the number of changed fields that a summary names.
const maxChanged = 3

// changedFields names the fields that an update changed.
func (p payload) changedFields() string {
	if p.OldBody == nil {
		return ""
	}
	all := changes(nil, p.OldBody, p.Body)
	slices.Sort(all)
	if len(all) > maxChanged {
		all = append(all[:maxChanged], "…")
	}
	return strings.Join(all, ", ")
}

// bookkeeping are fields that change with every write.
var bookkeeping = []string{"metadata.managedFields", "metadata.resourceVersion", "metadata.generation"}

// maxDepth limits how deep a path of a changed field goes.
const maxDepth = 3

// changes returns the paths of the fields that differ.
func changes(path []string, before, after map[string]any) []string {
	var out []string
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for name := range names {
		below := append(slices.Clone(path), name)
		text := strings.Join(below, ".")
		if reflect.DeepEqual(before[name], after[name]) || slices.Contains(bookkeeping, text) {
			continue
		}
		a, isObject := before[name].(map[string]any)
		b, stillObject := after[name].(map[string]any)
		if isObject && stillObject && len(below) < maxDepth {
			out = append(out, changes(below, a, b)...)
		} else {
			out = append(out, text)
		}
	}
	return out
}
