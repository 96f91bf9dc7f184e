package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// OfKind returns the type of a kind: from the given schema, or of a built-in kind.
func OfKind(given *apiextensionsv1.JSONSchemaProps, apiVersion, kind string) Type {
	if given != nil {
		return Resource(given)
	}
	if t, ok := Builtin(apiVersion, kind); ok {
		return t
	}
	return Any()
}

// OpenAPI returns the type of a structural schema; nil describes anything.
func OpenAPI(s *apiextensionsv1.JSONSchemaProps) Type {
	if s == nil {
		return Any()
	}
	return openAPI{s}
}

// Resource returns the type of a whole object. Every object has apiVersion, kind and
// metadata, even if its schema does not declare them.
func Resource(s *apiextensionsv1.JSONSchemaProps) Type {
	if s == nil {
		s = &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	}
	return object{openAPI{s}}
}

// openAPI is the type of a schema, evaluated lazily.
type openAPI struct {
	s *apiextensionsv1.JSONSchemaProps
}

func (o openAPI) Nullable() bool { return o.s.Nullable }

func (o openAPI) Kind() Kind {
	switch {
	case o.s.XIntOrString:
		return IntOrString
	case o.s.XEmbeddedResource:
		return Object
	case o.s.Type == "" && len(o.s.Properties) > 0 && !o.preserves():
		return Object
	}
	switch k := Kind(o.s.Type); k {
	case Object, Array, String, Integer, Number, Boolean:
		return k
	}
	return Unknown // also "null", and types that only allOf and similar keywords state
}

// Strings returns the values that the schema of a string allows; nil if it allows others.
func Strings(t Type) []string {
	o, ok := t.(openAPI)
	if !ok || o.Kind() != String {
		return nil
	}
	var out []string
	for _, one := range o.s.Enum {
		var text string
		if json.Unmarshal(one.Raw, &text) == nil {
			out = append(out, text)
		}
	}
	return out
}

// Unfit says why the schema of a string does not allow a text, by its length, pattern or format;
// "" if it does.
func Unfit(t Type, text string) string {
	o, ok := t.(openAPI)
	if !ok || o.Kind() != String {
		return ""
	}
	count := int64(utf8.RuneCountInString(text))
	switch s := o.s; {
	case s.MinLength != nil && count < *s.MinLength:
		return fmt.Sprintf("is shorter than %d characters", *s.MinLength)
	case s.MaxLength != nil && count > *s.MaxLength:
		return fmt.Sprintf("is longer than %d characters", *s.MaxLength)
	case s.Pattern != "" && !matches(s.Pattern, text):
		return "does not match the pattern " + s.Pattern
	case strfmt.Default.ContainsName(s.Format) && !strfmt.Default.Validates(s.Format, text):
		return "does not have the format " + s.Format
	}
	return ""
}

func matches(pattern, text string) bool {
	compiled, err := regexp.Compile(pattern)
	return err != nil || compiled.MatchString(text)
}

// Default returns the default of a field of this type, as JSON; "" if it has none. known is
// false for a type that does not tell.
func Default(t Type) (text string, known bool) {
	o, known := t.(openAPI)
	if !known || o.s.Default == nil {
		return "", known
	}
	return string(o.s.Default.Raw), true
}

func (o openAPI) preserves() bool {
	return o.s.XPreserveUnknownFields != nil && *o.s.XPreserveUnknownFields
}

func (o openAPI) Open() bool {
	if o.Kind() != Object {
		return o.Kind() == Unknown
	}
	more := o.s.AdditionalProperties
	// The API server prunes an object without properties to {}, but schemas that only
	// say "object" are meant to accept anything.
	return o.preserves() || o.s.XEmbeddedResource || (more != nil && (more.Allows || more.Schema != nil)) || len(o.s.Properties) == 0
}

func (o openAPI) Field(name string) (Type, bool) {
	if p, ok := o.s.Properties[name]; ok {
		return OpenAPI(&p), true
	}
	if more := o.s.AdditionalProperties; more != nil && more.Schema != nil {
		return OpenAPI(more.Schema), true
	}
	return Any(), o.Open()
}

func (o openAPI) Fields() []string { return listed(o.s.Properties) }

func (o openAPI) Required(name string) bool {
	p, ok := o.s.Properties[name]
	return slices.Contains(o.s.Required, name) || (ok && p.Default != nil && string(p.Default.Raw) != "null")
}

func (o openAPI) Needed(name string) bool {
	p := o.s.Properties[name]
	return slices.Contains(o.s.Required, name) && p.Default == nil
}

func (o openAPI) Item() Type {
	if o.s.Items == nil || o.s.Items.Schema == nil {
		return Any()
	}
	return OpenAPI(o.s.Items.Schema)
}

func listed[T any](m map[string]T) []string {
	return shape{fields: asFields(m)}.Fields()
}

func asFields[T any](m map[string]T) map[string]field {
	fields := map[string]field{}
	for name := range m {
		fields[name] = field{}
	}
	return fields
}

// object adds the fields of every object to the schema of a custom resource.
type object struct {
	openAPI
}

func (o object) Kind() Kind { return Object }

func (o object) Field(name string) (Type, bool) {
	switch name {
	case "apiVersion", "kind":
		return Of(String), true
	case "metadata":
		return objectMeta(), true
	}
	return o.openAPI.Field(name)
}

func (o object) Fields() []string {
	fields := asFields(o.s.Properties)
	for _, name := range [...]string{"apiVersion", "kind", "metadata"} {
		fields[name] = field{}
	}
	return listed(fields)
}

func (o object) Required(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata" || o.openAPI.Required(name)
}

// ClusterScoped returns the type of an object that is in no namespace.
func ClusterScoped(object Type) Type { return without{object, []string{"metadata", "namespace"}} }

// without is a type without the field at a path.
type without struct {
	Type
	path []string
}

func (w without) Field(name string) (Type, bool) {
	t, known := w.Type.Field(name)
	switch {
	case name != w.path[0]:
		return t, known
	case len(w.path) == 1:
		return Any(), false
	}
	return without{t, w.path[1:]}, known
}

func (w without) Fields() []string {
	return slices.DeleteFunc(w.Type.Fields(), func(name string) bool { return len(w.path) == 1 && name == w.path[0] })
}

func objectMeta() Type { return goType(typeFor[metav1.ObjectMeta]()) }
