package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// tracked is what one tracker follows.
type tracked struct {
	schema.GroupVersionKind
	subresource string
}

// tracker keeps who manages which field: Kubernetes' own code.
type tracker struct {
	manager *managedfields.FieldManager
	err     error
	judged  bool // by a schema, which says more of what is wrong
}

func (c *Cluster) tracker(req Request) *tracker {
	which := tracked{req.Kind.GroupVersionKind, req.Subresource}
	if c.tracked[which] == nil {
		c.tracked[which] = c.Cache.tracker(which, func() *tracker {
			manager, err := fieldManager(req.Kind, req.Subresource)
			return &tracker{manager: manager, err: err, judged: req.Kind.Fields != nil}
		})
	}
	return c.tracked[which]
}

func fieldManager(kind Kind, subresource string) (*managedfields.FieldManager, error) {
	gvk := kind.GroupVersionKind
	if kind.Builtin && scheme.Scheme.Recognizes(gvk) {
		types := applyconfigurations.NewTypeConverter(scheme.Scheme)
		return managedfields.NewDefaultFieldManager(types, versions{}, versions{}, versions{}, gvk, gvk.GroupVersion(), subresource, nil)
	}
	types := managedfields.NewDeducedTypeConverter()
	if kind.Fields != nil {
		var err error
		if types, err = customTypes(kind); err != nil {
			return nil, err
		}
	}
	return managedfields.NewDefaultCRDFieldManager(types, versions{}, versions{}, versions{}, gvk, gvk.GroupVersion(), subresource, nil)
}

// customTypes are the types of a custom resource. Its definition says nothing
// of metadata, which every object has alike.
func customTypes(kind Kind) (managedfields.TypeConverter, error) {
	data, err := json.Marshal(kind.Fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of %s: %w", kind.Kind, err)
	}
	var fields spec.Schema
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind.Kind, err)
	}
	if fields.Properties == nil {
		fields.Properties = map[string]spec.Schema{}
	}
	fields.Properties["apiVersion"], fields.Properties["kind"] = *spec.StringProperty(), *spec.StringProperty()
	fields.Properties["metadata"] = metadata()
	fields.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
	})
	return managedfields.NewTypeConverter(map[string]*spec.Schema{kind.Kind: &fields}, false)
}

// metadata is how lists in it are merged; the rest of it needs no more.
func metadata() spec.Schema {
	text := spec.StringProperty()
	finalizers := spec.ArrayProperty(text)
	finalizers.AddExtension("x-kubernetes-list-type", "set")
	owners := spec.ArrayProperty((&spec.Schema{}).Typed("object", "").SetProperty("uid", *text))
	owners.Items.Schema.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})
	all := (&spec.Schema{}).Typed("object", "").
		SetProperty("labels", *spec.MapProperty(text)).
		SetProperty("annotations", *spec.MapProperty(text)).
		SetProperty("finalizers", *finalizers).
		SetProperty("ownerReferences", *owners)
	all.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	return *all
}

func (t *tracker) update(old, o Object, manager string) (Object, error) {
	if t.err != nil {
		return nil, t.err
	}
	written, err := t.manager.Update(old.DeepCopy(), o.DeepCopy(), manager)
	if err != nil && t.judged { // the API server goes on, and the schema refuses it
		return o, nil
	}
	if err != nil {
		return nil, err
	}
	return written.(Object), nil
}

func (t *tracker) apply(old, wanted Object, manager string, force bool) (Object, error) {
	if t.err != nil {
		return nil, t.err
	}
	written, err := t.manager.Apply(old.DeepCopy(), wanted, manager, force)
	if err != nil {
		return nil, err
	}
	return written.(Object).DeepCopy(), nil
}

// setTimes gives what was managed anew the time of the cluster: Kubernetes'
// code asks the machine's clock.
func setTimes(old, o Object, now time.Time) {
	var before []metav1.ManagedFieldsEntry
	if old != nil {
		before = old.GetManagedFields()
	}
	entries := o.GetManagedFields()
	for i, e := range entries {
		kept := slices.ContainsFunc(before, func(b metav1.ManagedFieldsEntry) bool {
			return b.Time.Equal(e.Time) && b.Manager == e.Manager && b.Operation == e.Operation && b.Subresource == e.Subresource
		})
		if !kept {
			entries[i].Time = &metav1.Time{Time: now}
		}
	}
	if len(entries) > 0 {
		o.SetManagedFields(entries)
	}
}

// sameButTimes tells whether a write changes nothing but the times at which
// fields were managed last. The API server does not carry out such a write.
func sameButTimes(a, b Object) bool {
	return equality.Semantic.DeepEqual(timeless(a), timeless(b))
}

func timeless(o Object) map[string]any {
	o = o.DeepCopy()
	entries := o.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	o.SetManagedFields(entries)
	return o.Object
}

// wantsOther tells whether anything changed beside metadata and, where it has a
// subresource of its own, the status.
func wantsOther(a, b Object, kind Kind) bool {
	rest := func(o Object) map[string]any {
		out := map[string]any{}
		for name, value := range o.Object {
			if name != "metadata" && name != "apiVersion" && (name != "status" || !kind.Status) {
				out[name] = value
			}
		}
		return out
	}
	return !equality.Semantic.DeepEqual(rest(a), rest(b))
}

// versions converts between the versions of a kind by their name alone, and
// makes objects without a type.
type versions struct{}

// Default does nothing: what the API server would fill in is not the operator's doing.
func (versions) Default(runtime.Object) {}

// New returns an empty object.
func (versions) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	return emptyObject(Kind{GroupVersionKind: gvk}), nil
}

// Convert is for converters of fields, which nothing here asks for.
func (versions) Convert(_, _, _ any) error {
	return fmt.Errorf("objects without a type are not converted into others")
}

// ConvertToVersion returns the object under another version.
func (versions) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	gvk, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	if !ok {
		return nil, fmt.Errorf("no version of %s is %s", in.GetObjectKind().GroupVersionKind(), to.Identifier())
	}
	out := in.DeepCopyObject()
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return out, nil
}

// ConvertFieldLabel is for field selectors, which nothing here asks for.
func (versions) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
