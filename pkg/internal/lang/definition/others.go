package definition

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Kinds returns the CustomResourceDefinition of a kind that another definition defines,
// nil if none does: a child of such a kind needs no words about it.
type Kinds func(group, kind string) *apiextensionsv1.CustomResourceDefinition

// KindsIn returns the kinds that the definitions of a file define, with what is known of
// them if the definitions have errors.
func KindsIn(in source.Input) []*apiextensionsv1.CustomResourceDefinition {
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, c := range checkers(in) {
		c.readCRD()
		c.defaults()
		c.schemas()
		c.status()
		api := c.op.Spec.API
		if c.def.CRD != nil {
			out = append(out, c.def.CRD)
		}
		if api.Kind == "" {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: api.Group, Scope: apiextensionsv1.ResourceScope(api.Scope),
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: api.Plural, Kind: api.Kind},
		}}
		for _, v := range api.Versions {
			crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
				Name: v.Name, Served: v.Served == nil || *v.Served,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: c.def.Schemas[v.Name]},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			})
		}
		out = append(out, crd)
	}
	return out
}

// checkers returns a checker of each definition in a file that can be decoded.
func checkers(in source.Input) []*checker {
	docs, _ := source.Load(in.Name, in.Data, mayDefine(in))
	var out []*checker
	for _, doc := range docs {
		if doc.Text("kind") != v1alpha1.Kind {
			continue
		}
		if c := decoded(in, doc); c.isDefinition {
			out = append(out, c)
		}
	}
	return out
}

// kindOfOther returns the CustomResourceDefinition of a child's kind if another
// definition defines it and the child does not say where else it is from.
func (c *checker) kindOfOther(child v1alpha1.Child, p source.Path) *apiextensionsv1.CustomResourceDefinition {
	if c.kinds == nil || child.CRD != nil || child.Kind == "" || c.Written(p.To("plural")) && c.Written(p.To("scope")) {
		return nil
	}
	group, _ := source.SplitAPIVersion(child.APIVersion)
	if isBuiltinGroup(group) {
		return nil
	}
	return c.kinds(group, child.Kind)
}
