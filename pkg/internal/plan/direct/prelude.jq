# Definitions that the programs of the direct engine share.
#
# Every program gets one event of Argo Events and yields {go: false}, or {go: true}
# with the request to send: `call`, and `failed` if that fails. A Sensor is stateless,
# so the observed state of the children is stored on the custom resource, and that
# change is the next event.
#
#   hole::x     a constant or an expression of the definition
#   option::x   true or false; branches it excludes are not emitted
#   label::x, annotation::x   their keys
#
# In each program, $new and $old are the object of the event before and after the
# change; $old is null in an ADD event.

# The first digits of the custom resource's uid select the trigger that handles it, so
# that its events stay in order. The factors are odd so that powers of two divide
# evenly, too.
def otherPartition(uid):
  option::partitioned
  and (uid // "" | . + "0000" | explode | .[0] + 3 * .[1] + 5 * .[2] + 7 * .[3]) % hole::partitions != hole::partition;

# Whether the object is a child of the kind that is watched.
def ownChild:
  option::childOfOwnKind and $new.metadata.labels[label::managedBy] == hole::operator;

# Whether the trigger skips the event: the custom resource is deleted or being deleted,
# belongs to another partition, or is a child of the same kind.
def ignored:
  .type == "DELETE" or $new.metadata.deletionTimestamp != null
  or otherPartition($new.metadata.uid)
  or ownChild;

# The observed state of a child:
#   uid, resourceVersion   of the child
#   generation    of the custom resource that the child was made from
#   ownerUID      the uid of the custom resource that the child names as its owner
#   ready, message   whether it is ready, and why not
#   deletedUID    the uid of the child that was deleted last
#   drift         the version at which another client changed a field of the operator
#   reclaimed     changes each time the operator reclaims the child
#   failed        {generation, attempts, uid, message} of failed writes
#   error         why the template cannot be evaluated
#   fields        [the fields that expressions read]
#   knownFields   the fields of other children that had a value when it was written
#
# For a child that is deleted, or that belongs to another custom resource, only what
# the operator itself recorded counts. A failure counts for the object it happened to.
def observed($name):
  .metadata.uid as $self
  | (if option::inStatus then .status.children[$name]? // {}
     else
       .metadata.annotations as $annotations
       | def kept($key): $annotations[$key + $name]? // "null" | fromjson? // null;
       (kept(annotation::seen) | objects // {})
       + {deletedUID: $annotations[annotation::deleted + $name], error: kept(annotation::error), failed: kept(annotation::failed)}
     end)
  | if .uid != null and .ownerUID == $self and .uid != .deletedUID then . else {deletedUID, failed, error} end
  | if .failed.uid == .uid then . else del(.failed) end;

# $children of expressions: of each child, the fields that expressions read.
def live: hole::observedChildren | map_values(.fields[0]?);

# Why a child is not written, or null. A child that does not exist waits for its
# dependencies. An existing child is not written while a field of another child that it
# was written with has no value: the write would remove fields that were computed from
# it.
def held:
  if option::dependsOn and observed(hole::child).uid == null and (hole::dependenciesReady | not) then hole::waitsFor
  elif option::needs and observed(hole::child).uid != null then
    (live as $children
     | (observed(hole::child).knownFields // []) as $known
     | first(hole::lostFields, null))
    | if . == null then . else "waits for " + . end
  else null end;

# Whether a dependency is ready, or not wanted.
def dependencyReady:
  observed(hole::dependency).ready == true
  or option::conditional and (if option::readsChildren then live as $children | hole::wanted else hole::wanted end | not);

# A field of another child that had a value when the child was written, and has none
# now.
def lostField:
  if ($known | index(hole::field)) != null and hole::value == null
    and ((option::conditional | not) or hole::wanted)
    and (try (hole::expression == null) catch false)
  then hole::lost else empty end;

# The name of a child, if the child is wanted.
def wantedName: if (option::conditional | not) or hole::wanted then hole::child else empty end;

# A field of the status, or null if it cannot be computed.
def statusField: try (hole::exactNumbers | hole::value) catch null;

# The API path of the custom resource of an owner: {name, namespace}.
def customResourcePath(owner):
  hole::apiRoot
  + (if option::namespaced then "/namespaces/" + (owner.namespace | @uri) else "" end)
  + "/" + hole::plural + "/" + (owner.name | @uri);

# The merge patch request for the custom resource of an owner.
def patchOwner(owner; subresource; body):
  {method: "PATCH",
   path: (customResourcePath(owner) + subresource + "?fieldManager=" + hole::operator),
   type: "application/merge-patch+json",
   body: (body | tojson)};

# The request that sets annotations on the custom resource of an owner.
def annotateOwner(owner; annotations):
  if option::k8sTrigger then
    {operation: "patch",
     manifest: {apiVersion: hole::apiVersion, kind: hole::kind,
       metadata: {name: owner.name, namespace: owner.namespace, annotations: annotations}}}
  else patchOwner(owner; ""; {metadata: {annotations: annotations}}) end;

# The time of the last write of the custom resource by any client.
def lastWrite: [$new.metadata.managedFields[]?.time] | max // $new.metadata.creationTimestamp;
