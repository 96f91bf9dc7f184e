package output

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Value is what a chart leaves open.
type Value struct {
	Path        string // in values.yaml: one key, or two with a dot
	Default     string // what the definition says
	StandIn     string // what stands in its place in the adjustable objects
	Description string
	// Pattern is what it may be: nothing that would mean something in YAML, JSON
	// or jq, as it is put into all of them.
	Pattern string
	action  string // of the template
}

// chartFiles is a chart for each operator, in a directory of its name. With the
// values that it comes with it is what the stream holds.
func chartFiles(operators []Operator) ([]File, error) {
	var files []File
	for _, o := range operators {
		c, err := newChart(o)
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", o.Name, err)
		}
		all, err := c.files()
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", o.Name, err)
		}
		for _, f := range all {
			files = append(files, File{Name: path.Join(o.Name, f.Name), Data: f.Data})
		}
	}
	return files, nil
}

type chart struct {
	Operator
	values  []Value // those that appear
	objects []map[string]any
	api     bool // it brings a CustomResourceDefinition
}

func newChart(o Operator) (*chart, error) {
	if len(o.Adjustable) != len(o.Objects) {
		return nil, fmt.Errorf("%d adjustable objects for %d", len(o.Adjustable), len(o.Objects))
	}
	c := &chart{Operator: o}
	for _, v := range o.Values {
		v.action = "{{.Values." + v.Path + "}}"
		if v.Path == "namespace" {
			v.action = c.include("namespace")
		}
		if slices.ContainsFunc(o.Adjustable, func(o manifest.Object) bool { return holds(o, v.StandIn) }) {
			c.values = append(c.values, v)
		}
	}
	for i := range o.Objects {
		plain, err := Fields(o.Objects[i])
		if err != nil {
			return nil, err
		}
		adjustable, err := Fields(o.Adjustable[i])
		if err != nil {
			return nil, err
		}
		template, err := c.template(adjustable, plain, "")
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Objects[i].GetObjectKind().GroupVersionKind().Kind, o.Objects[i].GetName(), err)
		}
		c.objects = append(c.objects, template.(map[string]any))
		c.api = c.api || component(o.Objects[i]) == "crd"
	}
	return c, nil
}

func holds(o manifest.Object, text string) bool {
	data, err := json.Marshal(o)
	return err == nil && strings.Contains(string(data), text)
}

// include is the action that puts one of the chart's named templates in. No
// double quotes: it may come to stand between such.
func (c *chart) include(name string) string {
	return fmt.Sprintf("{{include `%s.%s` .}}", c.Name, name)
}

// template is an object with actions where the values come to stand.
func (c *chart) template(adjustable, plain any, at string) (any, error) {
	switch a := adjustable.(type) {
	case map[string]any:
		p, _ := plain.(map[string]any)
		if len(p) != len(a) {
			return nil, fmt.Errorf("%s: other fields with other values", at)
		}
		out := map[string]any{}
		for key, inner := range a {
			one, err := c.template(inner, p[key], at+"."+key)
			if err != nil {
				return nil, err
			}
			out[strings.ReplaceAll(key, "{{", literalBraces)] = one
		}
		return out, nil
	case []any:
		p, _ := plain.([]any)
		if len(p) != len(a) {
			return nil, fmt.Errorf("%s: other items with other values", at)
		}
		out := make([]any, len(a))
		for i, inner := range a {
			one, err := c.template(inner, p[i], fmt.Sprintf("%s[%d]", at, i))
			if err != nil {
				return nil, err
			}
			out[i] = one
		}
		return out, nil
	case string:
		p, _ := plain.(string)
		return c.text(a, p, at)
	}
	return adjustable, nil
}

// digest is what the planner makes of everything that decides how a reconcile
// comes out: other values, another digest.
var digest = regexp.MustCompile(`[0-9a-f]{16}`)

// text is a string of the template. What differs from the plain string beside
// the values has to be a digest.
func (c *chart) text(adjustable, plain, at string) (string, error) {
	defaults, actions := []string{}, []string{"{{", literalBraces}
	for _, v := range c.values {
		defaults = append(defaults, v.StandIn, v.Default)
		actions = append(actions, v.StandIn, v.action)
	}
	filled := strings.NewReplacer(defaults...).Replace(adjustable)
	if digest.ReplaceAllString(filled, "") != digest.ReplaceAllString(plain, "") {
		return "", fmt.Errorf("%s: a value changes more than its own place", at)
	}
	known := digest.FindAllString(plain, -1)
	for i, made := range digest.FindAllString(filled, -1) {
		if i < len(known) && made != known[i] {
			actions = append(actions, made, known[i]+c.include("changed"))
		}
	}
	return strings.NewReplacer(actions...).Replace(adjustable), nil
}

// literalBraces are braces of the object's own: Argo's templates, for instance.
const literalBraces = "{{`{{`}}"

func (c *chart) files() ([]File, error) {
	values, err := c.valuesFile()
	if err != nil {
		return nil, err
	}
	schema, err := c.schema()
	if err != nil {
		return nil, err
	}
	helpers, err := c.helpers()
	if err != nil {
		return nil, err
	}
	head, err := c.head()
	if err != nil {
		return nil, err
	}
	files := []File{
		{Name: "Chart.yaml", Data: head},
		{Name: "values.yaml", Data: values},
		{Name: "values.schema.json", Data: schema},
		{Name: "templates/_helpers.tpl", Data: helpers},
		{Name: "templates/NOTES.txt", Data: []byte(c.Notes)},
	}
	names := ComponentFiles(c.Objects)
	for i, o := range c.Objects {
		data, err := encode(c.objects[i])
		if err != nil {
			return nil, err
		}
		if component(o) == "crd" {
			data = kept(data)
		}
		files = append(files, File{Name: "templates/" + names[i], Data: data})
	}
	return files, nil
}

// kept makes a CustomResourceDefinition one that the release may leave out, and
// that stays when the release goes: with it all custom resources would go.
func kept(crd []byte) []byte {
	const open, annotations = "metadata:\n", "  annotations:\n"
	keep := "  {{- if .Values.crd.keep}}\n    helm.sh/resource-policy: keep\n  {{- end}}\n"
	text := string(crd)
	if strings.Contains(text, open+annotations) {
		text = strings.Replace(text, open+annotations, open+annotations+keep, 1)
	} else {
		text = strings.Replace(text, open, open+"  {{- if .Values.crd.keep}}\n  annotations:\n    helm.sh/resource-policy: keep\n  {{- end}}\n", 1)
	}
	return []byte("{{- if .Values.crd.install}}\n" + text + "{{- end}}\n")
}

func (c *chart) head() ([]byte, error) {
	return encode(map[string]any{
		"apiVersion": "v2", "name": c.Name, "description": c.Description, "type": "application",
		"version": c.Version, "keywords": []string{"operator", "argo-events", "argo-workflows"},
	})
}

// tree is the values by their keys, as values.yaml nests them.
func (c *chart) tree() map[string]any {
	tree := map[string]any{}
	for _, v := range c.values {
		group, key, nested := strings.Cut(v.Path, ".")
		if !nested {
			tree[group] = v.Default
			continue
		}
		if tree[group] == nil {
			tree[group] = map[string]any{}
		}
		tree[group].(map[string]any)[key] = v.Default
	}
	return tree
}

// valuesFile writes each value below what it is for.
func (c *chart) valuesFile() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Values of the operator %s. The namespaces that it watches, and what is\n# reconciled how, is in its definition: generate the chart again.\n", c.Name)
	last := ""
	for _, v := range c.values {
		group, key, nested := strings.Cut(v.Path, ".")
		quoted, err := json.Marshal(v.Default) // a string of JSON is one of YAML
		if err != nil {
			return nil, fmt.Errorf("encoding value %s: %w", v.Path, err)
		}
		if !nested {
			fmt.Fprintf(&b, "\n# %s\n%s: %s\n", v.Description, group, quoted)
			continue
		}
		if group != last {
			fmt.Fprintf(&b, "\n%s:\n", group)
		}
		last = group
		fmt.Fprintf(&b, "  # %s\n  %s: %s\n", v.Description, key, quoted)
	}
	if c.api {
		b.WriteString("\ncrd:\n  # Install the CustomResourceDefinition with the release.\n  install: true\n" +
			"  # Keep it when the release is uninstalled. Without it all custom resources go as well.\n  keep: true\n")
	}
	return []byte(b.String()), nil
}

// schema refuses values that are none, and keys that nothing reads. Charts that
// depend on this one are given global values, which nothing reads either.
func (c *chart) schema() ([]byte, error) {
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	}
	properties := map[string]any{"global": map[string]any{"type": "object"}}
	for _, v := range c.values {
		group, key, nested := strings.Cut(v.Path, ".")
		one := map[string]any{"type": "string", "pattern": v.Pattern, "description": v.Description, "default": v.Default}
		if !nested {
			properties[group] = one
			continue
		}
		if properties[group] == nil {
			properties[group] = object(map[string]any{})
		}
		properties[group].(map[string]any)["properties"].(map[string]any)[key] = one
	}
	if c.api {
		properties["crd"] = object(map[string]any{
			"install": map[string]any{"type": "boolean", "default": true, "description": "Install the CustomResourceDefinition with the release."},
			"keep":    map[string]any{"type": "boolean", "default": true, "description": "Keep it when the release is uninstalled."},
		})
	}
	schema := object(properties)
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = "Values of " + c.Name
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of the values: %w", err)
	}
	return append(data, '\n'), nil
}

// helpers are the chart's named templates. Where a value is not the one that the
// chart came with, the operator is another one: its digest says so, and custom
// resources are reconciled again.
func (c *chart) helpers() ([]byte, error) {
	standard, err := json.Marshal(c.tree())
	if err != nil {
		return nil, fmt.Errorf("encoding the values: %w", err)
	}
	return []byte(fmt.Sprintf("{{- define \"%[1]s.namespace\" -}}\n{{- .Values.namespace | default .Release.Namespace -}}\n{{- end -}}\n\n"+
		"{{- define \"%[1]s.changed\" -}}\n{{- $values := omit .Values \"crd\" \"global\" | toJson -}}\n"+
		"{{- if ne $values `%[2]s` -}}\n{{- sha256sum $values | trunc 8 | printf \"-%%s\" -}}\n{{- end -}}\n{{- end -}}\n", c.Name, standard)), nil
}
