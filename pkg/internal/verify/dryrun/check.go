package dryrun

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"

	"github.com/argoperator/argoperator/pkg/diag"
	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// maxConcurrent limits the requests at a time, so that a check does not disturb the
// other clients of the server.
const maxConcurrent = 4

// Object is an object to check.
type Object struct {
	// Fields of the object. Those that the server sets are not sent. Without a
	// namespace, an object of a namespaced kind goes to that of the client.
	Fields  map[string]any
	Manager string // field manager of its writer
	// Status checks the status instead of the rest. The server can do that only for an
	// object that exists.
	Status bool
	// Partial means that the fields are a part of an object of others, which must exist.
	Partial bool

	// Source identifies what made the object. Objects with the same source, such as a
	// template, share their findings.
	Source string
	// Sample describes the sample custom resource that the object was made from; empty
	// if a user gave the custom resource.
	Sample string
	// At returns the position of a field of the object.
	At func(path []string) diag.Position
	// Template of the object, in which expressions are between ${ and }; may be nil. A
	// text that an expression computes from a sample says little about a user's.
	Template map[string]any
	// Hint says what to do about a rejection.
	Hint string
	// Lenient makes rejections of fields warnings.
	Lenient bool
}

// Check sends objects to the server and returns findings. Each distinct object is sent
// once. progress is called with the number of objects that were checked; it may be
// nil.
func (c *Client) Check(ctx context.Context, objects []Object, progress func(done, total int)) (diag.List, error) {
	kinds, err := c.kinds(ctx, objects)
	if err != nil {
		return nil, err
	}
	requests, err := c.requests(objects, kinds)
	if err != nil {
		return nil, err
	}
	if err := c.sendAll(ctx, requests, progress); err != nil {
		return nil, err
	}
	return findings(requests), nil
}

// sendAll sends requests in parallel until one fails.
func (c *Client) sendAll(ctx context.Context, requests []*request, progress func(done, total int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	var mu sync.Mutex // guards done, and the calls of progress
	done, free := 0, make(chan struct{}, maxConcurrent)
	for _, r := range requests {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			if err := c.send(ctx, r); err != nil {
				cancel(err) // the first one counts
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, len(requests))
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// request is an object as it is sent, with the answer.
type request struct {
	Object
	kind   kind
	fields *unstructured.Unstructured
	body   []byte // fields as JSON
	answer answer
}

// kind is a kind as the server serves it.
type kind struct {
	schema.GroupVersionResource
	namespaced bool
	missing    reason
}

// kinds looks up the kinds of objects on the server.
func (c *Client) kinds(ctx context.Context, objects []Object) (map[schema.GroupVersionKind]kind, error) {
	out := map[schema.GroupVersionKind]kind{}
	groups := map[schema.GroupVersion]group{}
	for _, o := range objects {
		gvk := (&unstructured.Unstructured{Object: o.Fields}).GroupVersionKind()
		if _, known := out[gvk]; known {
			continue
		}
		gv := gvk.GroupVersion()
		g, known := groups[gv]
		if !known {
			var err error
			if g, err = c.group(ctx, gv); err != nil {
				return nil, err
			}
			groups[gv] = g
		}
		out[gvk] = g.find(gvk)
	}
	return out, nil
}

// group is what the server serves of a group and version.
type group struct {
	resources []metav1.APIResource
	unknown   reason // it does not say
}

func (c *Client) group(ctx context.Context, gv schema.GroupVersion) (group, error) {
	list := &metav1.APIResourceList{}
	err := c.discovery.Get().AbsPath(shapes.APIPath(gv)).Do(ctx).Into(list)
	if err != nil && !apierrors.IsNotFound(err) {
		return group{
				unknown: reason{"it does not list the resources of " + gv.String() + ": " + firstLine(err.Error()), ""},
			}, broken(
				ctx,
				err,
			)
	}
	return group{resources: list.APIResources}, nil
}

func (g group) find(gvk schema.GroupVersionKind) kind {
	for _, r := range g.resources {
		if r.Kind == gvk.Kind && !strings.Contains(r.Name, "/") { // a subresource has a slash
			return kind{GroupVersionResource: gvk.GroupVersion().WithResource(r.Name), namespaced: r.Namespaced}
		}
	}
	if g.unknown.message != "" {
		return kind{missing: g.unknown}
	}
	return kind{missing: reason{
		fmt.Sprintf("it does not have the kind %s of %s", gvk.Kind, gvk.GroupVersion()),
		"install the kind, or use a cluster that has it",
	}}
}

// requests returns the requests for the distinct objects, in order.
func (c *Client) requests(objects []Object, kinds map[schema.GroupVersionKind]kind) ([]*request, error) {
	var out []*request
	seen := map[string]bool{}
	for _, o := range objects {
		fields, err := copied(o.Fields)
		if err != nil {
			return nil, err
		}
		r := &request{Object: o, kind: kinds[fields.GroupVersionKind()]}
		r.fields = c.sent(o, r.kind, fields)
		r.answer.skipped = r.kind.missing
		data, err := json.Marshal([]any{withoutNotes(r.fields), o.Manager, o.Source, o.Status})
		if err != nil {
			return nil, fmt.Errorf("encoding an object: %w", err)
		}
		if id := string(data); !seen[id] {
			seen[id] = true
			if r.body, err = json.Marshal(r.fields); err != nil {
				return nil, fmt.Errorf("encoding an object: %w", err)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// copied returns a copy in the types of Kubernetes' JSON, whose integers are int64.
func copied(fields map[string]any) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(fields)
	out := &unstructured.Unstructured{}
	if err == nil {
		err = utiljson.Unmarshal(data, &out.Object)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding an object: %w", err)
	}
	return out, nil
}

// sent returns the fields of an object to send.
func (c *Client) sent(o Object, k kind, out *unstructured.Unstructured) *unstructured.Unstructured {
	for _, field := range []string{
		"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
		"selfLink",
	} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	switch {
	case !k.namespaced:
		unstructured.RemoveNestedField(out.Object, "metadata", "namespace")
	case out.GetNamespace() == "":
		out.SetNamespace(c.Namespace)
	}
	if !o.Status {
		delete(out.Object, "status")
		return out
	}
	only := &unstructured.Unstructured{Object: map[string]any{"status": out.Object["status"]}}
	only.SetGroupVersionKind(out.GroupVersionKind())
	only.SetNamespace(out.GetNamespace())
	only.SetName(out.GetName())
	return only
}

// withoutNotes returns the fields that make two objects different for a server: the
// annotations of an operator change from write to write.
func withoutNotes(o *unstructured.Unstructured) map[string]any {
	out := o.DeepCopy()
	annotations := out.GetAnnotations()
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, "argoperator.dev/") })
	if len(annotations) == 0 {
		annotations = nil
	}
	out.SetAnnotations(annotations)
	return out.Object
}

// send sends an object and records the answer. An error ends the check.
func (c *Client) send(ctx context.Context, r *request) error {
	if r.answer.skipped.message != "" || ctx.Err() != nil {
		return ctx.Err()
	}
	var said warnings
	ctx = context.WithValue(ctx, warningsKey{}, &said)
	err := c.apply(ctx, r)
	if lost := broken(ctx, err); lost != nil {
		return lost
	}
	switch {
	case apierrors.IsNotFound(err) && (r.Status || r.Partial):
		r.answer.skipped = absent(r)
	case err != nil:
		r.answer = answerOf(err)
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	r.answer.warnings = said.list
	return nil
}

// absent returns why a part of an object was not checked.
func absent(r *request) reason {
	if r.Status {
		return reason{fmt.Sprintf("it checks a status only for an existing object, and this %s does not exist", r.fields.GetKind()), ""}
	}
	return reason{fmt.Sprintf("this %s does not exist", r.fields.GetKind()), ""}
}

// apply sends an object as its writer would, as a dry run.
func (c *Client) apply(ctx context.Context, r *request) error {
	var to dynamic.ResourceInterface = c.objects.Resource(r.kind.GroupVersionResource)
	if r.kind.namespaced {
		to = c.objects.Resource(r.kind.GroupVersionResource).Namespace(r.fields.GetNamespace())
	}
	all, strictly := []string{metav1.DryRunAll}, metav1.FieldValidationStrict
	name := r.fields.GetName()
	if name == "" { // it has a generateName
		_, err := to.Create(ctx, r.fields, metav1.CreateOptions{DryRun: all, FieldManager: r.Manager, FieldValidation: strictly})
		return err
	}
	var subresources []string
	if r.Status {
		subresources = []string{"status"}
	}
	if r.Partial { // applying a part of an object would create it
		if _, err := to.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
	}
	force := true
	_, err := to.Patch(ctx, name, types.ApplyPatchType, r.body,
		metav1.PatchOptions{DryRun: all, Force: &force, FieldManager: r.Manager, FieldValidation: strictly}, subresources...)
	return err
}
