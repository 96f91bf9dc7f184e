package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
)

// fieldExample is a field of a schema: how it is written, and values of it.
type fieldExample struct {
	title, text string
	types       string // spec.api.types in YAML
	field       string // the field in YAML
	values      []fieldValue
}

// fieldValue is a value of a field in JSON, "" for none.
type fieldValue struct {
	value   string
	invalid bool
	old     string // value before an update, "" when the object is created
}

// schemaText is the page without what the code makes of the types and markers.
var schemaText = filepath.Join(repository, "testdata", "reference", "types-and-markers.md")

// schemaPage describes each type and marker of a schema: what it becomes, and values that
// the API server accepts and rejects.
func schemaPage(t *testing.T) string {
	t.Helper()
	page, err := template.New(filepath.Base(schemaText)).Funcs(template.FuncMap{
		"types":      func() string { return sections(t, typeExamples()) },
		"structures": func() string { return sections(t, structures) },
		"kubernetes": kubernetesTypes,
		"markers":    func() string { return sections(t, markerExamples()) },
		"values":     func() string { return valueRows(t) },
		"errors":     func() string { return errorRows(t) },
	}).ParseFiles(schemaText)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Types and markers\n\n" + generatedNote)
	if err := page.Execute(&b, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sections(t *testing.T, examples []fieldExample) string {
	t.Helper()
	var b strings.Builder
	for _, e := range examples {
		b.WriteString(e.print(t))
	}
	return b.String()
}

func typeExamples() []fieldExample {
	var out []fieldExample
	for _, typ := range shortschema.Types() {
		e := fieldExample{title: "`" + typ.Name + "`", text: typ.Doc, field: "field: " + typ.Name, values: []fieldValue{{value: typ.Example}}}
		if typ.Invalid != "" {
			e.values = append(e.values, fieldValue{value: typ.Invalid, invalid: true})
		}
		if typ.Name == "quantity" {
			e.text += " It may be negative: to forbid that, [add a rule](#quantities-of-at-least-0)."
			e.values = append(e.values, fieldValue{value: `"-64Mi"`})
		}
		out = append(out, e)
	}
	return out
}

// structures are the types that have other types in them.
var structures = []fieldExample{
	{
		title: "`[]TYPE`", text: "A list of values of a type. Markers are those of the list.",
		field:  `field: "[]integer | maxItems=3"`,
		values: []fieldValue{{value: `[1, 2]`}, {value: `[1, "a"]`, invalid: true}},
	},
	{
		title: "`[FIELD]`", text: "A list whose items have markers, or are objects.",
		field:  "field: [{name: name | required=true, number: port}]",
		values: []fieldValue{{value: `[{"name": "http", "number": 80}]`}, {value: `[{"number": 80}]`, invalid: true}},
	},
	{
		title: "Unique items",
		text: "A list without two items of the same name needs a CEL rule. `maxItems` and `maxLength` limit the cost of the rule, which the API server otherwise rejects. " +
			"Without the rule, a child with `forEach` named by the items fails only when the operator runs.",
		field:  "field | maxItems=20 validation=\"self.all(x, self.exists_one(y, y.name == x.name))\":\n- name: name | required=true\n  number: port",
		values: []fieldValue{{value: `[{"name": "http"}, {"name": "metrics"}]`}, {value: `[{"name": "http"}, {"name": "http", "number": 81}]`, invalid: true}},
	},
	{
		title: "Quantities of at least 0",
		text: "A quantity may be negative, which the API server rejects in some places, such as a ResourceQuota or the resources of a container. " +
			"`argoperator lint` does not report it. A CEL rule forbids it:",
		field:  "field: quantity | validation=\"!string(self).startsWith('-')\"",
		values: []fieldValue{{value: `"64Mi"`}, {value: `"-64Mi"`, invalid: true}, {value: `-4`, invalid: true}},
	},
	{
		title: "`map[string]TYPE`", text: "A map from any key to values of a type. Markers are those of the map.",
		field:  "field: map[string]quantity | maxProperties=2",
		values: []fieldValue{{value: `{"cpu": "2"}`}, {value: `{"cpu": "two"}`, invalid: true}},
	},
	{
		title: "`map[string]: FIELD`", text: "A map whose values have markers, or are objects.",
		field:  "field:\n  map[string]: {url: url | required=true, weight: integer}",
		values: []fieldValue{{value: `{"main": {"url": "https://example.com"}}`}, {value: `{"main": {"weight": 1}}`, invalid: true}},
	},
	{
		title: "Objects", text: "A mapping of fields. Its markers follow the name of the field.",
		field:  "field | required=true:\n  host: hostname | required=true\n  port: port",
		values: []fieldValue{{value: `{"host": "example.com"}`}, {value: `{"host": "example.com", "path": "/"}`, invalid: true}},
	},
	{
		title: "Defaults in objects", text: "An object that has a field with a default, and no required field, gets the default `{}`. The defaults of its fields then apply even if the object is omitted.",
		field:  "field:\n  class: name | default=standard\n  retention: {days: integer | default=7}",
		values: []fieldValue{{}, {value: `{"class": "fast"}`}},
	},
	{
		title: "Types of your own",
		text: "`spec.api.types` defines types that several fields use. The name of a type has letters, digits and `_`. It replaces a built-in type of the same name. It cannot replace `string`, `integer`, `number`, `boolean`, `object`, `any` or `quantity`. " +
			"A field adds its markers to those of the type. A type cannot contain itself.",
		types:  "percent: integer | minimum=0 maximum=100\nendpoint:\n  host: hostname | required=true\n  weight: percent | default=100",
		field:  `field: "[]endpoint"`,
		values: []fieldValue{{value: `[{"host": "example.com"}]`}, {value: `[{"host": "example.com", "weight": 101}]`, invalid: true}},
	},
}

// markerValues are fields that show how values of markers are written.
var markerValues = []string{
	`string | default=small`, `string | default="two words"`, `string | default=5`, `integer | default=5`, `int-or-string | default=25%`,
	`string | enum=a,b`, `string | enum=[a, b]`, `string | enum="a b, c"`,
	`[]string | default=[a, b]`, `map[string]string | default={a: b}`,
	`string | pattern="^\d+$"`, `string | description="The \"name\" of it."`,
	`integer | validation="self % 2 == 0" validation="self < 100"`,
}

// wrongFields are fields that have findings.
var wrongFields = []string{
	`int`, `[]core/v1.EnvVars`, `string | minimum=1`, `string | maxLen=5`, `string | required`, `boolean | default=yes`, `integer | default=0 minimum=1`,
	`string | enum=a|b`, `string | default='a'`, `integer | minimum=5 maximum=1`, `string | pattern="("`, `string | format=ipv5`,
}

func markerExamples() []fieldExample {
	var out []fieldExample
	for _, m := range shortschema.Markers() {
		e := fieldExample{title: "`" + m.Name + "`", text: m.Doc, field: "field: " + asYAML(m.Example), values: []fieldValue{{value: m.Valid}}}
		if m.Fits != nil {
			e.text += " For " + strings.ReplaceAll(strings.Join(m.Fits, ", "), "array", "lists") + "."
		}
		switch {
		case m.Name == "required":
			e.values = append(e.values, fieldValue{invalid: true})
		case m.Name == "default":
			e.values = append(e.values, fieldValue{})
		case m.Name == "description":
			e.values = nil
		case m.Name == "immutable":
			e.values = append(e.values, fieldValue{value: m.Invalid, invalid: true, old: m.Valid})
		case m.Invalid != "":
			e.values = append(e.values, fieldValue{value: m.Invalid, invalid: true})
		}
		out = append(out, e)
	}
	return out
}

// valueRows shows what values of markers become.
func valueRows(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, field := range markerValues {
		result := generateText(t, field)
		if len(result.Findings) > 0 {
			t.Fatalf("%s: %v", field, result.Findings)
		}
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(schemaOf(result)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", cell(field), cell(text.String()))
	}
	return b.String()
}

// errorRows shows the first finding about each wrong field.
func errorRows(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, field := range wrongFields {
		result := generateText(t, field)
		if len(result.Findings) == 0 {
			t.Fatalf("%s has no finding", field)
		}
		finding := result.Findings[0].Message
		if hint := result.Findings[0].Hint; hint != "" {
			finding += "; " + hint
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", cell(field), cell(finding))
	}
	return b.String()
}

// asYAML returns a field as YAML needs it.
func asYAML(field string) string {
	if strings.HasPrefix(field, "[") {
		return `"` + field + `"`
	}
	return field
}

func (e fieldExample) print(t *testing.T) string {
	t.Helper()
	result := generateField(t, e.types, e.field)
	if len(result.Findings) > 0 {
		t.Fatalf("%s: %v", e.field, result.Findings)
	}
	openAPI, err := yaml.Marshal(schemaOf(result))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", e.title, e.text)
	if e.types != "" {
		fmt.Fprintf(&b, "```yaml\ntypes:\n%s\n```\n\n", indented(e.types, "  "))
	}
	fmt.Fprintf(&b, "```yaml\n%s\n```\n\nOpenAPI:\n\n```yaml\n%s```\n", e.field, openAPI)
	if len(e.values) > 0 {
		b.WriteString("\n| value | result |\n|---|---|\n")
	}
	for _, v := range e.values {
		fmt.Fprintf(&b, "| %s | %s |\n", v.label(), cell(e.verdict(t, result, v)))
	}
	return b.String()
}

func (v fieldValue) label() string {
	label := "(omitted)"
	if v.value != "" {
		label = "`" + cell(v.value) + "`"
	}
	if v.old != "" {
		label += ", was `" + cell(v.old) + "`"
	}
	return label
}

// verdict returns what the API server does with a value of the field, and reports an
// answer that the example does not expect.
func (e fieldExample) verdict(t *testing.T, result argoperator.Result, v fieldValue) string {
	t.Helper()
	resource := func(value string) []argoperator.Source {
		if value != "" {
			value = "spec: {field: " + value + "}"
		}
		return []argoperator.Source{{Name: "resource.yaml", Data: []byte("apiVersion: example.com/v1\nkind: Example\nmetadata: {name: example}\n" + cmp.Or(value, "spec: {}") + "\n")}}
	}
	var old []argoperator.Source
	if v.old != "" {
		old = resource(v.old)
	}
	_, findings, err := result.Resources(resource(v.value), old)
	if err != nil {
		t.Fatal(err)
	}
	if findings.HasErrors() != v.invalid {
		t.Errorf("%s with the value %s: %v", e.field, v.label(), findings)
	}
	if len(findings) == 0 {
		return "valid"
	}
	message, _, long := strings.Cut(findings[0].Message, "should match")
	if long { // a pattern, which is above, and may be a link in Markdown
		message += "should match the pattern above"
	}
	return "invalid: " + message
}

// schemaOf returns the schema of the field, or of the object around it if that requires
// the field.
func schemaOf(result argoperator.Result) *apiextensionsv1.JSONSchemaProps {
	for _, o := range result.Objects() {
		if crd, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok {
			spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			if len(spec.Required) > 0 {
				return &spec
			}
			field := spec.Properties["field"]
			return &field
		}
	}
	return nil
}

// generateText generates an operator whose field is a text such as "integer | minimum=1".
func generateText(t *testing.T, text string) argoperator.Result {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return generateField(t, "", "field: "+string(quoted))
}

func generateField(t *testing.T, types, field string) argoperator.Result {
	t.Helper()
	text := "apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: example}\nspec:\n  api:\n    group: example.com\n    kind: Example\n" +
		"    versions:\n    - name: v1\n      schema:\n        spec:\n" + indented(field, "          ") + "\n"
	if types != "" {
		text += "    types:\n" + indented(types, "      ") + "\n"
	}
	text += "  children:\n  - {name: config, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }\"}}}\n"
	result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: []byte(text)}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func indented(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }

// kubernetesTypes lists the types of Kubernetes by group and version.
func kubernetesTypes() string {
	names := map[string][]string{}
	for _, name := range coretypes.Names() {
		group, short, _ := strings.Cut(name, ".")
		names[group] = append(names[group], "`"+short+"`")
	}
	var b strings.Builder
	for _, group := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", group, strings.Join(names[group], ", "))
	}
	return b.String()
}

// TestSchemaText requires that the schemas in the text of the page have no findings.
func TestSchemaText(t *testing.T) {
	text, err := os.ReadFile(schemaText)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)\n```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) == 0 {
		t.Error("the page shows no schema")
	}
	for _, found := range blocks {
		block := found[1]
		if !strings.HasPrefix(block, "schema:") {
			block = "schema:\n" + indented(block, "  ")
		}
		definition := "apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: shop}\nspec:\n  api:\n    group: example.com\n    kind: Shop\n" +
			"    versions:\n    - name: v1\n" + indented(block, "      ") +
			"\n  children:\n  - {name: config, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }\"}}}\n"
		result, err := argoperator.Generate([]argoperator.Source{{Name: "schema.yaml", Data: []byte(definition)}}, argoperator.Options{})
		if err != nil || len(result.Findings) > 0 {
			t.Errorf("%v %v\n%s", err, result.Findings, definition)
		}
	}
}
