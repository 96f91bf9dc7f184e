package plan

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
)

// unreadyJQ returns the program of the reason why an object is not ready: direct/ready.jq.
func unreadyJQ(c Child) string {
	rule := strings.ReplaceAll(cmp.Or(c.Kind.Group, "core"), ".", "_") + "_" + c.Kind.Kind
	holes := jqfile.Holes{"option::reportsStatus": jqfile.Bool(c.ReportsStatus)}
	switch {
	case c.Ready != nil:
		rule, holes["hole::readyWhen"] = "readyWhen", jqfile.Raw(c.Ready.Source())
	case !directPrograms().Defines("ready", rule):
		rule = "otherKind"
	}
	holes["hole::rule"] = jqfile.Name(rule)
	return directPrograms().Program("ready", holes)
}

// unreadyInPod compiles unreadyJQ for the pod; nil if the pod cannot evaluate the
// child's readyWhen.
func unreadyInPod(c Child) json.RawMessage {
	node, problems := expression.BareForPod(unreadyJQ(c))
	if len(problems) > 0 {
		return nil
	}
	return encode(node)
}
