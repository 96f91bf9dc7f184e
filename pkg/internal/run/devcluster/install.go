package devcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Installer applies objects like kubectl apply --server-side.
type Installer struct {
	client    dynamic.Interface
	discovery *discovery.DiscoveryClient
	mapper    *restmapper.DeferredDiscoveryRESTMapper
}

// NewInstaller returns an installer with the rights of a configuration.
func NewInstaller(config *rest.Config) (*Installer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Installer{client, kinds, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

// Action is what applying an object did.
type Action string

// The actions, in the words of kubectl.
const (
	Created    Action = "created"
	Configured Action = "configured"
	Unchanged  Action = "unchanged"
)

// Manager is the field manager of users.
const Manager = "kubectl"

// Prepare makes the API server serve all kinds that operators use: those of Argo, and the
// kinds of children that are described and that it does not serve. It creates the
// namespaces of the objects.
func (i *Installer) Prepare(ctx context.Context, objects []map[string]any, kinds []*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range merged(append(argoKinds(), kinds...)) {
		if err := i.serve(ctx, crd); err != nil {
			return err
		}
	}
	namespaces := map[string]bool{}
	for _, o := range objects {
		if namespace := (&unstructured.Unstructured{Object: o}).GetNamespace(); namespace != "" {
			namespaces[namespace] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		o := &unstructured.Unstructured{
			Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}},
		}
		_, err := i.client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Create(ctx, o, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating namespace %s: %w", name, err)
		}
	}
	return nil
}

// serve creates a CustomResourceDefinition if none of its versions is served.
func (i *Installer) serve(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	kind := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	if _, err := i.mapper.RESTMapping(kind); err == nil {
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return err
	}
	_, err = i.Apply(ctx, fields)
	return err
}

// Apply applies an object, and waits until a new kind is served.
func (i *Installer) Apply(ctx context.Context, fields map[string]any) (Action, error) {
	o := &unstructured.Unstructured{Object: fields}
	in, err := i.Resource(o)
	if err != nil {
		return "", err
	}
	before, err := version(ctx, in, o)
	if err != nil {
		return "", err
	}
	if o, err = annotated(o); err != nil {
		return "", err
	}
	after, err := in.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: Manager, Force: true})
	if err != nil {
		return "", err
	}
	if o.GetKind() == "CustomResourceDefinition" {
		if err := i.established(ctx, in, o.GetName()); err != nil {
			return "", err
		}
		i.mapper.Reset()
	}
	return action(before, after), nil
}

// version returns the resource version of an object on the server; empty: there is none.
func version(ctx context.Context, in dynamic.ResourceInterface, o *unstructured.Unstructured) (string, error) {
	found, err := in.Get(ctx, o.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return found.GetResourceVersion(), nil
}

// action returns what a write did to an object that had a version before.
func action(before string, after *unstructured.Unstructured) Action {
	switch before {
	case "":
		return Created
	case after.GetResourceVersion():
		return Unchanged
	}
	return Configured
}

// annotated returns an object with the annotation of kubectl apply, which a user may run
// for the same object later.
func annotated(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	annotations := out.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[corev1.LastAppliedConfigAnnotation] = string(data)
	out.SetAnnotations(annotations)
	return out, nil
}

// Resource returns the client for an object's kind, in its namespace or in default. A kind
// that is new may not be served yet.
func (i *Installer) Resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := i.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		i.mapper.Reset()
		mapping, err = i.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		return nil, err
	}
	in := i.client.Resource(mapping.Resource)
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return in, nil
	}
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return in.Namespace(namespace), nil
}

// established waits until a CustomResourceDefinition is served.
func (i *Installer) established(ctx context.Context, in dynamic.ResourceInterface, name string) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	for ; ; time.Sleep(20 * time.Millisecond) {
		o, err := in.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c, _ := c.(map[string]any)
			if c["type"] == "Established" && c["status"] == "True" {
				return nil
			}
			if c["type"] == "NamesAccepted" && c["status"] == "False" {
				return fmt.Errorf("CustomResourceDefinition %s: %v", name, c["message"])
			}
		}
	}
}

// handManager is the field manager of somebody who edits an object.
const handManager = "kubectl-edit"

// Write writes an object of a user: one that was read, which has a resource version, like
// kubectl edit, and any other like kubectl apply. With dryRun it only checks.
func (i *Installer) Write(ctx context.Context, fields map[string]any, dryRun bool) (Action, error) {
	o := (&unstructured.Unstructured{Object: fields}).DeepCopy()
	in, err := i.Resource(o)
	if err != nil {
		return "", err
	}
	var dry []string
	if dryRun {
		dry = []string{metav1.DryRunAll}
	}
	before, err := version(ctx, in, o)
	if err != nil {
		return "", err
	}
	var after *unstructured.Unstructured
	if o.GetResourceVersion() != "" {
		after, err = in.Update(
			ctx,
			o,
			metav1.UpdateOptions{FieldManager: handManager, DryRun: dry, FieldValidation: metav1.FieldValidationStrict},
		)
	} else {
		after, err = i.applyStrictly(ctx, in, o, dry)
	}
	if err != nil {
		return "", err
	}
	return action(before, after), nil
}

// applyStrictly is server-side apply that rejects unknown fields.
func (i *Installer) applyStrictly(
	ctx context.Context,
	in dynamic.ResourceInterface,
	o *unstructured.Unstructured,
	dry []string,
) (*unstructured.Unstructured, error) {
	data, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	force := true
	return in.Patch(ctx, o.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: Manager, Force: &force, DryRun: dry, FieldValidation: metav1.FieldValidationStrict,
	})
}

// Get returns an object.
func (i *Installer) Get(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	in, err := i.Resource(o)
	if err != nil {
		return nil, err
	}
	return in.Get(ctx, o.GetName(), metav1.GetOptions{})
}

// Delete deletes an object like kubectl delete.
func (i *Installer) Delete(ctx context.Context, o *unstructured.Unstructured) error {
	in, err := i.Resource(o)
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	return in.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
}

// Forget deletes the kinds of CustomResourceDefinitions with all their custom resources, whose
// finalizers it removes: whoever would do that may not run.
func (i *Installer) Forget(ctx context.Context, objects []map[string]any) error {
	for _, fields := range objects {
		if fields["kind"] != "CustomResourceDefinition" {
			continue
		}
		if err := i.forget(ctx, &unstructured.Unstructured{Object: fields}); err != nil {
			return err
		}
	}
	i.mapper.Reset()
	return nil
}

func (i *Installer) forget(ctx context.Context, crd *unstructured.Unstructured) error {
	in, err := i.Resource(crd)
	if err != nil {
		return err
	}
	served, err := in.Get(ctx, crd.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := i.Delete(ctx, crd); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	spec, _, _ := unstructured.NestedMap(served.Object, "spec")
	group, _, _ := unstructured.NestedString(spec, "group")
	plural, _, _ := unstructured.NestedString(spec, "names", "plural")
	versions, _, _ := unstructured.NestedSlice(spec, "versions")
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	for ; ; time.Sleep(20 * time.Millisecond) {
		if _, err := in.Get(ctx, crd.GetName(), metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("deleting CustomResourceDefinition %s: %w", crd.GetName(), err)
		}
		for _, v := range versions {
			v, _ := v.(map[string]any)
			name, _ := v["name"].(string)
			i.release(ctx, schema.GroupVersionResource{Group: group, Version: name, Resource: plural})
		}
	}
}

// release removes the finalizers of all objects of a resource. What cannot be changed is tried
// again.
func (i *Installer) release(ctx context.Context, r schema.GroupVersionResource) {
	list, err := i.client.Resource(r).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, o := range list.Items {
		if len(o.GetFinalizers()) > 0 {
			_, _ = i.client.Resource(r).Namespace(o.GetNamespace()).Patch(
				ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
				metav1.PatchOptions{FieldManager: Manager},
			)
		}
	}
}

// Event is an Event about an object.
type Event struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Time    string `json:"time"`
	Count   int64  `json:"count"`
}

// Events returns the Events about an object, the newest last.
func (i *Installer) Events(ctx context.Context, o *unstructured.Unstructured) ([]Event, error) {
	list, err := i.client.Resource(corev1.SchemeGroupVersion.WithResource("events")).
		Namespace(o.GetNamespace()).
		List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.uid=" + string(o.GetUID()),
		})
	if err != nil {
		return nil, err
	}
	out := []Event{}
	for _, item := range list.Items {
		var e corev1.Event
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &e); err != nil {
			return nil, err
		}
		at := e.LastTimestamp.Time
		if at.IsZero() {
			at = e.EventTime.Time
		}
		out = append(out, Event{e.Type, e.Reason, e.Message, at.UTC().Format(time.RFC3339), int64(max(1, e.Count))})
	}
	slices.SortStableFunc(out, func(a, b Event) int { return strings.Compare(a.Time, b.Time) })
	return out, nil
}
