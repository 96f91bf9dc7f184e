package devcluster

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// argoKinds returns the kinds of Argo that operators emit and create, with any fields: the
// objects are checked when they are generated.
func argoKinds() []*apiextensionsv1.CustomResourceDefinition {
	phase := apiextensionsv1.CustomResourceColumnDefinition{Name: "Status", Type: "string", JSONPath: ".status.phase"}
	age := apiextensionsv1.CustomResourceColumnDefinition{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}
	workflow := argoKind("Workflow", "workflows", "wf")
	workflow.Spec.Versions[0].AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{phase, age}
	workflow.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{
		Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
	}
	return []*apiextensionsv1.CustomResourceDefinition{
		workflow,
		argoKind("WorkflowTemplate", "workflowtemplates", "wftmpl"),
		argoKind("CronWorkflow", "cronworkflows", "cwf"),
		argoKind("WorkflowTaskResult", "workflowtaskresults", ""),
		argoKind("EventSource", "eventsources", "es"),
		argoKind("EventBus", "eventbus", "eb"),
		argoKind("Sensor", "sensors", "sn"),
	}
}

func argoKind(kind, plural, short string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = plural + ".argoproj.io"
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "argoproj.io", Scope: apiextensionsv1.NamespaceScoped,
		Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1alpha1", Served: true, Storage: true}},
	}
	if short != "" {
		crd.Spec.Names.ShortNames = []string{short}
	}
	return crd
}

// merged returns one CustomResourceDefinition for each kind, with all versions that are
// described, those with a schema first. The first one is stored.
func merged(all []*apiextensionsv1.CustomResourceDefinition) []*apiextensionsv1.CustomResourceDefinition {
	named := func(crd *apiextensionsv1.CustomResourceDefinition) bool { return !hasSchema(crd) }
	all = slices.Concat(slices.DeleteFunc(slices.Clone(all), named), slices.DeleteFunc(slices.Clone(all), hasSchema))
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range all {
		i := slices.IndexFunc(out, func(o *apiextensionsv1.CustomResourceDefinition) bool { return o.Name == crd.Name })
		if i < 0 {
			out = append(out, served(crd))
			continue
		}
		for _, v := range served(crd).Spec.Versions {
			if !slices.ContainsFunc(
				out[i].Spec.Versions,
				func(o apiextensionsv1.CustomResourceDefinitionVersion) bool { return o.Name == v.Name },
			) {
				v.Storage = false
				out[i].Spec.Versions = append(out[i].Spec.Versions, v)
			}
		}
	}
	return out
}

// hasSchema reports whether a kind is described with a schema. Others have only names.
func hasSchema(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Schema != nil })
}

// served returns what the API server accepts and serves of a description: it may have no
// schema, and a webhook converts its versions elsewhere.
func served(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	out := &apiextensionsv1.CustomResourceDefinition{}
	out.APIVersion, out.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	out.Name, out.Annotations = crd.Name, crd.Annotations
	out.Spec = *crd.Spec.DeepCopy()
	out.Spec.Conversion = nil
	if strings.HasSuffix(crd.Spec.Group, ".k8s.io") || strings.HasSuffix(crd.Spec.Group, ".kubernetes.io") {
		out.Annotations = map[string]string{"api-approved.kubernetes.io": "unapproved, for development"}
	}
	if out.Spec.Names.Singular == "" && out.Spec.Names.ListKind == "" {
		out.Spec.Names.ListKind = out.Spec.Names.Kind + "List"
	}
	for i := range out.Spec.Versions {
		if v := &out.Spec.Versions[i]; v.Schema == nil {
			anything := true
			v.Schema = &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything},
			}
		}
	}
	return out
}
