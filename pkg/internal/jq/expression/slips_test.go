package expression

import (
	"strings"
	"testing"
)

// TestNoSlips: what only looks like a mistake is none.
func TestNoSlips(t *testing.T) {
	for _, line := range []string{
		`spec.replicas: ${ def one: 1; .spec.size-one }`,
		`spec.replicas: ${ .spec.size-if .spec.enabled then 1 else 0 end }`,
		`spec.replicas: ${ .spec.size-pow(2; 1) }`,
		`spec.replicas: ${ .spec.size-(.spec.hosts|length) }`,
		`metadata.labels: ${ .metadata.labels.app = "x" | .metadata.labels }`,
		`metadata.labels.a: "{{ $labels.instance }}"`,
		`metadata.labels.a: "{{ .password }}"`,
		`metadata.labels.a: "{{ now }}"`,
		`metadata.labels.a: ${ "{{ .Values.image }}" }`,
		`metadata.labels.a: $${ "{{ .Values.image }}" }`,
	} {
		where, text, _ := strings.Cut(line, ": ")
		if _, problems := in(t, where, text); len(errorsOf(problems)) > 0 || len(problems) > 0 && strings.Contains(line, "{{") {
			t.Errorf("%s: %v", line, problems)
		}
	}
}
