package definition

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// maxPatchName keeps the name of a field manager, which holds the name of the operator,
// a uid and the name of the patch, below 128 characters.
const maxPatchName = 38

// PatchChild returns a patch as a child, whose fields have the same names.
func PatchChild(p v1alpha1.Patch) v1alpha1.Child {
	child := v1alpha1.Child{
		Name:     p.Name,
		Template: p.Template,
		When:     p.When,
		ForEach:  p.ForEach,
		CRD:      p.CRD,
		Plural:   p.Plural,
		Scope:    p.Scope,
		Update:   "InPlace",
	}
	child.APIVersion, _ = p.Template["apiVersion"].(string)
	child.Kind, _ = p.Template["kind"].(string)
	return child
}

// readPatches completes the kinds of the patches, from their CustomResourceDefinitions or
// as built-in kinds.
func (c *checker) readPatches() {
	c.def.PatchCRDs = map[string]*apiextensionsv1.CustomResourceDefinition{}
	for i := range c.op.Spec.Patches {
		patch, p := &c.op.Spec.Patches[i], source.PathOf("spec", "patches", i)
		child := PatchChild(*patch)
		c.templateHead(&child, p.To("template"))
		crd := c.kindOfOther(child, p)
		if patch.CRD != nil {
			crd = c.crdFile(p.To("crd", "file"), patch.CRD.File)
		}
		if crd != nil {
			c.def.PatchCRDs[patch.Name] = crd
			c.childCRD(&child, crd, p)
		}
		defaultChild(&child)
		patch.Plural, patch.Scope = child.Plural, child.Scope
	}
}

// patches checks the patches.
func (c *checker) patches() {
	p := source.PathOf("spec", "patches")
	var names []string
	for i, patch := range c.op.Spec.Patches {
		at := p.To(i)
		names = append(names, patch.Name)
		c.label(patch.Name, at.To("name"))
		if len(patch.Name) > maxPatchName {
			c.add(
				at.To("name"),
				diag.BadName,
				fmt.Sprintf("the name has %d characters, want at most %d", len(patch.Name), maxPatchName),
				"",
			)
		}
		child := PatchChild(patch)
		c.childKind(child, at)
		c.conditionsOf(child, at)
		c.reservedKeys(at.To("template"))
	}
	c.unique(names, func(i int) source.Path { return p.To(i, "name") })
	if len(names) > 0 && c.op.Spec.Logic != nil && c.op.Spec.Finalizer == nil {
		c.addKey(p, diag.ConflictingKeys, "patches with logic need a finalizer: the program must learn that a custom resource is deleted",
			"write finalizer: {}; the request then has finalizing: true")
	}
}
