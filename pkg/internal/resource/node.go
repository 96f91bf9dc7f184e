package resource

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// nested is a schema inside allOf, anyOf, oneOf or not: it demands, but adds no
// fields.
type nested = schema.NestedValueValidation

// node is one place in a schema, as the making of samples walks it.
type node struct {
	*schema.Structural
	example any // nil when there is none
	names   []string
	fields  map[string]*node // by the names
	items   *node            // of a list
	values  *node            // of a map
	hints   []any            // what the rules speak of: values worth a try
	whole   bool             // the root: the object itself, which is judged always

	once  sync.Once
	local func(any) field.ErrorList
}

// newNode pairs a structural schema with what it was made from: structural
// schemas forget their examples.
func newNode(s *schema.Structural, from *apiextensions.JSONSchemaProps) *node {
	n := &node{Structural: s, fields: map[string]*node{}}
	if from == nil {
		from = &apiextensions.JSONSchemaProps{}
	}
	if from.Example != nil {
		n.example = *from.Example
	}
	for name, property := range s.Properties {
		props := from.Properties[name]
		n.fields[name] = newNode(&property, &props)
	}
	n.names = slices.Sorted(maps.Keys(n.fields))
	if s.Items != nil {
		var items *apiextensions.JSONSchemaProps
		if from.Items != nil {
			items = from.Items.Schema
		}
		n.items = newNode(s.Items, items)
	}
	if a := s.AdditionalProperties; a != nil && a.Structural != nil {
		var values *apiextensions.JSONSchemaProps
		if from.AdditionalProperties != nil {
			values = from.AdditionalProperties.Schema
		}
		n.values = newNode(a.Structural, values)
	}
	n.hints = hintsOf(n)
	return n
}

// free says that a map takes any key.
func (n *node) free() bool {
	return n.XPreserveUnknownFields || n.AdditionalProperties != nil && n.AdditionalProperties.Bool
}

// judged says that the node has demands that only a whole value can be held to.
func (n *node) judged() bool {
	if len(n.XValidations) > 0 {
		return true
	}
	v := n.ValueValidation
	return v != nil && (len(v.AllOf) > 0 || len(v.AnyOf) > 0 || len(v.OneOf) > 0 || v.Not != nil)
}

// check holds a value to the node's own demands, as it is and as it will be
// with its defaults.
func (n *node) check(value any) field.ErrorList {
	if !n.judged() {
		return nil
	}
	n.once.Do(n.prepare)
	if errs := n.local(value); len(errs) > 0 {
		return errs
	}
	whole := runtime.DeepCopyJSONValue(value)
	defaulting.Default(whole, n.Structural)
	return n.local(whole)
}

func (n *node) prepare() {
	validator := validation.NewSchemaValidatorFromOpenAPI(n.ToKubeOpenAPI())
	rules := cel.NewValidator(n.Structural, n.XEmbeddedResource, celconfig.PerCallLimit)
	n.local = func(value any) field.ErrorList {
		errs := validation.ValidateCustomResource(nil, value, validator)
		if rules == nil || blocked(errs) {
			return errs
		}
		found, _ := rules.Validate(context.Background(), nil, n.Structural, value, nil, celconfig.RuntimeCELCostBudget)
		return append(errs, found...)
	}
}
