package expression

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestDefaultsWork tests for every function without arguments that the default, which a hint
// proposes for a text that may be missing, is one that the function takes.
func TestDefaultsWork(t *testing.T) {
	input := schema.Record(map[string]schema.Type{"x": schema.Of(schema.String)}, "x")
	proposed := regexp.MustCompile(`write a default, such as (\(.*\))$`)
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(builtins())) {
		function, plain := strings.CutSuffix(name, "/0")
		if !plain || function == "error" {
			continue
		}
		_, problems := Expression(".x|"+function, Scope{Input: input}, "")
		for _, p := range problems {
			fixed := proposed.FindStringSubmatch(p.Hint)
			if p.Code != MayBeNull || fixed == nil {
				continue
			}
			tried++
			program, problems := Expression(fixed[1]+"|"+function, Scope{Input: input}, "")
			if program == nil || len(problems) > 0 {
				t.Errorf("%s: %v", function, problems)
				continue
			}
			if _, err := program.Run(map[string]any{}, Vars{}); err != nil {
				t.Errorf("%s: %v", program.Source(), err)
			}
		}
	}
	if tried < 15 {
		t.Errorf("tried %d functions", tried)
	}
}
