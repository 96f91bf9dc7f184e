package childcheck

import (
	"encoding/json"
	"fmt"
	"maps"
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
				path, hint := f.openRule(child, made, direction, key)
				if path == nil || reported[strings.Join(path, ".")] {
					continue
				}
				reported[strings.Join(path, ".")] = true
				findings.Warn(f.at(child, path...), diag.OpenToAll,
					fmt.Sprintf("the rule of this NetworkPolicy allows all peers when %s is empty", key), hint)
			}
		}
	}
	return findings
}

// openRule returns the path of a rule that allows all peers and is not written so, and what to
// write instead.
func (f *family) openRule(child int, made member, direction, key string) (path []string, hint string) {
	rules, _ := schema.ValueAt(made.object, "spec", direction).([]any)
	template := f.declared(child).Template
	written, isList := schema.ValueAt(template, "spec", direction).([]any)
	types := "policyTypes: [" + strings.ToUpper(direction[:1]) + direction[1:] + "]"
	for i, rule := range rules {
		peers, isThere := schema.ValueAt(rule, key).([]any)
		at := []string{"spec", direction}
		if isList && i < len(written) {
			isThere, at = schema.ValueAt(written[i], key) != nil, append(at, strconv.Itoa(i), key)
		}
		switch {
		case !isThere || len(peers) > 0:
		case isList && i < len(written):
			return at, rulesHint(written, i, direction, key, types)
		default:
			const hint = "leave such rules out, and write %s: add | map(select((.%s | length) > 0)) to the list of rules"
			return at, fmt.Sprintf(hint, types, key)
		}
	}
	return nil, ""
}

// rulesHint says how to have no rule without peers in a list of rules that the template writes.
func rulesHint(rules []any, i int, direction, key, types string) string {
	rule, _ := rules[i].(map[string]any)
	text, _ := rule[key].(string)
	if !strings.HasPrefix(text, "${") {
		return fmt.Sprintf("to allow none, write %s: [] and %s; to allow all, remove %s", direction, types, key)
	}
	rest := without(rule, key)
	more, err := json.Marshal(rest)
	if len(rules) > 1 || err != nil || schema.IsComputed(rest) {
		return fmt.Sprintf("write %s, and %s as one expression that leaves the rule out then", types, direction)
	}
	others := ""
	if len(rule) > 1 {
		others = " + " + string(more)
	}
	peers := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "${"), "}"))
	return fmt.Sprintf("leave the rule out then, and write %s: %s: %s", types, direction,
		source.Scalar(fmt.Sprintf("${ [%s | select(length > 0) | {%s: .}%s] }", peers, key, others), true, 0))
}

// without returns a mapping without a key.
func without(fields map[string]any, key string) map[string]any {
	fields = maps.Clone(fields)
	delete(fields, key)
	return fields
}
