# Starts a reconcile of a custom resource, in the engines with pods.
#
# Event: a custom resource. It passes when something changed that its user controls. A
# status write is no such change, so reconciles do not loop. An ADD event has no old object
# and always passes: a restarted EventSource replays all objects as ADD.
# For a worker: the event, which passes in the trigger of one of several workers, by its key. For a Workflow its
# arguments: key, name, and desired, the children that the templates make.

def wantedState:
  {
    spec: (if .metadata.generation == null then del(.metadata, .status) else .metadata.generation end),
    deleted: .metadata.deletionTimestamp,
    labels: .metadata.labels,
    annotations: (.metadata.annotations // {}
      | del(.["kubectl.kubernetes.io/last-applied-configuration"], (if option::related then .[annotation::related] else empty end)))
  }
  + (if option::readsStatus then {status: [hole::fields]} else {} end);

# The keys of the labels or annotations that the operator has set, or that others have.
def keysSet(part; byOperator):
  (hole::operator + "." + (.metadata.uid // "") + ".") as $prefix
  | [.metadata.managedFields[]? | select((.manager == hole::operator or (.manager // "" | startswith($prefix))) == byOperator)
     | .fieldsV1["f:metadata"]["f:" + part] // {} | keys[] | ltrimstr("f:")];

# The object without the labels and annotations that only the operator has set. They do not
# count for the selector: a patch would deselect the object that it is for, which gives up
# the patch, which selects it again.
def asOthersWrote:
  reduce ("labels", "annotations") as $part (.;
    reduce ((keysSet($part; true) - keysSet($part; false))[]) as $set (.; del(.metadata[$part][$set])));

def matched: if option::setsMetadata then asOthersWrote | hole::isSelected else hole::isSelected end;

(.body.Obj // .body) as $new | .oldBody as $old
| (($new.metadata.namespace // "") + "." + $new.metadata.name) as $key

# The children in base64, because Argo would interpret braces in them as its own templates.
| def packed:
    $new
    | {digest: hole::digest, uid: .metadata.uid,
       inputs: ({generation: .metadata.generation, labels: .metadata.labels, annotations: .metadata.annotations}
         + if option::noVersions and .metadata.generation == null then {content: del(.apiVersion, .kind, .metadata, .status)} else {} end)}
    | . + try {children: ($new | [hole::children])} catch {error: tostring}
    | (tojson | @base64) as $text
    | if ($text | length) < hole::maxDesired then $text
      else del(.children) + {error: "the children are larger together than a pod takes"} | tojson | @base64 end;

  {
    go: (
      ($new.metadata.deletionTimestamp == null
        or option::finalized and ($new.metadata.finalizers // [] | index(hole::finalizer)) != null)
      and ((option::childOfOwnKind | not) or $new.metadata.labels[label::managedBy] != hole::operator)
      and ($old == null or ($new | wantedState) != ($old | wantedState))
      # An object that the selector no longer matches is cleaned up.
      and ((option::selected | not) or any($new, $old // {}; matched))
      # Some existing kinds allow names that are not DNS names.
      and ((option::existing | not) or ($key | safeKey))
      and ((option::shared | not) or ($key | explode | add) % hole::workers == hole::worker))
  }
  + if option::stays then {event: {$key, cause: (if $old == null then "created or replayed" else "changed" end)}}
    else {$key, name: workflowName($new.metadata.name)} end
  # Among the queued Workflows of a custom resource, that of the newest generation runs
  # first; the others then find nothing to do.
  + (if option::templates then {priority: ($new.metadata.generation // 0), desired: packed} else {} end)
  + (if option::podPerStep then {generation: ($new.metadata.generation // 0 | tostring)} else {} end)
