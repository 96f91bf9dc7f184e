# Deletes the objects that the observed state lists as unwanted, one after the other,
# and takes them from the list when they are gone. They may be wanted again since, which
# objects.jq finds by the same event: what counts is decided by what the event shows.
#
# Event: a custom resource, as it was written or as the operator recorded state on it.
# Request: delete an object, look for one that was never observed, or change the list.
#
# Two triggers send the requests, because a trigger cannot tell one failure from another.
# For the first, every failure is one, and it is counted. For the second, which goes on
# after a failure, only the answers that there is no such object are failures. After
# three of them in a row, the object counts as gone: the operator missed the event of its
# deletion.
#
# When an EventSource starts, its watches list their objects one after the other. An object
# that is deleted before its watch has listed it causes no event. So after the first event
# of a custom resource, an object is changed before it is deleted: when the event of that
# comes, the watch works.

(.body.Obj // .body) as $new | before as $old

| def gone: .uid != null and .uid == .deletedUID or (.missing // 0) >= hole::maxMissing;

  # The next request of a custom resource, or null, with a token that differs if it has
  # to be sent again. An object that is being deleted already does not hold up others.
  def next:
    . as $of
    | [.status.children // {} | to_entries[] | select(.value.unwanted == true and (.key | hole::isListed) and .value.decided == ($of | decision)) | {key: .key} + .value] as $unwanted
    | first(
        ($unwanted[] | select((gone or .deleting == true) | not)
         | select(if option::missing then .failed.attempts != null or .missing != null and .missing > 0
             else (.failed.attempts // 0) < hole::maxAttempts end)
         | .look = (.failed.attempts == null and (.deleting == null or $old == null))
         | .token = [.key, .uid, .look, .reclaimed, .failed.attempts, if option::missing then .missing else null end]),
        (if option::missing then empty
         else [$unwanted[] | select(gone) | {key, uid, missing}] | select(. != []) | {token: ., forget: .} end),
        null);

  if ignored then {go: false} else
    ($new | next) as $next
    | if $next == null or $old != null and $next.token == ($old | next).token then {go: false}
      else
        def change(entries): patchOwner($new.metadata; "/status"; {status: {children: entries}});
        # Another object of that name may have been observed since: its entry stays.
        def removal(forgotten):
          [forgotten[]
           | ("/status/children/" + (.key | split("/") | join("~1"))) as $entry
           | (if .uid != null then {op: "test", path: ($entry + "/uid"), value: .uid}
              else {op: "test", path: ($entry + "/missing"), value: .missing} end),
             {op: "remove", path: $entry}];
        {go: true,
         call: (
           if (option::missing | not) and $next.forget != null then
             customResourcePatch($new.metadata; "/status"; "application/json-patch+json"; removal($next.forget))
           else hole::deletion end),
         failed: (
           ($next.failed.attempts // 0) as $attempts
           | change(
               if option::missing then {($next.key): {missing: (($next.missing // 0) + 1)}}
               elif $next.forget != null then {}
               else {($next.key): {failed: (failure($next; $attempts) + {message: "the API server did not delete it; kubectl delete and kubectl describe show why"})}} end)
             + if option::diagnosed and (option::missing | not) and $next.forget == null and $attempts == hole::lastAttempt then ask else {} end)}
      end
  end
