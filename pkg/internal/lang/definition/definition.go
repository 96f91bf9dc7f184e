// Package definition parses files into definitions and tests of operators. It sets
// defaults, expands the short schema form, reads the files that a definition refers to,
// and reports every problem at once.
//
// It reports only problems that the user's files alone show. What Argo supports is
// decided in pkg/internal/operator/plan, what the API server accepts in pkg/internal/kube/admission.
package definition

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/chart"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

type props = apiextensionsv1.JSONSchemaProps

// Definition is one complete definition: every default is set and every file is read.
// Treat it as read-only.
//
// A child's Template has the decoded value, inline or from its file: map[string]any,
// []any, string, bool, nil, and numbers as int64 if they are integers, else as float64.
// The child's APIVersion and Kind are those of the template.
// float64. The child's APIVersion and Kind are those of the template.
type Definition struct {
	Operator v1alpha1.Operator
	// Schemas are the full schemas by version name; nil for the crd and existing forms.
	Schemas map[string]*apiextensionsv1.JSONSchemaProps
	// CRD is the CustomResourceDefinition of the crd form, unchanged.
	CRD *apiextensionsv1.CustomResourceDefinition
	// ExistingCRD is that of the existing form, if it is known.
	ExistingCRD *apiextensionsv1.CustomResourceDefinition
	// InferredStatus are the paths below status of fields that the definition computes
	// and its schema does not declare. Until [Definition.InferStatus] they take any value.
	InferredStatus [][]string
	// ChildCRDs are the CustomResourceDefinitions of the children's kinds, by child
	// name.
	ChildCRDs map[string]*apiextensionsv1.CustomResourceDefinition
	// RelatedCRDs are those of related kinds, by the entry's name.
	RelatedCRDs map[string]*apiextensionsv1.CustomResourceDefinition
	// PatchCRDs are those of the kinds of patches, by the patch's name.
	PatchCRDs map[string]*apiextensionsv1.CustomResourceDefinition
	// Files of the logic, in the given order, without their common directory.
	Files []File
	// Chart is the chart of the logic, whose files are among Files; its name is empty without.
	Chart chart.Chart
	// LogicParameters are the parameters of the logic: Path is the parameter's name.
	LogicParameters []File
	// Parameters of the installation, by name.
	Parameters map[string]Parameter
	// Images that the definition refers to, as written.
	Images []Image

	positions source.Positions
	lockFile  string

	rejected, unknown map[string]bool // by path.id: values with findings, and mappings with unknown keys
	doubtfulSchema    bool            // the working version's schema lacks fields because of a finding
}

// File is a file that a definition refers to.
type File struct {
	Path    string
	Content string
}

// WorkingVersion returns the version of the API that the operator reads and writes. For
// a generated CustomResourceDefinition it is the stored version if that is served, else
// the first served one. For the crd and existing forms the definition sets it.
func (d *Definition) WorkingVersion() string {
	api := &d.Operator.Spec.API
	switch {
	case api.Existing != nil:
		return api.Existing.Version
	case api.CRD != nil:
		return api.CRD.Version
	}
	return workingVersion(api.Versions)
}

// Schema returns the schema of a version of the API, or nil for an existing kind without
// CustomResourceDefinition and for an unknown version.
func (d *Definition) Schema(version string) *apiextensionsv1.JSONSchemaProps {
	if crd := d.GivenCRD(); crd != nil {
		return crdSchema(crd, version)
	}
	return d.Schemas[version]
}

// GivenCRD returns the CustomResourceDefinition that argoperator does not make; nil if it
// makes one, or if none is known.
func (d *Definition) GivenCRD() *apiextensionsv1.CustomResourceDefinition {
	if d.ExistingCRD != nil {
		return d.ExistingCRD
	}
	return d.CRD
}

// ChildSchema returns the schema for a child's version from the
// CustomResourceDefinition given for the child, or nil if none is given.
func (d *Definition) ChildSchema(child string) *apiextensionsv1.JSONSchemaProps {
	for _, c := range d.Operator.Spec.Children {
		if c.Name == child {
			return schemaOf(d.ChildCRDs[child], c.APIVersion)
		}
	}
	return nil
}

// RelatedSchema is ChildSchema for a related kind.
func (d *Definition) RelatedSchema(name string) *apiextensionsv1.JSONSchemaProps {
	for _, r := range d.Operator.Spec.Related {
		if r.Name == name {
			return schemaOf(d.RelatedCRDs[name], r.APIVersion)
		}
	}
	return nil
}

// PatchSchema is ChildSchema for the kind of a patch.
func (d *Definition) PatchSchema(name string) *apiextensionsv1.JSONSchemaProps {
	for _, p := range d.Operator.Spec.Patches {
		if p.Name == name {
			return schemaOf(d.PatchCRDs[name], PatchChild(p).APIVersion)
		}
	}
	return nil
}

// schemaOf returns the schema of a CustomResourceDefinition for an apiVersion, or nil.
func schemaOf(crd *apiextensionsv1.CustomResourceDefinition, apiVersion string) *apiextensionsv1.JSONSchemaProps {
	if crd == nil {
		return nil
	}
	_, version := source.SplitAPIVersion(apiVersion)
	return crdSchema(crd, version)
}

// Position returns the position of the value at a path, such as "spec", "api",
// "versions", "0", "name". If the path does not exist, it returns the position of its
// nearest existing ancestor. Values below a child's template are in the child's file,
// if it has one.
func (d *Definition) Position(path ...string) diag.Position { return d.positions.At(d.origin(path)) }

// PositionOfKey returns the position of the key of the value at a path.
func (d *Definition) PositionOfKey(path ...string) diag.Position {
	return d.positions.AtKey(d.origin(path))
}

// Written reports whether there is a value at a path.
func (d *Definition) Written(path ...string) bool { return d.positions.Written(d.origin(path)) }

// Rewritten returns the string at a path, as YAML, with other text in the place of the
// bytes from one offset to another.
func (d *Definition) Rewritten(from, to int, text string, path ...string) string {
	return d.positions.Rewritten(d.origin(path), from, to, text)
}

// PositionIn returns the position of a byte of the string at a path, for a finding
// about a part of the string.
func (d *Definition) PositionIn(offset int, path ...string) diag.Position {
	path = d.origin(path)
	_, n, exact := d.positions.Find(path)
	if !exact {
		return d.positions.At(path)
	}
	return d.positions.Inside(n, offset)
}
