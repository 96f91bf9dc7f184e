package definition

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// readTemplates completes the children from the files that they refer to: templates and
// CustomResourceDefinitions.
func (c *checker) readTemplates() {
	c.def.ChildCRDs = map[string]*apiextensionsv1.CustomResourceDefinition{}
	for i := range c.op.Spec.Children {
		child, p := &c.op.Spec.Children[i], source.PathOf("spec", "children", i)
		c.readTemplate(child, p)
		crd := c.kindOfOther(*child, p)
		before := len(c.found)
		if child.CRD != nil {
			crd = c.crdFile(p.To("crd", "file"), child.CRD.File, *child)
		}
		if crd != nil {
			if len(c.found) == before {
				c.def.ChildCRDs[child.Name] = crd
			}
			c.childCRD(child, crd, p)
		}
	}
}

// readTemplate reads the child's file, if any, and copies apiVersion and kind from the
// template.
func (c *checker) readTemplate(child *v1alpha1.Child, p source.Path) {
	inline, file := c.inline(p), c.Written(p.To("file"))
	switch {
	case inline && file:
		c.addKey(p.To("file"), diag.ConflictingKeys, "template and file cannot be combined", "remove one of them")
	case file && !c.wasRejected(p.To("file")):
		c.templateFile(child, p)
	}
	if !inline && !file {
		return
	}
	for _, key := range []string{"apiVersion", "kind"} {
		if c.Written(p.To(key)) {
			c.addKey(p.To(key), diag.ConflictingKeys, fmt.Sprintf("the template already has %s", key), "remove the key here")
		}
	}
	c.templateHead(child, p.To("template"))
}

// templateFile reads the only document of a child's file as its template.
func (c *checker) templateFile(child *v1alpha1.Child, p source.Path) {
	data, ok := c.readFile(p.To("file"), child.File)
	if !ok {
		return
	}
	docs, found := source.Load(c.beside(child.File), data, func([]byte) bool { return true })
	c.found = append(c.found, found...)
	switch {
	case len(docs) == 0 && len(found) == 0:
		c.add(
			p.To("file"),
			diag.WrongKind,
			fmt.Sprintf("%s contains no template", child.File),
			"write an object with apiVersion, kind and metadata.name into it",
		)
	case len(docs) > 1:
		c.add(
			p.To("file"),
			diag.WrongKind,
			fmt.Sprintf("%s contains %d documents, want one", child.File, len(docs)),
			"write one file and one child for each",
		)
	case len(docs) == 1:
		c.graftTemplate(child, p, docs[0])
	}
}

func (c *checker) graftTemplate(child *v1alpha1.Child, p source.Path, doc source.Document) {
	c.found = append(c.found, doc.Found...)
	if doc.Root.Kind != yaml.MappingNode {
		c.found.Add(doc.Of(doc.Root), diag.WrongType, fmt.Sprintf("the document is %s, want a mapping", source.Describe(doc.Root)), "")
		return
	}
	c.Graft(c.node(p...), "template", doc.Positions)
	dec := *c.dec // with the values that it has rejected so far
	dec.File = doc.File
	child.Template, _ = dec.Any(doc.Root, p.To("template")).(map[string]any)
}

// childCRD compares a child with the CustomResourceDefinition given for it, and takes
// plural and scope from it.
func (c *checker) childCRD(child *v1alpha1.Child, crd *apiextensionsv1.CustomResourceDefinition, p source.Path) {
	c.kindCRD(child, crd, p, c.head(p).To("apiVersion"))
}

// kindCRD is childCRD of a kind whose version is at another path.
func (c *checker) kindCRD(child *v1alpha1.Child, crd *apiextensionsv1.CustomResourceDefinition, p, at source.Path) {
	group, version := source.SplitAPIVersion(child.APIVersion)
	names := crd.Spec.Names
	if _, known := schema.FindBuiltin(apiVersionOf(source.SplitAPIVersion(child.APIVersion)), child.Kind); known {
		c.addKey(
			p.To("crd"),
			diag.ConflictingKeys,
			fmt.Sprintf("%s %s is built into Kubernetes", child.APIVersion, child.Kind),
			"remove crd",
		)
		return
	}
	if child.Kind != "" && child.APIVersion != "" && (group != crd.Spec.Group || child.Kind != names.Kind) {
		c.add(
			p.To("crd", "file"),
			diag.BadValue,
			fmt.Sprintf(
				"%s is for %s of %s, and this is %s of %s",
				child.CRD.File,
				names.Kind,
				crd.Spec.Group,
				child.Kind,
				cmp.Or(group, "the core group"),
			),
			"",
		)
		return
	}
	if served := servedVersions(crd); version != "" && !slices.Contains(served, version) {
		c.add(at, diag.BadValue, fmt.Sprintf("the CustomResourceDefinition serves no version %s", version),
			source.DidYouMean(version, served, "served versions"))
	}
	for key, value := range map[string]*string{"plural": &child.Plural, "scope": &child.Scope} {
		want := map[string]string{"plural": names.Plural, "scope": string(crd.Spec.Scope)}[key]
		if c.Written(p.To(key)) && *value != "" && *value != want {
			c.add(p.To(key), diag.BadValue, fmt.Sprintf("the %s of %s is %s, not %q", key, names.Kind, want, *value), "remove the key")
		}
		fill(value, want)
	}
}

// head returns the path of the apiVersion and kind of a child.
func (c *checker) head(p source.Path) source.Path {
	if c.hasTemplate(p) {
		return p.To("template")
	}
	return p
}

// inline reports whether the template is in the definition itself. Children that are
// YAML aliases of each other share what was read for the first.
func (c *checker) inline(p source.Path) bool {
	key, _, exact := c.Find(p.To("template"))
	_, grafted := c.Grafted[key]
	return exact && !grafted
}

// hasTemplate reports whether a child has a template, even a broken one.
func (c *checker) hasTemplate(p source.Path) bool {
	return c.Written(p.To("template")) || c.Written(p.To("file"))
}

// anyTemplate reports whether any child has a template.
func (c *checker) anyTemplate() bool {
	for i := range c.op.Spec.Children {
		if c.hasTemplate(source.PathOf("spec", "children", i)) {
			return true
		}
	}
	return false
}
