package definition

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
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
			crd = c.crdFile(p.To("crd", "file"), patch.CRD.File, child)
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
		if patch.Subresource == "" {
			c.reservedKeys(at.To("template"), true)
		}
		c.subresourceOf(patch, at)
	}
	c.unique(names, func(i int) source.Path { return p.To(i, "name") })
}

// subresourceOf checks what a patch of a subresource sets.
func (c *checker) subresourceOf(patch v1alpha1.Patch, p source.Path) {
	if patch.Subresource == "" || patch.Template == nil || c.wasRejected(p.To("subresource")) {
		return
	}
	child, at := PatchChild(patch), p.To("template")
	builtin, known := schema.FindBuiltin(child.APIVersion, child.Kind)
	switch lacks := child.Kind + " has no subresource " + patch.Subresource; {
	case known && builtin.HasStatus() && !builtin.HasSubresource(patch.Subresource), !known && patch.Subresource == schema.Approval:
		c.add(p.To("subresource"), diag.BadValue, lacks, "write subresource: status")
	case known && !builtin.HasStatus(), !known && c.lacksStatus(patch, child):
		c.add(p.To("subresource"), diag.BadValue, lacks, "")
	case patch.Subresource == schema.Approval && !c.mayApprove():
		c.warn(p.To("subresource"), diag.MissingKey, "the API server lets only accounts decide that may approve for the signer",
			"install: {permissions: [{apiGroups: [certificates.k8s.io], resources: [signers], verbs: [approve], resourceNames: [SIGNER]}]}")
	}
	if !c.Written(at.To("status")) {
		c.missing(at, "status", "write the fields to set below status, or remove subresource")
	}
	metadata, _ := patch.Template["metadata"].(map[string]any)
	c.nothingElse(patch, patch.Template, at, "apiVersion", "kind", "metadata", "status")
	c.nothingElse(patch, metadata, at.To("metadata"), "name", "namespace")
}

// nothingElse reports fields that a patch of a subresource does not set.
func (c *checker) nothingElse(patch v1alpha1.Patch, fields map[string]any, p source.Path, allowed ...string) {
	for _, key := range source.SortedKeys(fields) {
		if !slices.Contains(allowed, key) {
			c.addKey(p.To(key), diag.ConflictingKeys, fmt.Sprintf("subresource %s sets only the status, not %s", patch.Subresource, key),
				"write another patch for it, without subresource")
		}
	}
}

// mayApprove reports whether the definition permits to approve for a signer.
func (c *checker) mayApprove() bool {
	return slices.ContainsFunc(c.op.Spec.Install.Permissions, func(one v1alpha1.Permission) bool {
		has := func(list []string, want string) bool {
			return slices.Contains(list, want) || slices.Contains(list, "*")
		}
		return has(one.APIGroups, "certificates.k8s.io") && has(one.Resources, "signers") && has(one.Verbs, "approve")
	})
}

// lacksStatus reports whether the custom kind of a patch certainly has no status subresource.
func (c *checker) lacksStatus(patch v1alpha1.Patch, child v1alpha1.Child) bool {
	crd := c.def.PatchCRDs[patch.Name]
	_, version := source.SplitAPIVersion(child.APIVersion)
	return crd != nil && slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version && (v.Subresources == nil || v.Subresources.Status == nil)
	})
}
