"""The custom resource of a run: whether this run is still the one for it, and its finalizer."""
import json

from api import ApiError, Failed, Refused, log
from compute import computed_status, located
from due import last_writes, outdated
from names import LAST_APPLIED, RECONCILE, RELATED
from objects import patch_others, prune
from related import read_related
from run import add_finalizer, annotate, digest_of_inputs, display_name, drop_finalizer, is_paused
from status import record_failure, report_paused, report_ready


def acquire(run):
    """The custom resource with the operator's finalizer, or None if there is nothing to do for this run."""
    for _ in range(5):
        cr = run.get_parent()
        if cr is None:
            log(f"{run.key} is gone: nothing to do")
            return None
        if is_paused(cr):
            return report_paused(run, cr)
        if not run.is_selected(cr) and not run.has_finalizer(cr):
            return release_unselected(run, cr)
        if not is_current(run, cr):
            return None
        if not run.config.get("finalizerForced") or run.has_finalizer(cr):
            return cr
        try:
            return add_finalizer(run, cr)
        except ApiError as error:
            if error.status not in (404, 409):
                raise
    raise Failed(f"{run.key} changes too fast to add the finalizer")


def release_unselected(run, cr):
    """Deletes what the operator created for an object that it no longer manages. None: there is nothing else to do."""
    _, failures = patch_others(run, cr, {"finalizing": True, "related": {}}, [])
    failures += prune(run, cr, [])
    log(f"{run.key} is not selected: nothing to do")
    if failures:
        raise failures[0]


def remove_finalizer(run, cr):
    """Removes the finalizer."""
    for _ in range(5):
        try:
            drop_finalizer(run, cr)
            log(f"finalized {run.key}")
            return 0
        except ApiError as error:
            if error.status not in (404, 409):
                raise
        uid, cr = cr["metadata"]["uid"], run.get_parent()
        if cr is None or cr["metadata"]["uid"] != uid:
            return 0
    raise Failed(f"{run.key} changes too fast to remove the finalizer")


def state_of(run, cr):
    """The state of the custom resource at the start of a run."""
    metadata = cr["metadata"]
    return {"gone": False, "uid": metadata["uid"], "generation": metadata.get("generation", 0),
            "inputs": digest_of_inputs(run, cr), "finalizing": run.unselected(cr), "related": {}}


def unchanged_parent(run, state):
    """The current custom resource, or None if what was read of it is no longer valid."""
    cr = run.get_parent()
    if cr is None or cr["metadata"]["uid"] != state["uid"]:
        log(f"{run.key} was deleted since it was read: nothing to do")
        return None
    if run.unselected(cr) and not state["finalizing"]:
        log(f"{run.key} is being deleted since it was read: the next run cleans up")
        return None
    if is_paused(cr):
        log(f"{run.key} was paused since it was read: nothing to do")
        return None
    return cr if is_current(run, cr) else None


def is_current(run, cr):
    """Whether the Sensor computed from the current custom resource. If it computed nothing, `look` continues; if the
    custom resource has changed, the event of that change has the new result."""
    metadata, desired = cr["metadata"], run.desired
    if not run.templates or metadata.get("deletionTimestamp"):
        return True
    if desired is None:
        look(run, cr)
        return False
    if "uid" not in desired:  # unreadable; refuse_templates reports it
        return True
    if desired["uid"] != metadata["uid"]:
        log(f"{run.key} was deleted and made again since: nothing to do")
        return False
    if desired.get("digest", run.config["digest"]) != run.config["digest"]:
        log(f"{run.key} was computed by another definition: the resync continues")
        return False
    if inputs_of(cr, desired["inputs"]) != comparable(desired["inputs"]):
        log(f"{run.key}: a newer change is on its way")
        return False
    return True


def inputs_of(cr, given):
    """The inputs of the templates. A kind without a generation is compared by its content, which the Sensor then
    sends."""
    metadata = cr["metadata"]
    inputs = {field: metadata.get(field) for field in ("generation", "labels", "annotations")}
    if "content" in given:
        inputs["content"] = {key: value for key, value in cr.items()
                             if key not in ("apiVersion", "kind", "metadata", "status")}
    return comparable(inputs)


def comparable(inputs):
    annotations = {key: value for key, value in (inputs.get("annotations") or {}).items()
                   if key not in (LAST_APPLIED, RELATED)}
    return [inputs.get("generation"), inputs.get("labels") or {}, annotations, rounded(inputs.get("content"))]


def rounded(value):
    """A value with numbers as a Sensor reads them, which rounds integers beyond 2^53."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def look(run, cr):
    """A run for the event of a child. It reports the state of the children, or requests a computation if that is not
    sufficient."""
    if run.logic or run.drift:
        reason = "the logic has to run" if run.logic else "a child was changed by others"
    else:
        live = located(run, cr, [child for child in run.children(cr) if not child["metadata"].get("deletionTimestamp")])
        reason = outdated(run, cr, live) or next((f"{display_name(child)} may have been changed by others"
                                                  for child in live if touched(run, child)), "")
    if not reason:
        return refresh(run, cr, live)
    request_computation(run, cr)
    log(f"{run.key}: asked for a fresh computation: {reason}")


def touched(run, child):
    """Whether another client may have written a child after the operator. Stricter than `drifted`, because the event of
    the change occurs only once: a write in the same second counts (times have no fractions), and so does a scale."""
    ours, others = last_writes(run, child, ("", "scale"))
    return others >= ours


def refresh(run, cr, live):
    """Writes the status computed from the live children."""
    state = state_of(run, cr)
    try:
        read_related(run, cr, state)
        report_ready(run, cr, state["generation"], computed_status(run, cr, live, state["related"]), live)
    except Failed as failure:
        record_failure(run, cr, state["generation"], str(failure), None)
        raise
    log(f"{run.key}: {len(live)} children looked at, nothing to apply")


def request_computation(run, cr):
    """Makes the Sensor compute again: the annotation is a change of the custom resource. Two requests may occur in one
    second, so the second one is half a second off."""
    now = run.now()
    if (cr["metadata"].get("annotations") or {}).get(RECONCILE) == now:
        now = now[:-1] + ".5Z"
    annotate(run, cr, RECONCILE, now)


def refuse_templates(run, state):
    """Raises Refused if the templates failed; a custom resource that is being deleted needs no templates."""
    error = (run.desired or {}).get("error")
    if run.templates and error and not state["finalizing"]:
        raise Refused(f"template: {error if isinstance(error, str) else json.dumps(error)}")


def decorate(run, cr, response):
    """Sets the labels and annotations that the logic wants on an object of an existing kind; null removes one."""
    if not run.config.get("decorate"):
        return
    patch = {}
    for field in ("labels", "annotations"):
        have, want = cr["metadata"].get(field) or {}, response.get(field) or {}
        change = {key: value for key, value in want.items() if have.get(key) != value}
        if change:
            patch[field] = change
    if patch:
        run.client.request("PATCH", run.parent_path(), {"metadata": patch}, {"fieldManager": run.operator},
                           "application/merge-patch+json")
        log(f"decorated {run.key}")
