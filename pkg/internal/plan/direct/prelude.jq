# Definitions that the programs of the direct engine share.
#
# Every program gets one event of Argo Events and yields {go: false}, or {go: true}
# with the request to make: `call`, and `failed` if that fails. A Sensor has no
# memory, so what it observed of the children is kept on the custom resource, whose
# change is the next event.
#
#   hole::x     a constant or an expression of the definition
#   option::x   true or false; what it rules out is not emitted
#   label::x, annotation::x   their keys
#
# In each program, $new and $old are the object of the event before and after the
# change; $old is null where it was not known before.

# The first digits of the custom resource's uid decide which trigger handles it, so
# that all its events stay in order. The factors are odd so that the powers of two
# divide evenly, too.
def otherPartition(uid):
  option::partitioned
  and (uid // "" | . + "0000" | explode | .[0] + 3 * .[1] + 5 * .[2] + 7 * .[3]) % hole::partitions != hole::partition;

# The object is a child of the kind that is watched.
def ownChild:
  option::childOfOwnKind and $new.metadata.labels[label::managedBy] == hole::operator;

# The event is not for this trigger: the custom resource is gone or going, another
# trigger handles it, or it is a child of the same kind.
def ignored:
  .type == "DELETE" or $new.metadata.deletionTimestamp != null
  or otherPartition($new.metadata.uid)
  or ownChild;

# What the operator observed of a child:
#   uid, resourceVersion   of the child
#   generation    of the custom resource that the child was made from
#   ownerUID      the uid of the custom resource that the child names as its owner
#   ready, message   whether it is ready, and why not
#   deletedUID    the uid of the child that was deleted last
#   drift         the version at which somebody else changed a field of the operator's
#   reclaimed     differs each time the operator reclaimed the child
#   failed        {generation, attempts, uid, message} of writes that failed
#   error         why the template cannot be evaluated
#   fields        [the fields that expressions read]
#   knownFields   the fields of other children that had a value when it was written
#
# Of a child that is gone, or that belongs to another custom resource, only what the
# operator itself recorded counts. A failure counts for the object that it was about.
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

# $children of expressions: of each child, the fields that are read.
def live: hole::observedChildren | map_values(.fields[0]?);

# Why a child is not written, or null. A child that does not exist waits for those
# that it depends on. One that exists is not written while a field of another child
# is missing that it was written with: that would take fields from it.
def held:
  if option::dependsOn and observed(hole::child).uid == null and (hole::dependenciesReady | not) then hole::waitsFor
  elif option::needs and observed(hole::child).uid != null then
    (live as $children
     | (observed(hole::child).knownFields // []) as $known
     | first(hole::lostFields, null))
    | if . == null then . else "waits for " + . end
  else null end;

# A child that another one depends on is ready, or not wanted.
def dependencyReady:
  observed(hole::dependency).ready == true
  or option::conditional and (if option::readsChildren then live as $children | hole::wanted else hole::wanted end | not);

# A field of another child had a value when the child was written, and has none now.
def lostField:
  if ($known | index(hole::field)) != null and hole::value == null
    and ((option::conditional | not) or hole::wanted)
    and (try (hole::expression == null) catch false)
  then hole::lost else empty end;

# The name of a child, if it is wanted.
def wantedName: if (option::conditional | not) or hole::wanted then hole::child else empty end;

# A field of the status; what cannot be computed is null.
def statusField: try (hole::exactNumbers | hole::value) catch null;

# The path of the custom resource of an owner: {name, namespace}.
def customResourcePath(owner):
  hole::apiRoot
  + (if option::namespaced then "/namespaces/" + (owner.namespace | @uri) else "" end)
  + "/" + hole::plural + "/" + (owner.name | @uri);

# The request that merges a body into the custom resource of an owner.
def patchOwner(owner; subresource; body):
  {method: "PATCH",
   path: (customResourcePath(owner) + subresource + "?fieldManager=" + hole::operator),
   type: "application/merge-patch+json",
   body: (body | tojson)};

# The request that sets annotations of the custom resource of an owner.
def annotateOwner(owner; annotations):
  if option::k8sTrigger then
    {operation: "patch",
     manifest: {apiVersion: hole::apiVersion, kind: hole::kind,
       metadata: {name: owner.name, namespace: owner.namespace, annotations: annotations}}}
  else patchOwner(owner; ""; {metadata: {annotations: annotations}}) end;

# The time of the last write of a custom resource by anyone.
def lastWrite: [$new.metadata.managedFields[]?.time] | max // $new.metadata.creationTimestamp;
