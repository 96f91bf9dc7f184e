# Stores the observed state of a child on the custom resource.
#
# Event: an object with the labels of a child. Users can write labels, annotations and
# owner references, so the event counts only if the object has the name and namespace
# that its owner has for that child, or is listed in the observed state of its owner,
# and only for the owner with that uid.
# Request: patch the custom resource, in its status or its annotations.

(.body.Obj // .body) as $new | .oldBody as $old

| def unready: hole::unready;

  # The managedFields entry of the operator.
  def ours: [.metadata.managedFields[]? | select(.manager == hole::operator and .operation == "Apply" and .subresource == null)] | first;

  def seen:
    unready as $why
    | {uid: .metadata.uid, generation: (.metadata.annotations[annotation::generation] // "0" | tonumber? // 0),
       ready: ($why == ""), message: (if $why == "" then null else $why end), reclaimed: .metadata.labels[label::reclaimed]}
    + (if option::recreated then {fixed: .metadata.annotations[annotation::fixed]} else {} end)
    + (if option::marked then {inputs: .metadata.annotations[annotation::inputs]} else {} end)
    + (if option::listed then {deleting: (.metadata.deletionTimestamp != null)} else {} end)
    + (if option::live then {fields: [hole::live]} else {} end);

  # Changes with each write of the operator.
  def ourWrite: [ours.time, (.metadata.annotations | .[annotation::attempt], .[annotation::generation])];

  # What is recorded when it changes.
  def marks: [seen, ourWrite, .metadata.ownerReferences, (.metadata.labels | .[label::ownerUID], .[label::child])];

  # The custom resource that the object names as its owner: {name, namespace, uid}, or null.
  # If a user changed its annotation or removed its label, the previous owner counts.
  (if option::unowned then
     def namedOwner:
       .metadata
       | .labels[label::ownerUID] as $uid
       | .annotations[annotation::owner] // ""
       | if . == "" or $uid == null then null else {namespace: .[:index(".")], name: .[index(".") + 1:], $uid} end;
     ($old // {} | namedOwner) as $former | ($new | namedOwner) as $current
     | if $former != null and ($current == null or $current.uid == $former.uid) then $former else $current end
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
    or (option::listed | not) and ({apiVersion: hole::apiVersion, kind: hole::kind, metadata: $owner}
        | try (hole::name == $new.metadata.name
            and ((option::childNamespace | not) or hole::childNamespace == $new.metadata.namespace)
            and ((option::sameNamespace | not) or .metadata.namespace == $new.metadata.namespace)) catch false
        | not);

  # A deleted object may have lost its label before.
  if $owner == null
    or option::labelled and ($new.metadata.labels[label::operatorNamespace] | . != null and . != ownNamespace)
    or ($new.metadata.labels[label::child] // $old.metadata.labels[label::child] // if .type == "DELETE" then hole::child else null end) != hole::child
    or misplaced
  then {go: false} else
    .type as $type

    # The operator no longer manages a field although it wrote nothing.
    | (if $old != null and ($new | ours.fieldsV1) != ($old | ours.fieldsV1)
         and ($new | ours.time // ($old | ours.time)) == ($old | ours.time)
         and $new.metadata.annotations[annotation::generation] == $old.metadata.annotations[annotation::generation]
       then {drift: $new.metadata.resourceVersion} else {} end) as $drift
    | ($old == null or ($new | ourWrite) != ($old | ourWrite)) as $written
    | def observation: $new | {ownerUID: $owner.uid} + seen + $drift + {resourceVersion: .metadata.resourceVersion};

    # Changes an object in the list of the custom resource, which fails if the object is
    # not in it. Removing a field would fail if there was none, so a field without a
    # value becomes empty.
    def patchListed(test; change):
      {method: "PATCH",
       path: (customResourcePath($owner) + "/status?fieldManager=" + hole::operator),
       type: "application/json-patch+json",
       body: (
         ("/status/children/" + (hole::childPrefix + (if option::childNamespace then $new.metadata.namespace + "/" else "" end) + $new.metadata.name
            | split("~") | join("~0") | split("/") | join("~1")) + "/") as $pointer
         | [test,
            (change | to_entries[] | {op: "add", path: ($pointer + .key), value: (if .value == null then "" else .value end)})]
         | tojson)};

    # The uid of the custom resource is not checked: if it was replaced by another of
    # the same name, the first one's child blocked the second one's.
    def recordDeleted:
      if option::listed then patchListed(empty; {deletedUID: $new.metadata.uid, failed: {}})
      elif option::inStatus then patchOwner($owner; "/status"; {status: {children: {(hole::child): {deletedUID: $new.metadata.uid}}}})
      else annotateOwner($owner; {(annotation::childDeleted): $new.metadata.uid}) end;

    def recordSeen:
      if option::listed then
        patchListed({op: "test", path: "/metadata/uid", value: $owner.uid}; $new | seen + {deletedUID: "", missing: 0, resourceVersion: .metadata.resourceVersion}
          + (if $drift != {} then $drift elif $written then {drift: ""} else {} end)
          + if $written then {failed: {}} else {} end)
      elif option::inStatus then
        patchOwner($owner; "/status"; {status: {children: {(hole::child): (observation + {deletedUID: null} + if $written then {failed: null} else {} end)}}})
      else
        annotateOwner($owner; {(annotation::childSeen): (observation | tojson), (annotation::childDeleted): null}
          + if $written then {(annotation::childFailed): null} else {} end)
      end;

      if $type == "DELETE" then {go: true, call: recordDeleted}
        elif $old == null or $drift != {} or ($new | marks) != ($old | marks) then {go: true, call: recordSeen}
        else {go: false} end
  end
