# Writes the status of the custom resource from the observed state of its children.
#
# Event: a custom resource, as it was written or as the operator recorded state on it.
# Request: patch the status. If the API server rejects it, patch the condition only.
# Before that, add or remove the finalizer, or go on to check the objects of a child.
# When nothing of this is to be done, create the Event that reports the last change of
# the condition Ready, by whichever client.

(.body.Obj // .body) as $new | before as $old

# The fields of the status that the operator has set, with any engine, as managedFields
# lists them.
| def set:
    reduce ($new.metadata.managedFields[]? | select(.subresource == "status" and (.manager | rtrimstr("-status")) == hole::operator)) as $by
      ({}; . * ($by.fieldsV1["f:status"] // {}));

  # The merge patch that turns $from into $to. Fields that others have set stay.
  def patch($from; $to; $set):
    reduce (($from, $to) | keys[]) as $key ({};
      if $from[$key] == $to[$key] or (option::nested and $to[$key] == null and $set["f:" + $key] == null) then .
      elif option::nested and [$from, $to | .[$key] | type] == ["object", "object"] then
        patch($from[$key]; $to[$key]; $set["f:" + $key]) as $below | if $below == {} then . else .[$key] = $below end
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

  # Which objects of a child with forEach are applied next although they seem as they were
  # written, as after the first event of a custom resource: the operator may have missed
  # their change or deletion. -1 is the first position, too: to begin is always a change.
  def verifications:
    reduce hole::eachChildren[] as $child ({};
      $new.status.children[$child.name].verify as $at
      | ([$new | listedObjects($child.prefix)] | length) as $count
      | (if $old == null then if $count == 0 then null elif $at == 0 then -1 else 0 end
         elif $at == null or $at == $old.status.children[$child.name].verify then $at
         else ([$at, 0] | max + 1) as $following | if $count > $child.workers * $following then $following else null end end) as $to
      | if $to == $at then . else .[$child.name] = (if $to == null and $new.status.children[$child.name].error == null then null else {verify: $to} end) end);

  def readyCondition: [.status.conditions[]? | select(.type? == "Ready")] | first;
  def failureReason: {Failed: "ReconcileFailed", StatusRejected: "StatusRejected", FinalizerRejected: "FinalizerRejected"}[.reason | tostring];

  # Whether a condition reports a request that the API server rejected for a reason that
  # is not known.
  def unexplained: .message // "" | tostring | contains(" show why");

  # The type, the reason and the message of the Event, or null. Of the message of a
  # failure, only this is compared, because it may contain a replica count. A rejection of
  # the status or the finalizer is reported with the answer of the API server.
  def readyChange:
    ($new | readyCondition) as $now | ($old | readyCondition) as $was
    | if $old == null then null
      elif $now.status == "True" then if $was.status == "True" then null else ["Normal", "Ready", $now.message] end
      elif $now.status == "False" and ($now | failureReason) != null
        and ((option::diagnosed | not) or $now.reason == "Failed" or ($now | unexplained | not))
        and ([$now, $was | [.status, .reason, .observedGeneration] + if option::diagnosed then [unexplained] else [] end] | .[0] != .[1])
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

  # A condition with all its fields. Its time is that of the last change of its status.
  def completed:
    . as $given
    | ([$new.status.conditions[]? | objects | select(.type == $given.type)] | first) as $last
    | (if option::ownConditions then {reason: .type, message: ""} else {} end)
      + (if option::numbersConditions then {observedGeneration: $new.metadata.generation} else {} end)
      + (if option::ownConditions then with_entries(select(.value != null and .value != "")) else . end)
      + {lastTransitionTime: (if $last.status == .status then $last.lastTransitionTime else lastWrite end)};

  # The condition Ready of a request of the status or the finalizer that the API server
  # rejected. What it answered to the last one stays.
  def rejected($reason; $what):
    ($new | readyCondition) as $lastReady
    | {type: "Ready", status: "False", reason: $reason,
       message: (if option::diagnosed and $lastReady.reason == $reason and (if option::numbersConditions then $lastReady.observedGeneration else $new.metadata.generation end) == $new.metadata.generation then $lastReady.message
                 else "the API server rejected " + $what + "; argoperator render and argoperator test show why" end)}
    | completed;

  # A change of the custom resource that the event shows.
  def ofVersion: .metadata.resourceVersion = $new.metadata.resourceVersion;

  # The conditions except Ready.
  def otherConditions: [$new.status.conditions[]? | objects | select(.type != "Ready")];

  # The change of the finalizers, with the condition that reports that it was rejected.
  def finalizerChange:
    {reason: "FinalizerRejected", change: ({metadata: {finalizers: ($new | rightFinalizers)}} | ofVersion)}
    + if option::conditions then
        {otherwise: ({status: {conditions: (otherConditions + [rejected("FinalizerRejected"; "the finalizer")])}} | ofVersion)}
      else {} end;

  # The change of the status, or null.
  def statusChange:
    $new.metadata.generation as $generation
    | ($new | live as $children | [hole::wantedObjects]) as $objects
    | ([$objects[] | select(.held != null or .seen.failed != null or .seen.error != null or .seen.ready != true)
        | "\(.name): \(.seen.error.message // .held // .seen.failed.message // .seen.message // "is not ready")"]
       | if option::many and length > hole::maxNamed then .[:hole::maxNamed] + ["and \(length - hole::maxNamed) more"] else . end
       | join("; ")) as $wait
    | (if any($objects[].seen; .failed != null or .error != null) then ["False", "Failed", $wait]
       elif $wait == "" then ["True", "Reconciled", "all children are ready (\($objects | length))"]
       else ["False", "Progressing", "not ready: \($wait)"] end) as $ready
    | (if option::ownConditions then $new | live as $children | hole::ownConditions // [] | map(objects | select(.type != "Ready")) else {} end) as $own

    | def with($ready):
        (if option::ownConditions then
           # A condition that the operator has set goes, unless it is computed.
           [$own[].type, (set["f:conditions"] // {} | keys[] | ltrimstr("k:") | fromjson?.type)] as $gone
           | (otherConditions | map(select(.type | IN($gone[]) | not))) + ($own | map(completed))
         else otherConditions end)
        + [$ready];

      # The status, and observedGeneration with it, is not written until every wanted
      # child was observed at this generation, or failed at it.
      if all($objects[]; .held != null or (.seen | .generation == $generation or .failed.generation == $generation or .error != null)) | not then null
      else
        ($new | live as $children | hole::fields
           + (if option::observedGeneration then {observedGeneration: $generation} else {} end)
           + (if option::conditions then {conditions: with({type: "Ready", status: $ready[0], reason: $ready[1], message: $ready[2]} | completed)} else {} end)) as $status
        | patch($new.status // {} | hole::computed; $status; if option::nested then set else {} end)
        | if . == {} then null
          else
            {reason: "StatusRejected", change: ({status: .} | ofVersion)}
            + if option::conditions then {otherwise: ({status: {conditions: with(rejected("StatusRejected"; "the computed status"))}} | ofVersion)} else {} end
          end
      end;

  # The change that says that the custom resource is paused, or null. The rest of its status stays.
  def pause:
    if option::conditions and ($new | readyCondition | .reason) != "Paused" then
      {change: ({status: {conditions: (otherConditions + [{type: "Ready", status: "False", reason: "Paused", message: hole::pausedMessage} | completed])}} | ofVersion)}
    else null end;

  if .type == "DELETE" or ownChild then {go: false}
  else
    isPaused as $paused
    | (if option::finalized then ($paused | not) and ($new | rightFinalizers != (.metadata.finalizers // [])) else {} end) as $finalizes
    | if $new.metadata.deletionTimestamp != null and ((option::finalized | not) or ($finalizes or $paused | not)) then {go: false}
      else
        # {change} to write, and what to do if the API server rejects it: {reason, otherwise}.
        (if $paused then pause
         elif option::finalized and $finalizes then finalizerChange
         elif option::verified and verifications != {} then {status: {children: verifications}} | {change: ., otherwise: .}
         else statusChange end) as $next

        # An Event is created when nothing is to be written, or when that was rejected.
        | (if option::events then readyChange | if . != null and $next != null and .[1] != $next.reason then null else . end else null end) as $report
        | if $next == null and $report == null then {go: false}
          else
            {go: true,
             call: (
               if option::events and $report != null then createEvent($report)
               elif option::finalized and $finalizes then patchOwner($new.metadata; ""; $next.change)
               else patchOwner($new.metadata; "/status"; $next.change) end),
             # An Event that is not created is given up, by a patch without a change.
             # A Workflow asks when the event shows that Ready has come to report the rejection.
             failed: (
               if option::finalized and (option::conditions | not) and $finalizes then patchOwner($new.metadata; ""; $next.change)
               else
                 patchOwner($new.metadata; "/status"; (if $report == null then $next.otherwise else null end) // ({} | ofVersion))
                 + if option::diagnosed and option::conditions and $report == null and $next.reason != null
                     and ([$new, $old | readyCondition | [.reason, if option::numbersConditions then .observedGeneration else $new.metadata.generation end]] | .[0] == [$next.reason, $new.metadata.generation] and .[0] != .[1])
                     and ($new | readyCondition | unexplained)
                   then ask else {} end
               end)}
          end
      end
  end
