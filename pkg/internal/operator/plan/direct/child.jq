# Starts a reconcile of the custom resource of a child, in the engines with pods.
#
# Event: an object with the labels of a child. It passes when another client changed or
# deleted it, when its readiness changed, or when a field changed that the status reads; if
# logic wants every change, also when it was created or its status changed. A write of the
# operator itself has a newer time in managedFields and passes only then. During a rollout,
# counters do not pass either, because each passed event starts a reconcile; the event that
# ends the rollout does.

def wantedState: if .metadata.generation == null then del(.metadata, .status) else .metadata.generation end;

# The managedFields entries of the operator.
def entries: .metadata.managedFields[]? | select(.manager == hole::operator and .operation == "Apply" and .subresource == null);

def applied: [entries | .time];

def ownFields: [entries | .fieldsV1] | first;

# Whether the object is in the middle of a rollout whose end its controller reports.
def rolling:
  any(.status.conditions[]?; .type == "Progressing" and .status == "True" and .reason != "NewReplicaSetAvailable");

# What the readiness depends on, and the fields that are read.
def shown: [hole::readiness, (if option::rollouts then rolling else empty end), hole::fields];

def met: [hole::met];

# The custom resource that owns the object, which has the labels of a child: an admission
# policy lets only the operator write those. The key names what a reconcile reads and
# users can create such objects, so a key that is not made of valid names is ignored.
(.body.Obj // .body) as $new | .oldBody as $old
| (first(
     (if any($new, $old // {}; .metadata.labels
            | .[label::ownerUID] != null and (.[label::operatorNamespace] // ownNamespace) == ownNamespace)
      then empty else null end),
     first($new.metadata.ownerReferences[]?
       | select(.controller == true and .kind == hole::kind and .uid == $new.metadata.labels[label::ownerUID]
           and (.apiVersion | startswith(hole::groupPrefix)))
       | (if option::namespaced then $new.metadata.namespace // "" else "" end) + "." + .name),
     (if option::unowned then $new.metadata.annotations[annotation::owner] else empty end),
     null)
   | select(safeKey) // null) as $key
| {
    go: ($key != null and (
      .type == "DELETE"
      or option::everyChange and .type == "ADD"
      or $old != null and
        if ($new | wantedState) != ($old | wantedState) then option::everyChange or ($new | applied) == ($old | applied)
        else
          ($new | shown) != ($old | shown) and ((option::rollouts | not) or ($new | rolling | not))
          or option::readyWhen and ($new | met) != ($old | met)
        end))
  }
  + (if option::stays then
       {event: {key: ($key // ""), cause: ($new.kind + " " + $new.metadata.name + (if .type == "DELETE" then " deleted" else " changed" end))}}
     else {key: ($key // ""), name: workflowName($key // "." | .[index(".") + 1:])} end)
  # Only the event shows that another client took over a field; the managedFields of the
  # current object do not.
  + (if option::templates then
       {priority: 0,
        desired: (if .type != "DELETE" and $old != null and ($new | wantedState) != ($old | wantedState)
            and ($new | ownFields) != ($old | ownFields)
            and ((option::everyChange | not) or ($new | applied) == ($old | applied)) then "drift" else "" end)}
     else {} end)
  + (if option::podPerStep then {generation: ""} else {} end)
