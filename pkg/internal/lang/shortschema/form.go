package shortschema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

type props = apiextensionsv1.JSONSchemaProps

// Form expands the short schema form. It works on YAML nodes, so that every finding has
// the position of the wrong word.
type Form struct {
	positions source.Positions
	found     *diag.List
	types     *yaml.Node        // named types, or nil
	known     map[string]*props // expanded types; nil while they are being expanded

	// Read tells that only operators write the fields: so nobody has to quote their names.
	Read bool
}

// New returns the form with the types of a mapping, which may be nil, and expands them.
// Findings are added to a list.
func New(positions source.Positions, types *yaml.Node, found *diag.List) *Form {
	s := &Form{positions: positions, found: found, types: types, known: map[string]*props{}}
	for _, name := range s.typeNames() {
		s.named(name)
	}
	return s
}

// typeNames returns the names in spec.api.types, in the order written.
func (s *Form) typeNames() []string {
	var out []string
	if s.types != nil {
		for pair := range slices.Chunk(s.types.Content, 2) {
			out = append(out, pair[0].Value)
		}
	}
	return out
}

// isOwn reports whether a type is being expanded that the definition has.
func (s *Form) isOwn(name string) bool {
	_, own := s.known[name]
	return own
}

func (s *Form) add(n *yaml.Node, offset int, code, message, hint string) {
	s.found.Add(s.positions.Inside(n, offset), code, message, hint)
}

// addFix adds an error that another value of a scalar fixes.
func (s *Form) addFix(n *yaml.Node, offset int, code, message, fix string) {
	at := s.positions.Inside(n, offset)
	*s.found = append(*s.found, diag.Finding{Position: at, Severity: diag.Error, Code: code, Message: message}.Writing(fix))
}

var (
	fieldName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_.$-]*$`)
	typeName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`) })
)

// Object expands a mapping of fields.
func (s *Form) Object(n *yaml.Node) *props {
	if word := openAPIWord(n); word != nil {
		s.add(
			word,
			0,
			diag.BadSchema,
			fmt.Sprintf("this looks like an OpenAPI schema: the short form reads type and %s as names of fields", word.Value),
			"write the fields alone, as in {size: integer | minimum=1}, or put the whole schema under openAPIV3Schema, in place of schema",
		)
		return doubtful()
	}
	out := &props{Type: "object", Properties: map[string]props{}}
	for pair := range slices.Chunk(s.uncut(n), 2) {
		name, markers, marked := strings.Cut(pair[0].Value, "|")
		name = strings.TrimSpace(name)
		if !fieldName.MatchString(name) {
			hint := "begin with a letter; use letters, digits, '-', '_' and '.'"
			switch {
			case name == anyKey:
				hint = "remove the other fields: map[string] means every key of a map"
			case strings.Contains(name, "="):
				hint = "between { and }, a comma ends a value: quote the value before it"
			}
			s.add(pair[0], 0, diag.BadName, fmt.Sprintf("%q is not a field name", name), hint)
		}
		if read := readAs(name); read != name && !s.Read {
			s.found.Warn(s.positions.Inside(pair[0], 0), diag.BadName,
				fmt.Sprintf("kubectl reads the key %s as %s: users have to quote it in each custom resource", name, read),
				"use another name, such as enabled")
		}
		if _, twice := out.Properties[name]; twice {
			s.add(pair[0], 0, diag.DuplicateKey, fmt.Sprintf("duplicate field %s", name), "remove one of them")
		}
		before := len(*s.found)
		schema, required := s.field(pair[1])
		if marked && len(*s.found) == before {
			var needed bool
			schema, needed = s.mark(pair[0], schema, markers, strings.Index(pair[0].Value, "|")+1)
			required = required || needed
		}
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

// readAs returns the key that kubectl reads, which knows the words of YAML 1.1 for true and false.
func readAs(name string) string {
	const longest = len("false")
	if len(name) > longest {
		return name
	}
	var read map[string]any
	if err := sigsyaml.Unmarshal([]byte(name+": 1"), &read); err != nil || len(read) != 1 {
		return name
	}
	for key := range read {
		name = key
	}
	return name
}

// enumAtEnd matches a field whose last marker is an enum: what YAML takes for the next key may
// be another value of it.
var enumAtEnd = regexp.MustCompile(`\|.*\benum=[^\s"]+$`)

// uncut returns the fields of a mapping. Between the braces of YAML, a comma ends a value
// even in a marker; that is reported, and the value read as it is meant.
func (s *Form) uncut(n *yaml.Node) []*yaml.Node {
	if n.Style&yaml.FlowStyle == 0 {
		return n.Content
	}
	var out []*yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		whole, last := value.Value, i
		if value.Kind == yaml.ScalarNode && value.Style == 0 {
			for next := i + 2; next < len(n.Content) && n.Content[next+1].Value == ""; next += 2 {
				join := ","
				if strings.Count(whole, `"`)%2 > 0 {
					join = ", "
				} else if !enumAtEnd.MatchString(whole) {
					break
				}
				whole, last = whole+join+n.Content[next].Value, next
			}
		}
		if last > i && strings.Count(whole, `"`)%2 == 0 {
			s.found.Add(
				s.positions.Of(value),
				diag.BadMarker,
				"between { and }, a comma ends a value",
				"quote the value: "+key.Value+": "+source.Scalar(whole, true, 0),
			)
			value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: whole, Line: value.Line, Column: value.Column}
			i = last
		}
		out = append(out, key, value)
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
	kinds := map[string]yaml.Kind{
		"required": yaml.SequenceNode,
		"enum":     yaml.SequenceNode,
		"allOf":    yaml.SequenceNode,
		"anyOf":    yaml.SequenceNode,
		"oneOf":    yaml.SequenceNode,
	}
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
		noType := value.Kind == yaml.ScalarNode &&
			(value.ShortTag() != "!!str" || basicType(strings.TrimSpace(strings.Split(value.Value, "|")[0])) == nil)
		if kind, known := kinds[key]; known && value.Kind == kind || marker && noType || strings.HasPrefix(key, "x-kubernetes-") {
			return pair[0]
		}
	}
	return nil
}

// field expands the value of a field.
func (s *Form) field(n *yaml.Node) (schema *props, required bool) {
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value == anyKey:
		return mapOf(s.entry(n.Content[1])), false
	case n.Kind == yaml.MappingNode:
		schema = s.Object(n)
		CompleteDefault(schema)
		return schema, false
	case n.Kind == yaml.SequenceNode && len(n.Content) == 1:
		return listOf(s.entry(n.Content[0])), false
	case n.Kind == yaml.SequenceNode:
		s.found.Add(s.positions.Of(n), diag.WrongType, fmt.Sprintf("a list of %d types is not a type", len(n.Content)),
			"write the type of the entries alone, as in [string] or [{name: string}]; for a choice of values, write string | enum=a,b")
		return doubtful(), false
	case n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str":
		s.found.Add(s.positions.Of(n), diag.WrongType, fmt.Sprintf("a field's type is %s, want a string", source.Describe(n)),
			"write a type such as integer, string or []string, or a mapping of fields")
		return doubtful(), false
	}
	if meant := s.choiceOf(n.Value); meant != "" {
		s.addFix(n, 0, diag.UnknownType, fmt.Sprintf("unknown type %q", n.Value), s.positions.InPlaceOf(n, meant))
		return doubtful(), false
	}
	text, rest, marked := strings.Cut(n.Value, "|")
	before := len(*s.found)
	schema = s.typeOf(n, strings.TrimSpace(text), len(text)-len(strings.TrimLeft(text, " \t\n")))
	if !marked {
		return schema, false
	}
	if len(*s.found) > before && KindOf(schema) == "any" {
		schema = nil
	}
	schema, required = s.mark(n, schema, rest, len(text)+1)
	if len(*s.found) > before {
		doubtfully(schema)
	}
	return schema, required
}

// anyKey stands for every key of a map.
const anyKey = "map[string]"

// entry expands the type of the entries of a list or a map.
func (s *Form) entry(n *yaml.Node) *props {
	schema, required := s.field(n)
	if required {
		s.add(
			n,
			0,
			diag.BadMarker,
			"an entry cannot be required",
			"write minItems=1 or minProperties=1 for the field, as in ports | minItems=1: [integer]",
		)
	}
	return schema
}

func listOf(entry *props) *props {
	return &props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: entry}}
}

func mapOf(entry *props) *props {
	return &props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: entry}}
}

// typeOf expands a type such as []map[string]Address.
func (s *Form) typeOf(n *yaml.Node, text string, offset int) *props {
	if of, ok := strings.CutPrefix(text, "[]"); ok {
		return listOf(s.typeOf(n, of, offset+2))
	}
	if of, ok := strings.CutPrefix(text, anyKey); ok {
		return mapOf(s.typeOf(n, of, offset+len(anyKey)))
	}
	if schema := basicType(text); schema != nil {
		return schema
	}
	if schema := s.named(text); schema != nil {
		return schema.DeepCopy()
	}
	if schema := typeNamed(text, false); schema != nil && !s.isOwn(text) {
		return schema
	}
	if coretypes.Is(text) {
		if schema := coretypes.Schema(text); schema != nil {
			return schema
		}
	}
	if s.isOwn(text) {
		s.add(
			n,
			offset,
			diag.BadSchema,
			fmt.Sprintf("type %s contains itself", text),
			"write any: a CustomResourceDefinition cannot be recursive",
		)
		return doubtful()
	}
	message := fmt.Sprintf("unknown type %q", text)
	if text == "" && offset > 0 {
		s.addFix(n, offset, diag.UnknownType, "the type of the entries is missing", s.retyped(n, offset, 0, "string"))
		return doubtful()
	}
	if text == "" {
		message = "the type is missing"
	}
	if first, rest, at := s.unbarred(text); at > 0 {
		s.addFix(
			n,
			offset+at,
			diag.BadMarker,
			"want | between the type and its markers",
			s.retyped(n, offset, len(text), first+" | "+rest),
		)
		return s.typeOf(n, first, offset)
	}
	meant := s.meantType(text)
	switch {
	case meant == "":
		s.add(n, offset, diag.UnknownType, message, s.typeHint(text))
		return doubtful()
	case strings.ContainsAny(meant, "[|") || strings.ContainsAny(text, " ?!*()<>[]"): // how it is quoted matters
		s.addFix(n, offset, diag.UnknownType, message, s.retyped(n, offset, len(text), meant))
		return doubtful()
	}
	s.add(n, offset, diag.UnknownType, message, "did you mean "+meant+"?")
	if schema := typeNamed(meant, false); schema != nil { // so that markers and expressions are checked
		doubtfully(schema)
		return schema
	}
	return doubtful()
}

// withMarkers matches a type that markers follow without a |.
var withMarkers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^\s=]+)[\s,]+(([A-Za-z]+)=.*)$`) })

// unbarred splits a type from the markers that follow it without a | at an offset; 0 if
// there are none.
func (s *Form) unbarred(text string) (first, markers string, at int) {
	m := withMarkers().FindStringSubmatch(text)
	if m == nil {
		return "", "", 0
	}
	if _, known := markerRules()[m[3]]; !known {
		return "", "", 0
	}
	at = len(text) - len(m[2])
	if !strings.Contains(m[2], `"`) {
		m[2] = strings.ReplaceAll(m[2], ", ", " ")
	}
	return m[1], m[2], at
}

// retyped returns the value of a field, as YAML, with another type at an offset.
func (s *Form) retyped(n *yaml.Node, offset, length int, other string) string {
	rest := n.Value[min(len(n.Value), offset+length):]
	if strings.Contains(other, "|") { // the type brings a marker along
		rest = strings.Replace(rest, "| ", "", 1)
	}
	return s.positions.InPlaceOf(n, strings.TrimSpace(n.Value[:min(len(n.Value), offset)]+other+rest))
}

// named expands a type of spec.api.types; nil if it does not exist, or is being
// expanded.
func (s *Form) named(name string) *props {
	if schema, ok := s.known[name]; ok || s.types == nil {
		return schema
	}
	key, n := source.LookupNode(s.types, name)
	if n == nil {
		return nil
	}
	s.known[name] = nil
	if !typeName().MatchString(name) || basicType(name) != nil {
		s.add(
			key,
			0,
			diag.BadName,
			fmt.Sprintf("%q is not a type name", name),
			"use letters, digits and '_', and no name of a built-in type",
		)
	}
	schema, required := s.field(n)
	if required {
		s.add(n, 0, diag.BadMarker, "a type cannot be required", "write required=true at the fields of this type")
	}
	s.known[name] = schema
	return schema
}
