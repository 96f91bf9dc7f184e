# Definitions that the programs of the direct engine share.
#
# Every program gets one event of Argo Events and yields {go: false}, or {go: true}
# with the request to send: `call`, and `failed` if that fails. A Sensor is stateless,
# so the observed state of the children is stored on the custom resource, and that
# change is the next event. A Sensor does not read responses either: if the lastAttempt
# fails, a Workflow asks the API server why it rejects the request, and records the answer.
#
#   hole::x     a constant or an expression of the definition
#   option::x   true or false; branches it excludes are not emitted
#   label::x, annotation::x   their keys
#
# In each program, $new and $old are the object of the event before and after the
# change; $old is null in an ADD event, and when a pause ends: what happened meanwhile is
# found as after a start.

# Whether the object is a child of the kind that is watched.
def ownChild:
  option::childOfOwnKind and $new.metadata.labels[label::managedBy] == hole::operator;

# Whether nothing may be written for the custom resource, as its annotation says.
def isPaused: $new.metadata.annotations[annotation::paused] == "true";

# $old of a custom resource.
def before: .oldBody | select(.metadata.annotations[annotation::paused] != "true") // null;

# Whether the trigger skips the event: the custom resource is deleted or paused, or is a child
# of the same kind.
def ignored: .type == "DELETE" or ownChild or isPaused;

# The message of an error of a template. It can quote what the template reads.
def problem: "template: " + (if option::readsSecrets then "an expression fails; its message can quote a Secret and is not shown" else tostring end);

# The namespace of the operator.
def ownNamespace: hole::namespace;

# The observed state of a child:
#   uid, resourceVersion   of the child
#   generation    of the custom resource that the child was made from
#   ownerUID      the uid of the custom resource that the child names as its owner
#   ready, message   whether it is ready, and why not
#   deletedUID    the uid of the child that was deleted last
#   drift         the version at which another client changed a field of the operator
#   reclaimed     changes each time the operator reclaims the child
#   failed        {generation, attempts, uid, message} of failed writes; with diagnosis,
#                 the message is that of the API server after lastAttempt
#   error         why the template cannot be evaluated
#   fields        [the fields that expressions read]
#   fixed         the fingerprint of its fields whose change replaces it
#
# A child is one object, under its own name, or any number of listed objects: see
# objects.jq. Of them, the observed state has under CHILD/NAME or CHILD/NAMESPACE/NAME
#
#   unwanted      whether the object is to be deleted
#   decided       what that was decided by
#   deleting      whether it is being deleted; empty of one that became unwanted with the
#                 first event of the custom resource, until it is observed
#   missing       how often in a row it was not found
#   inputs        a digest of what else it was made from
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

# The same of a listed object. After a failure before it was observed, it is perhaps not
# as it should be.
def observedObject:
  . // {}
  | if .uid != null and .uid != .deletedUID then . else {deletedUID, failed, error} end
  | if .failed.attempts != null and .failed.uid == .uid then .
    elif .failed.attempts != null and .failed.uid == null then .uid as $observedUID | .failed += {attempts: 0, uid: $observedUID}
    else del(.failed) end;

# The listed objects of a child that are wanted, as {key, value}.
def listedObjects($prefix):
  .status.children // {} | to_entries[] | select((.key | startswith($prefix)) and .value.unwanted != true);

# Those that exist.
def existingObjects($prefix): listedObjects($prefix) | .value | select(.uid != null and .uid != .deletedUID);

# $children of expressions: of each child, the fields that expressions read.
def live: hole::liveChildren;

def liveFields: observed(hole::child).fields[0]? // null;

# What a child that reads another one is made from: without the other one there are no fields of it.
def liveSource: observed(hole::child) | .deletedUID, .fields, .uid;

def liveListed: first((existingObjects(hole::childPrefix) | .fields[0]?), null);

def liveEach: [existingObjects(hole::childPrefix) | .fields[0]?];

# What an object is made from beside the spec, as a digest. The factor is greater than every
# character, and its square less than the prime: texts of one length that differ in one or
# in two neighbouring characters have different digests. No product exceeds 2^63.
def inputMark(inputs):
  [inputs] | tojson | explode | reduce .[] as $point (7; (. * 1114129 + $point) % 4398046511093) | tostring;

# By what it is decided which objects are wanted: the spec, and the labels, by which operators select.
def decision: .metadata | [.generation, .labels] | tojson;

# The first value that a child of a custom resource needs and that is missing, or null.
def lacking(resource): if option::needs then resource | live as $children | first(hole::missing, null) else null end;

# Why a child is not written, or null. A child that does not exist waits for its
# dependencies, and any child for the values of other children that it needs.
def heldFrom(seen):
  if option::never and seen.uid != null then null
  elif option::dependsOn and seen.uid == null and (hole::dependenciesReady | not) then hole::waitsFor
  elif option::needs then
    lacking(.) as $lacked
    | if $lacked == null then null
      elif seen.uid == null then "waits for " + $lacked
      else "stays as it is until " + $lacked + " has a value" end
  else null end;

# Whether a child is wanted and an object of it does not exist.
def absent:
  if option::listed then ([existingObjects(hole::otherPrefix)] | length) != hole::wantedCount
  else
    observed(hole::other).uid == null
    and ((option::conditional | not) or (if option::readsChildren then live as $children | hole::wanted else hole::wanted end))
  end;

# Whether what a child decides about others is known: it exists, or is not wanted.
def decides: hole::absentDecider | not;

# Whether one of the children that decide which objects of this one are wanted is absent:
# then nothing is deleted, because what they decide may be the same when they are back.
def undecided: any(hole::deciding; .);

# The same as heldFrom, of a child that is not listed. One that is not wanted waits for
# nothing, but it stays while that is undecided.
def held:
  if option::conditional and (try (if option::readsChildren then live as $children | hole::when else hole::when end) catch true | not) then
    if option::decided then (if undecided then "stays" else null end) else null end
  else heldFrom(observed(hole::child)) end;

# The number of objects of a listed child that are wanted; null if it cannot be computed.
def countWanted: try (if option::readsChildren then live as $children | hole::number else hole::number end) catch null;

def numberWanted:
  if (option::conditional | not) or hole::when then (if option::each then hole::forEach | length else 1 end) else 0 end;

# Whether a dependency is ready as it is wanted now, unless it stays as it is, or not wanted.
def dependencyReady:
  (.metadata.generation // 0) as $latest
  | (option::needs and lacking(.) != null) as $stays
  | (if option::marked then inputMark(hole::otherInputs) else {} end) as $dependencyMark
  | def current:
      .ready == true
      and (option::never or $stays or .generation == $latest and ((option::marked | not) or .inputs == null or .inputs == $dependencyMark));
  if option::listed then
    (if option::needsList and $stays then null else hole::wantedCount end) as $dependencyCount
    | [listedObjects(hole::otherPrefix) | .value] as $dependencies
    | all($dependencies[]; current and .uid != .deletedUID) and ($dependencies | length) == $dependencyCount
  else
    (observed(hole::other) | current)
    or option::conditional and (if option::readsChildren then live as $children | hole::wanted else hole::wanted end | not)
  end;

# Whether the other child that is the same object, under another condition, is gone.
def alternativeGone: .status.children // {} | any(keys[]; startswith(hole::alternativePrefix)) | not;

# A value that a child needs and that is missing. A child that is not wanted has none to
# wait for when it is gone. Of a list, each object has to be there with its value.
def missing:
  if ((option::conditional | not) or hole::wanted)
    and (option::ofList and ([existingObjects(hole::listPrefix)] | length) != hole::wantedCount or (try (hole::value == null) catch false))
  then hole::text else empty end;

# The observed state of an object, which is not up to date if it was made from other
# values, and always is if it is never updated.
def settled(mark):
  if option::marked and .uid != null and .inputs != null and .inputs != mark then .generation = null
  elif option::never and .uid != null then .generation = $new.metadata.generation
  else . end;

# The wanted objects of a child, as {name, seen} and, if it is not written, held. One
# without anything observed stands for objects that are not listed yet.
def wantedObject:
  if (option::conditional | not) or hole::wanted then
    (if option::marked then inputMark(hole::inputs) else {} end) as $currentMark
    | (observed(hole::child) | settled($currentMark)) as $single
    | {name: hole::child, seen: $single} + (if option::canBeHeld then {held: heldFrom($single)} else {} end)
  else empty end;

def wantedListed:
  . as $parent
  | [listedObjects(hole::childPrefix)] as $listed
  | (if option::marked then inputMark(hole::inputs) else {} end) as $listedMark
  | .status.children[hole::child].error as $failure
  | (if option::needsList and lacking(.) != null then null else hole::wantedCount end) as $wantedNumber
  | if $failure != null then {name: hole::child, seen: {error: $failure}}
    elif ($listed | length) != $wantedNumber then
      {name: hole::child, seen: {}} + (if option::canBeHeld and $wantedNumber != 0 then $parent | {held: heldFrom({})} else {} end)
    else
      $listed[] | .key as $listedKey | (.value | observedObject | settled($listedMark)) as $observed
      | {name: $listedKey, seen: $observed} + (if option::canBeHeld then $parent | {held: heldFrom($observed)} else {} end)
    end;

# A field of the status, or null if it cannot be computed.
def statusField: try (hole::exactNumbers | hole::value) catch null;

# The API path of the custom resource of an owner: {name, namespace}.
def customResourcePath(owner):
  hole::apiRoot
  + (if option::namespaced then "/namespaces/" + (owner.namespace | @uri) else "" end)
  + "/" + hole::plural + "/" + (owner.name | @uri);

# The requests that patch the custom resource of an owner.
def customResourcePatch(owner; subresource; contentType; body):
  {method: "PATCH",
   path: (customResourcePath(owner) + subresource + "?fieldManager=" + hole::operator),
   type: contentType,
   body: (body | tojson)};

def patchOwner(owner; subresource; body): customResourcePatch(owner; subresource; "application/merge-patch+json"; body);

# The request that sets annotations on the custom resource of an owner.
def annotateOwner(owner; annotations): patchOwner(owner; ""; {metadata: {annotations: annotations}});

# A name as one segment of a path. The API server would take what follows a slash, even
# an escaped one, for a subresource. No object has the name that is sent instead.
def segment: tostring | if test("[/%]|^[.][.]?$") then " " else . end;

# The API path of a listed object.
def deletionPath(query):
  hole::childRoot
  + (if option::childNamespaced then
       "/namespaces/" + ((if option::childNamespace then $next.key | split("/")[1] else $new.metadata.namespace end) | segment | @uri)
     else "" end)
  + "/" + hole::childPlural + "/" + ($next.key | split("/")[if option::childNamespace then 2 else 1 end:] | join("/") | segment | @uri) + query;

# What a request to delete says: the uid protects another object of the same name, and
# without a policy the API server would leave the Pods of a Job.
def deleteOptions(uid; policy): {preconditions: {uid: uid}, propagationPolicy: policy} | tojson;

# The request that deletes a listed object, for delete.jq. The uid protects another
# object of the same name. An object that was never observed, or not since the EventSource
# started, is changed instead, if it exists and belongs to the custom resource: that causes
# its event.
def deletion:
  if (option::last | not) and ($next.key | startswith(hole::childPrefix) | not) then hole::otherDeletion
  elif $next.uid != null and ($next.look | not) then
    {method: "DELETE", path: deletionPath(""), type: "application/json", body: deleteOptions($next.uid; "Background")}
  else
    {method: "PATCH", path: deletionPath("?fieldManager=" + hole::operator), type: "application/json-patch+json",
     body: ([if $next.uid != null then {op: "test", path: "/metadata/uid", value: $next.uid}
             else {op: "test", path: hole::ownerLabelPointer, value: $new.metadata.uid} end,
             {op: "add", path: hole::reclaimedPointer, value: $new.metadata.resourceVersion}] | tojson)}
  end;

# A fingerprint of the fields whose change replaces the child.
def fixed: hole::fixed;

# Whether an object has to be deleted to make it as it is wanted. One that is only sealed
# has not: that adds to its fingerprint.
def replaces(seen; wanted):
  seen.fixed != null and (wanted | fixed | . != seen.fixed and ((option::sealed | not) or (startswith(seen.fixed + ".") | not)));

# The request for an object that is never updated, or perhaps gone. It changes nothing, and
# fails if the object is gone: so it finds a deletion that the operator missed. Or it changes
# a label, to cause an event.
def lookAt(path; uid; event):
  {method: "PATCH", path: path, type: "application/json-patch+json",
   body: ([{op: "test", path: "/metadata/uid", value: uid}]
     + (if event then [{op: "add", path: hole::reclaimedPointer, value: $new.metadata.resourceVersion}] else [] end) | tojson)};

# The child with its ownership metadata. The uid restricts the write to the object that
# was observed. Without a uid, the resourceVersion, which no object has, creates the
# child or fails if an object with its name exists. A write that is repeated changes an
# annotation, so that it causes an event.
def owned(seen; update; repeated):
  . + {metadata: (.metadata
    + (if update then {uid: seen.uid} elif option::adopt then {} else {resourceVersion: hole::noVersion} end)
    + (if option::besideParent then {namespace: $new.metadata.namespace} else {} end)
    + {labels: (.metadata.labels
         + {(label::managedBy): hole::operator, (label::ownerUID): $new.metadata.uid, (label::child): hole::child}
         + if option::labelled then {(label::operatorNamespace): ownNamespace} else {} end),
       annotations: (.metadata.annotations
         + {(annotation::owner): (($new.metadata.namespace // "") + "." + $new.metadata.name),
            (annotation::generation): ($new.metadata.generation // 0 | tostring)}
         + if option::recreated then {(annotation::fixed): fixed} else {} end
         + if option::marked then {(annotation::inputs): ($new | inputMark(hole::inputs))} else {} end
         + if repeated then {(annotation::attempt): $new.metadata.resourceVersion} else {} end)}
    + if option::unowned then {} else
        {ownerReferences: [{apiVersion: hole::apiVersion, kind: hole::kind, name: $new.metadata.name, uid: $new.metadata.uid, controller: true}]}
      end)};

# Escapes characters that are legal in a JSON string but not in YAML, as which the API
# server parses the body: U+2028 is a line break in YAML.
def asYAML:
  if test("[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]") then
    reduce (range(127; 160), 8232, 8233, 65279, 65534, 65535) as $c (.;
      split([$c] | implode)
      | join("\\u" + ([$c / 4096, $c / 256, $c / 16, $c | floor % 16 | "0123456789abcdef"[.:. + 1]] | join(""))))
  else . end;

# Causes an event of a child that exists but was not observed, whatever happened to its
# labels. The API server tests the owner, so no other object is changed. The labels are
# added to existing labels, or set if there are none.
def reclaimPatch(try_):
  [{op: "test", path: hole::ownerPointer, value: $new.metadata.uid},
   ({(label::managedBy): hole::operator, (label::ownerUID): $new.metadata.uid, (label::child): hole::child,
     (label::reclaimed): $new.metadata.resourceVersion}
    | if try_ == 2 then
        to_entries[] | {op: "add", path: ("/metadata/labels/" + (.key | split("/") | join("~1"))), value}
      else {op: "test", path: "/metadata/labels", value: null}, {op: "add", path: "/metadata/labels", value: .} end)];

def refusal(seen):
  "the API server rejected it; argoperator render and kubectl apply --server-side --dry-run=server show why"
  + if option::adopt or seen.uid != null then ""
    else
      "; or a " + hole::childKind + " of this name exists that does not belong to this " + hole::kind + "; to take it over, write adopt: true on child " + hole::child
    end;

# Added to a request after a failure, it makes the Sensor create a Workflow instead, which
# asks why and sends that request with the answer.
def ask: {asks: $new.metadata.uid};

# The failed attempts of this generation. A resync tries twice more: as after the first
# failure, the second time it assumes that the object does not exist although it was
# observed, because the operator may have missed its deletion.
def failedAttempts(resync):
  (if .generation == $new.metadata.generation then .attempts // 0 else 0 end)
  | if resync then [., hole::maxAttempts] | min else . end;

def isDue: . < hole::maxAttempts or . == hole::maxAttempts + 1;

# Another failed attempt, without its message.
def failure(seen; attempts): {generation: $new.metadata.generation, attempts: (attempts + 1), uid: seen.uid};

# Its message. The answer of the API server stays in it.
def failureMessage(seen; last; attempts):
  if option::diagnosed and attempts > hole::lastAttempt then last.message else refusal(seen) end;

# The time of the last write of the custom resource by any client.
def lastWrite: [$new.metadata.managedFields[]?.time] | max // $new.metadata.creationTimestamp;

# Whether a key is a namespace, a dot and a name.
def safeKey: . != null and test(hole::validKey);

# The generateName of a Workflow: the operator and the custom resource, so that users find
# it. The name is used as a label value, so it has at most 63 characters including the five
# that the API server appends.
def workflowName(name): (hole::workflowPrefix + (name | ascii_downcase | gsub("[^a-z0-9]"; "-")))[0:57] + "-";

# Fails on a number that the Sensor has rounded. It does not fail on numbers beyond int64,
# because the API server decodes those as float64, too.
def exactly:
  if any(hole::inexactFields | .. | numbers; (if . < 0 then -. else . end) as $n | $n >= hole::maxExact and $n <= hole::maxInteger)
  then error("an integer beyond 2^53 would lose precision: use a string") else . end;

# The objects of a child, for a pod. The others do not wait for one that has such a number.
def exactChild: try (hole::exactNumbers | hole::objects) catch {child: hole::child, error: tostring};

# A Secret with its texts in data: the API server converts stringData, so it would neither
# remove a key that is no longer there nor report that another client changed one.
def encoded:
  hole::secret
  | if .stringData == null then . else
      .data = (.data // {}) + (.stringData | with_entries(select(.value != null) | .value |= if type == "string" then @base64 else . end))
      | del(.stringData)
    end;

# An object whose namespace a custom resource chooses. Its own namespace is always allowed.
def placed:
  .metadata.namespace as $home
  | hole::placedObject
  | hole::place as $namespace
  | if $namespace == $home or ($namespace | test(hole::namespaces)) == hole::allowed then .
    else error("namespace \($namespace) is not one of install.allowedNamespaces") end;

# The places of the objects of a child that is before this one, with its name; none that cannot
# be computed.
def placesOfOther:
  try
    if (option::conditional | not) or hole::when then
      if option::each then . as $owning | hole::forEach // [] | to_entries[] | .key as $index | .value as $item | $owning | hole::place
      else hole::place end
    else empty end
  catch empty;

# A place as text.
def placeIn($around): (.namespace // $around // "") + "/" + .name;

# What is wrong with an object at the place of one of another child: each child would make it
# its own.
def sharedPlace($outside):
  hole::childKind + " " + (if option::childNamespaced then placeIn($outside) else .name end) + " comes from template " + .child + " too";

# An object that is at no place of another child.
def unshared:
  .metadata.namespace as $nearby
  | (hole::ownPlace | placeIn($nearby)) as $ownPlace
  | first((hole::taken | select(placeIn($nearby) == $ownPlace)), null) as $shared
  | if $shared == null then hole::soleObject else error($shared | sharedPlace($nearby)) end;

# An object of a kind that another operator may serve, with the number of custom resources
# that operators have made before it, each for the one before. A number that no operator
# writes counts as too large.
def nested:
  (.metadata.annotations[annotation::depth] // "0") as $depth
  | (hole::depths | index($depth)) as $level
  | if $level == null then error(hole::tooDeep) else
      hole::nestedObject | .metadata.annotations[annotation::depth] = ($level + 1 | tostring)
    end;

# An object without a value that does damage where it is missing.
def harmless: if hole::needed == null then error(hole::problem) else hole::harmlessObject end;
