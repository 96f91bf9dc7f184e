package expression

import (
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// TestRewritten: a hint shows the expression as it should be, and that is right
// where the mistake was.
func TestRewritten(t *testing.T) {
	for _, test := range []struct{ where, text, fixed string }{
		{"when", `.size > 1`, `.spec.size`},
		{"when", `.spec.enabled && .spec.size > 1`, `.spec.enabled and .spec.size > 1`},
		{"when", `.spec.enabled || .spec.size > 1`, `.spec.enabled or .spec.size > 1`},
		{"when", `!.spec.enabled`, `.spec.enabled | not`},
		{"when", `not (.spec.enabled)`, `(.spec.enabled | not)`},
		{"when", `.spec.image == 'a'`, `.spec.image == "a"`},
		{"when", `${ .spec.enabled } and ${ .spec.size > 1 }`, `.spec.enabled and .spec.size > 1`},
		{"when", `.spec.image = "a"`, `.spec.image == "a"`},
		{"when", `if .spec.size = 3 then true else false end`, `.spec.size == 3`},
		{"when", `.spec.size`, `.spec.size > 0`},
		{"when", `.spec.replicas`, `(.spec.replicas // 0) > 0`},
		{"when", `.spec.image`, `.spec.image != ""`},
		{"when", `.spec.suffix`, `.spec.suffix != null`},
		{"when", `.spec.hosts`, `(.spec.hosts | length) > 0`},
		{"when", `.spec.image.startsWith("a")`, `.spec.image | startswith("a")`},
		{"when", `"a" in .spec.hosts`, `.spec.hosts | index("a") != null`},
		{"when", `.spec.hosts.exists(h, h == "a")`, `.spec.hosts | any(. == "a")`},
		{"when", `.spec.hosts.all(h, h != "b")`, `.spec.hosts | all(. != "b")`},
		{"metadata.name", `${ .spec.suffix.orValue("x") }`, `.spec.suffix // "x"`},
		{"forEach", `.spec.hosts.filter(h, h != "")`, `.spec.hosts | map(select(. != ""))`},
		{"forEach", `.spec.size`, `[range(.spec.size)]`},
		{"forEach", `.spec.replicas`, `[range((.spec.replicas // 0))]`},
		{"forEach", `.spec.labels`, `(.spec.labels // {}) | to_entries`},
		{"forEach", `.spec.image`, `.spec.image | split(",")`},
		{"metadata.name", `${ .spec.enabled ? "on" : "off" }`, `if .spec.enabled then "on" else "off" end`},
		{"metadata.name", `${.spec.suffix:-x}`, `.spec.suffix // "x"`},
		{"metadata.name", `${ .spec.suffix | default("x") }`, `.spec.suffix // "x"`},
		{"metadata.name", `${ .spec.suffix | default "x" }`, `.spec.suffix // "x"`},
		{"metadata.name", `${ .spec.image.toLowerCase() }`, `.spec.image | ascii_downcase`},
		{"metadata.name", `${ .Values.image }`, `.spec.image`},
		{"metadata.name", `${ .Release.Name }`, `.metadata.name`},
		{"metadata.name", `${ schema.spec.image }`, `.spec.image`},
		{"metadata.name", `${ IMAGE }`, `.spec.image`},
		{"metadata.name", `${ if .spec.enabled then "a" else "b" }`, `if .spec.enabled then "a" else "b" end`},
		{"metadata.labels.a", `${ .metadata.labels.app.kubernetes.io/part-of }`, `.metadata.labels["app.kubernetes.io/part-of"]`},
		{"metadata.labels.a", `${ .spec.extra.some-name }`, `.spec.extra["some-name"]`},
		{"metadata.labels.a", `{{ .Values.image }}-x`, `.spec.image`},
		{"metadata.labels.a", `{{ image }}`, `.spec.image`},
		{"spec.replicas", `${ len(.spec.hosts) }`, `(.spec.hosts | length)`},
		{"spec.replicas", `${ length(.spec.hosts) }`, `(.spec.hosts | length)`},
		{"status.ready", `${ .children.web.status.readyReplicas }`, `$children.web.status.readyReplicas`},
		{"status.ready", `${ children.web.status.readyReplicas }`, `$children.web.status.readyReplicas`},
		{"each.metadata.name", `${ item.name }`, `$item`},
	} {
		_, problems := inQuotes(t, test.where, test.text)
		if len(problems) != 1 || !strings.Contains(problems[0].Hint, test.fixed) {
			t.Errorf("%s: %s: %v, wanted one with %s", test.where, test.text, problems, test.fixed)
		}
		if kind, _, _ := strings.Cut(test.where, "."); kind == "when" && test.fixed != ".spec.size" || kind == "forEach" || kind == "metadata" {
			fixed := test.fixed
			if kind == "metadata" {
				fixed = "${ " + fixed + " }"
			}
			if _, left := in(t, test.where, fixed); len(errorsOf(left)) > 0 {
				t.Errorf("%s: %s, which is shown for %s: %v", test.where, fixed, test.text, left)
			}
		}
	}
}

// inQuotes is in for a text that would be a mapping of YAML.
func inQuotes(t *testing.T, where, text string) (*Program, []Problem) {
	if strings.HasPrefix(text, "{{") {
		text = jq.Quote(text)
	}
	return in(t, where, text)
}

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
