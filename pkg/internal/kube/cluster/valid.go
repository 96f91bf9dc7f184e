package cluster

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/argoperator/argoperator/pkg/internal/kube/builtin"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// schema returns the schema of a custom kind, or nil if its fields are unknown.
func (c *Cluster) schema(kind Kind) (*resource.Schema, error) {
	if kind.Fields == nil {
		return nil, nil
	}
	if known := c.schemas[kind.GroupVersionKind]; known != nil {
		return known, nil
	}
	made, err := c.Cache.schema(kind.GroupVersionKind, func() (*resource.Schema, error) {
		return resource.New(resource.Kind{
			Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Namespaced: kind.Namespaced, Status: kind.Status, Scale: kind.scale,
		}, kind.Fields)
	})
	if err != nil {
		return nil, err
	}
	c.schemas[kind.GroupVersionKind] = made
	return made, nil
}

// complete sets defaults and prunes unknown fields.
func (c *Cluster) complete(req Request, o Object) error {
	fields, err := c.schema(req.Kind)
	if err != nil || fields == nil {
		return err
	}
	managed := o.GetManagedFields()
	if err := unknown(req, fields.Prune(o.Object)); err != nil {
		return err
	}
	fields.Default(o.Object)
	if len(managed) > 0 {
		o.SetManagedFields(managed)
	}
	return nil
}

// stored returns an object in the version in which its kind is stored, as the API server reads it then: without fields that this
// version does not have, and with its defaults.
func (c *Cluster) stored(kind Kind, o Object) (Object, error) {
	i := slices.IndexFunc(c.Kinds.List, func(k Kind) bool { return k.storage && k.GroupKind() == kind.GroupKind() })
	if i < 0 || c.Kinds.List[i].Version == kind.Version {
		return o, nil
	}
	read := c.InVersion(o, c.Kinds.List[i])
	return read, c.complete(Request{Kind: c.Kinds.List[i]}, read)
}

// unknown returns the error of a request with unknown fields, if it asks for one.
func unknown(req Request, paths []string) error {
	if len(paths) == 0 || !req.strict() {
		return nil
	}
	var wrong []error
	for _, p := range paths {
		wrong = append(wrong, fmt.Errorf("unknown field %q", p))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
		req.Kind.Kind, req.Kind.Version, req.Kind.Kind, runtime.NewStrictDecodingError(wrong)))
}

// invalid returns the errors that the API server would report: for an object of a
// built-in kind and for a custom resource all of them, for other kinds those of
// metadata. given is the object before what is empty was left out.
func (c *Cluster) invalid(req Request, old, o Object, given map[string]any) (field.ErrorList, error) {
	fields, err := c.schema(req.Kind)
	if err != nil {
		return nil, err
	}
	if fields != nil {
		var before map[string]any
		if old != nil {
			before = old.Object
		}
		return fields.Validate(o.Object, before), nil
	}
	if c.Strict && req.Kind.Resource() == Definitions && req.Subresource == "" { // tests may have incomplete ones
		return illegalDefinition(old, o), nil
	}
	if req.Kind.Resource() == EventsResource {
		e, err := decodeEvent(o)
		if err != nil {
			return nil, err
		}
		if wrong := validateEvent(e); len(wrong) > 0 {
			return wrong, nil
		}
	}
	if old != nil {
		if wrong := immutable(old, o); len(wrong) > 0 {
			return wrong, nil
		}
	}
	names := builtin.Name(req.Kind.GroupKind())
	wrong := apivalidation.ValidateObjectMetaAccessor(o, req.Kind.Namespaced, names, field.NewPath("metadata"))
	return resource.SortErrors(append(wrong, refusals(req, o, given)...)), nil
}

// refusals returns why the API server refuses an object of a built-in kind, apart from
// its metadata.
func refusals(req Request, o Object, given map[string]any) field.ErrorList {
	if !req.Kind.Builtin || req.Subresource != "" {
		return nil
	}
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil {
		return nil
	}
	object, _ := withEmptyLists(o.Object, given).(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, typed); err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return builtin.Validate(typed).Refusals
}
