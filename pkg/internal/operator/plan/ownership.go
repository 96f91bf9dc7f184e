package plan

import (
	"maps"
	"slices"
	"strings"
)

// Ownership of children. Users may write labels, annotations and owner references, so
// the direct engine does not trust one of them alone:
//
//   - An event of a child counts only if the object has the kind, namespace and name
//     that the child has for the custom resource which the object names as its owner.
//   - The observed state includes the uid of that owner, and counts only for the
//     custom resource with that uid.
//   - A child that was not observed is created and never updated: the request fails if
//     an object with that name exists. An observed child is updated with its uid in
//     the request, which fails for every other object.
//
// The observed state is stored in the status, which users have no permission to write.
// If it is stored in annotations, a ValidatingAdmissionPolicy rejects users' changes;
// see protection.go.

// noVersion is a resourceVersion that no object has. An apply request with it creates
// the object, and fails with a conflict if the object exists.
const noVersion = "1"

// Annotations of a custom resource with the observed state of a child. The operator's
// prefix comes before, and the child's name after each.
const (
	seenAnnotation    = "child-"
	deletedAnnotation = "deleted-" // the uid of the object that was deleted last
	errorAnnotation   = "error-"
	failedAnnotation  = "failed-"
)

// ObservedAnnotation returns the key of the annotation of a custom resource that holds
// the observed state of a child, if Reconcile.StateLocation is InAnnotations.
func (p *declared) ObservedAnnotation(child string) string {
	return p.annotationPrefix() + seenAnnotation + child
}

// groupPrefix returns the prefix that the apiVersions of a kind's versions share.
func groupPrefix(k Kind) string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/"
}

// escapePointer escapes a key for a JSON pointer.
func escapePointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// observeTimeout is the number of seconds after which a write that caused no event
// counts as lost.
const observeTimeout = 60

// FieldManager returns the name with which the operator applies children.
func (p *declared) FieldManager() string { return p.Operator.Name }

// Owned returns the object of a child of a custom resource with the namespace, the
// labels and the owner reference with which the operator applies it. The annotations,
// with which the operator observes the child, are missing.
func (p *decided) Owned(c Child, object, cr map[string]any) map[string]any {
	out := maps.Clone(object)
	metadata := copyOf(object["metadata"])
	labels := copyOf(metadata["labels"])
	of, _ := cr["metadata"].(map[string]any)
	labels[ManagedBy], labels[OwnerUID], labels[ChildLabel] = p.Operator.Name, of["uid"], c.Name
	if slices.Contains(p.labelledKinds(), c.Kind) {
		labels[OperatorNamespace] = p.Shared.Namespace
	}
	if c.Kind.Namespaced && c.Namespace == nil {
		metadata["namespace"] = of["namespace"]
	}
	if !p.unowned(c) {
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion": p.API.Kind.APIVersion(), "kind": p.API.Kind.Kind, "name": of["name"], "uid": of["uid"], "controller": true,
		}}
	}
	metadata["labels"], out["metadata"] = labels, metadata
	return out
}

// copyOf returns a copy of a mapping; an empty one for nil.
func copyOf(value any) map[string]any {
	out := map[string]any{}
	fields, _ := value.(map[string]any)
	maps.Copy(out, fields)
	return out
}

// ChildOf returns the index of the child that an object is by its labels, or by its
// kind if the logic made it; -1 if it is none of the operator's.
func (p *declared) ChildOf(object map[string]any) int {
	metadata, _ := object["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	if labels[ManagedBy] != p.Operator.Name {
		return -1
	}
	for i, c := range p.Children {
		if c.Object != nil && labels[ChildLabel] == c.Name || c.Object == nil && c.Kind.Is(object) {
			return i
		}
	}
	return -1
}

// PatchOf returns the index of the patch that sets fields of an object; -1 if none does.
func (p *declared) PatchOf(object map[string]any) int {
	return slices.IndexFunc(p.Patches, func(c Child) bool { return c.Kind.Is(object) })
}

// same reports whether a kind is the same in any version.
func (k Kind) same(other Kind) bool { return k.Group == other.Group && k.Kind == other.Kind }

// Is reports whether an object is of the kind, in any version.
func (k Kind) Is(object map[string]any) bool {
	version, _ := object["apiVersion"].(string)
	group, _, grouped := strings.Cut(version, "/")
	return object["kind"] == k.Kind && (grouped && group == k.Group || !grouped && k.Group == "")
}
