package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bound is a limit.
type bound struct {
	of, most, over string        // the columns of the page
	fits, exceeds  func() string // values of a template; nil if another test covers the limit
	code           string        // of the finding about an exceeded limit
}

// bounds lists the rows of docs/reference/limits.md.
var bounds = []bound{
	{
		of: "Size of a file", most: "16 MiB", code: "too-large",
		fits: func() string { return "x # " + strings.Repeat("x", 15<<20) }, exceeds: func() string { return "x # " + strings.Repeat("x", 16<<20) },
	},
	{
		of: "Nesting of values in a file", most: "500", code: "too-large",
		fits: func() string { return nested(494) }, exceeds: func() string { return nested(495) },
	},
	{
		of: "Values that the aliases of a file expand to", most: "100,000", code: "yaml-alias",
		fits: func() string { return aliased(100) }, exceeds: func() string { return aliased(101) },
	},
	{
		of: "Steps of one evaluation of an expression", most: "10,000,000, and 10 seconds", code: "bad-expression",
		fits: func() string { return looping(100_000) }, exceeds: func() string { return looping(10_000_000) },
	},
	{
		of: "Strings in the result of an expression, in total", most: "4 MiB", code: "bad-expression",
		fits: func() string { return repeated(4<<20 - 1) }, exceeds: func() string { return repeated(4<<20 + 1) },
	},
	{
		of: "Nesting of the result of an expression", most: "10,000", code: "bad-expression",
		fits: func() string { return wrapped(9_900) }, exceeds: func() string { return wrapped(10_100) },
	},
	{
		of: "Repetitions in a `pattern`, nested ones multiplied", most: "1,000", code: "bad-marker",
		fits: func() string { return inSchema(`'string | pattern="^(a{10}){100}$"'`) }, exceeds: func() string { return inSchema(`'string | pattern="^(a{10}){101}$"'`) },
	},
	{
		of: "Cost of the CEL rules of a schema", most: "the API server's limit", code: "check-crd",
		fits: func() string {
			return inSchema(`'[]string | maxItems=10 validation="self.all(a, a.size() < 9)"'`)
		},
		exceeds: func() string {
			return inSchema(`'[]string | validation="self.all(a, self.all(b, self.all(c, a != b + c)))"'`)
		},
	},
	{of: "Custom resources that argoperator tries a template with", most: "40, and 8 random ones", over: "Further custom resources are not tried; `argoperator sample` generates others."},
	{of: "Children that the Sensor computes for one Workflow, in base64", most: "120,000 bytes", over: "`Ready` is `False` and reports it. For children from logic, only the limit of the response applies."},
	{of: "Response of the logic", most: "10 MiB", over: "`Ready` is `False` and reports it."},
	{of: "Attempts of the `direct` engine to write a child, per generation", most: "5", over: "`Ready` is `False` with the reason `Failed`, until the next change or resync."},
	{of: "A Sensor in JSON, most of it jq", most: "97,500 bytes", over: "`direct` does not support the definition; a worker gets one more Sensor."},
	{of: "Objects that a resync reads at once", most: "4 MiB, or one object", over: "The resync reads another page."},
	{
		of:   "Length of the name of a custom resource",
		most: "that of its children, less the fixed text in their names: 52 for a CronJob, 63 for a Service or the value of a label, 15 for the name of a port",
		over: "`argoperator validate` reports it, with the longest possible name. `Ready` is `False`. `lint` does not warn of it, because it would for almost every operator. " +
			"To reject such names, write `validations: [{rule: self.metadata.name.size() <= 45}]` in the [version](definition.md#version).",
	},
	{of: "Nesting of a custom resource", most: "10,000", over: "The API server rejects the custom resource."},
}

// withValue returns a definition with a value in a template.
func withValue(value string) string {
	return `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: limits}
spec:
  api:
    group: example.com
    kind: Limit
    versions: [{name: v1, schema: {spec: {text: string}}}]
  children:
  - name: config
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }"}
      data:
        key: ` + value + "\n"
}

// inSchema returns a definition with a field.
func inSchema(field string) string {
	return strings.Replace(withValue("x"), "{text: string}", "{text: "+field+"}", 1)
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// aliased returns a number of aliases of 1,000 values each.
func aliased(n int) string {
	return "[&a [" + strings.Repeat("1, ", 998) + "1]" + strings.Repeat(", *a", n) + "]"
}

func looping(n int) string {
	return fmt.Sprintf(`"${ reduce range(%d) as $i (0; . + 1) | tostring }"`, n)
}

func repeated(n int) string { return fmt.Sprintf(`"${ (\"x\" * %d | length | tostring) }"`, n) }

func wrapped(n int) string {
	return fmt.Sprintf(`"${ reduce range(%d) as $i (0; [.]) | tojson | length | tostring }"`, n)
}

// TestLimits tests each limit from both sides.
func TestLimits(t *testing.T) {
	for _, b := range bounds {
		if b.fits == nil {
			continue
		}
		t.Run(b.of, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "operator.yaml")
			finds := func(value string) (bool, string) {
				if !strings.HasPrefix(value, "apiVersion: ") {
					value = withValue(value)
				}
				if err := os.WriteFile(file, []byte(value), 0o644); err != nil {
					t.Fatal(err)
				}
				var out bytes.Buffer
				run([]string{"lint", "-f", file}, streams{out: &out, err: &out})
				return strings.Contains(out.String(), "["+b.code+"]"), out.String()
			}
			if found, stderr := finds(b.fits()); found {
				t.Errorf("a value within the limit is refused: %.500s", stderr)
			}
			if found, stderr := finds(b.exceeds()); !found {
				t.Errorf("a value beyond the limit is accepted: %.500s", stderr)
			}
		})
	}
}

// limitsPage returns the page with the limits.
func limitsPage() string {
	var b strings.Builder
	b.WriteString("# Limits\n\n" + generatedNote)
	b.WriteString("The limits of argoperator and of its operators. `argoperator explain` shows how close an operator is to the limits of Kubernetes\n" +
		"and Argo. The API server limits schemas and the cost of their rules.\n\n" +
		"| | limit | if exceeded |\n|---|---|---|\n")
	for _, bound := range bounds {
		over := bound.over
		if bound.code != "" {
			anchor := bound.code
			if strings.HasPrefix(anchor, "check-") { // these have a row in a table, not a heading
				anchor = "in-generated-manifests"
			}
			over = fmt.Sprintf("argoperator reports [`%s`](findings.md#%s).", bound.code, anchor)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", bound.of, bound.most, over)
	}
	return b.String()
}
