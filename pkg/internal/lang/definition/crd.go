package definition

import (
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

const crdKind = "CustomResourceDefinition"

// readCRD reads the file of the crd form and selects the version to work with.
func (c *checker) readCRD() {
	form := c.op.Spec.API.CRD
	if form == nil {
		return
	}
	p := source.PathOf("spec", "api", "crd")
	before := len(c.found)
	if c.def.CRD = c.crdFile(p.To("file"), form.File, v1alpha1.Child{}); c.def.CRD != nil && len(c.found) == before {
		c.pickVersion(p)
	} else {
		c.doubtfulCRD = true
	}
}

// readExisting completes an existing kind from its CustomResourceDefinition.
func (c *checker) readExisting() {
	e, p := c.op.Spec.API.Existing, source.PathOf("spec", "api", "existing")
	if e == nil {
		return
	}
	kind := v1alpha1.Child{APIVersion: apiVersionOf(e.Group, e.Version), Kind: e.Kind, CRD: e.CRD, Plural: e.Plural, Scope: e.Scope}
	crd := c.kindOfOther(kind, p)
	if e.CRD != nil {
		if crd = c.crdFile(p.To("crd", "file"), e.CRD.File, kind); crd == nil {
			c.doubtfulCRD = true
		}
	}
	if crd == nil {
		return
	}
	before := len(c.found)
	c.kindCRD(&kind, crd, p, p.To("version"))
	e.Plural, e.Scope = kind.Plural, kind.Scope
	if len(c.found) > before {
		c.doubtfulCRD = true
		return
	}
	c.def.ExistingCRD = crd
}

// crdFile reads the CustomResourceDefinition of a kind from a file, named at a path; nil if it
// has errors. The kind counts only where a file has several.
func (c *checker) crdFile(p source.Path, file string, kind v1alpha1.Child) *apiextensionsv1.CustomResourceDefinition {
	data, ok := c.readFile(p, file)
	if !ok {
		return nil
	}
	docs, found := source.Load(c.beside(file), data, func([]byte) bool { return true })
	c.found = append(c.found, found...)
	var crds []source.Document
	for _, doc := range docs {
		if doc.Text("kind") == crdKind {
			crds = append(crds, doc)
		}
	}
	if several := len(crds); several > 1 {
		crds = slices.DeleteFunc(crds, func(doc source.Document) bool { return !isCRDOf(doc, kind) })
		if len(crds) != 1 {
			c.add(p, diag.WrongKind, fmt.Sprintf("%s contains %d CustomResourceDefinitions, want one", file, several),
				"write a file with the one of this kind alone")
			return nil
		}
	}
	switch {
	case len(crds) == 1:
		return c.decodeCRD(crds[0])
	case len(found) == 0:
		c.add(p, diag.WrongKind, fmt.Sprintf("%s contains no CustomResourceDefinition", file), "")
	}
	return nil
}

// isCRDOf reports whether a CustomResourceDefinition is that of a kind.
func isCRDOf(doc source.Document, kind v1alpha1.Child) bool {
	text := func(path ...string) string {
		at := doc.Root
		for _, key := range path {
			_, at = source.LookupNode(at, key)
		}
		if at == nil {
			return ""
		}
		return at.Value
	}
	group, _ := source.SplitAPIVersion(kind.APIVersion)
	return kind.Kind != "" && text("spec", "names", "kind") == kind.Kind && text("spec", "group") == group
}

// decodeCRD decodes a CustomResourceDefinition strictly; nil if it has errors.
func (c *checker) decodeCRD(doc source.Document) *apiextensionsv1.CustomResourceDefinition {
	c.found = append(c.found, doc.Found...)
	want := apiextensionsv1.SchemeGroupVersion.String()
	if got := doc.Text("apiVersion"); got != want {
		c.found.Add(doc.At([]string{"apiVersion"}), diag.WrongAPIVersion, fmt.Sprintf("apiVersion is %q, want %s", got, want), "")
		return nil
	}
	d := source.NewDecoder(doc.File, &c.found)
	d.Kubernetes = true
	crd := &apiextensionsv1.CustomResourceDefinition{}
	d.Value(doc.Root, reflect.ValueOf(crd).Elem(), nil)
	return crd
}

// pickVersion sets crd.version and reports one that is not served.
func (c *checker) pickVersion(p source.Path) {
	form, versions := c.op.Spec.API.CRD, c.def.CRD.Spec.Versions
	served := servedVersions(c.def.CRD)
	if form.Version != "" {
		if !slices.Contains(served, form.Version) {
			c.add(p.To("version"), diag.BadValue, fmt.Sprintf("the CustomResourceDefinition serves no version %s", form.Version),
				source.DidYouMean(form.Version, served, "served versions"))
		}
		return
	}
	for _, v := range versions {
		if v.Storage && v.Served {
			form.Version = v.Name
			return
		}
	}
	if len(versions) > 0 {
		c.missing(p, "version", "the storage version is not served: write version: "+source.Either(served))
	}
}

func servedVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var served []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			served = append(served, v.Name)
		}
	}
	return served
}

// hasStatus reports whether a version has a status subresource.
func hasStatus(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version && v.Subresources != nil && v.Subresources.Status != nil
	})
}

// crdSchema returns the schema of a version of a CustomResourceDefinition, or nil.
func crdSchema(crd *apiextensionsv1.CustomResourceDefinition, version string) *props {
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == version && v.Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return nil
}

// existing checks the existing form against the built-in kinds.
func (c *checker) existing() {
	e, p := c.op.Spec.API.Existing, source.PathOf("spec", "api", "existing")
	if e == nil || c.wasRejected(p) {
		return
	}
	if e.Group != "" {
		c.subdomain(e.Group, p.To("group"))
	}
	if c.has(e.Version, p.To("version")) {
		c.versionName(e.Version, p.To("version"), versionHint)
	}
	if c.Written(p.To("plural")) {
		c.resourceName(e.Plural, p.To("plural"))
	}
	if !c.has(e.Kind, p.To("kind")) || !c.kindName(e.Kind, maxLabel, p.To("kind")) {
		return
	}
	known, ok := c.knownKind(kindRef{e.Group, e.Version, e.Kind, e.Plural, e.Scope}, p, p.To("kind"))
	crd := c.def.ExistingCRD
	if lacks := ok && !known.HasStatus() || crd != nil && !hasStatus(crd, e.Version); e.Status && lacks {
		c.add(p.To("status"), diag.BadValue, fmt.Sprintf("%s has no status subresource", e.Kind), "")
	}
	if p := source.PathOf("spec", "deleteAfter"); c.Written(p) {
		c.addKey(p, diag.ConflictingKeys, "objects of an existing kind belong to others, so the operator does not delete them",
			"remove the key")
	}
	if c.Written(source.PathOf("spec", "status")) && !e.Status && len(c.op.Spec.Status) > 0 {
		c.addKey(source.PathOf("spec", "status"), diag.ConflictingKeys, "the operator does not write the status of an existing kind",
			"write status: true under spec.api.existing to let it")
	}
}
