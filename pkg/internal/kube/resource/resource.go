// Package resource handles custom resources without a cluster: it defaults, prunes and
// validates them, and generates samples.
//
// The API server's own code decides what is valid. Samples are guesses that this code
// has accepted.
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

// Kind identifies the kind of a schema.
type Kind struct {
	Group, Version, Kind string
	Namespaced           bool
	// Status reports whether the kind has the status subresource. The API server then
	// drops the status of a created object, so samples have none.
	Status bool
	// Scale has the paths of the scale subresource, or nil.
	Scale *apiextensionsv1.CustomResourceSubresourceScale
}

// apiVersion returns the apiVersion of the kind's objects.
func (k Kind) apiVersion() string { return k.Group + "/" + k.Version }

// Schema is one version of a kind, which validates objects and generates samples.
// Objects are JSON maps; number types other than int64 and float64 are allowed. It is
// safe for concurrent use.
type Schema struct {
	kind       Kind
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator // nil if the schema has no CEL rules
	purse      *purse         // of the search for samples
	root       *node
	sensible   bool // for samples: see Sensible
}

// New prepares a schema. An error is the reason why the API server would reject the
// schema itself. Invalid rules in it are reported by Validate.
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
	s := &Schema{kind: kind, structural: structural, validator: validator, purse: newPurse()}
	s.rules = cel.NewValidator(structural, true, celconfig.PerCallLimit)
	s.root = s.forSamples(newNode(structural, internal, s.purse))
	return s, nil
}

// FromCRD prepares the schema of a version of a CustomResourceDefinition; "" is the
// stored version.
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
		return nil, errors.New(crd.Name + " has no storage version")
	}
	return nil, fmt.Errorf("%s has no version %s", crd.Name, version)
}
