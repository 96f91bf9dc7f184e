package plan

import (
	"strings"
)

// Whose child an object is. Others may write labels, annotations and owner
// references, so the direct engine believes none of them alone:
//
//   - An event of a child counts only if the object is at the place, kind,
//     namespace and name, where the custom resource that it names has that child.
//   - What is observed is kept with the uid of the owner that the object names,
//     and counts only for the custom resource of that uid.
//   - A child that was not observed is created, and by no means changed: the
//     request fails if an object of that name exists. One that was observed is
//     changed with its uid in the request, which fails for every other object.
//
// What is observed is kept in the status, which users have no right to write. In
// annotations a ValidatingAdmissionPolicy keeps users from writing it; see
// protection.go.

// noVersion is a resource version that no object has: applied with it, an object
// is created if there is none of its name, and otherwise refused as a conflict.
const noVersion = "1"

// Annotations of a custom resource that hold what is observed of a child: after
// the prefix of the operator, each is followed by the child's name.
const (
	seenAnnotation    = "child-"
	deletedAnnotation = "deleted-" // the uid of the object that was deleted last
	errorAnnotation   = "error-"
	failedAnnotation  = "failed-"
)

// ObservedAnnotation returns the key of the annotation of a custom resource that
// holds the observed state of a child, where Reconcile.Memory is InAnnotations.
func (p *Plan) ObservedAnnotation(child string) string {
	return annotationPrefix(p) + seenAnnotation + child
}

// groupPrefix is how the apiVersion of a kind begins, whatever its version.
func groupPrefix(k Kind) string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/"
}

// pointer escapes a key for a JSON pointer.
func pointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// soonSeen is after how many seconds a write that was not seen counts as lost.
const soonSeen = 60
