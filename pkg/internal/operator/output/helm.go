package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Value is a chart value.
type Value struct {
	Path        string // in values.yaml: one key, or two with a dot
	Default     string // the text in the objects of the definition
	Placeholder string // the placeholder in the adjustable objects
	Description string
	// Pattern matches allowed values. They are inserted into YAML, JSON and jq, so they
	// must not contain special characters of these.
	Pattern string
	// JSON is a value of any type, which is inserted as JSON in base64. It has no pattern.
	JSON *JSONValue
}

// JSONValue is the default of a value of any type; nil if it has none.
type JSONValue struct {
	Default any
	Schema  map[string]any
}

// chartFiles returns a chart for each operator, in a directory of its name. With its
// default values, a chart renders the same as the stream.
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
	fields  []Field          // those that occur
	parts   []map[string]int // mappings of fields only, which the objects do not have; by key, the index of each
	values  []Value          // those that occur
	objects []map[string]any
	api     bool              // it has a CustomResourceDefinition
	actions []string          // of a replacer: placeholders to actions
	filled  *strings.Replacer // placeholders to the values of the definition
	opened  *strings.Replacer // placeholders to actions
}

func newChart(o Operator) (*chart, error) {
	if len(o.Adjustable) != len(o.Objects) || len(o.Marked) != len(o.Objects) {
		return nil, fmt.Errorf("%d adjustable and %d marked objects for %d", len(o.Adjustable), len(o.Marked), len(o.Objects))
	}
	c := &chart{Operator: o}
	adjustable, err := allFields(o.Adjustable)
	if err != nil {
		return nil, err
	}
	marked, err := allFields(o.Marked)
	if err != nil {
		return nil, err
	}
	if err := c.open(adjustable); err != nil {
		return nil, err
	}
	c.fields = slices.DeleteFunc(slices.Clone(o.Fields), func(f Field) bool { return !f.occursIn(marked) })
	for i, object := range o.Objects {
		plain, err := Fields(object)
		if err != nil {
			return nil, err
		}
		template, err := c.template(marked[i], adjustable[i], plain, "")
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
		}
		c.objects = append(c.objects, template.(map[string]any))
		c.api = c.api || component(object) == "crd"
	}
	return c, nil
}

// allFields returns the fields of objects.
func allFields(objects []manifest.Object) ([]map[string]any, error) {
	out := make([]map[string]any, len(objects))
	for i, object := range objects {
		var err error
		if out[i], err = Fields(object); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// open collects the values that occur, and their replacements.
func (c *chart) open(adjustable []map[string]any) error {
	data, err := json.Marshal(adjustable)
	if err != nil {
		return fmt.Errorf("encoding the adjustable objects: %w", err)
	}
	defaults := []string{}
	c.actions = []string{"{{", literalBraces}
	for _, v := range c.Values {
		if !bytes.Contains(data, []byte(v.Placeholder)) {
			continue
		}
		action := "{{.Values." + v.Path + "}}"
		switch {
		case v.JSON != nil:
			group, key, _ := strings.Cut(v.Path, ".")
			action = fmt.Sprintf("{{(.Values.%s | default dict).%s | toJson | b64enc}}", group, key)
		case v.Path == "namespace":
			action = c.include("namespace")
		}
		c.values = append(c.values, v)
		defaults = append(defaults, v.Placeholder, v.Default)
		c.actions = append(c.actions, v.Placeholder, action)
	}
	c.filled, c.opened = strings.NewReplacer(defaults...), strings.NewReplacer(c.actions...)
	return nil
}

// include returns the action that includes a named template. It has no double quotes,
// because it can be inside a quoted string.
func (c *chart) include(name string) string {
	return fmt.Sprintf("{{include `%s.%s` .}}", c.Name, name)
}

// template returns an object with actions in place of the values. A field of pods that is a
// part of a text stays as in the definition.
func (c *chart) template(marked, adjustable, plain any, at string) (any, error) {
	switch m := marked.(type) {
	case map[string]any:
		a, _ := adjustable.(map[string]any)
		p, _ := plain.(map[string]any)
		return c.mapping(m, a, p, at)
	case []any:
		a, _ := adjustable.([]any)
		p, _ := plain.([]any)
		if len(p) != len(m) || len(a) != len(m) {
			return nil, fmt.Errorf("%s: other items with other values", at)
		}
		out := make([]any, len(m))
		for i, inner := range m {
			one, err := c.template(inner, a[i], p[i], fmt.Sprintf("%s[%d]", at, i))
			if err != nil {
				return nil, err
			}
			out[i] = one
		}
		return out, nil
	case string:
		a, _ := adjustable.(string)
		p, _ := plain.(string)
		return c.text(a, p, at)
	}
	return marked, nil
}

// mapping is template for a mapping.
func (c *chart) mapping(marked, adjustable, plain map[string]any, at string) (map[string]any, error) {
	out, left := map[string]any{}, maps.Clone(plain)
	for key, inner := range marked {
		if i := c.entries(key); i >= 0 {
			for own := range c.fields[i].standardEntries() {
				if _, there := marked[own]; !there {
					delete(left, own)
				}
			}
			out[mark(i)] = ""
			continue
		}
		if i := c.field(key, inner); i >= 0 {
			if err := c.standardOf(i, plain[key]); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", at, key, err)
			}
			delete(left, key)
			out[key] = mark(i)
			continue
		}
		if _, there := plain[key]; !there {
			optional, ok := c.optional(inner)
			if !ok {
				return nil, fmt.Errorf("%s: other fields with other values", at)
			}
			out[key] = optional
			continue
		}
		one, err := c.template(inner, adjustable[key], plain[key], at+"."+key)
		if err != nil {
			return nil, err
		}
		delete(left, key)
		out[strings.ReplaceAll(key, "{{", literalBraces)] = one
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%s: other fields with other values", at)
	}
	return out, nil
}

// digest matches the plan's digest of everything that affects a reconcile. Other values
// have another digest.
var digest = regexp.MustCompile(`[0-9a-f]{16}`)

// text returns a string of the template. Apart from the values, only a digest may
// differ from the plain string, and the space in jq, which has lines of limited length.
func (c *chart) text(adjustable, plain, at string) (string, error) {
	filled := c.filled.Replace(adjustable)
	if filled == plain || unspaced(filled) == unspaced(plain) {
		return c.opened.Replace(adjustable), nil
	}
	if unspaced(digest.ReplaceAllString(filled, "")) != unspaced(digest.ReplaceAllString(plain, "")) {
		return "", fmt.Errorf("%s: a value changes more than its own place", at)
	}
	known, actions := digest.FindAllString(plain, -1), slices.Clone(c.actions)
	for i, made := range digest.FindAllString(filled, -1) {
		if i < len(known) && made != known[i] {
			actions = append(actions, made, known[i]+c.include("changed"))
		}
	}
	return strings.NewReplacer(actions...).Replace(adjustable), nil
}

func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }

// literalBraces escapes braces of the object itself, for example Argo's templates.
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
		if err == nil {
			data, err = c.insert(data, c.objects[i])
		}
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

// kept makes a CustomResourceDefinition optional and keeps it when the release is
// uninstalled, because deleting it would delete all custom resources.
func kept(crd []byte) []byte {
	const annotations = "  annotations:\n"
	text, policy := string(crd), "    helm.sh/resource-policy: keep\n"
	at := "metadata:\n" + annotations
	if !strings.Contains(text, at) {
		at, policy = "metadata:\n", annotations+policy
	}
	text = strings.Replace(text, at, at+"  {{- if .Values.crd.keep}}\n"+policy+"  {{- end}}\n", 1)
	return []byte("{{- if .Values.crd.install}}\n" + text + "{{- end}}\n")
}

func (c *chart) head() ([]byte, error) {
	return encode(map[string]any{
		"apiVersion": "v2", "name": c.Name, "description": c.Description, "type": "application",
		"version": c.Version, "keywords": []string{"operator", "argo-events", "argo-workflows"},
	})
}

// setting is an entry of values.yaml: a value, or a switch.
type setting struct {
	path, description string
	standard          any
	schema            map[string]any // in addition to description and default
}

func (c *chart) settings() []setting {
	var list []setting
	for _, v := range c.values {
		if v.JSON != nil {
			list = append(list, setting{v.Path, v.Description, v.JSON.Default, v.JSON.Schema})
			continue
		}
		list = append(list, setting{v.Path, v.Description, v.Default, map[string]any{"type": "string", "pattern": v.Pattern}})
	}
	for _, f := range c.fields {
		list = append(list, setting{f.Path, f.Description, f.Default, f.Schema})
	}
	if c.api {
		list = append(
			list,
			setting{"crd.install", "Install the CustomResourceDefinition with the release.", true, map[string]any{"type": "boolean"}},
			setting{
				"crd.keep",
				"Keep it when the release is uninstalled. Otherwise all custom resources are deleted too.",
				true,
				map[string]any{"type": "boolean"},
			},
		)
	}
	return list
}

// nested returns a property of each setting, nested like values.yaml.
func nested(list []setting, of func(setting) any) map[string]any {
	tree := map[string]any{}
	for _, s := range list {
		group, key, deeper := strings.Cut(s.path, ".")
		if !deeper {
			tree[group] = of(s)
			continue
		}
		inner, _ := tree[group].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
			tree[group] = inner
		}
		inner[key] = of(s)
	}
	return tree
}

// standard returns the default values, without the switches and the fields of pods.
func (c *chart) standard() map[string]any {
	tree := nested(c.settings(), func(s setting) any { return s.standard })
	for _, v := range c.values {
		group, key, _ := strings.Cut(v.Path, ".")
		if in, is := tree[group].(map[string]any); is && v.JSON != nil && v.JSON.Default == nil {
			delete(in, key)
		}
	}
	for _, key := range append(c.fieldGroups(), "crd") {
		delete(tree, key)
	}
	return tree
}

// valuesFile writes each setting below its description.
func (c *chart) valuesFile() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"# Values of the operator %s. To change the watched namespaces or what the\n# operator reconciles, change its definition and "+
			"generate the chart again.\n",
		c.Name,
	)
	last := ""
	for _, s := range c.settings() {
		group, key, deeper := strings.Cut(s.path, ".")
		standard, err := json.Marshal(s.standard) // JSON is YAML
		if err != nil {
			return nil, fmt.Errorf("encoding value %s: %w", s.path, err)
		}
		indent := ""
		if deeper {
			indent = "  "
		} else {
			key = group
		}
		if group != last {
			b.WriteString("\n")
			if deeper {
				b.WriteString(group + ":" + c.empty(group) + "\n")
			}
		}
		last = group
		if s.standard == nil {
			key = "# " + key
		}
		fmt.Fprintf(&b, "%[1]s# %[2]s\n%[1]s%[3]s: %[4]s\n", indent, s.description, key, standard)
	}
	return []byte(b.String()), nil
}

// empty returns the value of a group of which no value has a default.
func (c *chart) empty(group string) string {
	if slices.ContainsFunc(c.settings(), func(s setting) bool { return strings.HasPrefix(s.path, group+".") && s.standard != nil }) {
		return ""
	}
	return " {}"
}

// schema rejects invalid values and unknown keys. It allows global values, which a
// parent chart may set.
func (c *chart) schema() ([]byte, error) {
	properties := nested(c.settings(), func(s setting) any {
		one := maps.Clone(s.schema)
		if one["description"] = s.description; s.standard != nil {
			one["default"] = s.standard
		}
		return one
	})
	groups := map[string]bool{}
	for _, s := range c.settings() {
		if group, _, deeper := strings.Cut(s.path, "."); deeper && !groups[group] {
			groups[group] = true
			properties[group] = Closed(properties[group])
		}
	}
	properties["global"] = map[string]any{"type": "object"}
	schema := Closed(properties)
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = "Values of " + c.Name
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of the values: %w", err)
	}
	return append(data, '\n'), nil
}

// Closed returns the schema of an object with these properties and no others.
func Closed(properties any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

// helpers returns the chart's named templates. If a value differs from its default, the
// operator's digest differs too, so that custom resources are reconciled again.
func (c *chart) helpers() ([]byte, error) {
	standard, err := json.Marshal(c.standard())
	if err != nil {
		return nil, fmt.Errorf("encoding the values: %w", err)
	}
	var omitted []string
	for _, key := range append([]string{"crd", "global"}, c.fieldGroups()...) {
		omitted = append(omitted, strconv.Quote(key))
	}
	return []byte(fmt.Sprintf("{{- define \"%[1]s.namespace\" -}}\n{{- .Values.namespace | default .Release.Namespace -}}\n{{- end -}}\n\n"+
		"{{- define \"%[1]s.changed\" -}}\n{{- $values := omit .Values %[3]s | toJson -}}\n"+
		"{{- if ne $values %[2]s -}}\n{{- sha256sum $values | trunc 8 | printf \"-%%s\" -}}\n{{- end -}}\n{{- end -}}\n", c.Name,
		goString(string(standard)), strings.Join(omitted, " "))), nil
}

// goString returns a string constant of Go's templates.
func goString(text string) string {
	if strings.Contains(text, "`") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}
