package argoperator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
)

// TestTemplateSamples covers the findings of running templates on samples: only errors of
// the user are reported. The samples must reach the code after a condition.
func TestTemplateSamples(t *testing.T) {
	const (
		quiet   = ""
		warning = "warning"
		failure = "error"
	)
	// manyDefaults has one flag among many other fields, so random samples rarely
	// change the flag alone.
	const manyDefaults = "name: string | default=ollama\nstorage: string | default=50Gi\n" +
		"model: {name: string | default=llama3.2, size: string | default=1b}\n" +
		"ingress: {enabled: boolean | default=true, port: integer | default=80 minimum=1 maximum=65535}\n" +
		"gpu: {enabled: boolean | default=false, count: integer | default=1}\n"
	tests := []struct {
		name, reason string
		spec         string // of the schema, one field per line
		child        string
		severity     string
		has          []string
	}{
		{
			"child behind a boolean", "only one sample, which is close to the defaults, meets the condition",
			manyDefaults + "memory: string | default=16gigs",
			"when: .spec.gpu.enabled\ntemplate: " + workload("${ .spec.memory }"),
			warning, // users may write another text
			[]string{`invalid Quantity "16gigs"`},
		},
		{
			"default of a quantity", "the default shows the format of the text",
			manyDefaults + "memory: string | default=16Gi",
			"when: .spec.gpu.enabled\ntemplate: " + workload("${ .spec.memory }"),
			quiet, nil,
		},
		{
			"text used as a quantity", "only an unlikely value breaks it",
			"memory: string | required=true",
			"template: " + workload("${ .spec.memory }"),
			warning,
			[]string{`where the custom resource has {spec: {memory:`, "restrict spec.memory in the schema (the type quantity, or a pattern)"},
		},
		{
			"text used as an unlikely quantity", "all samples break it, because the field's name has no known format",
			"x: string | required=true",
			"template: " + workload("${ .spec.x }"),
			warning,
			[]string{`where the custom resource has {spec: {x:`, "restrict spec.x in the schema"},
		},
		{
			"text used as an enum", "the API server's message has the valid values",
			"x: string | required=true",
			"template: {apiVersion: apps/v1, kind: Deployment, metadata: {name: \"${ .metadata.name }\"}, spec: {strategy: {type: \"${ .spec.x }\"}, selector: {matchLabels: {a: \"${ .metadata.name }\"}}, template: {metadata: {labels: {a: \"${ .metadata.name }\"}}, spec: {containers: [{name: c, image: i}]}}}}",
			warning,
			[]string{`where the custom resource has {spec: {x:`},
		},
		{
			"several conditions", "flags, words and numbers are combined",
			"a: boolean | default=false\nb: boolean | default=true\nmode: string | default=small\nsize: integer | default=3",
			"when: .spec.a and (.spec.b | not) and .spec.mode == \"big\" and .spec.size > 40\ntemplate: " + workload("x"),
			failure,
			[]string{`invalid Quantity "x"`},
		},
		{
			"branch of an enum", "only one value of the enum reaches the branch",
			"mode: string | enum=a,b,c default=a",
			"template: " + workload("${ if .spec.mode == \"c\" then \"x\" else \"1Gi\" end }"),
			warning,
			[]string{`{spec: {mode: c}}`},
		},
		{
			"branch of an optional field", "only the field reaches the branch",
			"extra: string",
			"template: " + workload("${ if .spec.extra then \"x\" else \"1Gi\" end }"),
			warning,
			[]string{`{spec: {extra:`},
		},
		{
			"branch inside a branch", "both booleans change together",
			"a: boolean | default=false\nb: boolean | default=false",
			"when: .spec.a\ntemplate: " + workload("${ if .spec.b then \"x\" else \"1Gi\" end }"),
			warning,
			[]string{`{spec: {a: true, b: true}}`},
		},
		{
			"flag of an item", "the item comes from the full sample",
			"parts: \"[]part | default=[]\"",
			"forEach: .spec.parts\ntemplate: " + strings.Replace(workload("${ if $item.up then \"x\" else \"1Gi\" end }"), "${ .metadata.name }", "${ .metadata.name }-${ $index }", 1),
			warning,
			[]string{`{spec: {parts: [{up: true}]}}`},
		},
		{
			"branch of a free text", "the expression says which word reaches it, and the default says what other words look like",
			"mode: string | default=single\nmemory: string | default=16Gi",
			"template: " + workload("${ if .spec.mode == \"cluster\" then \"x\" else .spec.memory end }"),
			warning,
			[]string{`{spec: {mode: cluster}}`},
		},
		{
			"branches inside branches", "no sample with one change reaches the inner one",
			"a: boolean | default=false\nb: boolean | default=false\nc: boolean | default=false",
			"template: " + workload("${ if .spec.a then (if .spec.b then (if .spec.c then \"x\" else \"1Gi\" end) else \"2Gi\" end) else \"3Gi\" end }"),
			warning,
			[]string{`{spec: {a: true, b: true, c: true}}`},
		},
		{
			"many conditions of a branch", "each condition is reached by a sample that meets those before it",
			"a: boolean | default=false\nb: boolean | default=false\nc: boolean | default=false\nd: boolean | default=false\nmode: string | enum=k,l default=k",
			"template: " + workload("${ if .spec.a and .spec.b and .spec.c and .spec.d and .spec.mode == \"l\" then \"x\" else \"1Gi\" end }"),
			warning,
			[]string{`{spec: {a: true, b: true, c: true, d: true, mode: l}}`},
		},
		{
			"many flags of a condition", "they are set one after the other",
			"a: boolean | default=false\nb: boolean | default=false\nc: boolean | default=false\nd: boolean | default=false\ne: boolean | default=false",
			"when: .spec.a and .spec.b and .spec.c and .spec.d and .spec.e\ntemplate: " + workload("x"),
			failure,
			[]string{`for every custom resource that has this child, for example {spec: {a: true, b: true, c: true, d: true, e: true}}`},
		},
		{
			"either of two conditions", "the second alone is tried too",
			"a: boolean | default=false\nb: boolean | default=false",
			"when: .spec.a or .spec.b\ntemplate: " + workload("${ if .spec.a then \"1Gi\" else \"x\" end }"),
			warning,
			[]string{`{spec: {b: true}}`},
		},
		{
			"length of a list", "a list of this length is tried",
			"hosts: \"[]string\"",
			"when: (.spec.hosts // [] | length) > 2\ntemplate: " + workload("x"),
			failure,
			[]string{`for example {spec: {hosts: [a, a, a]}}`},
		},
		{
			"value at its maximum", "numbers are tried at their limits",
			"port: integer | default=80 minimum=1 maximum=65535",
			"template: {apiVersion: v1, kind: Service, metadata: {name: \"${ .metadata.name }\"}, spec: {ports: [{port: \"${ .spec.port + 1 }\"}]}}",
			warning,
			[]string{`{spec: {port: 65535}}`},
		},
		{
			"optional object", "its absence is tried with each value of the condition",
			"tls: {secret: string}\nmode: string | enum=plain,secure default=plain",
			"template: " + workload("${ if .spec.mode == \"secure\" and .spec.tls == null then \"x\" else \"1Gi\" end }"),
			warning,
			[]string{`{spec: {mode: secure}}`},
		},
		{
			"good template behind a boolean", "everything that it reads has a likely value",
			manyDefaults + "memory: quantity | default=16Gi\ntls: {enabled: boolean | default=false, secret: 'string | default=tls maxLength=20 pattern=\"^[a-z]+$\"'}",
			"when: .spec.tls.enabled\ntemplate: {apiVersion: v1, kind: Pod, metadata: {name: \"${ .metadata.name }-${ .spec.tls.secret }\"}, spec: {containers: [{name: c, image: busybox:1, " +
				"resources: {limits: {memory: 1Gi}}, env: [{name: A, value: \"${ .spec.gpu.count | tostring }\"}]}]}}\nupdate: Recreate",
			quiet, nil,
		},
		{
			"one cause in every item", "the items are made by one expression",
			"count: integer | enum=[3] default=3",
			"template: {apiVersion: apps/v1, kind: Deployment, metadata: {name: \"${ .metadata.name }\"}, spec: {selector: {matchLabels: {a: \"${ .metadata.name }\"}}, template: {metadata: {labels: {a: \"${ .metadata.name }\"}}, " +
				"spec: {containers: '${ [range(.spec.count) | {name: \"c\\(.)\", image: \"i\", imagePullPolicy: \"no\"}] }'}}}}",
			failure,
			[]string{`spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "no"`, " (and at 2 more places)"},
		},
		{
			"condition of unlikely values", "no sample with likely values has the child, so the template may be right",
			"name: string | required=true",
			"when: (.spec.name | length) > 200\ntemplate: " + workload("${ .spec.name | .[0:4] }"),
			warning,
			[]string{`such as {spec: {name: long-text-`},
		},
		{
			"number without a minimum", "users may set negative numbers",
			"size: integer | default=2",
			"template: {apiVersion: apps/v1, kind: Deployment, metadata: {name: \"${ .metadata.name }\"}, spec: {replicas: \"${ .spec.size }\", selector: {matchLabels: {a: \"${ .metadata.name }\"}}, template: {metadata: {labels: {a: \"${ .metadata.name }\"}}, spec: {containers: [{name: c, image: i}]}}}}",
			warning,
			[]string{`{spec: {size: -1}}`, "restrict spec.size in the schema (minimum, maximum)"},
		},
		{
			"division by zero", "no default is zero",
			"size: integer | default=2 minimum=0",
			"template: " + workload("${ 8 / .spec.size | floor | tostring }"),
			warning,
			[]string{`{spec: {size: 0}}`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			findings := findingsOf(t, trialDefinition(test.spec, "", test.child))
			checkFindings(t, findings, test.severity, test.has, test.reason)
		})
	}
}

// TestTemplateSamplesWithRelated runs templates that read related objects and children.
func TestTemplateSamplesWithRelated(t *testing.T) {
	const related = "related:\n  - {name: spaces, apiVersion: v1, kind: Namespace, labelSelector: {matchLabels: {a: b}}}\n" +
		"  - {name: config, apiVersion: v1, kind: ConfigMap, names: [\"${ .metadata.name }\"]}\n"
	name := func(name, key, value string) string {
		return "template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"" + name + "\"}, data: {" + key + ": \"" + value + "\"}}"
	}
	tests := []struct {
		name, reason, child, severity string
		has                           []string
	}{
		{
			"items of a list", "a list of related objects is a list, also when it has no items",
			"forEach: \"[$related.spaces[].metadata.name]\"\n" + name("${ .metadata.name }-${ $item }", "a", "b"),
			"", nil,
		},
		{
			"template of an item", "there may be related objects",
			"forEach: \"[$related.spaces[].metadata.name]\"\n" + name("${ .metadata.name }_${ $item }", "a", "b"),
			"error",
			[]string{"metadata.name: Invalid value"},
		},
		{
			"first of none", "the list may have no items",
			name("${ .metadata.name }", "a", "${ $related.spaces | map(.metadata.name) | sort | .[0] | ascii_downcase }"),
			"warning",
			[]string{"without a related spaces"},
		},
		{
			"missing object", "of an object that is there nobody knows the data, and it may be missing",
			name("${ .metadata.name }", "a", "${ $related.config.data.key // \\\"none\\\" }"),
			"", nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			findings := findingsOf(t, trialDefinition("size: integer | default=1", related, test.child))
			checkFindings(t, findings, test.severity, test.has, test.reason)
		})
	}
}

// TestTemplateSamplesWithChildren runs a template that reads another child.
func TestTemplateSamplesWithChildren(t *testing.T) {
	const first = "template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }\"}, data: {a: b_c}}\n- name: second"
	tests := []struct {
		name, reason, value, severity string
		has                           []string
	}{
		{"known field", "the other template says what it is", "${ .metadata.name }-${ $children.part.data.a // .metadata.name }", "warning", []string{"sample-b_c"}},
		{"unknown field", "only the cluster knows the status", "${ .metadata.name }-${ $children.part.metadata.resourceVersion // \\\"0\\\" }", "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			second := "template: {apiVersion: v1, kind: Service, metadata: {name: \"" + test.value + "\"}, spec: {ports: [{port: 80}]}}"
			findings := findingsOf(t, strings.Replace(trialDefinition("size: integer | default=1", "", first+"\n"+second), "    - name: second", "  - name: second", 1))
			checkFindings(t, findings, test.severity, test.has, test.reason)
		})
	}
}

// TestErrorsAreProven checks that an error is one of every custom resource: what only samples do not know, such as a
// value without a schema, a key of a map or a free text, makes a warning at most.
func TestErrorsAreProven(t *testing.T) {
	const (
		name             = `metadata: {name: "${ .metadata.name }"}`
		warning, failure = false, true
	)
	deployment := func(selector, labels, pod string) string {
		return "template: {apiVersion: apps/v1, kind: Deployment, " + name + ", spec: {selector: " + selector + ", template: {metadata: {labels: " + labels + "}, spec: " + pod + "}}}"
	}
	config := func(metadata, data string) string {
		return "template: {apiVersion: v1, kind: ConfigMap, metadata: {" + metadata + "}, data: {" + data + "}}"
	}
	const app, pod = `{matchLabels: {app: a}}`, `{containers: [{name: a, image: "a:1"}]}`
	for _, test := range []struct {
		reason, spec, child string
		fails               bool
	}{
		{"an object without fields", "x: object | required=true", deployment(app, "{app: a}", `"${ .spec.x }"`), warning},
		{"a field of one", "x: object | required=true", deployment(app, "{app: a}", `{containers: [{name: a, image: "${ .spec.x.image }"}]}`), warning},
		{"a value of any type", "x: any", "when: .spec.x != null\n" + deployment(app, "{app: a}", `"${ .spec.x }"`), warning},
		{"a list of objects", `x: "[]object | required=true minItems=1"`, deployment(app, "{app: a}", `{containers: "${ .spec.x }"}`), warning},
		{"a computed field of an object", "x: object | required=true", config(`name: "${ .metadata.name }"`, `a: "${ .spec.x.n * 2 }"`), warning},
		{"a field of an item", `x: "[]object | required=true minItems=1"`, "forEach: .spec.x\n" + config(`name: "${ .metadata.name }-${ $item.name }"`, "a: b"), warning},
		{"labels without a schema", "x: object | required=true", deployment(app, `"${ .spec.x }"`, pod), warning},
		{"labels of a map", `x: "map[string]string"`, deployment(app, `"${ .spec.x // {} }"`, pod), warning},
		{"a selector of a map", `x: "map[string]string | required=true"`, deployment(`{matchLabels: "${ .spec.x }"}`, "{app: a}", pod), warning},
		{"a text that may be the other one", "x: string | required=true", deployment(`{matchLabels: {app: "${ .spec.x }"}}`, "{app: a}", pod), warning},
		{"a part of a text that may be the other one", "x: string | required=true", deployment(`{matchLabels: {app: "b${ .spec.x }"}}`, "{app: ba}", pod), warning},
		{"a text that is never the other one", "x: boolean | default=true", deployment(`{matchLabels: {app: "${ .spec.x }"}}`, "{app: a}", pod), failure},
		{"a label that is never there", "x: string", deployment(`{matchLabels: {app: "${ .metadata.name }"}}`, `{web: "${ .metadata.name }"}`, pod), failure},
		{"selectors that are never the same", "x: string", deployment("{matchLabels: {app: b}}", "{app: a}", pod), failure},
		{"a key of a map", "x: map[string]string", config(`name: "${ .metadata.name }"`, `a: "a${ .spec.x.key }"`), warning},
		{"a label", "x: string", config(`name: "${ .metadata.name }"`, `a: "a${ .metadata.labels.team }"`), warning},
		{"an annotation", "x: string", config(`name: "${ .metadata.name }"`, `a: "a${ .metadata.annotations[\"example.com/x\"] }"`), warning},
		{"a key of a table", "x: string | required=true", config(`name: "${ .metadata.name }"`, `a: "a${ {dev: \"b\"}[.spec.x] }"`), warning},
		{"a key that is never there", "x: string | enum=[prod] required=true", config(`name: "${ .metadata.name }"`, `a: "a${ {dev: \"b\"}[.spec.x] }"`), failure},
		{"an error of its own", "x: string | required=true", config(`name: "${ .metadata.name }"`, `a: '${ if .spec.x == "eu-1" then "b" else error("c") end }'`), warning},
		{"text that is decoded", "x: string | required=true", config(`name: "${ .metadata.name }"`, `a: "a${ .spec.x | fromjson | .b }"`), warning},
		{"a text among few", "x: string", deployment(app, "{app: a}", `{containers: [{name: a, image: "a:1", imagePullPolicy: "${ .spec.x // \"\" | ascii_downcase }"}]}`), warning},
		{"a text that is never among them", "x: string", deployment(app, "{app: a}", `{containers: [{name: a, image: "a:1", imagePullPolicy: "always"}]}`), failure},
		{"a quantity", "x: string | required=true", "template: {apiVersion: v1, kind: ResourceQuota, " + name + `, spec: {hard: {pods: "${ .spec.x }"}}}`, warning},
		{"quantities of a map", `x: "map[string]string | required=true"`, "template: {apiVersion: v1, kind: ResourceQuota, " + name + `, spec: {hard: "${ .spec.x }"}}`, warning},
		{"a number that is no quantity with its unit", "x: integer | default=1", "template: {apiVersion: v1, kind: ResourceQuota, " + name + `, spec: {hard: {pods: "${ .spec.x } Gi"}}}`, failure},
		{"a name with a wrong part", "x: string | required=true", config(`name: "${ .metadata.name }_${ .spec.x }"`, "a: b"), failure},
		{"a field that is not in the value", "x: string", "template: {apiVersion: v1, kind: Service, " + name + `, spec: '${ {selector: {a: (.spec.x // "")}} }'}`, failure},
		{"a field that is not in the items, of which there is one", "x: string", "template: {apiVersion: v1, kind: Service, " + name + `, spec: {ports: '${ [.spec.x // "" | {name: .}] }'}}`, failure},
		{"a field that is not in the items, of which there may be none", "x: string", "template: {apiVersion: v1, kind: Pod, " + name + `, spec: {containers: [{name: a, image: "a:1"}], initContainers: '${ [.spec.x // "" | {name: .}] }'}}`, warning},
		{"an item as the name", `x: "[]name | required=true"`, "forEach: .spec.x\n" + config(`name: "${ $item }"`, "a: b"), warning},
		{"a field as the name", "x: name | required=true", config(`name: "${ .spec.x }"`, "a: b"), warning},
		{"the name in another namespace", "x: string", config(`name: "${ .metadata.name }", namespace: shared`, "a: b"), warning},
		{"the name of something in the cluster", "x: string", "template: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, " + name + ", rules: []}", warning},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			if found := findingsOf(t, trialDefinition(test.spec, "", test.child)); len(found) == 0 || found.HasErrors() != test.fails {
				t.Errorf("want errors: %v, got %v", test.fails, found)
			}
		})
	}
}

// TestExpressionCost: expressions whose time grows with the square of the custom resource
// are reported, those whose time grows with its size are not.
func TestExpressionCost(t *testing.T) {
	const spec = `items: "[]string | default=[]"
other: "[]string | default=[]"
text: string | default=""
count: integer | default=1 minimum=0 maximum=5000
few: "[]string | default=[] maxItems=20"
map: map[string]string | default={}
things:
- names: "[]string"`
	for expression, slow := range map[string]bool{
		`.spec.items | length`:                                              false,
		`[.spec.items[] | ascii_upcase]`:                                    false,
		`.spec.items | map(select(. != "a"))`:                               false,
		`.spec.items | join(",")`:                                           false,
		`.spec.items | sort | unique`:                                       false,
		`.spec.items | to_entries | map(.key)`:                              false,
		`.spec.text | split(",") | map(length)`:                             false,
		`.spec.text | gsub("a"; "b") | length`:                              false,
		`.spec.items | any(. == "a")`:                                       false,
		`.spec.items | index("a")`:                                          false,
		`.spec.items | fingerprint`:                                         false,
		`.spec.map | fingerprint`:                                           false,
		`.spec.map | to_entries | map(.value)`:                              false,
		`.spec.items | map({key: ., value: 1}) | from_entries`:              false,
		`.spec.items - .spec.few`:                                           false,
		`[.spec.few[] as $a | .spec.few[] | select(. == $a)]`:               false,
		`[.spec.few[] as $a | .spec.items[] | select(. == $a)]`:             false,
		`[.spec.things[]? | .names[]?]`:                                     false,
		`.spec.items | group_by(.) | map(length)`:                           false,
		`reduce .spec.items[] as $x (0; . + ($x | length))`:                 false,
		`[.spec.items[] as $a | .spec.other[] | select(. == $a)]`:           true,
		`.spec.items - .spec.other`:                                         true,
		`[.spec.items | combinations(2)]`:                                   true,
		`reduce .spec.items[] as $x (""; . + $x)`:                           true,
		`reduce .spec.items[] as $x ([]; . + [$x])`:                         true,
		`reduce .spec.items[] as $x ({}; . + {($x): 1})`:                    true,
		`.spec.items as $i | .spec.other | map(. as $x | $i | index($x))`:   true,
		`.spec.items as $i | .spec.other | map(select(IN($i[])))`:           true,
		`.spec.items | contains(["z"] + .)`:                                 true,
		`.spec.items | inside(["z"] + .)`:                                   true,
		`[.spec.things[]? | (.names // []) as $n | $n[] | [., $n[]]]`:       true,
		`[range(.spec.count) as $i | .spec.items[] | select(length > $i)]`:  true,
		`[.spec.items | . as $l | range(length) | $l[.:]]`:                  true,
		`[.spec.map | to_entries as $e | $e[] | [., $e[]]]`:                 true,
		`.spec.text | split(",") | . as $p | map(. as $x | $p | index($x))`: true,
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			child := `template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}, data: {a: '${ (` + expression + `) | tojson }'}}`
			found := findingsOf(t, trialDefinition(spec, "", child))
			if got := slices.ContainsFunc(found, func(f diag.Finding) bool { return f.Code == diag.ExpressionCost }); got != slow {
				t.Errorf("reported: %v, want %v: %v", got, slow, found)
			}
		})
	}
}

// workload returns a template with a quantity.
func workload(memory string) string {
	return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: "${ .metadata.name }"}, spec: {selector: {matchLabels: {a: "${ .metadata.name }"}}, ` +
		`template: {metadata: {labels: {a: "${ .metadata.name }"}}, spec: {containers: [{name: main, image: busybox:1, resources: {limits: {memory: ` + "'" + memory + "'}}}]}}}}"
}

// trialDefinition returns a definition of one child with a schema.
func trialDefinition(spec, related, child string) string {
	indent := func(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }
	return `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: thing}
spec:
  api:
    group: example.com
    kind: Thing
    types: {part: {up: boolean | default=false}}
    versions:
    - name: v1
      schema:
        spec:
` + indent(spec, "          ") + "\n  " + related + `
  children:
  - name: part
` + indent(child, "    ") + "\n"
}

func findingsOf(t *testing.T, definition string) diag.List {
	t.Helper()
	result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: []byte(definition)}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Findings
}

// checkFindings expects one finding of a severity, or none.
func checkFindings(t *testing.T, findings diag.List, severity string, has []string, reason string) {
	t.Helper()
	if severity == "" && len(findings) > 0 || severity != "" && len(findings) != 1 {
		t.Fatalf("%s: %d findings: %v", reason, len(findings), findings)
	}
	if severity == "" {
		return
	}
	if got := string(findings[0].Severity); got != severity {
		t.Errorf("%s: the finding is a %s, want %s: %v", reason, got, severity, findings[0])
	}
	for _, part := range has {
		if text := findings[0].Message + "\n" + findings[0].Hint; !strings.Contains(text, part) {
			t.Errorf("%s: %q is not in %s", reason, part, text)
		}
	}
}
