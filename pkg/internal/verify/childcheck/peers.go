package childcheck

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// openToAll warns of a rule of a NetworkPolicy whose list of peers is written and can be empty, or
// null, which leaves it out: the rule then allows all peers. A rule without the key means that.
func (f *family) openToAll(child int) diag.List {
	if k := f.runs[child].child.Kind; k.Group != "networking.k8s.io" || k.Kind != "NetworkPolicy" {
		return nil
	}
	var findings diag.List
	reported := map[string]bool{}
	for _, cr := range f.having(child) {
		for _, made := range f.objects(child, cr) {
			for direction, key := range map[string]string{"ingress": "from", "egress": "to"} {
				path, text := f.openRule(child, made, direction, key)
				if path == nil || reported[strings.Join(path, ".")] {
					continue
				}
				reported[strings.Join(path, ".")] = true
				findings.Warn(f.at(child, path...), diag.OpenToAll,
					fmt.Sprintf("the rule of this NetworkPolicy allows all peers when %s is empty", key), rulesHint(direction, key, text))
			}
		}
	}
	return findings
}

// openRule returns the path of a rule that allows all peers and is not written so, and the value of
// its peers in the template.
func (f *family) openRule(child int, made member, direction, key string) (path []string, text string) {
	rules, _ := schema.ValueAt(made.object, "spec", direction).([]any)
	written, isList := schema.ValueAt(f.declared(child).Template, "spec", direction).([]any)
	for i, rule := range rules {
		peers, isThere := schema.ValueAt(rule, key).([]any)
		at := []string{"spec", direction}
		if isList && i < len(written) {
			value := schema.ValueAt(written[i], key)
			text, _ = value.(string)
			isThere, at = value != nil, append(at, strconv.Itoa(i), key)
		}
		if isThere && len(peers) == 0 {
			return at, text
		}
	}
	return nil, ""
}

// rulesHint says how to have no rule without peers.
func rulesHint(direction, key, text string) string {
	types := "policyTypes: [" + strings.ToUpper(direction[:1]) + direction[1:] + "]"
	if !strings.HasPrefix(text, "${") {
		return fmt.Sprintf("to allow none, write %s: [] and %s; to allow all, remove %s", direction, types, key)
	}
	peers := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "${"), "}"))
	return fmt.Sprintf("leave the rule out then, and write %s: %s: %s", types, direction,
		source.Scalar(fmt.Sprintf("${ [%s | select(length > 0) | {%s: .}] }", peers, key), true, 0))
}
