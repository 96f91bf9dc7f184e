// Package resource knows custom resources offline: it defaults, prunes and
// validates them, and makes samples of them.
//
// The rule of this package: what is legal is said by the API server's own code,
// never by ours. Samples are guesses that this code has accepted.
package resource

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Kind says whose schema it is.
type Kind struct {
	Group, Version, Kind string
	Namespaced           bool
	// Status says that the kind has the status subresource: the API server drops
	// a status when the object is created, so samples have none.
	Status bool
	// Scale says where the scale subresource reads and writes; nil is nowhere.
	Scale *apiextensionsv1.CustomResourceSubresourceScale
}

// apiVersion is how objects spell it.
func (k Kind) apiVersion() string { return k.Group + "/" + k.Version }

// Schema is one version of a kind, ready to judge objects and to make some.
// Objects are JSON as maps: other number types than int64 and float64 are fine.
// It is safe for concurrent use.
type Schema struct {
	kind       Kind
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator // nil when the schema has no CEL rules
	root       *node
	sensible   bool // of samples: see Sensible
}

// New prepares a schema. An error says why the API server would refuse the
// schema itself; the rules in it are compiled, and complained of, by Validate.
func New(kind Kind, props *apiextensionsv1.JSONSchemaProps) (*Schema, error) {
	if props == nil {
		return nil, fmt.Errorf("%s %s has no schema", kind.Kind, kind.Version)
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props.DeepCopy(), internal, nil); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind.Kind, err)
	}
	structural, err := schema.NewStructural(internal)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind.Kind, err)
	}
	if errs := schema.ValidateStructural(nil, structural); len(errs) > 0 {
		return nil, fmt.Errorf("the schema of %s is not structural: %w", kind.Kind, errs.ToAggregate())
	}
	structural = structural.DeepCopy()
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, fmt.Errorf("reading the defaults of %s: %w", kind.Kind, err)
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind.Kind, err)
	}
	s := &Schema{kind: kind, structural: structural, validator: validator}
	s.rules = cel.NewValidator(structural, true, celconfig.PerCallLimit)
	s.root = s.forSamples(newNode(structural, internal))
	return s, nil
}

// FromCRD prepares the schema of a version of a CustomResourceDefinition; "" is
// the version that is stored.
func FromCRD(crd *apiextensionsv1.CustomResourceDefinition, version string) (*Schema, error) {
	for _, v := range crd.Spec.Versions {
		if v.Name != version && (version != "" || !v.Storage) {
			continue
		}
		if v.Schema == nil {
			return nil, fmt.Errorf("version %s of %s has no schema", v.Name, crd.Name)
		}
		kind := Kind{
			Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind,
			Namespaced: crd.Spec.Scope != apiextensionsv1.ClusterScoped,
		}
		if v.Subresources != nil {
			kind.Status, kind.Scale = v.Subresources.Status != nil, v.Subresources.Scale
		}
		return New(kind, v.Schema.OpenAPIV3Schema)
	}
	if version == "" {
		return nil, errors.New(crd.Name + " has no version that is stored")
	}
	return nil, fmt.Errorf("%s has no version %s", crd.Name, version)
}
