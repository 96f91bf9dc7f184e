package apiserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// wantsTable reports whether the client, such as kubectl get, asks for rows and columns.
func wantsTable(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "as=Table")
}

// tableOf returns the table of an answer, which is an object or a list.
func (s *Server) tableOf(body []byte) (*metav1.Table, error) {
	list := &unstructured.UnstructuredList{}
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(body, &o.Object); err != nil {
		return nil, err
	}
	items, isList := o.Object["items"].([]any)
	if !isList {
		return s.table(o)
	}
	list.Object = o.Object
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			one := &unstructured.Unstructured{Object: fields}
			one.SetAPIVersion(o.GetAPIVersion())
			one.SetKind(strings.TrimSuffix(o.GetKind(), "List"))
			list.Items = append(list.Items, *one)
		}
	}
	return s.convert(list, o.GroupVersionKind().GroupVersion().WithKind(strings.TrimSuffix(o.GetKind(), "List")))
}

// table returns the table of one object.
func (s *Server) table(o cluster.Object) (*metav1.Table, error) {
	return s.convert(o, o.GroupVersionKind())
}

func (s *Server) convert(o runtime.Object, gvk schema.GroupVersionKind) (*metav1.Table, error) {
	convertor, err := tableconvertor.New(s.columns(gvk))
	if err != nil {
		return nil, err
	}
	table, err := convertor.ConvertToTable(context.Background(), o, nil)
	if err != nil {
		return nil, err
	}
	table.APIVersion, table.Kind = metav1.SchemeGroupVersion.String(), "Table"
	return table, nil
}

// Columns of kinds of Kubernetes beside the name. They are fewer than those of Kubernetes, whose
// code for them is not a library.
var builtinColumns = map[schema.GroupKind][]apiextensionsv1.CustomResourceColumnDefinition{
	{Kind: "Namespace"}:                  {column("Status", ".status.phase")},
	{Kind: "Pod"}:                        {column("Status", ".status.phase")},
	{Kind: "PersistentVolumeClaim"}:      {column("Status", ".status.phase"), column("Capacity", ".status.capacity.storage")},
	{Kind: "Service"}:                    {column("Type", ".spec.type"), column("Cluster-IP", ".spec.clusterIP")},
	{Group: "apps", Kind: "Deployment"}:  {column("Desired", ".spec.replicas"), column("Available", ".status.availableReplicas")},
	{Group: "apps", Kind: "StatefulSet"}: {column("Desired", ".spec.replicas"), column("Ready", ".status.readyReplicas")},
	{Group: "apps", Kind: "DaemonSet"}:   {column("Desired", ".status.desiredNumberScheduled"), column("Ready", ".status.numberReady")},
	{Group: "batch", Kind: "Job"}:        {column("Succeeded", ".status.succeeded")},
	{Group: "batch", Kind: "CronJob"}:    {column("Schedule", ".spec.schedule"), column("Suspend", ".spec.suspend")},
	{Kind: "Event"}: {
		column("Type", ".type"), column("Reason", ".reason"), column("Object", ".involvedObject.name"), column("Message", ".message"),
	},
}

func column(name, path string) apiextensionsv1.CustomResourceColumnDefinition {
	return apiextensionsv1.CustomResourceColumnDefinition{Name: name, Type: "string", JSONPath: path}
}

var age = apiextensionsv1.CustomResourceColumnDefinition{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}

// columns returns the columns of a kind beside the name.
func (s *Server) columns(gvk schema.GroupVersionKind) []apiextensionsv1.CustomResourceColumnDefinition {
	for _, crd := range s.definitions() {
		for _, v := range crd.Spec.Versions {
			is := crd.Spec.Group == gvk.Group && crd.Spec.Names.Kind == gvk.Kind && v.Name == gvk.Version
			if is && len(v.AdditionalPrinterColumns) > 0 {
				return v.AdditionalPrinterColumns
			}
		}
	}
	return append(builtinColumns[gvk.GroupKind()], age)
}
