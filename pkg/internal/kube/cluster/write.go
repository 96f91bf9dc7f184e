package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// decode reads the body of a request, as YAML for server-side apply.
func decode(req Request) (map[string]any, error) {
	data := req.body
	if strings.HasSuffix(req.contentType, "yaml") {
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
		}
		data = converted
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding the body: %v", err))
	}
	if fields == nil {
		return nil, apierrors.NewBadRequest("the body is no object")
	}
	return fields, nil
}

// decodeObject reads an object and checks that it matches the path.
func decodeObject(req Request) (Object, error) {
	fields, err := decode(req)
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{Object: fields}
	wrong := ""
	switch kind := o.GetKind(); {
	case o.GetAPIVersion() != req.Kind.GroupVersion().String():
		wrong = fmt.Sprintf("the apiVersion in the data (%s) does not match the expected (%s)", o.GetAPIVersion(), req.Kind.GroupVersion())
	case kind == "" || req.Kind.Kind != "" && kind != req.Kind.Kind:
		wrong = fmt.Sprintf("the kind in the data (%s) does not match the expected (%s)", kind, req.Kind.Kind)
	case req.Name != "" && o.GetName() != req.Name && o.GetName() != "":
		wrong = fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", o.GetName(), req.Name)
	case o.GetNamespace() != req.Namespace && o.GetNamespace() != "":
		wrong = fmt.Sprintf(
			"the namespace of the object (%s) does not match the namespace on the URL (%s)",
			o.GetNamespace(),
			req.Namespace,
		)
	}
	if wrong != "" {
		return nil, apierrors.NewBadRequest(wrong)
	}
	if types, known := shapes.Builtin(req.Kind.GroupVersion().String(), o.GetKind()); known && req.strict() && req.Kind.Builtin {
		return o, unknown(req, dropUnknown(o.Object, types, ""))
	}
	return o, nil
}

// GeneratedName returns a name for an object with a generateName.
func GeneratedName(o Object, number int) string {
	return fmt.Sprintf("%s%05d", o.GetGenerateName(), number)
}

func (c *Cluster) create(req Request) (Object, error) {
	o, err := decodeObject(req)
	if err != nil {
		return nil, err
	}
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(GeneratedName(o, c.objects+1))
	}
	req.Kind.Kind, req.Name = o.GetKind(), o.GetName()
	if c.Objects[req.key()] != nil {
		return nil, apierrors.NewAlreadyExists(req.Kind.Resource(), req.Name)
	}
	empty := emptyObject(req.Kind)
	if req.Kind.Status {
		unstructured.RemoveNestedField(o.Object, "status")
	}
	keepServerMetadata(empty, o, req)
	if err := c.complete(req, o); err != nil {
		return nil, err
	}
	written, err := c.tracker(req).update(empty, o, req.manager())
	if err != nil {
		return nil, err
	}
	return c.admit(req, nil, written)
}

func (c *Cluster) replace(req Request) (Object, error) {
	old, err := c.find(req.key())
	if err != nil {
		return nil, err
	}
	old = c.InVersion(old, req.Kind)
	o, err := decodeObject(req)
	if err != nil {
		return nil, err
	}
	return c.update(req, old, o)
}

func (c *Cluster) patch(req Request) (int, any, error) {
	switch types.PatchType(req.contentType) {
	case types.ApplyPatchType:
		return c.apply(req)
	case types.MergePatchType, types.JSONPatchType:
	case types.StrategicMergePatchType:
		if req.Kind.Builtin {
			break
		}
		fallthrough
	default:
		return 0, nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, req.method, req.Kind.Resource(), req.Name,
			"this cluster takes merge patches, JSON patches and server-side apply, and strategic merge patches of built-in kinds", 0, true)
	}
	old, err := c.find(req.key())
	if err != nil {
		return 0, nil, err
	}
	old = c.InVersion(old, req.Kind)
	patched, err := patchedObject(req, old)
	if err != nil {
		return 0, nil, err
	}
	if types, known := shapes.Builtin(req.Kind.GroupVersion().String(), old.GetKind()); known && req.Kind.Builtin {
		if err := unknown(req, dropUnknown(patched, types, "")); err != nil {
			return 0, nil, err
		}
	}
	o, err := c.update(req, old, &unstructured.Unstructured{Object: patched})
	return reply(http.StatusOK, o, err)
}

// dropUnknown removes the fields that a kind does not have, as the API server does unless a
// client asks for an error, and returns their paths. For custom resources, complete does that.
func dropUnknown(value any, t shapes.Type, path string) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			of, known := t.Field(name)
			if !known {
				delete(value, name)
				out = append(out, at)
				continue
			}
			out = append(out, dropUnknown(value[name], of, at)...)
		}
	case []any:
		for i, item := range value {
			out = append(out, dropUnknown(item, t.Item(), fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return out
}

// patchedObject returns an object with a merge patch or a JSON patch applied.
func patchedObject(req Request, old Object) (map[string]any, error) {
	if types.PatchType(req.contentType) == types.JSONPatchType {
		return jsonPatched(req, old)
	}
	change, err := decode(req)
	if err != nil {
		return nil, err
	}
	if types.PatchType(req.contentType) == types.StrategicMergePatchType {
		return strategicallyMerged(old, change)
	}
	merged, _ := Merge(old.DeepCopy().Object, change).(map[string]any)
	return merged, nil
}

// strategicallyMerged applies a strategic merge patch, which merges lists as the Go type says.
func strategicallyMerged(old Object, change map[string]any) (map[string]any, error) {
	typed, err := scheme.Scheme.New(old.GroupVersionKind())
	if err != nil { // a CustomResourceDefinition, or the like
		const code = http.StatusUnsupportedMediaType
		return nil, apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", err.Error(), 0, true)
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(old.DeepCopy().Object, change, typed)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return merged, nil
}

// jsonPatched applies a JSON patch with the library that the API server uses. A
// failed test operation makes the patch invalid.
func jsonPatched(req Request, old Object) (map[string]any, error) {
	patch, err := jsonpatch.DecodePatch(req.body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding the patch: %v", err))
	}
	document, err := old.MarshalJSON()
	if err != nil {
		panic(fmt.Sprintf("simulate: an object does not encode: %v", err)) // unreachable
	}
	patched, err := patch.Apply(document)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(
			http.StatusUnprocessableEntity,
			"",
			schema.GroupResource{},
			"",
			err.Error(),
			0,
			false,
		)
	}
	var fields map[string]any
	if err := json.Unmarshal(patched, &fields); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the patched object is not an object: %v", err))
	}
	return fields, nil
}

// Merge applies a merge patch (RFC 7396).
func Merge(value, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, ok := value.(map[string]any)
	if !ok {
		out = map[string]any{}
	}
	for name, change := range changes {
		if change == nil {
			delete(out, name)
			continue
		}
		out[name] = Merge(out[name], change)
	}
	return out
}

// apply implements server-side apply.
func (c *Cluster) apply(req Request) (int, any, error) {
	if req.query.Get("fieldManager") == "" {
		return 0, nil, apierrors.NewBadRequest(
			"PatchOptions.meta.k8s.io is invalid: fieldManager: Required value: is required for apply patch",
		)
	}
	wanted, err := decodeObject(req)
	if err != nil {
		return 0, nil, err
	}
	req.Kind.Kind = wanted.GetKind()
	wanted.SetName(req.Name)
	wanted.SetNamespace(req.Namespace)
	old, code := c.InVersion(c.Objects[req.key()], req.Kind), http.StatusOK
	if old == nil {
		if req.Subresource != "" {
			_, err := c.find(req.key())
			return 0, nil, err
		}
		code = http.StatusCreated
	}
	if err := preconditions(req, old, wanted); err != nil {
		return 0, nil, err
	}
	before := old
	if old == nil {
		before = emptyObject(req.Kind)
		before.SetName(req.Name)
	}
	if req.Kind.Status && req.Subresource == "" {
		unstructured.RemoveNestedField(wanted.Object, "status")
	}
	written, err := c.tracker(req).apply(before, wanted, req.manager(), req.query.Get("force") == "true")
	if err != nil {
		return 0, nil, err
	}
	if err := c.complete(req, written); err != nil {
		return 0, nil, err
	}
	keepOtherHalf(before, written, req)
	keepServerMetadata(before, written, req)
	o, err := c.admit(req, old, written)
	return reply(code, o, err)
}

// update implements what PUT and merge patch have in common.
func (c *Cluster) update(req Request, old, o Object) (Object, error) {
	if err := preconditions(req, old, o); err != nil {
		return nil, err
	}
	if err := c.complete(req, o); err != nil {
		return nil, err
	}
	keepOtherHalf(old, o, req)
	keepServerMetadata(old, o, req)
	written, err := c.tracker(req).update(old, o, req.manager())
	if err != nil {
		return nil, err
	}
	return c.admit(req, old, written)
}

// preconditions checks the resource version and uid that a client sent.
func preconditions(req Request, old, o Object) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	switch {
	case old == nil && uid != "":
		return apierrors.NewConflict(
			req.Kind.Resource(),
			req.Name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid),
		)
	case old != nil && uid != "" && uid != old.GetUID() && req.Subresource == "": // the API server ignores the uid in status updates
		return apierrors.NewInvalid(
			req.Kind.GroupKind(),
			req.Name,
			field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable")},
		)
	case old != nil && version != "" && version != "0" && version != old.GetResourceVersion():
		return apierrors.NewConflict(req.Kind.Resource(), req.Name, errModified)
	}
	return nil
}

var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func otherUID(uid types.UID, o Object) error {
	return fmt.Errorf("the object is another one by now: its uid is %s, not %s", o.GetUID(), uid)
}

// keepOtherHalf restores what a write may not change: a subresource writes only the status,
// and other writes leave the status alone.
func keepOtherHalf(old, o Object, req Request) {
	if !req.Kind.Status {
		return
	}
	from, to := old, o
	if req.Subresource != "" {
		fields := o.GetManagedFields()
		status, set := o.Object["status"]
		to.Object = old.DeepCopy().Object
		to.SetManagedFields(fields)
		delete(to.Object, "status")
		if set {
			to.Object["status"] = status
		}
		if req.Kind.Approval {
			keepDecisions(old, to, req.Subresource)
		}
		return
	}
	delete(to.Object, "status")
	if status, set := from.Object["status"]; set {
		to.Object["status"] = status
	}
}

// keepDecisions restores the conditions that a subresource of a CertificateSigningRequest does
// not have: approval has Approved and Denied, and nothing else of the status; status has the rest.
func keepDecisions(old, o Object, subresource string) {
	pick := func(of Object, decisions bool) []any {
		all, _, _ := unstructured.NestedSlice(of.Object, "status", "conditions")
		return slices.DeleteFunc(all, func(one any) bool {
			condition, _ := one.(map[string]any)
			return (condition["type"] == "Approved" || condition["type"] == "Denied") != decisions
		})
	}
	conditions := append(pick(old, subresource != shapes.Approval), pick(o, subresource == shapes.Approval)...)
	if subresource == shapes.Approval {
		o.Object["status"] = map[string]any{}
		if status, set := old.DeepCopy().Object["status"]; set {
			o.Object["status"] = status
		}
	}
	unstructured.RemoveNestedField(o.Object, "status", "conditions")
	if len(conditions) > 0 {
		_ = unstructured.SetNestedSlice(o.Object, conditions, "status", "conditions") // fails only if status is no mapping
	}
}

// keepServerMetadata restores metadata that a client cannot set.
func keepServerMetadata(old, o Object, req Request) {
	o.SetName(req.Name)
	o.SetNamespace(req.Namespace)
	for _, name := range []string{
		"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds",
		"resourceVersion",
	} {
		unstructured.RemoveNestedField(o.Object, "metadata", name)
		if value, set, _ := unstructured.NestedFieldNoCopy(old.Object, "metadata", name); set {
			metadata, _ := o.Object["metadata"].(map[string]any)
			metadata[name] = value
		}
	}
}

func emptyObject(kind Kind) Object {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(kind.GroupVersionKind)
	return o
}

// admit rejects invalid objects, skips writes that change nothing and stores the
// rest.
func (c *Cluster) admit(req Request, old, o Object) (Object, error) {
	if old == nil {
		if err := c.unwelcome(req); err != nil {
			return nil, err
		}
	}
	omitEmptyMetadata(o)
	given, fields := o.Object, map[string]any(nil)
	if req.Kind.Builtin {
		encodeText(o)
		fields = o.Object
		if old != nil {
			fields, _ = written(o.Object, old.Object, c.plain[req.key()].fields).(map[string]any)
		}
		fields = runtime.DeepCopyJSON(fields)
		if err := store(o); err != nil {
			return nil, err
		}
		fields, _ = kept(fields, o.Object).(map[string]any)
		c.assign(req.key(), old, o)
	}
	wrong, err := c.invalid(req, old, o, given)
	if err != nil {
		return nil, err
	}
	if len(wrong) > 0 {
		return nil, apierrors.NewInvalid(req.Kind.GroupKind(), req.Name, wrong)
	}
	if err := c.validate(req, old, o); err != nil {
		return nil, err
	}
	if old != nil && equalExceptTimes(old, o) {
		kept, err := c.stored(req.Kind, o) // another version may lack fields that are stored
		if err != nil || kept == o || equalExceptTimes(c.Objects[req.key()], kept) {
			return old, err
		}
	}
	if old != nil && req.dry() {
		return o, nil
	}
	now := c.now()
	setTimes(old, o, now)
	if old == nil {
		c.objects++
		identity := c.Identities[req.key()]
		o.SetUID(cmp.Or(identity.UID, c.NewUID(c.objects)))
		assignSelector(o)
		o.SetCreationTimestamp(metav1.NewTime(now))
		if req.Kind.Generation {
			o.SetGeneration(cmp.Or(identity.Generation, 1))
		}
		if req.dry() {
			return o, nil
		}
	} else if req.Kind.Generation && specChanged(old, o, req.Kind) {
		o.SetGeneration(old.GetGeneration() + 1)
	}
	if o.GetDeletionTimestamp() != nil && !held(o) {
		c.remove(req.key(), o)
		return o, nil
	}
	if o, err = c.stored(req.Kind, o); err != nil {
		return nil, err
	}
	o = c.write(req.key(), o)
	if req.Kind.Builtin {
		c.plain[req.key()] = plain{o.GetResourceVersion(), fields}
	}
	return c.InVersion(o, req.Kind), nil
}
