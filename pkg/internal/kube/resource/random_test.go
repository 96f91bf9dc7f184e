package resource

import (
	"fmt"
	"math/rand/v2"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// Samples of random schemas are valid. The schemas use every supported feature without
// contradictions.
func TestSamplesOfRandomSchemas(t *testing.T) {
	for seed := range uint64(200) {
		g := schemaMaker{rand.New(rand.NewPCG(seed, 1))}
		props := g.object(0)
		s, err := New(kind, &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": props}})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, jsonText(props))
		}
		checkSamples(t, s, 5)
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, jsonText(props))
		}
	}
}

type schemaMaker struct{ *rand.Rand }

func (g schemaMaker) often(percent int) bool { return g.IntN(100) < percent }

func (g schemaMaker) any(depth int) apiextensionsv1.JSONSchemaProps {
	makers := []func(int) apiextensionsv1.JSONSchemaProps{g.text, g.whole, g.number, g.boolean, g.intOrString}
	if depth < 3 {
		makers = append(makers, g.object, g.entries, g.list, g.list)
	}
	props := makers[g.IntN(len(makers))](depth + 1)
	props.Nullable = g.often(10) && len(props.Enum) == 0
	return props
}

func (g schemaMaker) object(depth int) apiextensionsv1.JSONSchemaProps {
	out := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	names := []string{"a", "b", "c", "d", "e"}[:1+g.IntN(5)]
	for _, name := range names {
		out.Properties[name] = g.any(depth + 1)
		if g.often(40) {
			out.Required = append(out.Required, name)
		}
	}
	switch first := names[0]; {
	case g.often(10):
		out.MinProperties = ptr.To(int64(g.IntN(len(names) + 1)))
	case g.often(10):
		out.AnyOf = []apiextensionsv1.JSONSchemaProps{{Required: []string{first}}, {Required: []string{names[len(names)-1]}}}
	case g.often(10) && len(out.Required) == 0 && len(names) > 1:
		out.OneOf = []apiextensionsv1.JSONSchemaProps{{Required: []string{first}}, {Required: []string{names[1]}}}
	case g.often(10) && len(out.Required) == 0:
		out.Not = &apiextensionsv1.JSONSchemaProps{Required: []string{first}}
	case g.often(20):
		out.XValidations = apiextensionsv1.ValidationRules{{Rule: fmt.Sprintf("has(self.%s)", first)}}
	case g.often(10) && out.Properties[first].Type == "integer" && len(out.Properties[first].Enum) == 0 && out.Properties[first].MultipleOf == nil:
		out.XValidations = apiextensionsv1.ValidationRules{{Rule: fmt.Sprintf("!has(self.%s) || self.%s %% 2 == 0", first, first)}}
	}
	return out
}

func (g schemaMaker) entries(depth int) apiextensionsv1.JSONSchemaProps {
	if g.often(15) {
		return apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}
	}
	values := g.any(depth)
	return apiextensionsv1.JSONSchemaProps{
		Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &values},
		MinProperties: ptr.To(int64(g.IntN(3))), MaxProperties: ptr.To(int64(2 + g.IntN(3))),
	}
}

func (g schemaMaker) list(depth int) apiextensionsv1.JSONSchemaProps {
	few := int64(g.IntN(3))
	out := apiextensionsv1.JSONSchemaProps{Type: "array", MinItems: ptr.To(few), MaxItems: ptr.To(few + int64(g.IntN(4)))}
	items := g.any(depth)
	switch {
	case g.often(20):
		items = apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: ptr.To(int64(20))}
		out.XListType = ptr.To("set")
	case g.often(20):
		items = g.object(depth)
		items.Properties["key"] = apiextensionsv1.JSONSchemaProps{Type: "string", Pattern: "^[a-z]{1,5}$"}
		items.Required = append(items.Required, "key")
		items.MinProperties, items.Not, items.OneOf = nil, nil, nil
		out.XListType, out.XListMapKeys = ptr.To("map"), []string{"key"}
	}
	out.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}
	return out
}

func (g schemaMaker) text(int) apiextensionsv1.JSONSchemaProps {
	out := apiextensionsv1.JSONSchemaProps{Type: "string"}
	switch g.IntN(6) {
	case 0:
		out.Enum = []apiextensionsv1.JSON{{Raw: []byte(`"x"`)}, {Raw: []byte(`"y z"`)}, {Raw: []byte(`""`)}}
	case 1:
		out.Pattern = []string{"^[a-z]([-a-z0-9]*[a-z0-9])?$", `^\d+(\.\d+)*$`, "^(GET|PUT|POST)$", "x", `^[^@]+@[^@]+$`, `\S{3}`}[g.IntN(6)]
	case 2:
		formats := []string{"date-time", "duration", "ipv4", "uuid", "email", "byte", "uri", "hostname", "cidr", "mac"}
		out.Format = formats[g.IntN(len(formats))]
	case 3:
		short := int64(g.IntN(20))
		out.MinLength, out.MaxLength = ptr.To(short), ptr.To(short+int64(g.IntN(20)))
	case 4:
		out.XValidations = apiextensionsv1.ValidationRules{{Rule: []string{"self.startsWith('pre-')", "self != ''", "self in ['p', 'q']", "size(self) > 4"}[g.IntN(4)]}}
		out.MaxLength = ptr.To(int64(30))
	}
	return out
}

func (g schemaMaker) whole(int) apiextensionsv1.JSONSchemaProps {
	out := apiextensionsv1.JSONSchemaProps{Type: "integer", Format: []string{"", "int32", "int64"}[g.IntN(3)]}
	low := float64(g.IntN(2000) - 1000)
	switch g.IntN(6) {
	case 0:
		out.Enum = []apiextensionsv1.JSON{{Raw: []byte("7")}, {Raw: []byte("-7")}}
	case 1:
		out.Minimum, out.ExclusiveMinimum = ptr.To(low), g.often(50)
	case 2:
		out.Maximum, out.ExclusiveMaximum = ptr.To(low), g.often(50)
	case 3:
		out.Minimum, out.Maximum = ptr.To(low), ptr.To(low+float64(2+g.IntN(50)))
	case 4:
		out.MultipleOf = ptr.To(float64(1 + g.IntN(30)))
		out.Minimum = ptr.To(low)
	}
	return out
}

func (g schemaMaker) number(depth int) apiextensionsv1.JSONSchemaProps {
	out := g.whole(depth)
	out.Type, out.Format = "number", ""
	if out.MultipleOf != nil {
		*out.MultipleOf /= 4
	}
	return out
}

func (g schemaMaker) boolean(int) apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Type: "boolean"}
}

func (g schemaMaker) intOrString(int) apiextensionsv1.JSONSchemaProps {
	out := apiextensionsv1.JSONSchemaProps{XIntOrString: true}
	if g.often(50) {
		out.AnyOf = []apiextensionsv1.JSONSchemaProps{{Type: "integer"}, {Type: "string"}}
		out.Pattern = "^[0-9]+(Mi|Gi)?$"
	}
	return out
}
