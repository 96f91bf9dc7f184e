package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

func customResourceDefinitions(p *plan.Plan) []Object {
	switch {
	case p.API.CRD != nil:
		return []Object{givenCRD(p)}
	case len(p.API.Versions) == 0:
		return nil
	}
	k := p.API.Kind
	scope := apiextensionsv1.ClusterScoped
	if k.Namespaced {
		scope = apiextensionsv1.NamespaceScoped
	}
	return []Object{&apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   crdType,
		ObjectMeta: clusterMeta(p, k.Plural+"."+k.Group),
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: k.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: k.Kind, ListKind: p.API.ListKind, Plural: k.Plural, Singular: p.API.Singular,
				ShortNames: p.API.ShortNames, Categories: p.API.Categories,
			},
			Scope:    scope,
			Versions: crdVersions(p.API.Versions),
		},
	}}
}

var crdType = metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"}

// givenCRD returns the user's CustomResourceDefinition with the operator's labels.
func givenCRD(p *plan.Plan) Object {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	decode(p.API.CRD, crd)
	crd.TypeMeta = crdType
	forgetServer(&crd.ObjectMeta)
	if crd.Labels == nil {
		crd.Labels = map[string]string{}
	}
	maps.Copy(crd.Labels, p.Operator.Labels)
	return crd
}

// forgetServer removes metadata that the API server and kubectl set, if the object was
// copied from a cluster: another API server would reject it.
func forgetServer(m *metav1.ObjectMeta) {
	m.UID, m.ResourceVersion, m.Generation = "", "", 0
	m.CreationTimestamp, m.DeletionTimestamp, m.DeletionGracePeriodSeconds = metav1.Time{}, nil, nil
	m.ManagedFields = nil
	m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer })
	delete(m.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
}

// decode decodes JSON that the plan has encoded from the same type.
func decode(data json.RawMessage, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		panic(fmt.Sprintf("manifest: the plan holds JSON of another type: %v", err)) // unreachable
	}
}

func crdVersions(versions []plan.Version) []apiextensionsv1.CustomResourceDefinitionVersion {
	var out []apiextensionsv1.CustomResourceDefinitionVersion
	for _, v := range versions {
		schema := &apiextensionsv1.JSONSchemaProps{}
		decode(v.Schema, schema)
		version := apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v.Name, Served: v.Served, Storage: v.Storage, Deprecated: v.Deprecated,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				Scale:  crdScale(v.Scale),
			},
			AdditionalPrinterColumns: crdColumns(v.Columns),
		}
		if v.DeprecationWarning != "" {
			version.DeprecationWarning = &v.DeprecationWarning
		}
		for _, path := range v.SelectableFields {
			version.SelectableFields = append(version.SelectableFields, apiextensionsv1.SelectableField{JSONPath: path})
		}
		out = append(out, version)
	}
	return out
}

func crdScale(s *v1alpha1.Scale) *apiextensionsv1.CustomResourceSubresourceScale {
	if s == nil {
		return nil
	}
	scale := &apiextensionsv1.CustomResourceSubresourceScale{
		SpecReplicasPath: s.SpecReplicasPath, StatusReplicasPath: s.StatusReplicasPath,
	}
	if s.LabelSelectorPath != "" {
		scale.LabelSelectorPath = &s.LabelSelectorPath
	}
	return scale
}

func crdColumns(columns []v1alpha1.Column) []apiextensionsv1.CustomResourceColumnDefinition {
	var out []apiextensionsv1.CustomResourceColumnDefinition
	for _, c := range columns {
		out = append(out, apiextensionsv1.CustomResourceColumnDefinition{
			Name: c.Name, JSONPath: c.Path, Type: c.Type, Priority: c.Priority,
		})
	}
	return out
}
