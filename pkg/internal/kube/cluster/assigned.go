package cluster

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	namespaces = schema.GroupResource{Resource: "namespaces"}
	services   = schema.GroupResource{Resource: "services"}
	claims     = schema.GroupResource{Resource: "persistentvolumeclaims"}
)

// pending are the kinds whose phase is Pending until a controller has seen the object.
var pending = []schema.GroupResource{{Resource: "pods"}, {Resource: "persistentvolumes"}, claims}

// nameLabel is the label of a Namespace with its name.
const nameLabel = "kubernetes.io/metadata.name"

// assign sets the values that the API server itself gives to an object of a built-in kind.
// old is nil if the object is new.
func (c *Cluster) assign(k Key, old, o Object) {
	if old != nil {
		keepIgnored(old, o)
	}
	switch {
	case k.GroupResource == services:
		c.assignService(k, old, o)
	case k.GroupResource == namespaces:
		set(o, k.Name, "metadata", "labels", nameLabel)
		if old == nil {
			set(o, "Active", "status", "phase")
			set(o, []any{"kubernetes"}, "spec", "finalizers")
		}
	case k.GroupResource == claims:
		sameSource(o)
	}
	if old == nil && slices.Contains(pending, k.GroupResource) {
		set(o, "Pending", "status", "phase")
	}
}

// sameSource gives a PersistentVolumeClaim both forms of the source of its data.
func sameSource(o Object) {
	older, newer := []string{"spec", "dataSource"}, []string{"spec", "dataSourceRef"}
	source, _, _ := unstructured.NestedMap(o.Object, older...)
	reference, _, _ := unstructured.NestedMap(o.Object, newer...)
	switch {
	case source != nil && reference == nil:
		set(o, source, newer...)
	case source == nil && reference != nil && reference["namespace"] == nil:
		set(o, reference, older...)
	}
}

// assignSelector gives a new Job the labels of its Pods, and the selector of them.
func assignSelector(o Object) {
	if kind := o.GroupVersionKind(); kind.Group != batchv1.GroupName || kind.Kind != "Job" {
		return
	}
	if manual, _, _ := unstructured.NestedBool(o.Object, "spec", "manualSelector"); manual {
		return
	}
	of := []string{"spec", "template", "metadata", "labels"}
	given, _, _ := unstructured.NestedStringMap(o.Object, of...)
	labels := map[string]string{
		batchv1.ControllerUidLabel: string(o.GetUID()), "controller-uid": string(o.GetUID()),
		batchv1.JobNameLabel: o.GetName(), "job-name": o.GetName(),
	}
	maps.Copy(labels, given)
	if maps.Equal(o.GetLabels(), given) { // by default, a Job has the labels of its Pods
		o.SetLabels(labels)
	}
	for label, value := range labels {
		set(o, value, append(slices.Clone(of), label)...)
	}
	set(o, string(o.GetUID()), "spec", "selector", "matchLabels", batchv1.ControllerUidLabel)
}

// set sets a field of a new object.
func set(o Object, value any, path ...string) {
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		return // a value of another type is in the way, which the checks of the object report
	}
}
