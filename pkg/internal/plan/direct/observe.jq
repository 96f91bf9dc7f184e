# Stores the observed state of a child on the custom resource.
#
# Event: an object with the labels of a child. Users can write labels, annotations and
# owner references, so the event counts only if the object has the name and namespace
# that its owner has for that child, and only for the owner with that uid.
# Request: patch the custom resource, in its status or its annotations.

(.body.Obj // .body) as $new | .oldBody as $old

| def unready: hole::unready;

  # The managedFields entry of the operator.
  def ours: [.metadata.managedFields[]? | select(.manager == hole::manager and .operation == hole::operation and .subresource == null)] | first;

  def seen:
    unready as $why
    | {uid: .metadata.uid, generation: (.metadata.annotations[annotation::generation] // "0" | tonumber? // 0),
       ready: ($why == ""), message: (if $why == "" then null else $why end), reclaimed: .metadata.labels[label::reclaimed]}
    + (if option::k8sTrigger then {applied: (.metadata.annotations[annotation::applied] // "null" | fromjson? // null)} else {} end)
    + (if option::known then {knownFields: (.metadata.annotations[annotation::known] // "[]" | fromjson? // [])} else {} end)
    + (if option::live then {fields: [hole::live]} else {} end);

  # Changes with each write of the operator.
  def ourWrite: [ours.time, (.metadata.annotations | .[annotation::attempt], .[annotation::generation])];

  # What is recorded when it changes.
  def marks: [seen, ourWrite, .metadata.ownerReferences, (.metadata.labels | .[label::ownerUID], .[label::child])];

  # The custom resource that the object names as its owner: {name, namespace, uid}, or null.
  (if option::orphan then
     $new.metadata.labels[label::ownerUID] as $uid
     | ($new.metadata.annotations[annotation::owner] // "")
     | if . == "" then null else {namespace: .[:index(".")], name: .[index(".") + 1:], uid: $uid} end
   else
     [$new.metadata.ownerReferences[]?
      | select(.controller and .kind == hole::kind and (.apiVersion | startswith(hole::groupPrefix)))
      | {name, uid, namespace: $new.metadata.namespace}]
     | first
   end) as $owner

| # The name and the namespace are computed as for the custom resource itself. The
  # owner's name becomes part of a path, so it must be one segment.
  def misplaced:
    ($owner.name | . == "." or . == ".." or contains("/") or contains("%"))
    or ({apiVersion: hole::apiVersion, kind: hole::kind, metadata: $owner}
        | try (hole::name == $new.metadata.name
            and ((option::childNamespace | not) or hole::childNamespace == $new.metadata.namespace)
            and ((option::sameNamespace | not) or .metadata.namespace == $new.metadata.namespace)) catch false
        | not);

  if $owner == null or ($new.metadata.labels[label::child] // $old.metadata.labels[label::child]) != hole::child
    or otherPartition($new.metadata.labels[label::ownerUID]) or misplaced
  then {go: false} else
    .type as $type

    # The operator no longer manages a field although it wrote nothing.
    | (if $old != null and ($new | ours.fieldsV1) != ($old | ours.fieldsV1)
         and ($new | ours.time // ($old | ours.time)) == ($old | ours.time)
         and $new.metadata.annotations[annotation::generation] == $old.metadata.annotations[annotation::generation]
       then {drift: $new.metadata.resourceVersion} else {} end) as $drift
    | ($old == null or ($new | ourWrite) != ($old | ourWrite)) as $written
    | def observation: $new | {ownerUID: $owner.uid} + seen + $drift + {resourceVersion: .metadata.resourceVersion};

    # The uid of the custom resource is not checked: if it was replaced by another of
    # the same name, the first one's child blocked the second one's.
    def recordDeleted:
      if option::inStatus then patchOwner($owner; "/status"; {status: {children: {(hole::child): {deletedUID: $new.metadata.uid}}}})
      else annotateOwner($owner; {(annotation::childDeleted): $new.metadata.uid}) end;

    def recordSeen:
      if option::inStatus then
        patchOwner($owner; "/status"; {status: {children: {(hole::child): (observation + {deletedUID: null} + if $written then {failed: null} else {} end)}}})
      else
        annotateOwner($owner; {(annotation::childSeen): (observation | tojson), (annotation::childDeleted): null}
          + if $written then {(annotation::childFailed): null} else {} end)
      end;

      if $type == "DELETE" then {go: true, call: recordDeleted}
        elif $old == null or $drift != {} or ($new | marks) != ($old | marks) then {go: true, call: recordSeen}
        else {go: false} end
  end
