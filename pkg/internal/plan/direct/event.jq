# Reports a change of the condition Ready by an Event on the custom resource.
#
# Event: a custom resource whose status was written, by whichever program.
# Request: create the Event. The version of the custom resource is in its name, so
# that a second delivery of an event tries to create an Event that exists.

(.body.Obj // .body) as $new | .oldBody as $old

| def ready: [.status.conditions[]? | select(.type? == "Ready")] | first;
  def failure: {Failed: "ReconcileFailed", StatusRejected: "StatusRejected"}[.reason | tostring];

  if .type != "UPDATE" or $new.metadata.deletionTimestamp != null or otherPartition($new.metadata.uid) or ownChild then {go: false} else
    ($new | ready) as $now | ($old | ready) as $was

    # The message of a failure is not compared, because it may contain a replica count.
    | (if $now.status == "True" then if $was.status == "True" then null else ["Normal", "Ready"] end
       elif $now.status == "False" and ($now | failure) != null
         and ([$now, $was | [.status, .reason, .observedGeneration]] | .[0] != .[1])
       then ["Warning", ($now | failure)]
       else null end) as $event
    | if $event == null then {go: false} else
        lastWrite as $time
        | {go: true, call: {
            method: "POST",
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
              type: $event[0], reason: $event[1], action: "Reconcile",
              message: ($now.message // "" | tostring | .[:1024] | until(utf8bytelength <= 1024; .[:-16])),
              source: {component: hole::operator}, reportingComponent: hole::operator, reportingInstance: hole::reportingInstance,
              firstTimestamp: $time, lastTimestamp: $time, eventTime: ($time | rtrimstr("Z") + ".000000Z"), count: 1
            } | tojson)}}
      end
  end
