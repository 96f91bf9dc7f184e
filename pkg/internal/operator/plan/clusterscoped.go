package plan

import (
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
)

// clusterScoped reports the namespace of a cluster-scoped child or patch, whose metadata is at
// a path of the definition: the API server rejects the request. An expression that is the whole
// namespace may be null or empty, which leaves it out.
func (c *compiler) clusterScoped(out Child, template map[string]any, at ...string) {
	metadata, _ := template["metadata"].(map[string]any)
	text, _ := metadata["namespace"].(string)
	if out.Kind.Namespaced || text == "" {
		return
	}
	finding := diag.Finding{
		Position: c.d.PositionOfKey(append(at, "namespace")...),
		Severity: diag.Error,
		Code:     diag.ConflictingKeys,
		Message:  fmt.Sprintf("%s is cluster-scoped and has no namespace: the API server rejects every request with one", out.Kind.Kind),
		Hint:     "remove the key",
	}
	literal := !strings.HasPrefix(text, "${") || !strings.HasSuffix(text, "}")
	if own := out.Namespace != nil && out.Namespace.Source() == ".metadata.namespace"; !literal && !own {
		finding.Severity = diag.Warning
	}
	c.findings = append(c.findings, finding)
}
