package definition

import (
	"encoding/json"
	"fmt"
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Parameter is a value of the installation, which expressions read as $parameters.NAME.
type Parameter struct {
	Schema *apiextensionsv1.JSONSchemaProps
	// Value as JSON has it; nil if there is none.
	Value any
	// Encoded, if not empty, stands for the value in the jq of the operator: the JSON of the
	// value in base64, whose characters mean nothing in jq, JSON, YAML and Go templates.
	Encoded string
}

// parameters expands the types of the parameters and takes their values.
func (c *checker) parameters() {
	p := source.PathOf("spec", "parameters")
	if !c.Written(p) || c.wasRejected(p) || len(c.op.Spec.Parameters) == 0 {
		return
	}
	before := len(c.found)
	schema := shortschema.New(c.Positions, nil, &c.found).Object(c.node(p...))
	c.def.Parameters = map[string]Parameter{}
	for name, one := range schema.Properties {
		if problem, hint := badVariable(name, "$parameters"); problem != "" {
			c.addKey(p.To(name), diag.BadName, problem, hint)
		}
		shortschema.CompleteDefault(&one)
		schema.Properties[name], c.def.Parameters[name] = one, Parameter{Schema: &one}
	}
	if len(c.found) > before {
		return // the values may be meant for other types
	}
	values := c.given(schema)
	if err := setDefaults(values, schema); err != nil {
		c.add(p, diag.BadSchema, err.Error(), "")
	}
	for name, one := range c.def.Parameters {
		one.Value = values[name]
		c.def.Parameters[name] = one
		if one.Value == nil && slices.Contains(schema.Required, name) {
			c.addKey(
				p.To(name),
				diag.MissingKey,
				fmt.Sprintf("parameter %s has no value", name),
				fmt.Sprintf("set it with --set %s=VALUE, or give its type a default: TYPE | default=VALUE", name),
			)
		}
	}
}

// given returns the values of parameters that are given from outside.
func (c *checker) given(schema *props) map[string]any {
	values := map[string]any{}
	for _, one := range c.in.Parameters {
		s, declared := schema.Properties[one.Name]
		if !declared {
			continue
		}
		value := runtime.DeepCopyJSONValue(one.Value)
		if one.Text != nil {
			value = typedText(&s, *one.Text)
		}
		if problem := shortschema.Conform(&s, value); problem != "" {
			at := c.At(source.PathOf("spec", "parameters", one.Name))
			c.found.Add(
				one.At,
				diag.BadValue,
				fmt.Sprintf("the value of parameter %s of operator %s: %s", one.Name, c.op.Metadata.Name, problem),
				fmt.Sprintf("its type is at %s:%d:%d", at.File, at.Line, at.Column),
			)
			c.dec.Rejected[source.PathOf("spec", "parameters", one.Name).ID()] = true // it is not missing, too
			continue
		}
		values[one.Name] = value
	}
	return values
}

// typedText reads the text of a command line: as it is for a string, as JSON or YAML else. A
// text that is neither is returned, and does not conform.
func typedText(s *props, text string) any {
	var value any
	read := json.Unmarshal
	switch shortschema.KindOf(s) {
	case "string":
		return text
	case "array", "map", "object", "any":
		read = func(data []byte, v any) error { return yaml.Unmarshal(data, v) }
	}
	if read([]byte(text), &value) != nil {
		return text
	}
	return value
}

// setDefaults adds the defaults of fields that have no value.
func setDefaults(values map[string]any, s *props) error {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, &internal, nil); err != nil {
		return fmt.Errorf("converting the types of the parameters: %w", err)
	}
	schema, err := structural.NewStructural(&internal)
	if err != nil {
		return fmt.Errorf("reading the types of the parameters: %w", err)
	}
	defaulting.Default(values, schema)
	return nil
}

// ParseParameters reads the values for parameters in a file: a mapping from names to values.
func ParseParameters(file string, data []byte) ([]source.Parameter, diag.List) {
	docs, list := source.Load(file, data, source.NotEmpty)
	var out []source.Parameter
	for _, doc := range docs {
		list = append(list, doc.Found...)
		if doc.Root.Kind != yamlv3.MappingNode {
			list.Add(
				doc.Of(doc.Root),
				diag.WrongType,
				fmt.Sprintf("the file has %s, want a mapping of parameters to values", source.Describe(doc.Root)),
				"write NAME: VALUE, such as region: north",
			)
			continue
		}
		decoder := source.NewDecoder(file, &list)
		for pair := range slices.Chunk(doc.Root.Content, 2) {
			one := source.Parameter{Name: pair[0].Value, At: doc.Of(pair[1])}
			if err := asJSON(decoder.Any(pair[1], nil), &one.Value); err != nil {
				list.Add(one.At, diag.BadValue, fmt.Sprintf("JSON cannot represent the value: %v", err), "")
				continue
			}
			out = append(out, one)
		}
	}
	return out, list
}

// asJSON decodes a value as JSON has it.
func asJSON(value any, into *any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
