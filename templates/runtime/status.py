"""The status of the custom resource, and the Events that `kubectl describe` shows."""
import hashlib
import json

from api import MESSAGE_LIMIT, ApiError, Failed, log
from compute import unready_reason
from names import EVENTS, PAUSED, WORKFLOW, path_of
from run import display_name, identity
from values import merged

EVENT_LIMIT = 1024  # bytes of an Event's message, a limit of the API server
BEFORE = "before-first-apply"  # the manager of fields that were set before there were managedFields
SEE = "; see "  # between what failed and where


def condition(name, status, reason, message):
    return {"type": name, "status": status, "reason": reason, "message": message[:MESSAGE_LIMIT]}


def ready_condition(cr):
    """The condition Ready of a custom resource."""
    conditions = (cr.get("status") or {}).get("conditions") or []
    return next((given for given in conditions if given.get("type") == "Ready"), {})


def holds_true(conditions, name):
    return (conditions.get(name) or {}).get("status") == "True"


def or_record(run, cr, generation, work):
    """Does the work; reports a failure in the status of the custom resource, the log and the exit code."""
    try:
        return work()
    except Failed as failure:
        log(f"failed: {failure}")
        record_failure(run, cr, generation, str(failure), None)
        return failure.code


def report_ready(run, cr, generation, status, live, held=()):
    """Writes the status after a successful run. The message contains nothing that differs from run to run."""
    waiting = [f"{display_name(child)}: {unready_reason(run, child)}" for child in sorted(live, key=identity)
               if unready_reason(run, child)] + list(held)
    if waiting:
        ready = condition("Ready", "False", "Progressing", "not ready: " + "; ".join(waiting))
    else:
        ready = condition("Ready", "True", "Reconciled", f"all children are ready ({len(live)})")
    own = [given for given in status.get("conditions") or [] if given["type"] == "Ready"]
    write_status(run, cr, generation, status, own or [ready])
    if held and not run.parent["status"]:
        tell(run, cr, "Normal", ready)


def says_paused(run, cr):
    """Whether a custom resource shows that it is paused, or cannot. One that the operator does not manage need not."""
    shows_none = not run.parent["status"] or "conditions" in (run.parent.get("lacks") or [])
    return shows_none or ready_condition(cr).get("reason") == "Paused" or not (run.is_selected(cr) or run.has_finalizer(cr))


def report_paused(run, cr):
    """Writes once that a custom resource is paused. The rest of its status is about its last reconcile."""
    if not says_paused(run, cr):
        status = last_status(cr)
        ready = dict(condition("Ready", "False", "Paused", f"the annotation {PAUSED} stops all writes; remove it to resume"),
                     observedGeneration=cr["metadata"].get("generation", 0))
        write_status(run, cr, status.get("observedGeneration"), status, [ready])
    log(f"{run.key} is paused: nothing to do")


def last_status(cr):
    """The status of the last reconcile, without its failure."""
    status = dict(cr.get("status") or {})
    status["conditions"] = [one for one in status.get("conditions") or [] if one.get("type") != "Stalled"]
    return status


def record_failure(run, cr, generation, text, status):
    """Writes a failure to the status; None keeps the other fields, and so does a status that the API server rejects.
    Never raises an exception, because a failure is being reported."""
    message = text[:MESSAGE_LIMIT // 2] + SEE + (run.shown and run.shown(cr) or run.place())
    conditions = [condition("Ready", "False", "ReconcileFailed", message),
                  condition("Stalled", "True", "ReconcileFailed", message)]
    if not run.parent["status"]:
        tell(run, cr, "Warning", conditions[0])
        return
    try:
        write_status(run, cr, generation, cr.get("status") or {} if status is None else status, conditions)
    except Failed as failure:
        log(f"the status could not be written: {failure}")
        run.unreported = status is None
        if status is not None:
            record_failure(run, cr, generation, text, None)


def write_status(run, cr, generation, status, conditions):
    """Writes the status if it differs from the current one. `conditions` replace those of the same type."""
    if not run.parent["status"]:
        return
    for _ in range(5):
        if cr is None:
            log(f"{run.key} was deleted meanwhile: no status to write")
            return
        try:
            return patch_status(run, cr, generation, status, conditions)
        except ApiError as error:
            if error.status not in (404, 409):
                raise
        now = run.get_parent()
        cr = now if now and now["metadata"]["uid"] == cr["metadata"]["uid"] else None
    raise Failed(f"{run.key} changes too fast to write its status")


def patch_status(run, cr, generation, status, conditions):
    current, owned = cr.get("status") or {}, owned_fields(run, cr)
    want = wanted_status(run, cr, generation, status, conditions, run.now())
    if is_applied(want, current, owned):
        return
    manager = status_manager(run)
    body = {"metadata": {"resourceVersion": cr["metadata"]["resourceVersion"]}, "status": merge_patch_for(want, current, owned)}
    written = run.client.request("PATCH", run.parent_path("status"), body, {"fieldManager": manager},
                                 "application/merge-patch+json")
    log("status: " + "; ".join(f"{given['type']}={given['status']} {given['reason']}" for given in want.get("conditions") or []))
    emit_event(run, cr, written)


def status_manager(run):
    return run.operator + "-status"


def owned_fields(run, cr):
    """The fields of the status that are the operator's, in the form of managedFields: those that it has set, and of its own kind
    also those that nobody is known to have set. The API server does not know who updates an object that was applied without a
    field, and ascribes all of it to BEFORE later."""
    owned, others = {}, {}
    for entry in cr["metadata"].get("managedFields") or []:
        fields = (entry.get("fieldsV1") or {}).get("f:status") or {}
        if entry.get("manager") == status_manager(run) and entry.get("subresource") == "status":
            owned = fields
        elif entry.get("manager") != BEFORE:
            others = merged(others, fields)
    return owned if run.config.get("existing") else merged(unclaimed(cr.get("status") or {}, others), owned)


def unclaimed(value, others):
    """The fields of a status that others have not set."""
    if not isinstance(value, dict):
        return {}
    fields = {"f:" + key: unclaimed(item, others.get("f:" + key) or {}) for key, item in value.items()
              if others.get("f:" + key) != {} and (isinstance(item, dict) or "f:" + key not in others)}
    if isinstance(value.get("conditions"), list):
        known = others.get("f:conditions") or {}
        keys = ["k:" + json.dumps({"type": one.get("type")}, separators=(",", ":")) for one in value["conditions"]]
        fields["f:conditions"] = {key: {} for key in keys if key not in known}
    return fields


def wanted_status(run, cr, generation, status, conditions, now):
    """A status as it is written. `conditions` replace those of the same type."""
    current = (cr.get("status") or {}).get("conditions") or []
    mine = {given["type"] for given in conditions}
    conditions = [given for given in status.get("conditions") or [] if given["type"] not in mine] + conditions
    return known_fields(run, without_nulls(dict(status, observedGeneration=generation, conditions=[
        filled(given, current, generation, now) for given in conditions])))


def shows(run, cr, status):
    """Whether a custom resource has the fields of the status that the definition computes, and these values."""
    current, fields = cr.get("status") or {}, (run.config.get("status") or {}).get("object") or {}
    want = wanted_status(run, cr, current.get("observedGeneration"), status, [], "")
    found = {given.get("type"): given for given in current.get("conditions") or []}
    have = {key: current[key] for key in fields if key in current}
    have["conditions"] = [found.get(given["type"]) for given in want.get("conditions") or []]
    owned = {key: value for key, value in owned_fields(run, cr).items() if key != "f:conditions"}
    return is_applied({key: value for key, value in want.items() if key != "observedGeneration"}, have, owned)


def known_fields(run, status):
    """The status without fields that the kind does not have: the API server drops those, so each run would write them."""
    lacks = run.parent.get("lacks") or []
    if "conditions[].observedGeneration" in lacks:
        conditions = [{key: value for key, value in given.items() if key != "observedGeneration"} for given in status["conditions"]]
        status = dict(status, conditions=conditions)
    return {key: value for key, value in status.items() if key not in lacks}


def merge_patch_for(want, have, owned):
    """The merge patch from `have` to `want`: it removes the operator's fields that are no longer wanted, and keeps
    fields of others."""
    patch = {key: None for key in have if key not in want and "f:" + key in owned}
    for key, value in want.items():
        own = owned.get("f:" + key) or {}
        if isinstance(value, dict) and isinstance(have.get(key), dict):
            patch[key] = merge_patch_for(value, have[key], own)
        elif key == "conditions":
            types = {one["type"] for one in value} | {json.loads(k[2:]).get("type") for k in own if k.startswith("k:")}
            patch[key] = [one for one in have.get(key) or [] if one.get("type") not in types] + value
        else:
            patch[key] = value
    return patch


def filled(given, current, generation, now):
    """A condition with all its fields; its time is that of the last change of its status, even if logic sets
    another."""
    full = dict({"reason": given["type"], "message": "", "observedGeneration": generation, "lastTransitionTime": now},
                **{key: value for key, value in given.items() if value not in (None, "")})
    for before in current:
        if before.get("type") == full["type"]:
            same = before.get("status") == full["status"]
            full["lastTransitionTime"] = same and before.get("lastTransitionTime") or now
    return full


def is_applied(want, have, owned):
    """Whether applying `want` to `have` would change nothing: it has all of it, and no field of the operator
    (managedFields, fieldsV1) would be removed. Fields of others do not count."""
    if isinstance(want, dict) and isinstance(have, dict):
        return not any("f:" + key in owned for key in have if key not in want) and all(
            key in have and is_applied(value, have[key], owned.get("f:" + key) or {}) for key, value in want.items())
    keys = [json.loads(key[2:]) for key in owned if key.startswith("k:")]
    if keys and isinstance(want, list) and isinstance(have, list):  # a list of the type map, such as conditions
        def item(items, key):
            return next((one for one in items if all(one.get(name) == value for name, value in key.items())), None)
        wanted = [{name: one.get(name) for name in keys[0]} for one in want]
        return all(item(want, key) is not None for key in keys) and all(
            item(have, key) is not None and is_applied(item(want, key), item(have, key), {}) for key in wanted)
    return json.dumps(want, sort_keys=True) == json.dumps(have, sort_keys=True)


def without_nulls(value):
    """Null in a status means that there is no such field. Most schemas would reject it."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def emit_event(run, before, after):
    """Creates an Event for a change of Ready by a status write."""
    news = event_reason(run, before, after)
    if news:
        create_event(run, event_of(run, after, *news, ready_condition(after), after["metadata"]["resourceVersion"]))


def tell(run, cr, kind, given):
    """Creates an Event in place of a condition, for an object that has none. While it is there, it is not created again."""
    if cr is not None:
        text = split_message(given)[0]
        mark = hashlib.sha256(json.dumps([run.operator, kind, text]).encode("utf-8", "replace")).hexdigest()[:16]
        create_event(run, event_of(run, cr, kind, given["reason"], given, mark))


def create_event(run, event):
    """Never raises an exception, because the condition or the log has the information."""
    if not run.config.get("emitsEvents"):
        return
    try:
        run.client.request("POST", path_of(EVENTS, event["metadata"]["namespace"]), event, {"fieldManager": run.operator})
        log(f"event: {event['type']} {event['reason']}")
    except Failed as failure:
        if getattr(failure, "status", 0) != 409:  # 409: the Event exists
            log(f"the Event could not be written: {failure}")


def event_reason(run, before, after):
    """The type and the reason of the Event, or None. A failure with another generation, reason or text is reported, but
    only once for each Workflow, because its retries may fail with other texts."""
    was, ready = ready_condition(before), ready_condition(after)
    if ready.get("status") == "True":
        return None if was.get("status") == "True" else ("Normal", "Ready")
    conditions = {one.get("type"): one for one in after["status"].get("conditions") or []}
    if ready.get("status") != "False" or ready.get("reason") == "Progressing" or not holds_true(conditions, "Stalled"):
        return None
    same = all(was.get(key) == ready.get(key) for key in ("status", "reason", "observedGeneration"))
    (text, place), (old_text, old_place) = split_message(ready), split_message(was)
    if same and (text == old_text or place == old_place and not run.config.get("worker")):
        return None
    return "Warning", ready.get("reason") or "ReconcileFailed"


def split_message(given):
    """The message of a condition, split into the text and the Workflow that it refers to."""
    message = given.get("message") or ""
    text, mark, place = message.rpartition(SEE)
    return (text, mark + place) if mark else (message, "")


def event_of(run, cr, kind, reason, given, mark):
    """The Event that tells a condition. For a cluster-scoped object it is in namespace default. A mark in its name prevents
    that it is created twice."""
    metadata, now = cr["metadata"], run.now()
    name = f"{metadata['name'][:200].rstrip('-.')}.{metadata['uid'][:8].rstrip('-')}.{mark}"
    about = {key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in metadata}
    workflow = run.env.get("ARGOPERATOR_WORKFLOW", "")
    event = {
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"namespace": metadata.get("namespace") or "default", "name": name},
        "involvedObject": dict(about, apiVersion=run.parent["apiVersion"], kind=run.parent["kind"]),
        "type": kind, "reason": reason[:128], "action": "Reconcile", "message": truncated(given),
        "source": {"component": run.operator},
        "reportingComponent": run.operator, "reportingInstance": (workflow or run.operator)[:128],
        "firstTimestamp": now, "lastTimestamp": now, "eventTime": now[:-1] + ".000000Z", "count": 1}
    if workflow:
        event["related"] = dict(WORKFLOW, namespace=run.config["namespace"], name=workflow)
    return event


def truncated(given):
    """The message of a condition, truncated for an Event; the Workflow that it refers to is kept."""
    text, place = (part.encode("utf-8", "replace") for part in split_message(given))
    place = place[:EVENT_LIMIT // 2]
    return text[:EVENT_LIMIT - len(place)].decode("utf-8", "ignore") + place.decode("utf-8", "ignore")
