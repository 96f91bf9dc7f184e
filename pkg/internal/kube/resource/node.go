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

	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
)

// nested is a schema inside allOf, anyOf, oneOf or not. It restricts values, but adds
// no fields.
type nested = schema.NestedValueValidation

// node is a part of a schema, as the generation of samples walks it.
type node struct {
	*schema.Structural
	example any // or nil
	names   []string
	fields  map[string]*node // by name
	items   *node            // of a list
	values  *node            // of a map
	hints   []any            // constants of the rules, which are worth a try
	whole   bool             // the root, which is always validated
	fixed   bool             // samples have the example: Kubernetes knows the type, and an author cannot restrict it

	purse *purse
	once  sync.Once
	local func(any) field.ErrorList
}

// newNode pairs a structural schema with its source, because structural schemas have no
// examples.
func newNode(s *schema.Structural, from *apiextensions.JSONSchemaProps, pays *purse) *node {
	n := &node{Structural: s, fields: map[string]*node{}, purse: pays}
	if from == nil {
		from = &apiextensions.JSONSchemaProps{}
	}
	if from.Example != nil {
		n.example = *from.Example
		if coretypes.Is(from.Title) {
			n.fixed = true
			return n
		}
	}
	for name, property := range s.Properties {
		props := from.Properties[name]
		n.fields[name] = newNode(&property, &props, pays)
	}
	n.names = slices.Sorted(maps.Keys(n.fields))
	if s.Items != nil {
		var items *apiextensions.JSONSchemaProps
		if from.Items != nil {
			items = from.Items.Schema
		}
		n.items = newNode(s.Items, items, pays)
	}
	if a := s.AdditionalProperties; a != nil && a.Structural != nil {
		var values *apiextensions.JSONSchemaProps
		if from.AdditionalProperties != nil {
			values = from.AdditionalProperties.Schema
		}
		n.values = newNode(a.Structural, values, pays)
	}
	n.hints = hintsOf(n)
	return n
}

// free reports whether a map accepts any key.
func (n *node) free() bool {
	return n.XPreserveUnknownFields || n.AdditionalProperties != nil && n.AdditionalProperties.Bool
}

// validated reports whether the node has validations of the whole value.
func (n *node) validated() bool {
	if len(n.XValidations) > 0 {
		return true
	}
	v := n.ValueValidation
	return v != nil && (len(v.AllOf) > 0 || len(v.AnyOf) > 0 || len(v.OneOf) > 0 || v.Not != nil)
}

// check validates a value against the node's own rules, as it is and with its defaults.
func (n *node) check(value any) field.ErrorList {
	if !n.validated() {
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
		return append(errs, n.purse.pay(func(budget int64) (field.ErrorList, int64) {
			return rules.Validate(context.Background(), nil, n.Structural, value, nil, budget)
		})...)
	}
}
