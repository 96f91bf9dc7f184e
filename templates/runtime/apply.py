"""apply: the children of the templates and the response of the logic."""
import math

from api import ApiError, Failed, Refused, log
from children import checked
from compute import computed_status, failing_settled, templated, waits_for
from dates import seconds_of
from expiry import is_over
from hook import exit_code_of, read_response, to_delete
from names import MANAGED_BY, TIMER, WORKFLOW, WORKFLOWS, path_of
from objects import apply_child, delete, outlives, patch_others, policy_of, prune
from parent import acquire, decorate, refuse_templates, remove_finalizer, state_of, unchanged_parent
from related import read_related, store_related
from run import belongs, display_name, identity, read_json, release
from status import condition, last_status, or_record, record_failure, report_ready, write_status
from values import merged

LONGEST_WAIT = 30 * 24 * 3600  # seconds; a longer delay is split


def apply(run):
    """Applies the desired state: children, pruning, status, finalizer. Without logic there was no `read` before."""
    if "ARGOPERATOR_EXECUTOR" in run.env:
        for container in ("read", "logic"):
            code = exit_code_of(run, container)
            if code:
                log(f'dependency "{container}" exited with non-zero code: {code}')
                return code
    if run.logic:
        state = read_json(run.state("state.json"))
        cr = None if state["gone"] else unchanged_parent(run, state)
    else:
        cr = acquire(run)
        state = cr and state_of(run, cr)
    if cr is None:
        return 0
    return or_record(run, cr, state["generation"], lambda: apply_desired(run, cr, state))


def apply_desired(run, cr, state):
    if is_over(run, cr):
        return 0
    for entry in run.config["children"]:
        policy_of(entry, cr)  # what is wrong is reported before it matters
    if state["finalizing"] and run.config.get("deletesInReverse"):
        return delete_in_reverse(run, cr, state)
    alone = state["finalizing"] and not run.logic  # no template is computed any more
    listed = run.config.get("readsObjects") and not alone
    here = run.children(cr) if listed or failing_settled(run) else []
    if not run.logic:
        read_related(run, cr, state)
    refuse_templates(run, state)
    response = read_response(run) if run.logic else {"children": [], "status": {}}
    doomed = to_delete(run, state, response)
    for _ in range(len(run.config["children"]) + 1):  # again when a child is gone that others read, and no event will tell
        unseen = set()
        wanted, live, held, failures = make_children(run, cr, state, response["children"], here)
        failures += prune(run, cr, wanted, live if listed else None, unseen)
        if failures or not listed or not unseen:
            break
        here = [child for child in live if identity(child) not in unseen]
    keep = {identity(child) for child in wanted}
    live = [child for child in live if identity(child) in keep]
    failures += delete_related(run, doomed)
    waiting, refused = patch_others(run, cr, state, live)
    held, failures = held + waiting, failures + refused
    status = merged(computed_status(run, cr, live, state["related"]), response["status"])
    if failures:
        text = "; ".join(str(failure) for failure in failures)
        record_failure(run, cr, state["generation"], text, status)
        return min(failure.code for failure in failures)
    decorate(run, cr, response)
    if state["finalizing"]:
        return finalize(run, cr, state["generation"], response, status)
    release(run, cr)
    report_ready(run, cr, state["generation"], status, live, held)
    store_related(run, cr, state)
    schedule_run(run, cr, response.get("resyncAfterSeconds"))
    return 0


def make_children(run, cr, state, answer, here):
    """Applies the wanted children: those of the templates and those that the logic answered with. A template may read
    what this run writes, so the templates are computed again after each round until nothing is left to write. Returns
    the wanted children, all living ones, the reasons why children are held back, and the failures."""
    live, applied, failures = {identity(child): child for child in here}, {}, {}
    for _ in range(len(run.config["children"]) + 1):
        desired = templated(run, cr, state, answer, list(live.values()))
        kept = [child for key, child in live.items() if key in desired.kept]
        wanted, refused = checked(run, cr, state["inputs"], answer, desired.objects, kept, sum(desired.waiting.values()))
        refused.fail(desired.failed)
        if refused.places or refused.templates:
            live = live or {identity(child): child for child in run.children(cr)}
            known = {identity(child) for child in wanted + kept}
            kept += [child for key, child in live.items() if key not in known and refused.covers(key, run.declared(child)["name"])]
        wanted = wanted + kept
        unknown = refused.templates.union(desired.waiting)
        places = {entry["name"]: [] for entry in run.config["children"] if entry["name"] not in unknown}
        for name, key in [(run.declared(child)["name"], identity(child)) for child in wanted] + [
                (name, key) for key, name in refused.places.items()]:
            if name not in refused.templates:
                places.setdefault(name, []).append(key)
        held, written = list(desired.held), False
        for child in in_order(run, wanted):
            key = identity(child)
            if child is live.get(key) or applied.get(key) == child:
                continue
            wait = "" if key in live else waits_for(run, run.declared(child), places, list(live.values()), failures)
            if wait:
                log(f"{display_name(child)} waits for {wait}")
                held.append(f"{display_name(child)}: waits for {wait}")
                continue
            applied[key], written = child, True
            failures.pop(key, None)
            try:
                live[key] = apply_child(run, cr, child, live.get(key), bool(run.config.get("readsObjects")))
            except Failed as failure:
                log(f"failed: {failure}")
                failures[key] = failure
                if key not in live:
                    live.update(found(run, cr, child))
        if not written or not run.config.get("readsObjects"):
            break
    problems = desired.failures + [Refused(text) for text in refused.texts]
    for problem in problems:
        log(f"failed: {problem}")
    return wanted, list(live.values()), held, problems + list(failures.values())


def found(run, cr, child):
    """The live object of a child that could not be applied, by its identity, if there is one."""
    try:
        live = run.client.get(path_of(run.declared(child), child["metadata"].get("namespace"), child["metadata"]["name"]))
    except ApiError:
        return {}
    one = dict({"apiVersion": child["apiVersion"], "kind": child["kind"]}, **live or {})
    return {identity(child): one} if live and belongs(run, cr, one) else {}


def in_order(run, wanted):
    """The children in the order in which they are applied: the logic's, or that of the definition if children depend on
    each other."""
    if not run.config.get("readsObjects"):
        return wanted
    position = {entry["name"]: index for index, entry in enumerate(run.config["children"])}
    return sorted(wanted, key=lambda child: position[run.declared(child)["name"]])


def finalize(run, cr, generation, response, status):
    """Removes the finalizer when the logic is finished and all that Kubernetes would not delete is gone. Without logic,
    it only waits for the deletions."""
    if not run.logic:
        return remove_finalizer(run, cr)
    left = [child for child in run.children(cr) if not outlives(run, cr, child)]
    blocking = [child for child in left if not run.ownable(child, run.declared(child))]
    finalized = response.get("finalized")
    if finalized is None:
        finalized, blocking = not response["children"], left
    if not finalized or blocking:
        waiting = "waiting for " + (", ".join(map(display_name, blocking)) or "the logic's clean-up")
        log(f"finalizing: {waiting}; a later event or the resync continues")
        write_status(run, cr, generation, status, [condition("Ready", "False", "Finalizing", waiting)])
        schedule_run(run, cr, response.get("resyncAfterSeconds"))
        return 0
    return remove_finalizer(run, cr)


def delete_in_reverse(run, cr, state):
    """Deletes the children that were made last, and the others when those are gone; then removes the finalizer."""
    _, failures = patch_others(run, cr, state, [])
    position = {entry["name"]: index for index, entry in enumerate(run.config["children"])}
    for _ in range(len(position) + 1):
        left = [child for child in run.children(cr) if not outlives(run, cr, child)]
        if not left:
            return remove_finalizer(run, cr)
        last = max(position[run.declared(child)["name"]] for child in left)
        waits = [child for child in left if position[run.declared(child)["name"]] == last]
        doomed = [child for child in waits if not child["metadata"].get("deletionTimestamp")]
        unseen = bool(run.config["children"][last].get("generate"))  # no event says when such a Secret is gone
        for child in doomed:
            policy = "Background" if unseen else "Foreground"
            failure = delete(run, run.declared(child), child, lambda now: belongs(run, cr, now), policy)
            failures += [failure] if failure else []
        if failures or not (doomed and unseen):
            break
    if failures:
        record_failure(run, cr, state["generation"], "; ".join(map(str, failures)), None)
        return min(failure.code for failure in failures)
    waiting = "waiting for " + ", ".join(map(display_name, waits))
    log(f"finalizing: {waiting}; its event continues")
    write_status(run, cr, state["generation"], last_status(cr), [condition("Ready", "False", "Finalizing", waiting)])
    return 0


def delete_related(run, doomed):
    """Deletes related objects, unless they have changed. Returns the failures."""
    return [failure for failure in (delete(run, entry, one, lambda now, one=one: still_related(now, one)) for entry, one in doomed)
            if failure]


def still_related(now, one):
    """Whether an object is still related. Its name cannot change."""
    return (now["metadata"].get("labels") or {}) == (one["metadata"].get("labels") or {})


def schedule_run(run, cr, seconds):
    """Reconciles the custom resource again after some seconds: a Workflow waits without a pod. It replaces an earlier
    request."""
    if not run.config.get("timer"):
        if seconds:
            log("resyncAfterSeconds is left to the next resync: the definition does not say logic.resyncAfter")
        return
    if run.config.get("worker"):
        if run.later:  # else a Workflow that shows a reconcile, after which the worker reconciles itself
            waits = [wait for wait in (seconds, run.left) if wait and wait > 0]
            run.later(min(waits + [LONGEST_WAIT]) if waits else 0)
        return
    namespace, uid = run.config["namespace"], cr["metadata"]["uid"]
    name = ""
    if seconds and seconds > 0:
        seconds = min(seconds, LONGEST_WAIT)
        due = int(seconds_of(run.now()) + math.ceil(seconds))
        name = f"{run.operator[:30].rstrip('-')}-timer-{uid[:8].rstrip('-')}-{due}"
        create_delayed_run(run, name, uid, max(1, math.ceil(seconds)))
    for one in run.client.list(path_of(WORKFLOWS, namespace), WORKFLOW, f"{TIMER}={uid}"):
        if one["metadata"]["name"] not in (name, run.env.get("ARGOPERATOR_WORKFLOW")) and not (one.get("status") or {}).get("finishedAt"):
            failure = delete(run, dict(WORKFLOWS, kind="Workflow"), dict(one, kind="Workflow"))
            if failure:
                raise failure


def create_delayed_run(run, name, uid, seconds):
    workflow = dict(WORKFLOW, metadata={
        "name": name, "namespace": run.config["namespace"], "labels": {MANAGED_BY: run.operator, TIMER: uid}}, spec={
            "workflowTemplateRef": {"name": run.config["timer"]},
            "arguments": {"parameters": [{"name": "key", "value": run.key}, {"name": "seconds", "value": str(seconds)}]}})
    try:
        run.client.request("POST", path_of(WORKFLOWS, run.config["namespace"]), workflow)
        log(f"reconciles again in {seconds} s")
    except ApiError as error:
        if error.status != 409:  # it exists already
            raise
