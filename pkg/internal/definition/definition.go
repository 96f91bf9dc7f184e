// Package definition turns files into definitions and tests of operators: it fills
// in defaults, expands the short schema form, reads the files that a definition
// names, and reports every problem at once.
//
// The rule of this package: only what the user's files alone can tell. What Argo can
// run is decided in pkg/internal/plan, what the API server refuses in
// pkg/internal/admission.
package definition

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/source"
)

// Definition is one definition, complete: every default is filled in, every
// file is read. Treat it as read-only.
//
// A child's Template is what was written, inline or in its file: map[string]any,
// []any, string, bool, nil, and numbers as int64 where they are whole, else as
// float64. The child's APIVersion and Kind are those of the template.
type Definition struct {
	Operator v1alpha1.Operator
	// Schemas are the full schemas by version name; nil for the crd and existing forms.
	Schemas map[string]*apiextensionsv1.JSONSchemaProps
	// CRD is the CustomResourceDefinition of the crd form, as given.
	CRD *apiextensionsv1.CustomResourceDefinition
	// ChildCRDs are the CustomResourceDefinitions given for kinds of children, by the child's name.
	ChildCRDs map[string]*apiextensionsv1.CustomResourceDefinition
	// RelatedCRDs are those given for related kinds, by the entry's name.
	RelatedCRDs map[string]*apiextensionsv1.CustomResourceDefinition
	// Files of the logic, in the order given, their common directory cut off.
	Files []File
	// Parameters of the logic: Path is the parameter's name.
	Parameters []File
	// Images that the definition names, as they are written.
	Images []Image

	positions source.Positions
	lockFile  string
}

// File is a file that a definition refers to.
type File struct {
	Path    string
	Content string
}

// WorkingVersion is the version of the API that the operator reads and writes:
// of its own API the stored one if it is served, else the first served one; of a
// given or existing one the version that the definition names.
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

// Schema is the schema of a version of the API; nil for an existing kind and for
// a version that there is not.
func (d *Definition) Schema(version string) *apiextensionsv1.JSONSchemaProps {
	if d.CRD != nil {
		return crdSchema(d.CRD, version)
	}
	return d.Schemas[version]
}

// ChildSchema is the schema that a child's given CustomResourceDefinition has for
// the child's version; nil if none is given.
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

// schemaOf is the schema that a CustomResourceDefinition has for an apiVersion;
// nil without one.
func schemaOf(crd *apiextensionsv1.CustomResourceDefinition, apiVersion string) *apiextensionsv1.JSONSchemaProps {
	if crd == nil {
		return nil
	}
	_, version := source.SplitAPIVersion(apiVersion)
	return crdSchema(crd, version)
}

// Position returns where the value at a path stands, such as "spec", "api",
// "versions", "0", "name"; for a path that is not written, where its nearest
// written ancestor stands. What is below the template of a child stands in the
// child's file, if it has one.
func (d *Definition) Position(path ...string) diag.Position { return d.positions.At(path) }

// Written tells whether there is a value at a path.
func (d *Definition) Written(path ...string) bool { return d.positions.Written(path) }

// PositionIn returns where a byte of the string at a path stands, for a finding
// about a part of it.
func (d *Definition) PositionIn(offset int, path ...string) diag.Position {
	_, n, exact := d.positions.Find(path)
	if !exact {
		return d.positions.At(path)
	}
	return d.positions.Inside(n, offset)
}
