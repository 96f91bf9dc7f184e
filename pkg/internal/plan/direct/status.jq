# Writes the status of the custom resource from the observed state of its children.
#
# Event: a custom resource, as it was written or as the operator recorded state on it.
# Request: patch the status. If the API server rejects it, patch the condition only.
# Before that, add or remove the finalizer, or go on to check the objects of a child.
# When nothing of this is to be done, create the Event that reports the last change of
# the condition Ready, by whichever client.

(.body.Obj // .body) as $new | .oldBody as $old

# The merge patch that turns $from into $to.
| def patch($from; $to):
    reduce (($from, $to) | keys[]) as $key ({};
      if $from[$key] == $to[$key] then .
      elif ($from[$key] | type) == "object" and ($to[$key] | type) == "object" then .[$key] = patch($from[$key]; $to[$key])
      else .[$key] = $to[$key] end);

  # Whether a custom resource lists objects that only the operator deletes.
  def listsUnowned: .status.children // {} | any(keys[]; hole::isUnowned);

  # The finalizers that a custom resource should have. The operator's own is added before
  # the first of those objects is written, and removed when they are gone.
  def rightFinalizers:
    (.metadata.finalizers // []) as $present
    | if .metadata.deletionTimestamp == null then
        if (option::forced or listsUnowned) and ($present | index(hole::finalizer)) == null then $present + [hole::finalizer] else $present end
      elif listsUnowned then $present
      else $present - [hole::finalizer] end;

  # Which object of a child with forEach is applied next although it seems as it was
  # written, as after the first event of a custom resource: the operator may have missed
  # its deletion.
  def verifications:
    reduce hole::eachChildren[] as $child ({};
      $new.status.children[$child.name].verify as $at
      | ([$new | existingObjects($child.prefix)] | length) as $count
      | (if $old == null then if $count <= $child.workers then null elif $at == 1 then 2 else 1 end
         elif $at == null or $at == $old.status.children[$child.name].verify then $at
         elif $count > $child.workers * ($at + 1) then $at + 1
         else null end) as $to
      | if $to == $at then . else .[$child.name] = (if $to == null and $new.status.children[$child.name].error == null then null else {verify: $to} end) end);

  def readyCondition: [.status.conditions[]? | select(.type? == "Ready")] | first;
  def failureReason: {Failed: "ReconcileFailed", StatusRejected: "StatusRejected"}[.reason | tostring];

  # The type, the reason and the message of the Event, or null. The message of a failure
  # is not compared, because it may contain a replica count.
  def readyChange:
    ($new | readyCondition) as $now | ($old | readyCondition) as $was
    | if $old == null then null
      elif $now.status == "True" then if $was.status == "True" then null else ["Normal", "Ready", $now.message] end
      elif $now.status == "False" and ($now | failureReason) != null
        and ([$now, $was | [.status, .reason, .observedGeneration]] | .[0] != .[1])
      then ["Warning", ($now | failureReason), $now.message]
      else null end;

  # The request that creates it. The version of the custom resource is in its name, so
  # that a second delivery of an event tries to create an Event that exists.
  def createEvent(report):
    lastWrite as $changed
    | {method: "POST",
       path: ("/api/v1/namespaces/" + (if option::namespaced then $new.metadata.namespace | @uri else hole::eventNamespace end)
         + "/events?fieldManager=" + hole::operator),
       type: "application/json",
       body: ({
         apiVersion: "v1", kind: "Event",
         metadata: {
           namespace: (if option::namespaced then $new.metadata.namespace else hole::eventNamespace end),
           name: ($new.metadata | (.name[:200] | until(endswith(".") or endswith("-") | not; .[:-1])) + "." + (.uid[:8] | rtrimstr("-")) + "." + .resourceVersion)
         },
         involvedObject: (
           {apiVersion: hole::apiVersion, kind: hole::kind}
           + (if option::namespaced then {namespace: $new.metadata.namespace} else {} end)
           + {name: $new.metadata.name, uid: $new.metadata.uid, resourceVersion: $new.metadata.resourceVersion}),
         type: report[0], reason: report[1], action: "Reconcile",
         message: (report[2] // "" | tostring | .[:1024] | until(utf8bytelength <= 1024; .[:-16])),
         source: {component: hole::operator}, reportingComponent: hole::operator, reportingInstance: hole::reportingInstance,
         firstTimestamp: $changed, lastTimestamp: $changed, eventTime: ($changed | rtrimstr("Z") + ".000000Z"), count: 1
       } | tojson)};

  if .type == "DELETE" or otherPartition($new.metadata.uid) or ownChild then {go: false}
  elif option::finalized and ($new | rightFinalizers != (.metadata.finalizers // [])) then
    {metadata: {resourceVersion: $new.metadata.resourceVersion, finalizers: ($new | rightFinalizers)}} as $change
    | {go: true, call: patchOwner($new.metadata; ""; $change), failed: patchOwner($new.metadata; ""; $change)}
  elif $new.metadata.deletionTimestamp != null then {go: false}
  elif option::verified and verifications != {} then
    {status: {children: verifications}} as $progress
    | {go: true, call: patchOwner($new.metadata; "/status"; $progress), failed: patchOwner($new.metadata; "/status"; $progress)}
  else
    $new.metadata.generation as $generation
    | ($new | live as $children | [hole::wantedObjects]) as $objects
    | ([$objects[] | select(.held != null or .seen.failed != null or .seen.error != null or .seen.ready != true)
        | "\(.name): \(.seen.error.message // .held // .seen.failed.message // .seen.message // "is not ready")"]
       | if option::many and length > hole::maxNamed then .[:hole::maxNamed] + ["and \(length - hole::maxNamed) more"] else . end
       | join("; ")) as $wait
    | (if any($objects[].seen; .failed != null or .error != null) then ["False", "Failed", $wait]
       elif $wait == "" then ["True", "Reconciled", "all children are ready (\($objects | length))"]
       else ["False", "Progressing", "not ready: \($wait)"] end) as $ready
    | lastWrite as $time
    | ($new.status.conditions // [] | map(objects)) as $conditions
    | (if option::ownConditions then $new | live as $children | hole::ownConditions // [] | map(objects | select(.type != "Ready")) else {} end) as $own

    # A condition with all its fields. Its time is that of the last change of its status.
    | def completed:
        . as $given
        | ([$conditions[] | select(.type == $given.type)] | first) as $last
        | (if option::ownConditions then {reason: .type, message: ""} else {} end)
          + {observedGeneration: $generation}
          + (if option::ownConditions then with_entries(select(.value != null and .value != "")) else . end)
          + {lastTransitionTime: (if $last.status == .status then $last.lastTransitionTime else $time end)};

      def with($ready):
        [$conditions[] | select(.type != "Ready" and ((option::ownConditions | not) or (.type | IN($own[].type) | not)))]
        + (if option::ownConditions then $own | map(completed) else [] end)
        + [{type: "Ready", status: $ready[0], reason: $ready[1], message: $ready[2]} | completed];

      # The status, and observedGeneration with it, is not written until every wanted
      # child was observed at this generation, or failed at it.
      (if all($objects[]; .held != null or (.seen | .generation == $generation or .failed.generation == $generation or .error != null)) | not then {} else
         ($new | live as $children | hole::fields
            + (if option::observedGeneration then {observedGeneration: $generation} else {} end)
            + (if option::conditions then {conditions: with($ready)} else {} end)) as $status
         | patch($new.status // {} | hole::computed; $status)
       end) as $patch

      # A status that the API server rejects is computed again in each event.
      | (if option::events then readyChange | if . != null and $patch != {} and .[1] != "StatusRejected" then null else . end else null end) as $report
      | if $patch == {} and $report == null then {go: false} else
          {go: true,
           call: (
             if option::events and $report != null then createEvent($report)
             else patchOwner($new.metadata; "/status"; {metadata: {resourceVersion: $new.metadata.resourceVersion}, status: $patch}) end),
           # An Event that is not created is given up, by a patch without a change.
           failed: patchOwner($new.metadata; "/status"; {metadata: {resourceVersion: $new.metadata.resourceVersion}}
             + (if option::conditions and $report == null then
                  {status: {conditions: with(["False", "StatusRejected", "the API server rejected the computed status"])}}
                else {} end))}
        end
  end
