package argoperator

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Kinds returns the kinds that the definition uses and its Objects do not define:
// those of children, patches and related objects, and an existing kind of the custom
// resource. Each is the CustomResourceDefinition from the definition's crd field,
// or one with only names and scope. Built-in kinds are left out.
func (o Operator) Kinds() []*apiextensionsv1.CustomResourceDefinition {
	var out []*apiextensionsv1.CustomResourceDefinition
	add := func(k plan.Kind, given *apiextensionsv1.CustomResourceDefinition) {
		if _, known := schema.FindBuiltin(k.APIVersion(), k.Kind); known {
			return
		}
		if given == nil {
			given = named(k)
		}
		out = append(out, given)
	}
	if o.plan.API.Existing {
		add(o.plan.API.Kind, o.definition.ExistingCRD)
	}
	for _, c := range o.plan.Children {
		add(c.Kind, o.definition.ChildCRDs[c.Name])
	}
	for _, p := range o.plan.Patches {
		k := p.Kind
		k.StatusSubresource = true // most kinds have one, and patches do not state it
		add(k, o.definition.PatchCRDs[p.Name])
	}
	for _, r := range o.plan.Related {
		add(r.Kind, o.definition.RelatedCRDs[r.Name])
	}
	return out
}

// Kinds returns the kinds of all operators.
func (r Result) Kinds() []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, o := range r.Operators {
		all = append(all, o.Kinds()...)
	}
	return all
}

// named returns a CustomResourceDefinition without a schema.
func named(k plan.Kind) *apiextensionsv1.CustomResourceDefinition {
	version := apiextensionsv1.CustomResourceDefinitionVersion{Name: k.Version, Served: true, Storage: true}
	if k.StatusSubresource {
		version.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = k.Plural + "." + k.Group
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: k.Group, Scope: apiextensionsv1.ClusterScoped, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
		Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: k.Kind, Plural: k.Plural},
	}
	if k.Namespaced {
		crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	}
	return crd
}
