package cluster

import (
	"bytes"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

var (
	namespaces = schema.GroupResource{Resource: "namespaces"}
	services   = schema.GroupResource{Resource: "services"}
)

// pending are the kinds whose phase is Pending until a controller has seen the object.
var pending = []schema.GroupResource{{Resource: "pods"}, {Resource: "persistentvolumes"}, {Resource: "persistentvolumeclaims"}}

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
	case old == nil && slices.Contains(pending, k.GroupResource):
		set(o, "Pending", "status", "phase")
	}
}

// assignedFields are the fields that assign sets, without those in lists.
func assignedFields(kind schema.GroupKind) [][]string {
	switch kind {
	case schema.GroupKind{Kind: "Namespace"}:
		return [][]string{{"metadata", "labels", nameLabel}, {"spec", "finalizers"}, {"status", "phase"}}
	case schema.GroupKind{Kind: "Pod"}, schema.GroupKind{Kind: "PersistentVolume"}, schema.GroupKind{Kind: "PersistentVolumeClaim"}:
		return [][]string{{"status", "phase"}}
	case schema.GroupKind{Kind: "Service"}:
		return [][]string{
			{"spec", "clusterIP"},
			{"spec", "clusterIPs"},
			{"spec", "ipFamilies"},
			{"spec", "ipFamilyPolicy"},
			{"spec", "healthCheckNodePort"},
		}
	}
	return nil
}

// WithoutAssigned returns an object without the values that the API server assigned: no
// field manager owns them.
func WithoutAssigned(o Object) Object {
	fields := assignedFields(o.GroupVersionKind().GroupKind())
	if len(fields) == 0 {
		return o
	}
	o = o.DeepCopy()
	owned := owned(o)
	for _, path := range fields {
		removeUnowned(o, owned, path)
	}
	ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
	for _, port := range ports {
		port, ok := port.(map[string]any)
		if ok && !owned.Has(nodePortOf(port)) {
			delete(port, "nodePort")
		}
	}
	if len(ports) > 0 {
		set(o, ports, "spec", "ports")
	}
	return o
}

// removeUnowned removes a field that nobody owns, and the objects around it that it leaves
// empty.
func removeUnowned(o Object, owned *fieldpath.Set, path []string) {
	var at fieldpath.Path
	for _, name := range path {
		at = append(at, fieldpath.PathElement{FieldName: &name})
	}
	if owned.Has(at) {
		return
	}
	unstructured.RemoveNestedField(o.Object, path...)
	for len(path) > 1 {
		path = path[:len(path)-1]
		around, _, _ := unstructured.NestedMap(o.Object, path...)
		if around == nil || len(around) > 0 {
			return
		}
		unstructured.RemoveNestedField(o.Object, path...)
	}
}

// owned returns the fields that a manager owns.
func owned(o Object) *fieldpath.Set {
	out := fieldpath.NewSet()
	for _, entry := range o.GetManagedFields() {
		var one fieldpath.Set
		if entry.FieldsV1 != nil && one.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) == nil {
			out = out.Union(&one)
		}
	}
	return out
}

// set sets a field of a new object.
func set(o Object, value any, path ...string) {
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		return // a value of another type is in the way, which the checks of the object report
	}
}
