package manifest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormatted(t *testing.T) {
	for compact, want := range map[string]string{
		`{}`:                          `{}`,
		`null`:                        `null`,
		`{"a":[],"b":[1,{"c":2}]}`:    "{\n  \"a\": [],\n  \"b\": [1,{\"c\":2}]\n}",
		`{"a":[{"b":"x\"]},:"},{}]}`:  "{\n  \"a\": [\n    {\n      \"b\": \"x\\\"]},:\"\n    },\n    {}\n  ]\n}",
		`{"e":["lit","]}\\",["in"]]}`: "{\n  \"e\": [\"lit\",\"]}\\\\\",[\"in\"]]\n}",
	} {
		got := formatted([]byte(compact))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", compact, diff)
		}
		var back bytes.Buffer
		if err := json.Compact(&back, []byte(got)); err != nil || back.String() != compact {
			t.Errorf("%s does not come back: %s, %v", compact, back.String(), err)
		}
	}
}
