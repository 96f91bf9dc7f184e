package argoperator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
)

// unquoted is a definition with a place for a line of the schema, one of the child and one
// of its data.
const unquoted = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api:
    group: apps.example.com
    kind: Web
    versions:
    - name: v1
      schema:
        spec:
          image: string | default="nginx:1"
          host: string | default="a"
          size: integer | default=1
          ports: "[]integer"
          enabled: boolean | default=true
          SCHEMA
  children:
  - name: config
    CHILD
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }"}
      data:
        a: b
        DATA
`

// ofYAML are the codes of findings about what YAML reads.
var ofYAML = []string{diag.YAMLSyntax, diag.YAMLTag, diag.YAMLAlias}

// TestYAMLHints covers that a line which YAML does not read as it looks has a finding with
// the corrected line, that this line is YAML, and that other findings are not hidden.
func TestYAMLHints(t *testing.T) {
	for _, test := range []struct{ place, line, hint string }{
		{"SCHEMA", `x: []integer`, `quote the value: x: "[]integer"`},
		{"SCHEMA", `x: []string | default=[]`, `quote the value: x: "[]string | default=[]"`},
		{"SCHEMA", `x: {a: []string, b: string}`, `quote the value: x: {a: "[]string", b: string}`},
		{"SCHEMA", `x: {a: map[string]string}`, `quote the value: x: {a: "map[string]string"}`},
		{"SCHEMA", `x: {a: string | default=b pattern="^[a-z]+$"}`, `quote the value: x: {a: 'string | default=b pattern="^[a-z]+$"'}`},
		{"SCHEMA", `x: {a: string | pattern="[a]", b: "[]string"}`, `quote the value: x: {a: 'string | pattern="[a]"', b: "[]string"}`},
		{"SCHEMA", `x: {b: integer, a: string | pattern="[{]" maxLength=2}`, `quote the value: x: {b: integer, a: 'string | pattern="[{]" maxLength=2'}`},
		{"SCHEMA", `x: string | description="a: b"`, `quote the value: x: 'string | description="a: b"'`},
		{"SCHEMA", `x: string | pattern="a #b"`, `quote the value: x: 'string | pattern="a #b"'`},
		{"SCHEMA", `x: "string" | default=a`, `remove the quotes: x: string | default=a`},
		{"SCHEMA", `x: "[]string" | minItems=1`, `quote the value: x: "[]string | minItems=1"`},
		{"SCHEMA", `x string`, `write a colon after the key: x: string`},
		{"SCHEMA", `x:string`, `write a space after the colon: x: string`},
		{"SCHEMA", `- x: string`, `this is a key, not an item of a list: remove the dash: x: string`},
		{"DATA", `c: "${ .spec.host // "y" }"`, `remove the quotes: c: ${ .spec.host // "y" }`},
		{"DATA", `c: "a: ${ .spec.host // "y" }"`, `quote the value: c: 'a: ${ .spec.host // "y" }'`},
		{"DATA", `c: ${ .spec.host }: y`, `quote the value: c: "${ .spec.host }: y"`},
		{"DATA", `c: ${ {a: .spec.host} | tojson }`, `quote the value: c: "${ {a: .spec.host} | tojson }"`},
		{"DATA", `c: ${ .spec.host | "a: \(.)" }`, `quote the value: c: '${ .spec.host | "a: \(.)" }'`},
		{"DATA", `c: ${ .spec.host | split(" #") | .[0] }`, `quote the value: c: '${ .spec.host | split(" #") | .[0] }'`},
		{"DATA", `c: ${ .spec.host # a comment }`, `write the comment after the value: c: ${ .spec.host }`},
		{"DATA", `c: @value`, `quote the value: c: "@value"`},
		{"DATA", `c: %value`, `quote the value: c: "%value"`},
		{"DATA", "c: `value`", "quote the value: c: \"`value`\""},
		{"DATA", `c: *value`, `quote the value: c: "*value"`},
		{"DATA", `c: * * * * *`, `quote the value: c: "* * * * *"`},
		{"DATA", `c: */5 * * * * # every`, `quote the value: c: "*/5 * * * *" # every`},
		{"DATA", `c: &value`, `quote the value: c: "&value"`},
		{"DATA", `c: {{ .Values.image }}:latest`, `quote the value: c: "{{ .Values.image }}:latest"`},
		{"DATA", `c: [a]b`, `quote the value: c: "[a]b"`},
		{"DATA", `c: {a}b`, `quote the value: c: "{a}b"`},
		{"DATA", `c: "a" b`, `quote the value: c: '"a" b'`},
		{"DATA", `c: 'it's'`, `remove the quotes: c: it's`},
		{"DATA", `c: a: b`, `quote the value: c: "a: b"`},
		{"DATA", `c: !a`, `quote the value: c: "!a"`},
		{"DATA", `c: > 5`, `quote the value: c: "> 5"`},
		{"DATA", `c: "d`, `remove the quotes: c: d`},
		{"DATA", `c: }`, `quote the value: c: "}"`},
		{"DATA", `c: ! .a`, `quote the value: c: "! .a"`},
		{"CHILD", `when: !.spec.enabled`, `jq has no !; write not after the value: when: ".spec.enabled | not"`},
		{"CHILD", `when: ! .spec.enabled`, `jq has no !; write not after the value: when: ".spec.enabled | not"`},
		{"CHILD", `when: "a" == .spec.host`, `quote the value: when: '"a" == .spec.host'`},
		{"CHILD", `when: .spec.host == "a: b"`, `quote the value: when: '.spec.host == "a: b"'`},
		{"CHILD", `when: [.spec.size] == [1]`, `quote the value: when: "[.spec.size] == [1]"`},
		{"CHILD", `when: {a: 1} == {}`, `quote the value: when: "{a: 1} == {}"`},
		{"CHILD", `when: .spec.host | test(" #")`, `quote the value: when: '.spec.host | test(" #")'`},
		{"CHILD", `dependsOn: [a`, `close the list: dependsOn: [a]`},
		{"CHILD", `dependsOn: - a`, `write a list of one line in brackets: dependsOn: [a]`},
	} {
		t.Run(test.line, func(t *testing.T) {
			text := withLine(test.place, test.line)
			text = strings.Replace(text, "a: b\n", "a: ${ .spec.nothere }\n", 1)
			findings := findingsOf(t, text)
			at := slices.IndexFunc(findings, func(f diag.Finding) bool { return slices.Contains(ofYAML, f.Code) })
			if at < 0 || findings[at].Hint != test.hint {
				t.Fatalf("%v, want the hint %s", findings, test.hint)
			}
			if !slices.ContainsFunc(findings, func(f diag.Finding) bool { return f.Code == diag.UnknownField }) {
				t.Errorf("the unknown field is not reported: %v", findings)
			}
			lines := strings.Split(text, "\n")
			_, fixed, _ := strings.Cut(test.hint, ": ")
			if strings.Contains(fixed, "remove the dash: ") {
				fixed = strings.TrimPrefix(fixed, "remove the dash: ")
			}
			old := lines[findings[at].Line-1]
			lines[findings[at].Line-1] = old[:len(old)-len(strings.TrimLeft(old, " "))] + fixed
			for _, f := range findingsOf(t, strings.Join(lines, "\n")) {
				if slices.Contains(ofYAML, f.Code) {
					t.Errorf("written %s: %v", fixed, f)
				}
			}
		})
	}
}

// withLine returns the definition with a line at one of its places.
func withLine(at, line string) string {
	text := unquoted
	for _, place := range []string{"SCHEMA", "CHILD", "DATA"} {
		written := "#"
		if place == at {
			written = line
		}
		text = strings.Replace(text, place, written, 1)
	}
	return text
}

// TestYAMLHintsOfOthers covers that a line has one finding if its expression or its marker
// has an error whose hint is YAML, and that following this hint leaves none.
func TestYAMLHintsOfOthers(t *testing.T) {
	for _, test := range []struct{ place, line, hint string }{
		{"SCHEMA", `x: integer | minimum: 1`, `write integer | minimum=1`},
		{"SCHEMA", `x: integer | minimum: 1 maximum: 5`, `write integer | minimum=1 maximum=5`},
		{"SCHEMA", `x: integer | description=How many: 1 or 2`, `write 'integer | description="How many: 1 or 2"'`},
		{"DATA", `c: ${ .spec.enabled ? .spec.image : .spec.host }`, `write ${ if .spec.enabled then .spec.image else .spec.host end }`},
		{"DATA", `c: ${ .spec.enabled ? "a" : "b" }`, `write ${ if .spec.enabled then "a" else "b" end }`},
		{"DATA", `c: x: ${ .spec.enabled ? "a" : "b" }`, `write 'x: ${ if .spec.enabled then "a" else "b" end }'`},
		{"CHILD", `when: !(.spec.size > 1)`, `write .spec.size > 1 | not`},
		{"CHILD", `when: .spec.enabled ? true : false`, `write if .spec.enabled then true else false end`},
	} {
		t.Run(test.line, func(t *testing.T) {
			text := withLine(test.place, test.line)
			if findings := findingsOf(t, text); len(findings.Only(diag.Error)) != 1 || findings[0].Hint != test.hint {
				t.Errorf("%v, want the hint %s", findings, test.hint)
			}
			key, _, _ := strings.Cut(test.line, ": ")
			written, _ := strings.CutPrefix(test.hint, "write ")
			if findings := findingsOf(t, strings.Replace(text, test.line, key+": "+written, 1)); findings.HasErrors() {
				t.Errorf("written %s: %v", written, findings)
			}
		})
	}
}

// TestYAMLIndentation covers that indentation is blamed where it is wrong, with the number
// of spaces where only one is possible.
func TestYAMLIndentation(t *testing.T) {
	clean := strings.NewReplacer("SCHEMA", "#", "CHILD", "#", "DATA", "#").Replace(unquoted)
	for _, test := range []struct{ old, by, hint string }{
		{"    versions:", "     versions:", "indent this line by 4 spaces"},
		{"    kind: Web", "\tkind: Web", "YAML does not indent with tabs: indent this line by 4 spaces"},
	} {
		findings := findingsOf(t, strings.Replace(clean, test.old, test.by, 1))
		if at := slices.IndexFunc(findings, func(f diag.Finding) bool { return f.Code == diag.YAMLSyntax }); at < 0 || findings[at].Hint != test.hint {
			t.Errorf("%q: %v, want the hint %s", test.by, findings, test.hint)
		}
	}
}

// TestYAMLQuotesEarlier covers that the line of an expression with quotes inside quotes is
// blamed, although the parser stops at a later line with quotes.
func TestYAMLQuotesEarlier(t *testing.T) {
	const definition = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: team}
spec:
  api: {group: example.com, kind: Team, scope: Cluster, versions: [{name: v1, schema: {spec: {owner: string}}}]}
  children:
  - name: namespace
    template:
      apiVersion: v1
      kind: Namespace
      metadata: {name: "${ "a-" + .metadata.name }"}
  - name: config
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: config, namespace: "b-${ .metadata.name }"}
`
	const want = `quote an expression between { } or [ ]: metadata: {name: '${ "a-" + .metadata.name }'}`
	findings := findingsOf(t, definition)
	if len(findings) != 1 || findings[0].Line != 11 || findings[0].Column != 24 || findings[0].Hint != want {
		t.Errorf("%v, want the hint %s at 11:24", findings, want)
	}
}
