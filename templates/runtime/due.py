"""Why a custom resource needs a run."""
import json
import zlib

from api import Refused
from compute import computed_status, existing, identities, items, located, mentions, unready_reason
from names import DEFINITION, INPUTS, RELATED, SIBLINGS
from objects import patches_itself
from related import digest_of, related_to, rule_of, select
from run import digest_of_inputs, display_name, is_paused, name_of
from schedules import scheduled
from status import ready_condition, says_paused, shows
from values import ExpressionError

UNFIT = {"expr": None}  # an expression that only the Sensor can evaluate
CONTENT = "argoperator.dev/content"  # the content of a child, compressed; no object has such a field


def due(run, cr, children, related=None):
    """Why a custom resource needs a run, or "". Uses only data of the lists."""
    if is_paused(cr):
        return "" if says_paused(run, cr) else "is paused"
    if cr["metadata"].get("deletionTimestamp"):
        return finalization_reason(run, cr)
    if not run.is_selected(cr):
        return "is not selected any more" if children or run.has_finalizer(cr) or patches_itself(run, cr) else ""
    if run.config.get("resyncPolicy") == "Always":
        return "resync always"
    children = [child for child in children if not run.is_left(child)]
    return (outdated(run, cr, children) or related_outdated(run, cr, related or {}) or unwatched(run, cr)
            or status_outdated(run, cr, children))


def outdated(run, cr, children):
    """Why the children of a custom resource need to be applied, or ""."""
    metadata, status = cr["metadata"], cr.get("status") or {}
    if run.config.get("finalizerForced") and not run.has_finalizer(cr):
        return "has no finalizer yet"
    if run.parent["status"]:
        lacks, ready = run.parent.get("lacks") or [], ready_condition(cr)
        if "observedGeneration" not in lacks and status.get("observedGeneration") != metadata.get("generation"):
            return "its latest change is not reconciled"
        if "conditions" not in lacks and ready.get("status") != "True" and ready.get("reason") in (None, "ReconcileFailed", "Paused"):
            return "is not ready"
    if run.config.get("patches"):
        return "patches objects of others"
    inputs, updated = digest_of_inputs(run, cr), [child for child in children if not (run.declared(child) or {}).get("never")]
    if updated:
        reasons = (drifted(run, child, len(children), inputs) for child in updated)
    else:  # the notes of the others may be of an earlier reconcile
        reasons = (missing(run, cr, entry, children) for entry in run.config["children"])
    return next((reason for reason in reasons if reason), "")


def missing(run, cr, entry, children):
    """Why an object of an entry may be missing or unwanted, or ""."""
    there, conditions = existing(run, entry["name"], children), [entry.get("when"), entry.get("forEach")]
    parts = [part for part in conditions if part] + [entry.get("identity")]
    if any(part in (None, UNFIT) or mentions(part, "$children") or mentions(part, "$related") for part in parts):
        if not there and not any(conditions):
            return f"{entry['name']} is missing"
        unknown = any(conditions) or entry.get("identity") is None  # the logic decides how many there are
        return f"{entry['name']} is not computed from the custom resource alone, so one may be missing" if unknown else ""
    try:
        wanted = identities(run, entry, cr, items(entry, cr, {}))
    except ExpressionError:  # the failed run has reported it
        return ""
    return next((f"{name_of(*key[1:])} is {'missing' if key in wanted else 'not wanted'}" for key in sorted(wanted ^ there)), "")


def status_outdated(run, cr, children):
    """Why the status of a custom resource differs from its own state, or that of its children, or ""."""
    if not run.parent["status"]:
        return ""
    if (run.config.get("status") or {}).get("object"):
        reads = status_reads_children(run)
        live = located(run, cr, [content_of(child) for child in children]) if reads else []
        if not shows(run, cr, computed_status(run, cr, live, {}, say=lambda text: None)):
            return f"its status is computed from another state of {'its children' if reads else run.parent['kind']}"
    if "conditions" in (run.parent.get("lacks") or []):
        return ""
    ready, waiting = ready_condition(cr), any(unready_reason(run, child) for child in children)
    state = ready.get("status"), ready.get("reason")
    if waiting and state == ("True", "Reconciled"):
        return "is shown as ready, and a child is not"
    return "is not ready" if state[0] != "True" and (run.doubts or not (waiting and state == ("False", "Progressing"))) else ""


def children_read_children(run):
    """Whether the definition computes children from others."""
    return any(mentions([entry.get(part) for part in ("object", "when", "forEach")], "$children") for entry in run.config["children"])


def status_reads_children(run):
    """Whether the definition computes the status from children."""
    return mentions((run.config.get("status") or {}).get("object") or {}, "$children")


def content(child):
    """The content of a child, to be kept while there may be many of them."""
    return zlib.compress(json.dumps(child).encode())


def content_of(child):
    return json.loads(zlib.decompress(child[CONTENT])) if CONTENT in child else child


def related_outdated(run, cr, related):
    """Why a custom resource needs a run because of its related objects, or ""."""
    if not run.depends:
        return ""
    try:
        found = related_to(run, cr, lambda entry, namespace, rule: select(related.get(entry["name"]) or [], namespace, rule))
        found.update(scheduled(run, cr))
    except Refused:  # the failed run has reported it
        return ""
    known = (cr["metadata"].get("annotations") or {}).get(RELATED)
    return "" if known == digest_of(run, found) else "what it refers to has changed"


def unwatched(run, cr):
    """Why a custom resource needs a run because it refers to objects of which no event comes, or ""."""
    for entry in run.related:
        if not entry["watch"]:
            try:
                rule = rule_of(entry, cr)
            except Refused:  # the failed run has reported it
                continue
            if rule["names"] or rule.get("labelSelector") is not None:
                return f"refers to {entry['name']}, whose changes are not watched"
    return ""


def drifted(run, child, siblings, inputs):
    annotations = child["metadata"].get("annotations") or {}
    if annotations.get(SIBLINGS) != str(siblings):
        return f"has {siblings} children instead of {annotations.get(SIBLINGS)}"
    if annotations.get(DEFINITION) != run.config["digest"]:
        return f"{display_name(child)} is of another definition"
    if annotations.get(INPUTS, inputs) != inputs:
        return f"{display_name(child)} is computed from another state of {run.parent['kind']}"
    ours, others = last_writes(run, child, ("",))
    late = others >= ours if run.doubts else others > ours  # times have no fractions
    return f"{display_name(child)} was changed by others" if others and late else ""


def last_writes(run, child, through):
    """When the operator and when others wrote a child last, through these subresources ("" is the object itself). RFC
    3339 in UTC sorts by time."""
    times = {True: "", False: ""}
    for entry in child["metadata"].get("managedFields") or []:
        if (entry.get("subresource") or "") in through:
            ours = entry.get("manager") == run.operator
            times[ours] = max(times[ours], entry.get("time") or "")
    return times[True], times[False]


def finalization_reason(run, cr):
    """Why an object that is being deleted needs a run, or ""."""
    return "waits for its clean-up" if run.has_finalizer(cr) else ""


def last_run_failed(cr):
    """Why a custom resource whose last run failed needs another one, or "": the change may have fixed it."""
    return "its last reconcile has failed" if ready_condition(cr).get("reason") == "ReconcileFailed" else ""
