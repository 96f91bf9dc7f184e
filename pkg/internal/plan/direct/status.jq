# Writes the status of the custom resource from the observed state of its children.
#
# Event: a custom resource, as it was written or as the operator recorded state on it.
# Request: patch the status. If the API server rejects it, patch the condition only.

(.body.Obj // .body) as $new | .oldBody as $old

# The merge patch that turns $from into $to.
| def patch($from; $to):
    reduce (($from, $to) | keys[]) as $key ({};
      if $from[$key] == $to[$key] then .
      elif ($from[$key] | type) == "object" and ($to[$key] | type) == "object" then .[$key] = patch($from[$key]; $to[$key])
      else .[$key] = $to[$key] end);

  if ignored then {go: false} else
    ($new | hole::observedChildren) as $seen
    | ($new | live as $children | [hole::wantedNames]) as $names
    | (if option::canBeHeld then $new | hole::heldChildren else {} end) as $held
    | $new.metadata.generation as $generation

    # The status, and observedGeneration with it, is not written until every wanted
    # child was observed at this generation, or failed at it.
    | def settled: .generation == $generation or .failed.generation == $generation or .error != null;
      if all($names[];
           if option::canBeHeld then . as $waiting | $seen[$waiting] | $held[$waiting] != null or settled
           else $seen[.] | settled end) | not
      then {go: false} else
        ([$names[] | . as $name | $seen[$name] | select(.ready and .failed == null and .error == null and ((option::canBeHeld | not) or $held[$name] == null) | not)
          | "\($name): \(.error.message // (if option::canBeHeld then $held[$name] else null end) // .failed.message // .message // "is not ready")"]
         | join("; ")) as $wait
        | (if any($names[]; $seen[.] | .failed != null or .error != null) then ["False", "Failed", $wait]
           elif $wait == "" then ["True", "Reconciled", "all children are ready (\($names | length))"]
           else ["False", "Progressing", "not ready: \($wait)"] end) as $ready
        | lastWrite as $time
        | ($new.status.conditions // []) as $conditions
        | ([$conditions[] | select(.type == "Ready")] | first) as $last
        | def with($ready):
            [$conditions[] | select(.type != "Ready")]
            + [{type: "Ready", status: $ready[0], reason: $ready[1], message: $ready[2], observedGeneration: $generation,
                lastTransitionTime: (if $last.status == $ready[0] then $last.lastTransitionTime else $time end)}];
          ($new | live as $children | hole::fields
             + (if option::observedGeneration then {observedGeneration: $generation} else {} end)
             + (if option::conditions then {conditions: with($ready)} else {} end)) as $status
        | patch($new.status // {} | hole::computed; $status) as $patch
        | if $patch == {} then {go: false} else
            {go: true,
             call: patchOwner($new.metadata; "/status"; {metadata: {resourceVersion: $new.metadata.resourceVersion}, status: $patch}),
             failed: patchOwner($new.metadata; "/status"; {metadata: {resourceVersion: $new.metadata.resourceVersion}}
               + (if option::conditions then
                    {status: {conditions: with(["False", "StatusRejected", "the API server rejected the computed status"])}}
                  else {} end))}
          end
      end
  end
