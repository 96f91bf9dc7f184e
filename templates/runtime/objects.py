"""Writes objects: applies and deletes children, and sets fields of objects of others."""
import base64
import json

from api import ApiError, Failed, Refused, log
from chance import octets, text
from children import encoded
from compute import is_wanted, items, key_of, located, missing_value, named, told
from expressions import built
from names import FIXED, MANAGED_BY, OWNER, OWNER_UID, SERVER_MADE, path_of
from run import belongs, by_label, controllers, display_name, hold, identity, labelled, made_by, name_of, one_object, owned_by, place_of
from values import ExpressionError

TRIES = 5  # of a write with a conflict
NO_VERSION = "1"     # a resourceVersion that no object has: an apply with it creates the object, or fails if it exists


def apply_child(run, cr, child, seen=None, listed=False):
    """Applies a child and returns the live object. `seen` is how a list had it; one that a list did not have is created
    before anybody asks whether it exists. In a worker, nothing is written if it would change nothing."""
    entry = run.declared(child)
    path = path_of(entry, child["metadata"].get("namespace"), child["metadata"]["name"])
    try:
        for left in reversed(range(TRIES)):
            live, seen, listed = seen or (None if listed else run.client.get(path)), None, False
            adopts = check_owner(run, cr, child, live)
            live = live if adopts else replaced(run, entry, child, live)
            if live and (entry.get("never") or live["metadata"].get("deletionTimestamp") and entry.get("fixed")):
                return dict({"apiVersion": child["apiVersion"], "kind": child["kind"]}, **live)
            if run.stands(child, live):
                return live
            if entry.get("held"):
                hold(run, cr)
            try:
                whole = with_precondition(with_generated(entry, child, live), live, adopts or bool(entry.get("generate")))
                now = run.client.apply(path, whole, run.operator, run.config.get("forceConflicts", True))
                run.note(child, now)
                log(f"applied {display_name(child)}")
                return now
            except ApiError as error:
                if not left or not is_conflict(error):
                    raise
    except ApiError as error:
        refuse_conflicts(child, error)
        raise (Refused if error.code == 2 else Failed)(f"{display_name(child)}: {answer(entry, error)}") from None


def answer(entry, error):
    """Why the API server rejects an object. Its message may quote the invalid value of a Secret."""
    if not entry.get("secret") and (entry["apiVersion"], entry["kind"]) != ("v1", "Secret"):
        return str(error)
    why = ", ".join([error.reason] + [str(cause.get("field")) for cause in error.causes])
    return why + " (the message of the API server can quote a Secret and is not shown)"


def refuse_conflicts(child, error):
    """Raises Refused if other field managers hold fields that were applied."""
    held = [f"{cause.get('field')} ({cause.get('message')})" for cause in error.causes
            if cause.get("reason") == "FieldManagerConflict"]
    if held:
        raise Refused(f"{display_name(child)}: others manage {', '.join(held)}") from None


def replaced(run, entry, child, live):
    """The live object after it was deleted, with what it owns, if it differs in an immutable field; None if it is gone."""
    before = ((live or {}).get("metadata", {}).get("annotations") or {}).get(FIXED)
    if not entry.get("fixed") or before is None or live["metadata"].get("deletionTimestamp"):
        return live
    after = child["metadata"]["annotations"][FIXED]
    if after == before or after.startswith(before + "."):  # it becomes immutable
        return live
    failure = delete(run, entry, dict({"apiVersion": child["apiVersion"], "kind": child["kind"]}, **live), policy="Foreground")
    if failure:
        raise failure
    return run.client.get(path_of(entry, child["metadata"].get("namespace"), child["metadata"]["name"]))


def with_generated(entry, child, live):
    """A Secret with its random values: those that it has, or new ones."""
    recipes, there = entry.get("generate") or {}, (live or {}).get("data") or {}
    made = {key: there.get(key) or base64.b64encode(generated(recipe)).decode() for key, recipe in recipes.items()}
    return dict(child, data=dict(child.get("data") or {}, **made)) if made else child


def generated(recipe):
    """A random value."""
    return octets(recipe["bytes"]) if "bytes" in recipe else text(recipe["length"], recipe["characters"]).encode()


def with_precondition(child, live, unchanged):
    """The child restricted to the object that was read: with its uid, or as a new object. Some may not have changed since:
    another custom resource may have taken one to adopt, and somebody may have set a value that was made at random."""
    metadata = child["metadata"]
    fields = ("uid", "resourceVersion") if unchanged else ("uid",)
    mark = {field: live["metadata"][field] for field in fields} if live else {"resourceVersion": NO_VERSION}
    return dict(child, metadata=dict(metadata, **mark))


def is_conflict(error):
    """Whether an object was created, deleted or replaced since it was read."""
    other = [cause for cause in error.causes if cause.get("field") == "metadata.uid"]
    return bool(other) or error.status == 409 and not any(cause.get("reason") == "FieldManagerConflict" for cause in error.causes)


def check_owner(run, cr, child, live):
    """Whether the object is to be adopted. Raises an error for one of another owner."""
    entry, uid, metadata = run.declared(child), cr["metadata"]["uid"], (live or {}).get("metadata") or {}
    if not live or (labelled(run, metadata, uid) if by_label(run, cr, child, entry) else owned_by(metadata, uid)):
        return False
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    same = made_by(run, labels) and annotations.get(OWNER) == run.key
    if same and entry.get("onDelete") != "Orphan" and not entry.get("adopt"):
        raise Failed(f"{display_name(child)} is still there from an earlier {run.parent['kind']} of this name")
    names = ", ".join(f"{owner.get('kind')} {owner.get('name')}" for owner in metadata.get("ownerReferences") or [])
    who = annotations.get(OWNER) or names or labels.get(MANAGED_BY) or "someone else"
    if not entry.get("adopt"):
        raise Refused(f"{display_name(child)} exists and belongs to {who}; to take it over, write adopt: true on child {entry['name']}")
    if controllers(metadata) or has_other_owner(run, cr, metadata):
        raise Refused(f"{display_name(child)} exists and belongs to {who}, so it is not adopted")
    return True


def has_other_owner(run, cr, metadata):
    """Whether an object may be a child of another custom resource: of one that exists, or of another operator."""
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    uid, (namespace, _, name) = labels.get(OWNER_UID), (annotations.get(OWNER) or "").partition(".")
    if uid in (None, cr["metadata"]["uid"]):
        return False
    if not made_by(run, labels) or not name:
        return True
    other = run.client.get(path_of(run.parent, namespace, name))
    return bool(other) and other["metadata"]["uid"] == uid


def prune(run, cr, wanted, seen=None, unseen=None):
    """Deletes the children that are no longer wanted, of those that a list had. What a template has left that the
    definition no longer has goes with the custom resource. Returns the failures. `unseen` gets the identities of those
    whose deletion no event tells."""
    keep, failures, all_go = {one_object(child) for child in wanted}, [], run.unselected(cr)
    for child in run.children(cr) if seen is None else seen:
        entry, metadata = run.declared(child), child["metadata"]
        if one_object(child) in keep or outlives(run, cr, child) or metadata.get("deletionTimestamp"):
            continue
        if run.is_left(child) and not all_go:
            continue
        failure = delete(run, entry, child, lambda now: belongs(run, cr, now))
        failures += [failure] if failure else []
        if not failure and unseen is not None and entry.get("generate"):
            unseen.add(identity(child))
    return failures


def outlives(run, cr, child):
    """Whether a child with onDelete: Orphan stays although it is not wanted: its custom resource is being deleted, or
    an earlier definition has left it, so that the pod has no right to delete it."""
    entry = run.declared(child)
    if entry.get("onDelete") != "Orphan":
        return False
    return bool(entry.get("stays")) or bool(cr["metadata"].get("deletionTimestamp")) and policy_of(entry, cr) == "Orphan"


def policy_of(entry, cr):
    """What onDelete of a child says for a custom resource."""
    if not entry.get("policy"):
        return entry.get("onDelete")
    try:
        policy = built(entry["policy"], cr, {})
    except ExpressionError as error:
        raise Refused(f"onDelete of child {entry['name']}: {error}") from None
    if policy not in ("Delete", "Orphan", None):
        raise Refused(f"onDelete of child {entry['name']} is {json.dumps(policy)[:100]}, want Delete or Orphan")
    return policy or "Delete"


def delete(run, kind, one, still=lambda now: True, policy="Background"):
    """Deletes an object in the version that was read. If it has changed since, it is read again to decide whether it
    must still be deleted. Returns the failures."""
    path = path_of(kind, one["metadata"].get("namespace"), one["metadata"]["name"])
    try:
        for left in reversed(range(TRIES)):
            metadata = one["metadata"]
            try:
                run.client.request("DELETE", path, {
                    "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy,
                    "preconditions": {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}})
                log(f"deleted {display_name(one)}")
                return None
            except ApiError as error:
                if error.status == 404:
                    return None
                if error.status != 409 or not left:
                    raise
            now = run.client.get(path)
            if not now or now["metadata"]["uid"] != metadata["uid"] or not still(now):
                return None
            one = dict({"apiVersion": one["apiVersion"], "kind": one["kind"]}, **now)
    except ApiError as error:
        return Failed(f"{display_name(one)}: {error}")


def patch_others(run, cr, state, live):
    """Sets the fields of the patches, and gives up those that are not wanted any more. Which objects have some is in
    their managedFields. Returns the reasons why patches are held back, and the failures."""
    held, failures, entries = [], [], run.config.get("patches") or []
    names = named(run, located(run, cr, live, state["related"]), state["related"]) if entries else {}
    for entry in entries:
        manager = patch_manager(run, cr, entry)
        try:
            missing = "" if state["finalizing"] or not is_wanted(entry, cr, names) else missing_value(entry, cr, names)
            if missing:
                held.append(f"{entry['name']}: waits for {missing}")
                run.holds = True
                continue
            wanted = {} if state["finalizing"] else wanted_patches(run, entry, cr, names)
            if wanted and not (entry.get("self") or entry.get("stays")):
                run.holds = True
                hold(run, cr)
            for one in [cr] if entry.get("self") else targets(run, entry):
                patch = wanted.pop(key_of(run, entry, one), None)
                if patch is not None or not entry.get("stays") and manages(one, manager):
                    apply_patch(run, entry, one, patch or {}, manager)
            held += [f"{entry['name']}: there is no {name_of(*key[1:])}" for key in wanted]
        except (ExpressionError, Failed) as error:
            refused = isinstance(error, (ExpressionError, Refused))
            failures.append((Refused if refused else Failed)(f"patch {entry['name']}: {told(entry, error)}"))
            log(f"failed: {failures[-1]}")
    return held, failures


def wanted_patches(run, entry, cr, names):
    """The patches of an entry by the object that they are for; none for an object without a name."""
    wanted = {}
    for patch in (built(entry["object"], cr, variables) for variables in items(entry, cr, names)):
        metadata = patch["metadata"] if isinstance(patch.get("metadata"), dict) else {}
        if metadata.get("name") is None:
            continue
        key = key_of(run, entry, patch, cr)
        refusal = run.refusal(entry, place_of(entry, patch, run.namespace), run.namespace)
        if refusal:
            raise Refused(refusal)
        if key in wanted:
            raise Refused(f"two are for {key[1]} {key[3]}")
        wanted[key] = patch
    return wanted


def targets(run, entry):
    """The objects that a patch may be for."""
    for namespace in [run.namespace] if entry.get("beside") else run.namespaces_of(entry):
        yield from run.client.list(path_of(entry, namespace), entry)


def patch_manager(run, cr, entry):
    """The field manager of a patch for a custom resource."""
    return f"{run.operator}.{cr['metadata']['uid']}.{entry['name']}"


def patches_itself(run, cr):
    """Whether an object has fields of a patch that is for itself."""
    return any(entry.get("self") and manages(cr, patch_manager(run, cr, entry)) for entry in run.config.get("patches") or [])


def manages(one, manager):
    return any(given.get("manager") == manager for given in one["metadata"].get("managedFields") or [])


def apply_patch(run, entry, one, patch, manager):
    """Applies the fields to an object, and no others: without fields, it gives up all. It forces nothing."""
    given = patch["metadata"] if patch else {}
    metadata = {key: value for key, value in given.items() if key not in SERVER_MADE}
    metadata.update({key: one["metadata"][key] for key in ("name", "namespace", "uid") if key in one["metadata"]})
    body = encoded(dict(patch, apiVersion=entry["apiVersion"], kind=entry["kind"], metadata=metadata))
    try:
        run.client.apply(path_of(entry, metadata.get("namespace"), metadata["name"], entry.get("part", "")), body, manager, False)
        log(f"{'patched' if patch else 'gave up'} {display_name(one)}")
    except ApiError as error:
        refuse_conflicts(one, error)
        if patch or error.status not in (404, 409):  # an object that is gone has no field to give up
            raise (Refused if error.code == 2 else Failed)(f"{display_name(one)}: {answer(entry, error)}") from None
