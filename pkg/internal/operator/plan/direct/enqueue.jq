# Starts the reconciles of the custom resources which refer to a related object: a worker
# knows them, and a Workflow finds them.
#
# Event: a related object. It passes when the object changed. A new EventSource replays all
# objects, including the custom resources, so an object that was there before needs no
# reconcile. Changes within one window share a Workflow.

# An object without what a run writes into a custom resource in any case.
def content:
  .metadata.annotations = (.metadata.annotations // {} | del(.[annotation::related], .[annotation::reconcile]))
  | del(.metadata.managedFields, .metadata.resourceVersion, .metadata.generation)
  | if option::ownKind then del(.status.conditions[]? | .message?, .lastTransitionTime?) else . end;

# Whether the object is a Workflow or a pod of the operator, of which every run makes new
# ones.
def madeByRun: option::madeByRun and .metadata.namespace == hole::ownNamespace and hole::isOwn;

(.body.Obj // .body) as $new | .oldBody as $old | now as $now
| ($now / hole::window | floor) as $window
| {
    go: (
      if $new | madeByRun then false
      elif .type == "DELETE" then true
      elif $old == null then $now - ($new.metadata.creationTimestamp | fromdateiso8601) < 600
      else ($new | content) != ($old | content) end)
  }
  + if option::stays then
      {event: {related: {apiVersion: $new.apiVersion, kind: $new.kind, labels: $old.metadata.labels,
                         metadata: ($new.metadata | {name, namespace, labels})}}}
    else {name: (hole::workflowPrefix + ($window | tostring)), wait: ((($window + 1) * hole::window - $now | ceil) + 1 | tostring)} end
