package plan

import (
	"strings"
	"testing"
)

// TestExplained finds the comments of each program of an operator.
func TestExplained(t *testing.T) {
	for _, engine := range []string{"direct", "worker", "workflow"} {
		p := planned(t, `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api: {group: example.com, kind: Web, versions: [{name: v1, schema: {spec: {a: string}}}]}
  children:
  - {name: first, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}
  - {name: each, forEach: "[1, 2]", template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name + ($item | tostring) }"}}}
  reconcile: {engine: `+engine+`}
`)
		programs := p.Explained()
		seen := map[string]bool{}
		for _, e := range programs {
			for _, name := range e.Names {
				seen[name] = true
			}
			if e.About == "" || strings.Contains(e.About, "#") {
				t.Errorf("%s: %v is about %q", engine, e.Names, e.About)
			}
			without := strings.Builder{}
			for line := range strings.Lines(e.Text) {
				if !strings.HasPrefix(strings.TrimSpace(line), "#") {
					without.WriteString(line)
				}
			}
			found := false
			for _, s := range p.Sensors {
				for _, d := range s.Dependencies {
					found = found || d.JQ == without.String()
				}
			}
			if !found {
				t.Errorf("%s: %v is no program of a Sensor", engine, e.Names)
			}
		}
		for _, s := range p.Sensors {
			for _, d := range s.Dependencies {
				if !seen[d.Name] {
					t.Errorf("%s: %s is not explained", engine, d.Name)
				}
			}
		}
	}
}
