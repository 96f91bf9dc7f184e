package definition

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/source"
)

type props = apiextensionsv1.JSONSchemaProps

// short expands the short schema form. It works on YAML nodes, so that every finding
// has the position of the wrong word.
type short struct {
	c     *checker
	types *yaml.Node        // spec.api.types, or nil
	known map[string]*props // expanded types; nil while they are being expanded
}

func newShort(c *checker) *short {
	s := &short{c: c, known: map[string]*props{}}
	if p := source.PathOf("spec", "api", "types"); c.Written(p) && !c.wasRejected(p) {
		s.types = c.node(p...)
	}
	for _, name := range s.typeNames() {
		s.named(name)
	}
	return s
}

// typeNames returns the names in spec.api.types, in the order written.
func (s *short) typeNames() []string {
	var out []string
	if s.types != nil {
		for pair := range slices.Chunk(s.types.Content, 2) {
			out = append(out, pair[0].Value)
		}
	}
	return out
}

func (s *short) add(n *yaml.Node, offset int, code, message, hint string) {
	s.c.found.Add(s.c.Inside(n, offset), code, message, hint)
}

var (
	fieldName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_.$-]*$`)
	typeName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

// object expands a mapping of fields.
func (s *short) object(n *yaml.Node) *props {
	if word := openAPIWord(n); word != nil {
		s.add(word, 0, diag.BadSchema, fmt.Sprintf("this looks like an OpenAPI schema; the short form would make fields called type and %s of it", word.Value),
			"write the fields alone, as in {size: integer | minimum=1}, or the whole schema under openAPIV3Schema, in place of schema")
		return anything()
	}
	out := &props{Type: "object", Properties: map[string]props{}}
	for pair := range slices.Chunk(n.Content, 2) {
		name := pair[0].Value
		if !fieldName.MatchString(name) {
			s.add(pair[0], 0, diag.BadName, fmt.Sprintf("%q is not a name for a field", name), "begin with a letter; letters, digits, '-', '_' and '.' may follow")
		}
		schema, required := s.field(pair[1])
		out.Properties[name] = *schema
		if required {
			out.Required = append(out.Required, name)
		}
	}
	if len(out.Properties) == 0 {
		out.Properties = nil
	}
	return out
}

// openAPIWord returns the key that shows a mapping to be an OpenAPI schema, or nil if
// it can be a mapping of fields.
func openAPIWord(n *yaml.Node) *yaml.Node {
	_, is := source.LookupNode(n, "type")
	if is == nil || is.Kind != yaml.ScalarNode {
		return nil
	}
	kinds := map[string]yaml.Kind{"required": yaml.SequenceNode, "enum": yaml.SequenceNode, "allOf": yaml.SequenceNode, "anyOf": yaml.SequenceNode, "oneOf": yaml.SequenceNode}
	switch is.Value {
	case "object":
		kinds["properties"], kinds["additionalProperties"] = yaml.MappingNode, yaml.MappingNode
	case "array":
		kinds["items"] = yaml.MappingNode
	case "string", "integer", "number", "boolean":
	default:
		return nil
	}
	for pair := range slices.Chunk(n.Content, 2) {
		key, value := pair[0].Value, pair[1]
		_, marker := markerRules()[key]
		noType := value.Kind == yaml.ScalarNode && (value.ShortTag() != "!!str" || basicType(strings.TrimSpace(strings.Split(value.Value, "|")[0])) == nil)
		if kind, known := kinds[key]; known && value.Kind == kind || marker && noType || strings.HasPrefix(key, "x-kubernetes-") {
			return pair[0]
		}
	}
	return nil
}

// field expands the value of a field.
func (s *short) field(n *yaml.Node) (schema *props, required bool) {
	if n.Kind == yaml.MappingNode {
		schema = s.object(n)
		completeDefault(schema)
		return schema, false
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		hint := "write a type such as integer, string or []string, or a mapping of fields"
		if n.Kind == yaml.SequenceNode {
			hint = "write []TYPE, as in []string; name the entries' type under types if it is an object"
		}
		s.c.found.Add(s.c.Of(n), diag.WrongType, fmt.Sprintf("a field's type is %s, want a string", source.Describe(n)), hint)
		return anything(), false
	}
	text, rest, marked := strings.Cut(n.Value, "|")
	before := len(s.c.found)
	schema = s.typeOf(n, strings.TrimSpace(text), len(text)-len(strings.TrimLeft(text, " \t\n")))
	if !marked {
		return schema, false
	}
	if len(s.c.found) > before {
		schema = nil
	}
	return s.mark(n, schema, rest, len(text)+1)
}

// typeOf expands a type such as []map[string]Address.
func (s *short) typeOf(n *yaml.Node, text string, offset int) *props {
	if of, ok := strings.CutPrefix(text, "[]"); ok {
		return &props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: s.typeOf(n, of, offset+2)}}
	}
	if of, ok := strings.CutPrefix(text, "map[string]"); ok {
		return &props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
			Allows: true, Schema: s.typeOf(n, of, offset+len("map[string]")),
		}}
	}
	if schema := basicType(text); schema != nil {
		return schema
	}
	if schema := s.named(text); schema != nil {
		return schema.DeepCopy()
	}
	if _, open := s.known[text]; open {
		s.add(n, offset, diag.BadSchema, fmt.Sprintf("type %s holds itself", text), "a CustomResourceDefinition knows no recursion: use any")
		return anything()
	}
	message := fmt.Sprintf("unknown type %q", text)
	if text == "" {
		message = "the type is missing"
	}
	s.add(n, offset, diag.UnknownType, message, s.typeHint(text))
	return anything()
}

// named expands a type of spec.api.types; nil if it does not exist, or is being
// expanded.
func (s *short) named(name string) *props {
	if schema, ok := s.known[name]; ok || s.types == nil {
		return schema
	}
	key, n := source.LookupNode(s.types, name)
	if n == nil {
		return nil
	}
	s.known[name] = nil
	if !typeName.MatchString(name) || basicType(name) != nil {
		s.add(key, 0, diag.BadName, fmt.Sprintf("%q cannot name a type", name), "letters, digits and '_'; not a built-in type")
	}
	schema, required := s.field(n)
	if required {
		s.add(n, 0, diag.BadMarker, "a type cannot be required", "write required=true at the fields of this type")
	}
	s.known[name] = schema
	return schema
}

func (s *short) typeHint(text string) string {
	if t, ok := foreignTypes()[strings.ToLower(text)]; ok {
		return "did you mean " + t + "?"
	}
	return source.DidYouMean(text, append(slices.Collect(maps.Keys(basicTypes())), s.typeNames()...), "types")
}
