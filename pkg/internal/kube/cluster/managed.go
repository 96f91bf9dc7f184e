package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// trackerKey identifies a tracker.
type trackerKey struct {
	schema.GroupVersionKind
	subresource string
}

// tracker tracks the manager of each field, using Kubernetes' own code.
type tracker struct {
	manager   *managedfields.FieldManager
	err       error
	hasSchema bool // by a schema, which reports errors in more detail
}

func (c *Cluster) tracker(req Request) *tracker {
	which := trackerKey{req.Kind.GroupVersionKind, req.Subresource}
	if c.trackers[which] == nil {
		all := c.Kinds.versionsOf(req.Kind)
		convert, wrong := c.versions(all)
		c.trackers[which] = c.Cache.tracker(which, func() *tracker {
			if wrong != nil {
				return &tracker{err: wrong}
			}
			manager, err := fieldManager(req.Kind, all, convert, req.Subresource)
			return &tracker{manager: manager, err: err, hasSchema: req.Kind.Fields != nil}
		})
	}
	return c.trackers[which]
}

//go:generate go run ../../testing/generate/applied

// appliedParser returns how the fields of Kubernetes' types are merged. client-go has the
// same as YAML; parsing that took most of the time of a small test.
var appliedParser = sync.OnceValue(func() *typed.Parser {
	return &typed.Parser{Schema: smd.Schema{Types: appliedTypes}}
})

// fieldManager returns the field manager of a kind. all are its versions: each client manages fields of its own one.
func fieldManager(kind Kind, all []Kind, convert versions, subresource string) (*managedfields.FieldManager, error) {
	gvk := kind.GroupVersionKind
	if kind.Builtin && scheme.Scheme.Recognizes(gvk) {
		types := clienttesting.TypeConverter{Scheme: scheme.Scheme, TypeResolver: appliedParser()}
		return managedfields.NewDefaultFieldManager(types, versions{}, versions{}, versions{}, gvk, gvk.GroupVersion(), subresource, nil)
	}
	types := managedfields.NewDeducedTypeConverter()
	if kind.Fields != nil {
		var err error
		if types, err = customTypes(all); err != nil {
			return nil, err
		}
	}
	return managedfields.NewDefaultCRDFieldManager(types, convert, convert, convert, gvk, gvk.GroupVersion(), subresource, nil)
}

// customTypes returns the types of the versions of a custom resource. The schema in a CRD does not
// describe metadata, which is the same for every object.
func customTypes(versions []Kind) (managedfields.TypeConverter, error) {
	schemas := map[string]*spec.Schema{}
	for _, kind := range versions {
		data, err := json.Marshal(kind.Fields)
		if err != nil {
			return nil, fmt.Errorf("encoding the schema of %s %s: %w", kind.Kind, kind.Version, err)
		}
		var fields spec.Schema
		if err := json.Unmarshal(data, &fields); err != nil {
			return nil, fmt.Errorf("reading the schema of %s %s: %w", kind.Kind, kind.Version, err)
		}
		if fields.Properties == nil {
			fields.Properties = map[string]spec.Schema{}
		}
		fields.Properties["apiVersion"], fields.Properties["kind"] = *spec.StringProperty(), *spec.StringProperty()
		fields.Properties["metadata"] = metadata()
		fields.AddExtension("x-kubernetes-group-version-kind", []any{
			map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
		})
		schemas[kind.Version] = &fields
	}
	return managedfields.NewTypeConverter(schemas, false)
}

// metadata describes how lists in metadata are merged; nothing else of it matters
// here.
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
	if err != nil && t.hasSchema { // like the API server, leave the error to schema validation
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

// setTimes sets the cluster's time on new managedFields entries, because
// Kubernetes' code reads the machine's clock.
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

// equalExceptTimes reports whether a write changes nothing except the times in
// managedFields. The API server skips such a write.
func equalExceptTimes(a, b Object) bool {
	return equality.Semantic.DeepEqual(withoutTimes(a), withoutTimes(b))
}

func withoutTimes(o Object) map[string]any {
	fields := maps.Clone(o.Object)
	metadata, _ := fields["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	managed, _ := metadata["managedFields"].([]any)
	managed = slices.Clone(managed)
	for i := range managed {
		entry, _ := managed[i].(map[string]any)
		entry = maps.Clone(entry)
		delete(entry, "time")
		managed[i] = entry
	}
	metadata["managedFields"] = managed
	fields["metadata"] = metadata
	return fields
}

// specChanged reports whether anything changed except metadata and, with a status
// subresource, the status. Of some kinds, the annotations count, too.
func specChanged(a, b Object, kind Kind) bool {
	if kind.Annotated && !equality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations()) {
		return true
	}
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

// versions converts between the versions of a kind by changing the apiVersion and by leaving out the fields that a version does
// not have, and creates untyped objects.
type versions map[schema.GroupVersionKind]*resource.Schema

// Default does nothing, because server-side defaults are not part of an operator's
// output.
func (versions) Default(runtime.Object) {}

// New returns an empty object.
func (versions) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	return emptyObject(Kind{GroupVersionKind: gvk}), nil
}

// Convert returns an error, because no caller needs it.
func (versions) Convert(_, _, _ any) error {
	return fmt.Errorf("objects without a type are not converted into others")
}

// versions returns the conversions between the versions of a kind.
func (c *Cluster) versions(all []Kind) (versions, error) {
	out := versions{}
	for _, one := range all {
		fields, err := c.schema(one)
		if err != nil {
			return nil, err
		}
		out[one.GroupVersionKind] = fields
	}
	return out, nil
}

// ConvertToVersion returns the object in another version.
func (v versions) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	gvk, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	if !ok {
		return nil, fmt.Errorf("no version of %s is %s", in.GetObjectKind().GroupVersionKind(), to.Identifier())
	}
	out := in.DeepCopyObject()
	out.GetObjectKind().SetGroupVersionKind(gvk)
	if fields, o := v[gvk], out.(Object); fields != nil { //nolint:forcetypeassert // no other type has a field manager
		fields.Prune(o.Object)
	}
	return out, nil
}

// ConvertFieldLabel returns its arguments, because field selectors are not
// supported.
func (versions) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
