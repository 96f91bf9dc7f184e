# Writes one child when the custom resource changes, or when the observed state shows
# that the child is not as it was written.
#
# Event: a custom resource, as it was written or as the operator recorded state on it.
# Request: apply or delete the child, or record an error of the template.

(.body.Obj // .body) as $new | before as $old

# The child, or null if `when` is not true.
| def template: if (option::conditional | not) or hole::when then hole::template else null end;

  # {child}, or the {error} of the template.
  def desired:
    try (
      hole::exactNumbers
      | {child: (if option::readsChildren then live as $children | template else template end)}
    ) catch {error: problem};

  def written: [.metadata.managedFields[]?.time] | max // "1970-01-01T00:00:00Z" | fromdate;

  if ignored or $new.metadata.deletionTimestamp != null then {go: false} else
    ($new | observed(hole::child)) as $seen
    | ($old | observed(hole::child)) as $before

    # A late event of the child overwrote a newer observation.
    | (($seen.resourceVersion | tonumber? // 0) < ($before.resourceVersion | tonumber? // 0)) as $stale

    # Whether values changed that the child is made from and the generation does not count.
    | def otherInputs: option::hasInputs and $old != null and ($new | [hole::inputs]) != ($old | [hole::inputs]);

    # Whether to write the child:
    def due:
        # first event of the custom resource
        $old == null
        # the custom resource changed
        or $new.metadata.generation != $old.metadata.generation
        # the child was deleted
        or $seen.uid == null and ($before.uid != null or $seen.deletedUID != $before.deletedUID)
        # the write causes a new observation
        or $stale
        # another client changed a field of the operator
        or $seen.drift != null and $seen.drift != $before.drift
        # a write failed; after maxAttempts only another event or the resync retries
        or $seen.failed != null and $seen.failed != $before.failed and ($seen.failed.attempts | isDue)
        # a child was found that the operator reclaimed after a failure
        or $seen.failed != null and $seen.reclaimed != $before.reclaimed
        # an event of the child without a newer write cleared a failure
        or $before.failed != null and $seen.failed == null and ($before.uid == null or $seen.generation < $new.metadata.generation)
        # an older write of the operator was delivered late
        or $seen.generation != $before.generation and $seen.generation < $new.metadata.generation
        # the template no longer fails
        or $before.error != null and $seen.error == null
        # no condition blocks the write any more
        or option::canBeHeld and ($old // {} | held) != null
        # it was looked at before it is deleted
        or (option::recreated or option::conditional) and $seen.reclaimed != $before.reclaimed
        # its inputs changed, possibly during the first write
        or otherInputs or option::hasInputs and $seen.uid != null and $before.uid == null
        # it was observed, and is no longer wanted
        or option::conditional and $seen.uid != null and $before.uid == null and ($new | desired).child == null;

    # The event of a write shortly before is still to come, and later changes are
    # written then. A write without an event within a minute counts as lost.
    def underWay:
      ($old == null or $seen.uid != null or $before.uid != null or $seen.deletedUID != $before.deletedUID
        or $seen.failed != null or $before.failed != null or $seen.error != null or $before.error != null | not)
      and ($old | desired).child != null
      and ((option::canBeHeld | not) or ($old | held) == null)
      and ($new | written) - ($old | written) < hole::observeTimeout;

    # The API path of the child.
    def childPath(name):
      hole::childRoot
      + (if option::childNamespaced then
           "/namespaces/" + (if option::childNamespace then $new | hole::childNamespace else $new.metadata.namespace end | @uri)
         else "" end)
      + "/" + hole::childPlural + "/" + (name | @uri);

    # Changes what is recorded of the child, in the status or in annotations.
    def record(entry; annotations):
      if option::inStatus then patchOwner($new.metadata; "/status"; {status: {children: {(hole::child): entry}}})
      else annotateOwner($new.metadata; annotations) end;

    # An error is stored apart from the observed state, because an event of the child
    # has no information on the template. null removes it.
    def recordError(value):
      record({error: value}; {(annotation::childError): (value | if . == null then . else tojson end)});

    # A failure is stored until an event of the child shows another write.
    def recordFailure(value): record({failed: value}; {(annotation::childFailed): (value | tojson)});

    # What is recorded of the child.
    def known:
      if option::inStatus then .status.children[hole::child]? // {}
      else .metadata.annotations[annotation::childSeen] // "null" | fromjson? // {} end;

    # The operator may have missed the deletion of a child that is not wanted. So after the
    # first event of the custom resource, it removes the owner from the record, as if the
    # child was never observed, and then changes a label of it. The event of that restores
    # the record of a child that exists. One whose deletion was rejected keeps the record,
    # with the number of attempts.
    def forget: record({ownerUID: null}; {(annotation::childSeen): ($new | known + {ownerUID: null} | tojson)});
    def forgotten: $seen.uid == null and ($new | known | .uid != null and .ownerUID == null and .uid != $seen.deletedUID);

    # Records that the child is gone.
    def recordGone: ($new | known.uid) as $gone | record({deletedUID: $gone}; {(annotation::childDeleted): $gone});

    if (due and ((option::canBeHeld | not) or ($new | held) == null) | not) or underWay then {go: false} else
      ($new | desired) as $want
      | if option::conditional and $want.error == null and $want.child == null and $seen.uid == null and (forgotten | not) then {go: false} else
          # An event of the child without a newer write cleared the failure, as in a resync.
          # It goes on, so that no Workflow asks again.
          (if option::diagnosed and $seen.failed == null and $seen.generation != $new.metadata.generation then $before.failed else $seen.failed end) as $lastFailure
          | (if otherInputs then 0 else $lastFailure | failedAttempts($old == null) end) as $attempts

          # After a failure, the next attempts assume first that the child does not
          # exist although it was observed, then that it exists although it was not. A
          # child that was deleted in the meantime is created again. Where it counts as a
          # success that the child does not exist, looking for it may end the attempts, so a
          # Workflow asks before that.
          | (if $old == null or option::diagnosed and $seen.failed == null or $seen.reclaimed != $before.reclaimed or $seen.gone != $before.gone then 0
             elif option::diagnosed and option::absenceAllowed then [0, 1, 0, 2, 3, 0, 1][$attempts]
             else [0, 1, 2, 3, 0, 0, 1][$attempts] end) as $try
          | ($seen.uid != null and $try == 0) as $update
          | # Force takes over fields from other field managers: in an observed child,
          # and in an object to adopt.
          def apply:
            {method: "PATCH",
             path: (childPath($want.child.metadata.name) + "?fieldManager=" + hole::operator + "&force="
               + (if option::force | not then "false" elif option::adopt then "true" else $update == true | tostring end)),
             type: "application/apply-patch+yaml",
             body: ($want.child | owned($seen; $update; $seen.failed or $stale) | tojson | asYAML)};

          def reclaim:
            {method: "PATCH",
             path: (childPath($new | hole::name) + "?fieldManager=" + hole::operator),
             type: "application/json-patch+json",
             body: (reclaimPatch($try) | tojson)};

          # Where the answer that the child does not exist counts as a success, an application of
          # nothing is rejected instead.
          def look(event):
            if option::never and option::absenceAllowed and $want.child != null and (event | not) then
              {method: "PATCH",
               path: (childPath($new | hole::name) + "?fieldManager=" + hole::operator + ".look&force=false"),
               type: "application/apply-patch+yaml",
               body: ($want.child | {apiVersion, kind, metadata: {name: .metadata.name, uid: $seen.uid}} | tojson | asYAML)}
            else
              lookAt(childPath($new | hole::name) + "?fieldManager=" + hole::operator;
                if option::conditional then $seen.uid // ($new | known.uid) else $seen.uid end; event)
            end;

          def delete(policy):
            {method: "DELETE", path: childPath($new | hole::name), type: "application/json", body: deleteOptions($seen.uid; policy)};

          # Whether the child exists and is never updated.
          def untouched: $update and $seen.error == null and (option::conditional and $want.error == null and $want.child == null | not);

          if option::never and untouched and $old != null and ($stale or $seen.failed != null | not) then {go: false} else
            {go: true,
             call:
               (if option::never and untouched then
                  # A child that was found after a failure has not failed.
                  if $old != null and $seen.failed != null and $seen.reclaimed != $before.reclaimed then recordFailure(null)
                  else look($stale or $seen.failed != null) end
                elif $want.error != null or $seen.error != null then
                  recordError(if $want.error then {generation: $new.metadata.generation, message: $want.error} else null end)
                elif option::conditional and $want.child == null then
                  if forgotten or $old == null and $seen.failed != null then look(true)
                  elif $old == null then forget
                  else delete("Background") end
                elif option::recreated and $update and replaces($seen; $want.child) then
                  # As in delete.jq, the watch of the child may not have started. An object that is
                  # replaced goes with what it owns before the next is created.
                  if $old == null then look(true) else delete("Foreground") end
                elif (option::adopt | not) and $try >= 2 then reclaim
                else apply end),
             failed: (
               # For one that a change replaces, the answer that it does not exist is a failure.
               if option::conditional and (option::absenceAllowed | not) and $want.error == null and $want.child == null and forgotten then recordGone
               else
                 recordFailure(failure($seen; $attempts) + {message: failureMessage($seen; $lastFailure; $attempts)})
                 + if option::diagnosed and $attempts == hole::lastAttempt and $want.error == null and $seen.error == null then ask else {} end
               end)}
          end
        end
    end
  end
