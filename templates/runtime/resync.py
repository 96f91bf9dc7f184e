"""resync and enqueue: start a run for each custom resource that needs one."""
from api import ApiError, log
from compute import UNMET, unready_reason
from due import CONTENT, content, due, finalization_reason, last_run_failed, related_outdated, status_reads_children
from names import MANAGED_BY, OWNER_UID, WORKFLOW, WORKFLOWS, path_of
from objects import delete
from parent import request_computation
from related import condensed
from run import belongs, is_for_another, is_paused
from sensors import restart_disconnected

SLOW_CLOCK = 10  # seconds: a Sensor adds changes to a Workflow until its own clock has left the window


def resync(run):
    """Submits a Workflow for each custom resource that needs a reconcile or, if there are templates, makes the Sensor
    submit it. Repairs the effect of lost events."""
    return 1 if look(run, ask if run.templates else submit, restart_disconnected(run)) else 0


def look(run, start, failed=0, first=lambda cr: ""):
    """Starts a reconcile of each custom resource that needs one. `first` sees each before it is looked at, and may say why it
    needs one. Returns the number of failures, added to `failed`."""
    children, related = {}, all_related(run)
    for kind in run.kinds():
        for child in list_all(run, kind, f"{MANAGED_BY}={run.operator}"):
            if not child["metadata"].get("deletionTimestamp"):
                children.setdefault((child["metadata"].get("labels") or {}).get(OWNER_UID), []).append(condensed_child(run, child))

    def why(cr):
        own = [child for child in children.get(cr["metadata"]["uid"], []) if belongs(run, cr, child)]
        return first(cr) or due(run, cr, own, related)

    return reconcile_due(run, why, start, failed)


def condensed_child(run, child):
    """The part of a child that shows its identity and whether it needs a run, because there may be many. All of it is kept,
    compressed, if the status is computed from children."""
    metadata = {key: child["metadata"][key] for key in (
        "namespace", "name", "uid", "labels", "annotations", "ownerReferences") if key in child["metadata"]}
    metadata["managedFields"] = [{key: entry[key] for key in ("manager", "subresource", "time") if key in entry}
                                 for entry in child["metadata"].get("managedFields") or []]
    kept = {CONTENT: content(child)} if status_reads_children(run) else {}
    return dict(kept, apiVersion=child["apiVersion"], kind=child["kind"], metadata=metadata, **{UNMET: unready_reason(run, child)})


def list_all(run, kind, selector=""):
    """The objects of a kind in the watched namespaces, or in the only one where related objects are."""
    fixed = kind.get("fixedNamespace")
    for namespace in [fixed] if fixed else (run.watched or [""]) if kind["namespaced"] else [""]:
        yield from run.client.list(path_of(kind, namespace), kind, selector)


def reconcile_due(run, why, start, failed=0):
    """Starts a reconcile of each custom resource that needs one. Returns the number of failures, added to `failed`."""
    total = submitted = 0
    for cr in list_all(run, run.parent):
        if run.is_own_child(cr) or is_for_another(run.config, key_of(cr)):
            continue
        total += 1
        try:
            reason = why(cr)
        except RecursionError:  # continue with the others
            log(f"{cr['metadata']['name']} is nested too deep to be looked at")
            reason, failed = "", failed + 1
        if reason:
            done = start(run, cr, reason)
            submitted, failed = submitted + done, failed + (not done)
    log(f"{total} custom resources, {submitted} submitted, {failed} failed")
    return failed


def all_related(run):
    """The related objects of all custom resources, by entry."""
    return {entry["name"]: [condensed(run, one) for one in list_all(run, entry)] for entry in run.related if entry["watch"]}


def enqueue(run):
    """Submits a Workflow for each custom resource whose related objects changed since its last reconcile. It lists all
    of them, so one run serves all changes before it, and deletes the Workflows of such changes that wait for their turn:
    their number would grow while there are more windows than runs."""
    served = list(waiting(run))
    related = all_related(run)

    def why(cr):
        if is_paused(cr):
            return ""
        return finalization_reason(run, cr) if run.unselected(cr) else related_outdated(run, cr, related) or last_run_failed(cr)

    if reconcile_due(run, why, ask if run.templates else submit):
        return 1  # those that wait try again
    for one in served:
        failure = delete(run, dict(WORKFLOWS, kind="Workflow"), dict(one, kind="Workflow"), is_waiting)
        if failure:
            log(f"it runs although this one has served its changes: {failure}")
    return 0


def waiting(run):
    """The Workflows that wait for the end of this one and whose window has ended, also for a clock that is slow."""
    names = run.config["enqueue"]
    for one in run.client.list(path_of(WORKFLOWS, run.config["namespace"]), WORKFLOW, f"{MANAGED_BY}={run.operator}"):
        number = one["metadata"]["name"].removeprefix(names["prefix"])
        if number.isdecimal() and is_waiting(one) and (int(number) + 1) * names["window"] + SLOW_CLOCK < run.seconds():
            yield one


def is_waiting(workflow):
    """Whether Argo has not begun a Workflow."""
    return (workflow.get("status") or {}).get("phase", "") in ("", "Pending")


def key_of(cr):
    """The key of a custom resource: namespace and name, joined by a dot."""
    return f"{cr['metadata'].get('namespace') or ''}.{cr['metadata']['name']}"


def ask(run, cr, reason):
    """Makes the Sensor compute a custom resource. Returns whether that succeeded."""
    key = key_of(cr)
    try:
        request_computation(run, cr)
        log(f"{key}: {reason}")
        return True
    except ApiError as error:
        log(f"{key}: {reason}, but no fresh computation could be asked for: {error}")
        return False


def submit(run, cr, reason):
    """Creates the Workflow. Returns whether that succeeded."""
    key, name = key_of(cr), cr["metadata"]["name"]
    prefix = f"{run.operator}-{name}".replace(".", "-")[:56].rstrip("-") + "-"
    workflow = {
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
        "metadata": {"generateName": prefix, "namespace": run.config["namespace"],
                     "labels": {MANAGED_BY: run.operator}},
        "spec": {"workflowTemplateRef": {"name": run.config["workflowTemplate"]},
                 "arguments": {"parameters": [{"name": "key", "value": key}]}}}
    try:
        run.client.request("POST", path_of(WORKFLOWS, run.config["namespace"]), workflow)
        log(f"{key}: {reason}")
        return True
    except ApiError as error:
        log(f"{key}: {reason}, but no Workflow could be created: {error}")
        return False
