package plan

import (
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestReplacedJQ shows that the fingerprint of each built-in kind is an expression that
// both the Sensor and the pod evaluate.
func TestReplacedJQ(t *testing.T) {
	count := 0
	for _, known := range schema.BuiltinKinds() {
		fixed := schema.ImmutableFields(known.Group, known.Kind)
		if len(fixed) == 0 {
			continue
		}
		count++
		source := replacedJQ(fixed, fixed)
		if _, problems := expression.Expression(source, expression.Scope{Input: schema.Any()}, "string"); len(problems) > 0 {
			t.Errorf("%s: %v", known.Kind, problems)
		}
		if _, problems := expression.BareForPod(source); len(problems) > 0 {
			t.Errorf("%s in a pod: %v", known.Kind, problems)
		}
	}
	if count < 20 {
		t.Errorf("only %d kinds have immutable fields", count)
	}
}
