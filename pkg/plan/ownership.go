package plan

import (
	"fmt"
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

// observedDef defines observed(NAME): what is observed of a child. Of one that is
// gone, or belongs to another custom resource, only what the operator itself has
// noted is left. A failure counts for the object that it was about, or for none.
func observedDef(p *Plan) string {
	const counts = `if .uid != null and .owner == $owner and .uid != .gone then . else {gone, failed, error} end | if .failed.uid == .uid then . else del(.failed) end`
	if p.Reconcile.Memory == InStatus {
		return `def observed($name): .metadata.uid as $owner | .status.children[$name]? // {} | ` + counts + ";\n"
	}
	return fmt.Sprintf(`def observed($name): .metadata as {uid: $owner, annotations: $all}
  | def noted($key): $all[$key + $name]? // "null" | fromjson? // null;
  (noted(%s) | objects // {}) + {gone: $all[%s + $name], error: noted(%s), failed: noted(%s)} | %s;
`, quote(annotationPrefix(p)+seenAnnotation), quote(annotationPrefix(p)+goneAnnotation), quote(annotationPrefix(p)+errorAnnotation),
		quote(annotationPrefix(p)+failedAnnotation), counts)
}

// Annotations of a custom resource that hold what is observed of a child: after
// the prefix of the operator, each is followed by the child's name.
const (
	seenAnnotation   = "child-"
	goneAnnotation   = "gone-" // the uid of the object that was deleted last
	errorAnnotation  = "error-"
	failedAnnotation = "failed-"
)

// ObservedAnnotation returns the key of the annotation of a custom resource that
// holds the observed state of a child, where Reconcile.Memory is InAnnotations.
func (p *Plan) ObservedAnnotation(child string) string {
	return annotationPrefix(p) + seenAnnotation + child
}

// observedKey is the key of such an annotation, quoted.
func observedKey(p *Plan, annotation string, c Child) string {
	return quote(annotationPrefix(p) + annotation + c.Name)
}

// observed is what an object has observed of a child.
func observed(c Child, of string) string {
	call := fmt.Sprintf("observed(%s)", quote(c.Name))
	if of == "" {
		return call
	}
	return fmt.Sprintf("(%s | %s)", of, call)
}

// memories is what the input has observed, by child.
func memories(p *Plan) string {
	var fields []string
	for _, c := range p.Children {
		fields = append(fields, fmt.Sprintf("%s: %s", quote(c.Name), observed(c, "")))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// ownerJQ is the custom resource that an object names as its owner: {name,
// namespace, uid}, or null.
func ownerJQ(p *Plan, c Child) string {
	if c.Orphan {
		return fmt.Sprintf(`$new.metadata.labels[%s] as $uid | ($new.metadata.annotations[%s] // "") | if . == "" then null else {namespace: .[:index(".")], name: .[index(".") + 1:], uid: $uid} end`,
			quote(OwnerUID), quote(ownerAnnotation))
	}
	return fmt.Sprintf(`[$new.metadata.ownerReferences[]? | select(.controller and .kind == %s and (.apiVersion | startswith(%s))) | {name, uid, namespace: $new.metadata.namespace}] | first`,
		quote(p.API.Kind.Kind), quote(groupPrefix(p.API.Kind)))
}

// groupPrefix is how the apiVersion of a kind begins, whatever its version.
func groupPrefix(k Kind) string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/"
}

// misplaced is the condition under which an object is not where its owner has
// that child: the name and the namespace are computed as for the custom resource
// itself. The owner's name becomes a part of a path, so it must be one segment.
func misplaced(p *Plan, c Child) string {
	place := []string{fmt.Sprintf("(%s) == $new.metadata.name", c.Named.Source())}
	switch {
	case !c.Kind.Namespaced:
	case c.Namespace != nil && !c.Beside:
		place = append(place, fmt.Sprintf("(%s) == $new.metadata.namespace", c.Namespace.Source()))
	case p.API.Kind.Namespaced:
		place = append(place, ".metadata.namespace == $new.metadata.namespace")
	}
	return fmt.Sprintf(`
     or ($owner.name | . == "." or . == ".." or contains("/") or contains("%%"))
     or ({apiVersion: %s, kind: %s, metadata: $owner} | try (%s) catch false | not)`,
		quote(p.API.Kind.APIVersion()), quote(p.API.Kind.Kind), strings.Join(place, " and "))
}

// boundTo is the field of metadata that binds a write to the object that it is for.
func boundTo(p *Plan, c Child) string {
	otherwise := fmt.Sprintf("resourceVersion: %s", quote(noVersion))
	if c.Adopt || p.Reconcile.Trigger == "k8s" { // the k8s trigger creates by an operation of its own
		otherwise = ""
	}
	return fmt.Sprintf("(if $update then {uid: $seen.uid} else {%s} end)", otherwise)
}

// reclaim makes a child of the custom resource that exists and was not seen show
// itself by an event, whatever became of its labels. The API server tests the
// owner: every other object is left alone. The labels are added to those that are
// there, or where there are none.
func reclaim(p *Plan, c Child) string {
	test := "/metadata/ownerReferences/0/uid"
	if c.Orphan {
		test = "/metadata/labels/" + pointer(OwnerUID)
	}
	labels := fmt.Sprintf("{%s: %s, %s: $new.metadata.uid, %s: %s, %s: $new.metadata.resourceVersion}", quote(ManagedBy), quote(p.Runtime.Operator),
		quote(OwnerUID), quote(childLabel), quote(c.Name), quote(foundLabel))
	return fmt.Sprintf(`{method: "PATCH", path: (%s + "?fieldManager=%s"), type: "application/json-patch+json", body: ([
         {op: "test", path: %s, value: $new.metadata.uid},
         (%s | if $try == 2 then to_entries[] | {op: "add", path: ("/metadata/labels/" + (.key | split("/") | join("~1"))), value}
           else {op: "test", path: "/metadata/labels", value: null}, {op: "add", path: "/metadata/labels", value: .} end)] | tojson)}`,
		address(c.Kind, namespaceOf(c), "($new | "+c.Named.Source()+")"), p.Runtime.Operator, quote(test), labels)
}

// pointer escapes a key for a JSON pointer.
func pointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// rememberSeen keeps what an event shows of a child that is there.
func rememberSeen(p *Plan, c Child) string {
	const value = "$new | {owner: $owner.uid} + seen + $drift + {version: .metadata.resourceVersion"
	if p.Reconcile.Memory == InStatus {
		return request(p, "$owner", "/status", fmt.Sprintf(`{status: {children: {%s: (%s, gone: null} + if $written then {failed: null} else {} end)}}}`, quote(c.Name), value))
	}
	return annotate(p, "$owner", fmt.Sprintf("({%s: (%s} | tojson), %s: null} + if $written then {%s: null} else {} end)",
		observedKey(p, seenAnnotation, c), value, observedKey(p, goneAnnotation, c), observedKey(p, failedAnnotation, c)))
}

// rememberGone keeps which object was deleted. That is for no certain custom
// resource: where one was replaced by another of its name, the child of the first
// has been in the way of the second's.
func rememberGone(p *Plan, c Child) string {
	if p.Reconcile.Memory == InStatus {
		return request(p, "$owner", "/status", fmt.Sprintf(`{status: {children: {%s: {gone: $new.metadata.uid}}}}`, quote(c.Name)))
	}
	return annotate(p, "$owner", fmt.Sprintf("{%s: $new.metadata.uid}", observedKey(p, goneAnnotation, c)))
}

// rememberError is the request that keeps on the custom resource why a template
// cannot be evaluated; null removes it. It is apart from what is seen of the
// child, because an event of the child says nothing about the template.
func rememberError(p *Plan, c Child, value string) string {
	return note(p, c, "error", errorAnnotation, value)
}

// rememberFailure is the request that keeps how the write of a child has failed,
// until an event of the child shows another write.
func rememberFailure(p *Plan, c Child, value string) string {
	return note(p, c, "failed", failedAnnotation, value)
}

func note(p *Plan, c Child, field, annotation, value string) string {
	if p.Reconcile.Memory == InStatus {
		return request(p, fromParent, "/status", fmt.Sprintf(`{status: {children: {%s: {%s: %s}}}}`, quote(c.Name), field, value))
	}
	return annotate(p, fromParent, fmt.Sprintf("{%s: (%s | if . == null then . else tojson end)}", observedKey(p, annotation, c), value))
}

// annotate is the request that sets annotations of a custom resource.
func annotate(p *Plan, owner, annotations string) string {
	metadata := "{annotations: " + annotations + "}"
	if p.Reconcile.Trigger == "k8s" {
		return fmt.Sprintf(`{operation: "patch", manifest: {apiVersion: %s, kind: %s, metadata: ({name: %s.name, namespace: %s.namespace} + %s)}}`,
			quote(p.API.Kind.APIVersion()), quote(p.API.Kind.Kind), owner, owner, metadata)
	}
	return request(p, owner, "", "{metadata: "+metadata+"}")
}

// underway is the condition under which the write of an event shortly before has
// still to be seen: what has changed since is written when it is.
func underway(c Child) string {
	held := ""
	if mayBeHeld(c) {
		held = " and ($old | held) == null"
	}
	return fmt.Sprintf(`(if $old == null or $seen.uid != null or $before.uid != null or $seen.gone != $before.gone
        or $seen.failed != null or $before.failed != null or $seen.error != null or $before.error != null then false
      else ($old | wanted).child != null%s and ($new | written) - ($old | written) < %d end)`, held, soonSeen)
}

// soonSeen is after how many seconds a write that was not seen counts as lost.
const soonSeen = 60

// writtenDef defines written: when an object was written last, in seconds.
const writtenDef = `def written: [.metadata.managedFields[]?.time] | max // "1970-01-01T00:00:00Z" | fromdate;
`
