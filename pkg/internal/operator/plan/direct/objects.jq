# Writes the objects of a child that the observed state lists one by one, because
# their number, their names or their namespaces can change, or because no owner
# reference deletes them.
#
# Event: a custom resource, as it was written or as the operator recorded state on it.
# Request: list the wanted objects in the observed state, or apply one of them. No
# object is applied before it is listed, so the operator never forgets one, and none is
# listed before its dependencies are ready. What is listed and no longer wanted is
# deleted by delete.jq, but not while an object is absent that decides which are wanted.
#
# The requests of a custom resource are sent one after the other: $next is the first
# that is due, and the same as before the event if that was sent already. Its result is
# another event.

(.body.Obj // .body) as $new | before as $old

# Whether this worker is the one for an object. All requests for an object are sent by
# one trigger, in order.
| def mine(key):
    (option::workers | not) or (key | explode | add) % hole::workers == hole::worker;

  # The places of the wanted objects: {key, name, namespace}, with index and item of
  # forEach.
  def places:
    if (option::conditional | not) or hole::when then
      . as $resource
      | (if option::each then
           hole::forEach // [] | to_entries[] | .key as $index | .value as $item | $resource | hole::place + {$index, $item}
         else hole::place end)
      | .key = hole::childPrefix + (if option::childNamespace then .namespace + "/" else "" end) + .name
    else empty end;

  # {objects} by key, or the {error} of `when`, forEach or a name. Nothing is wanted of a
  # custom resource that is being deleted.
  def wantedPlaces:
    try {objects: (
      hole::exactNumbers
      | if option::finalized and .metadata.deletionTimestamp != null then {}
        else
          [if option::readsChildren then live as $children | places else places end] as $list
          | if option::mayMeet then
              .metadata.namespace as $beside
              | ([$list[] | {(placeIn($beside)): true}] | add // {}) as $own
              | first(((if option::readsChildren then live as $children | hole::taken else hole::taken end) | select($own[placeIn($beside)])), null) as $clash
              | if $clash == null then . else error($clash | sharedPlace($beside)) end
            else . end
          | ($list | map({(.key): .}) | add // {})
          | if option::each and length != ($list | length) then
              error("two objects are named " + first($list | group_by(.key)[] | select(length > 1) | .[0].name))
            else . end
        end)}
    catch {error: problem};

  # The object of a place, or the {error} of its template.
  def built($spot):
    try (
      hole::exactNumbers
      | (if option::each then $spot.index else {} end) as $index | (if option::each then $spot.item else {} end) as $item
      | {child: (if option::readsChildren then live as $children | hole::template else hole::template end)}
    ) catch {error: problem};

  # heldFrom, once in the program.
  def heldAs($judged): heldFrom($judged);

  # The change of the list that makes it agree with the wanted objects. An object that
  # was deleted may have been created again, so it counts as never observed. While a value
  # is missing, their names or their number may be unknown.
  def listing($wishes):
    . as $it | .status.children as $state
    | (if mine(hole::child) and $state[hole::child].error != null then {(hole::child): null} else {} end) as $noError
    | (if option::decided then undecided and (option::finalized and .metadata.deletionTimestamp != null | not) else {} end) as $undecided
    | if option::canBeHeld and (option::needsList or $wishes.error != null) and lacking(.) != null then $noError
      elif $wishes.error != null then
        if mine(hole::child) and $state[hole::child].error.message != $wishes.error
        then {(hole::child): {error: {generation: .metadata.generation, message: $wishes.error}}} else {} end
      else
        reduce (
          (if option::canBeHeld then heldAs({}) else null end) as $waits
          | $wishes.objects[] | select($state[.key] | . == null or .unwanted) | select(mine(.key)) | select((option::canBeHeld | not) or $waits == null)
        ) as $missing (
          $noError;
          .[$missing.key] = {unwanted: null, decided: null, missing: null, failed: null})
        | reduce ($state // {} | to_entries[] | select((option::decided | not) or ($undecided | not))
            | select($wishes.objects[.key] == null and (.key | startswith(hole::childPrefix)) and mine(.key) and .value.decided != ($it | decision))) as $stray (.;
            .[$stray.key] = {unwanted: true, decided: ($it | decision), failed: null} + (if $old == null then {deleting: null} else {} end) + if $stray.value.uid != null and $stray.value.uid == $stray.value.deletedUID then {uid: null, deletedUID: null} else {} end)
      end;

  # Whether values changed that the objects are made from and the generation does not count.
  def otherInputs: option::marked and $old != null and ($new | inputMark(hole::inputs)) != ($old | inputMark(hole::inputs));

  # The next request of a custom resource with the $wanted objects, or null: {listing}, or
  # {place, seen}, with a token that differs if it has to be sent again. $before is the
  # observed state before the event.
  def next($wanted; $before):
    listing($wanted) as $listing
    | if $listing != {} then {token: $listing, $listing}
      elif option::finalized and (.metadata.finalizers // [] | index(hole::finalizer)) == null then null
      else
        . as $of | .status.children as $entries
        | def version: .resourceVersion | tonumber? // 0;
          (if option::marked then inputMark(hole::inputs) else {} end) as $mark
        | first(
            # a late event of the object overwrote a newer observation
            ($wanted.objects[]? | select(($entries[.key] | version) < ($before[.key] | version) and mine(.key))
             | {place: ., seen: ($entries[.key] | observedObject), stale: true}),
            ($wanted.objects[]? | $entries[.key] as $raw
             | select(
                 ($raw | .uid == null or .uid == .deletedUID or .error != null
                  or .failed.attempts != null and (.failed.uid == null or .failed.uid == .uid)
                  or (option::never | not) and (.generation != $of.metadata.generation or (.drift // "") != "" or option::marked and .inputs != $mark))
                 and ((option::recreated | not) or $raw.deleting != true or $raw.uid == $raw.deletedUID)
                 and mine(.key))
             | {place: ., seen: ($raw | observedObject)}
             | .seen as $entry
             | if .seen.error != null then
                 (.place as $candidate | if option::never and $entry.uid != null then null else $of | built($candidate).error end) as $again
                 | if $again == $entry.error.message then empty
                   else .listing = {(.place.key): {error: (if $again == null then null else {generation: $of.metadata.generation, message: $again} end)}} end
               else
                 select(
                   (.seen.failed.generation != $of.metadata.generation or otherInputs or (.seen.failed.attempts | isDue))
                   and ((option::canBeHeld | not) or ($of | heldAs($entry)) == null))
               end),
            null)
        | if . == null then null
          else
            # An object that is being created is written as its inputs are then when it is observed.
            .token = [$of.metadata.generation, .place.key, .listing, (.seen | .uid, .generation, .deletedUID, .drift, .inputs, .failed.attempts, .reclaimed), if option::marked and .seen.uid != null then $mark else empty end]
          end
      end;

  # The object at a position among those that are listed, to be applied although it seems as
  # it was written: the operator may have missed its change or its deletion.
  def verification($wanted; $position):
    . as $subject | .status.children as $states
    | [$wanted.objects[]? | select($states[.key] | . != null and .unwanted != true)][$position] // empty
    | {place: ., seen: ($states[.key] | observedObject)}
    | select((.seen.uid != null or mine(.place.key)) and ((option::canBeHeld | not) or (.seen as $checked | $subject | heldAs($checked)) == null));

  if ignored
    or (option::finalized | not) and $new.metadata.deletionTimestamp != null
  then {go: false} else
    ($new | wantedPlaces) as $present
    | ($new | next($present; $old.status.children)) as $due

    # With the same spec, the same objects are wanted.
    | ($due != null and ($old == null or $due.stale or $due.token != ($old
        | (if option::readsChildren or option::marked or .metadata.generation != $new.metadata.generation then wantedPlaces else $present end) as $former
        | next($former; null)).token)) as $changed

    # What is not due is verified.
    | (if option::each then
         [$new, $old | .status.children[hole::child].verify] | if .[0] == .[1] then null else .[0] end
       elif $old == null then 0
       else null end) as $verify
    | (if $changed then $due elif $verify != null then
         $new | first(verification($present; if option::each then ([$verify, 0] | max) * hole::workers + hole::worker else 0 end), null)
       else null end) as $next
    | if $next == null then {go: false}
      else
        ($old == null or ($changed | not)) as $afresh
        | $next.seen as $seen

        # After a failure, the next attempts assume first that the object does not exist
        # although it was observed, then that it exists although it was not. One that was
        # found in this way is written as it was observed.
        | ($old.status.children[$next.place.key // ""] | observedObject) as $earlier
        | (if option::diagnosed and $seen.failed == null and $seen.generation != $new.metadata.generation then $earlier.failed else $seen.failed end) as $lastFailure
        | (if otherInputs then 0 else $lastFailure | failedAttempts($afresh) end) as $attempts
        | ($old != null and $seen.reclaimed != $earlier.reclaimed) as $found
        | (if $afresh or option::diagnosed and $seen.failed == null or $found then 0
           else [0, 1, 2, 3, 0, 0, 1][$attempts] end) as $try
        | ($seen.uid != null and $try == 0) as $update
        | (if $next.listing != null or option::never and $update then {} else $new | built($next.place) end) as $want
        | def change(entries): patchOwner($new.metadata; "/status"; {status: {children: entries}});

          def objectPath(query):
            hole::childRoot
            + (if option::childNamespaced then
                 "/namespaces/" + ((if option::childNamespace then $next.place.namespace else $new.metadata.namespace end) | segment | @uri)
               else "" end)
            + "/" + hole::childPlural + "/" + ($next.place.name | segment | @uri) + "?fieldManager=" + hole::operator + query;

          {go: true,
           call:
             (if option::never and $next.listing == null and $update then
                # The object exists, and is never updated. One that was found after a
                # failure has not failed.
                if $seen.failed != null and $found then change({($next.place.key): {failed: null}})
                else lookAt(objectPath(""); $seen.uid; $next.stale or $seen.failed != null) end
              elif $next.listing != null or $want.error != null then
                change($next.listing // {($next.place.key): {error: {generation: $new.metadata.generation, message: $want.error}}})
              elif (option::adopt | not) and $try >= 2 then
                {method: "PATCH", path: objectPath(""), type: "application/json-patch+json", body: (reclaimPatch($try) | tojson)}
              elif option::recreated and $update and replaces($seen; $want.child) then
                # As in delete.jq, the watch of the object may not have started.
                if $old == null then lookAt(objectPath(""); $seen.uid; true)
                else {method: "DELETE", path: objectPath(""), type: "application/json", body: deleteOptions($seen.uid; "Foreground")} end
              else
                {method: "PATCH",
                 path: objectPath("&force=" + (if option::force | not then "false" elif option::adopt then "true" else $update == true | tostring end)),
                 type: "application/apply-patch+yaml",
                 body: ($want.child
                   | owned($seen; $update; $seen.failed != null or $next.stale or option::adopt and $seen.uid == null)
                   | tojson | asYAML)}
              end),
           failed: (change($next.listing // {($next.place.key): {failed: (failure($seen; $attempts) + {message: failureMessage($seen; $lastFailure; $attempts)})}})
             + if option::diagnosed and $attempts == hole::lastAttempt and $next.listing == null and $want.error == null then ask else {} end)}
      end
  end
