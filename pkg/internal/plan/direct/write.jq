# Writes one child whenever the custom resource wants another one, or when what was
# observed shows that the child is not as it was written.
#
# Event: a custom resource, as it was written or as the operator recorded on it.
# Request: apply or delete the child; record an error of the template.

(.body.Obj // .body) as $new | .oldBody as $old

# The child, or null where `when` is not true.
| def template:
    if (option::conditional | not) or hole::when then
      hole::template
      | if option::known then .metadata.annotations[annotation::known] = (hole::known | tojson) else . end
    else null end;

  # {child}, or {error} of the template.
  def desired:
    try (
      hole::exactNumbers
      | {child: (if option::readsChildren then live as $children | template else template end)}
    ) catch {error: tostring};

  def written: [.metadata.managedFields[]?.time] | max // "1970-01-01T00:00:00Z" | fromdate;

  if ignored then {go: false} else
    ($new | observed(hole::child)) as $seen
    | ($old | observed(hole::child)) as $before

    # An event of the child that was delivered late overwrote a newer observation.
    | (($seen.resourceVersion | tonumber? // 0) < ($before.resourceVersion | tonumber? // 0)) as $stale

    # When the child is written:
    | def due:
        # at the start
        $old == null
        # the custom resource changed
        or $new.metadata.generation != $old.metadata.generation
        # the child is gone
        or $seen.uid == null and ($before.uid != null or $seen.deletedUID != $before.deletedUID)
        # the write makes a new observation
        or $stale
        # somebody else changed a field of the operator's
        or $seen.drift != null and $seen.drift != $before.drift
        # a write failed; after some attempts the next event or the resync tries again
        or $seen.failed != null and $seen.failed != $before.failed and $seen.failed.attempts < hole::maxAttempts
        # a child was found that was looked for after a failure
        or $seen.failed != null and $seen.reclaimed != $before.reclaimed
        # a failure was forgotten by an event of the child that shows no newer write
        or $before.failed != null and $seen.failed == null and ($before.uid == null or $seen.generation < $new.metadata.generation)
        # an older write of the operator was delivered late
        or $seen.generation != $before.generation and $seen.generation < $new.metadata.generation
        # the template works again
        or $before.error != null and $seen.error == null
        # nothing holds it any more
        or option::canBeHeld and ($old // {} | held) != null
        # what it is computed from changed, maybe while the first write was under way
        or option::hasInputs and (($new | [hole::inputs]) != ($old | [hole::inputs]) or $seen.uid != null and $before.uid == null)
        # it appeared, and is not wanted by now
        or option::conditional and $seen.uid != null and $before.uid == null and ($new | desired).child == null;

    # The event of a write shortly before is still to come: what changed since is
    # written then. A write that was not seen for a minute counts as lost.
    def underWay:
      ($old == null or $seen.uid != null or $before.uid != null or $seen.deletedUID != $before.deletedUID
        or $seen.failed != null or $before.failed != null or $seen.error != null or $before.error != null | not)
      and ($old | desired).child != null
      and ((option::canBeHeld | not) or ($old | held) == null)
      and ($new | written) - ($old | written) < hole::soonSeen;

    # The path of the child.
    def childPath(name):
      hole::childRoot
      + (if option::childNamespaced then
           "/namespaces/" + (if option::childNamespace then $new | hole::childNamespace else $new.metadata.namespace end | @uri)
         else "" end)
      + "/" + hole::childPlural + "/" + (name | @uri);

    # An error is recorded apart from what is seen of the child, because an event of
    # the child says nothing about the template. null removes it.
    def recordError(value):
      if option::inStatus then patchOwner($new.metadata; "/status"; {status: {children: {(hole::child): {error: value}}}})
      else annotateOwner($new.metadata; {(annotation::childError): (value | if . == null then . else tojson end)}) end;

    # A failure is recorded until an event of the child shows another write.
    def recordFailure(value):
      if option::inStatus then patchOwner($new.metadata; "/status"; {status: {children: {(hole::child): {failed: value}}}})
      else annotateOwner($new.metadata; {(annotation::childFailed): (value | tojson)}) end;

    if (due and ((option::canBeHeld | not) or ($new | held) == null) | not) or underWay then {go: false} else
      ($new | desired) as $want
      | if option::conditional and $want.error == null and $want.child == null and $seen.uid == null then {go: false} else
          (if $seen.failed.generation == $new.metadata.generation then $seen.failed.attempts // 0 else 0 end) as $attempts

          # While a write fails, the next attempt assumes less: that the child is not
          # there although it was observed, then that it is although it was not.
          | (if $old == null or $seen.reclaimed != $before.reclaimed then 0 else $attempts % 4 end) as $try
          | ($seen.uid != null and $try == 0) as $update
          | # The child with what makes it the operator's. The uid binds a change to the
          # object that was observed. No object has the resource version that is sent
          # otherwise: it creates the child, and fails if there is an object of its name.
          # Another attempt shows as a change, so that it makes an event.
          def owned:
            . + {metadata: (.metadata
              + (if $update then {uid: $seen.uid} elif option::adopt or option::k8sTrigger then {} else {resourceVersion: hole::noVersion} end)
              + (if option::besideParent then {namespace: $new.metadata.namespace} else {} end)
              + {labels: (.metadata.labels
                   + {(label::managedBy): hole::operator, (label::ownerUID): $new.metadata.uid, (label::child): hole::child}),
                 annotations: (.metadata.annotations
                   + {(annotation::owner): (($new.metadata.namespace // "") + "." + $new.metadata.name),
                      (annotation::generation): ($new.metadata.generation // 0 | tostring)}
                   + if $seen.failed or $stale then {(annotation::attempt): $new.metadata.resourceVersion} else {} end
                   + if option::k8sTrigger then {(annotation::applied): ($want.child | .metadata |= {labels, annotations} | tojson)} else {} end)}
              + if option::orphan then {} else
                  {ownerReferences: [{apiVersion: hole::apiVersion, kind: hole::kind, name: $new.metadata.name, uid: $new.metadata.uid, controller: true}]}
                end)};

          # Escapes what JSON lets stand in a string and YAML, as which the API server
          # reads the body, does not: U+2028 is a line end to it.
          def asYAML:
            if test("[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]") then
              reduce (range(127; 160), 8232, 8233, 65279, 65534, 65535) as $c (.;
                split([$c] | implode)
                | join("\\u" + ([$c / 4096, $c / 256, $c / 16, $c | floor % 16 | "0123456789abcdef"[.:. + 1]] | join(""))))
            else . end;

          # Force takes fields over from others: in a child that was observed, and in an
          # object that is to be adopted.
          def apply:
            {method: "PATCH",
             path: (childPath($want.child.metadata.name) + "?fieldManager=" + hole::operator + "&force="
               + (if option::force | not then "false" elif option::adopt then "true" else $update == true | tostring end)),
             type: "application/apply-patch+yaml",
             body: ($want.child | owned | tojson | asYAML)};

          # Makes a child of this custom resource that exists and was not observed show
          # itself by an event, whatever became of its labels. The API server tests the
          # owner, so every other object is left alone. The labels are added to those that
          # are there, or where there are none.
          def reclaim:
            {method: "PATCH",
             path: (childPath($new | hole::name) + "?fieldManager=" + hole::operator),
             type: "application/json-patch+json",
             body: ([
               {op: "test", path: hole::ownerPointer, value: $new.metadata.uid},
               ({(label::managedBy): hole::operator, (label::ownerUID): $new.metadata.uid, (label::child): hole::child,
                 (label::reclaimed): $new.metadata.resourceVersion}
                | if $try == 2 then
                    to_entries[] | {op: "add", path: ("/metadata/labels/" + (.key | split("/") | join("~1"))), value}
                  else {op: "test", path: "/metadata/labels", value: null}, {op: "add", path: "/metadata/labels", value: .} end)
             ] | tojson)};

          # The uid keeps the request from an object of that name that is not the child.
          def delete:
            {method: "DELETE", path: childPath($new | hole::name), type: "application/json",
             body: ({preconditions: {uid: $seen.uid}} | tojson)};

          # Patches of the k8s trigger leave a field that is not in them as it is, so a
          # field that was written before and is wanted no more is written as null.
          def withRemoved($before; $now):
            if ($before | type) == "object" and ($now | type) == "object" then
              reduce ($before | keys[]) as $key ($now; if has($key) then .[$key] = withRemoved($before[$key]; $now[$key]) else .[$key] = null end)
            else $now end;

          def applyByK8sTrigger:
            if $update then {operation: "patch", manifest: (withRemoved($seen.applied // {}; $want.child) | owned)}
            else {operation: hole::createOperation, manifest: ($want.child | owned)} end;

          def refusal:
            if option::adopt then
              "the API server rejected it; argoperator render and kubectl apply --server-side --dry-run=server show why"
            elif $seen.uid != null then
              "the API server rejected it; argoperator render and kubectl apply --server-side --dry-run=server show why"
            else
              "the API server rejected it, or a " + hole::childKind + " of this name exists that does not belong to this " + hole::kind
              + "; argoperator render and kubectl apply --server-side --dry-run=server show why; to take over the existing object, write adopt: true on child "
              + hole::child
            end;

            {go: true,
             call:
               (if $want.error != null or $seen.error != null then
                  recordError(if $want.error then {generation: $new.metadata.generation, message: ("template: " + $want.error)} else null end)
                elif option::conditional and $want.child == null then delete
                elif option::k8sTrigger then applyByK8sTrigger
                elif (option::adopt | not) and $try >= 2 then reclaim
                else apply end),
             failed: recordFailure({generation: $new.metadata.generation, attempts: ($attempts + 1), uid: $seen.uid, message: refusal})}
        end
    end
  end
