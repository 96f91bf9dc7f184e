package plan

import (
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
func (p *Plan) ObservedAnnotation(child string) string {
	return annotationPrefix(p) + seenAnnotation + child
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
