"""Reconciles of a worker that run once as a Workflow, so that Argo's user interface shows their steps and logs.

The pod of such a Workflow runs the same program as the worker, with its account. Meanwhile the worker leaves that custom
resource alone.
"""
import hashlib
import re
import threading

from api import ApiError, Failed, log
from dates import seconds_of, time_at
from names import MANAGED_BY, SHOW, SHOWN, WORKFLOW, WORKFLOWS, path_of
from run import digest_of_inputs
from status import SEE, create_event, event_of, holds_true, ready_condition, split_message, write_status

PATIENCE = 7      # failed attempts in a row, for a minute, after which a failure counts as one for good
AT_ONCE = 3       # Workflows at a time
AN_HOUR = 20      # Workflows in an hour
BEGIN = 120       # seconds in which a pod of a Workflow may begin; later it does nothing
SLACK = 15        # seconds by which the clocks of machines differ
MOST = 10000      # names that are remembered
HOUR = 3600       # seconds; a request by an annotation that is older counts as served
PAUSE = 3         # seconds between two looks at a Workflow
ENDED = "its Workflow may have ended"  # the cause of a look


class Shows:
    """The Workflows of one operator. Their names say what they are about, so none is made twice."""

    def __init__(self, spec):
        self.spec, self.lock, self.installed = spec, threading.Lock(), None  # installed: None until the first reconcile
        self.longest = BEGIN + SLACK + spec["activeDeadlineSeconds"]  # seconds after which it has ended
        self.open, self.known, self.there, self.times = {}, set(), set(), []  # open: name and time of a Workflow, by key

    # Before a reconcile

    def runs(self, run):
        """Whether a Workflow reconciles the custom resource at the moment."""
        with self.lock:
            if self.installed is None:
                self.installed = self._find(run)
            name, made = self.open.get(run.key, ("", 0))
        if not name:
            return False
        age, status = seconds_of(run.now()) - made, {}
        if age < self.longest:
            workflow = run.client.get(path_of(WORKFLOWS, run.config["namespace"], name))
            status = (workflow or {}).get("status") or {}
            if workflow and not status.get("finishedAt") and (status.get("phase") or age < BEGIN + SLACK):
                return True
            if workflow and not status.get("phase"):
                self.installed = False  # others would keep their custom resources waiting, too
                log("no controller of Argo Workflows runs it, so no other one is made until this worker starts again")
        with self.lock:
            self.open.pop(run.key, None)
        log(f"workflow {name} ended: {status.get('phase') or 'not in time'}")
        return False

    def _find(self, run):
        """Finds the Workflows of an earlier process. Returns whether Argo Workflows is installed."""
        selector, self.times = f"{MANAGED_BY}={run.operator},{SHOWN}", []
        try:
            for one in run.client.list(path_of(WORKFLOWS, run.config["namespace"]), WORKFLOW, selector):
                name, made = one["metadata"]["name"], seconds_of(one["metadata"]["creationTimestamp"])
                self.known.add(name)
                self.there.add(name)
                self.times.append(made)
                key = key_in(one)
                if key and not (one.get("status") or {}).get("finishedAt"):
                    self.open[key] = name, made
        except ApiError as error:
            if error.status not in (403, 404):
                raise
            log("Argo Workflows is not installed" if error.status == 404 else f"no Workflow shows a reconcile: {error}")
            return False
        return True

    # After a reconcile

    def look(self, run, code, attempts):
        """Makes the Workflow that the custom resource asks for, or that shows its failure. `attempts` have failed in a row."""
        cr = run.cr
        if cr is None:
            return
        try:
            asked = (cr["metadata"].get("annotations") or {}).get(SHOW)
            name = asked is not None and name_of(run, cr, "x" + hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:8])
            if name and name not in self.known and asked_at(cr) > seconds_of(run.now()) - HOUR:
                self._make(run, cr, name, "as its annotation asks")
            elif self.installed and (code == 2 or code and attempts >= PATIENCE):
                name = name_of_failure(run, cr)
                if name not in self.known and not mentions(cr, name):
                    self._make(run, cr, name, "to show its failure")
                    refer(run, cr, self.place(run, cr))
        except Failed as failure:
            log(f"no Workflow shows the reconcile: {failure}")

    def place(self, run, cr):
        """Where the Workflow is that shows the failure of a custom resource, or ""."""
        name = name_of_failure(run, cr)
        return run.workflow_place(name) if name in self.there or mentions(cr, name) else ""

    def _make(self, run, cr, name, why):
        """Makes a Workflow, if there may be another one."""
        now = seconds_of(run.now())
        with self.lock:
            self.times = [time for time in self.times if time > now - HOUR]
            self.open = {key: one for key, one in self.open.items() if now < one[1] + self.longest}
            if self.installed and (len(self.open) >= AT_ONCE or len(self.times) >= AN_HOUR):
                log(f"no Workflow is made {why}: there are {AT_ONCE} already, or {AN_HOUR} in an hour")
                return
            if len(self.known) > MOST:
                self.known.clear()
                self.there.clear()  # the statuses say it, too
            self.known.add(name)
            if self.installed:
                self.times.append(now)
                self.open[run.key] = name, now
        if self.installed:
            self._create(run, cr, name, why)
        elif why == "as its annotation asks":
            tell(run, cr, name, "NotShown", "Argo Workflows was not installed, not accessible or not running when the worker looked")

    def _create(self, run, cr, name, why):
        body = dict(WORKFLOW, metadata={
            "name": name, "namespace": run.config["namespace"], "labels": {MANAGED_BY: run.operator, SHOWN: cr["metadata"]["uid"]}},
            spec=dict(self.spec, arguments={"parameters": [
                {"name": "key", "value": run.key}, {"name": "until", "value": time_at(seconds_of(run.now()) + BEGIN)}]}))
        try:
            run.client.request("POST", path_of(WORKFLOWS, run.config["namespace"]), body, {"fieldManager": run.operator})
        except ApiError as error:
            if error.status == 409:  # there is one already
                self.there.add(name)
                return
            log(f"no Workflow is made {why}: {error}")
            with self.lock:
                if error.status == 404:
                    self.installed = False
                if 400 <= error.status < 500:
                    self.open.pop(run.key, None)
                else:  # it may be there
                    self.known.discard(name)
            return
        self.there.add(name)
        log(f"runs once more as workflow {run.config['namespace']}/{name}, {why}")
        tell(run, cr, name, "Shown", f"runs once more, {why}, as {run.workflow_place(name)}: "
             f"argo get -n {run.config['namespace']} {name}")


def name_of(run, cr, about):
    """The name of a Workflow about a custom resource."""
    end = f"-{cr['metadata']['uid'][:8].rstrip('-')}-{about}"
    return re.sub("[^a-z0-9]+", "-", f"{run.operator}-{cr['metadata']['name']}".lower())[:63 - len(end)].rstrip("-") + end


def key_in(workflow):
    """The key of the custom resource that a Workflow reconciles; "" if it has none, because somebody else made it."""
    try:
        return str(workflow["spec"]["arguments"]["parameters"][0]["value"])
    except (KeyError, IndexError, TypeError):
        return ""


def name_of_failure(run, cr):
    """The name of the Workflow that shows the failure of a generation."""
    return name_of(run, cr, str(cr["metadata"].get("generation") or digest_of_inputs(run, cr)[:8]))


def mentions(cr, name):
    """Whether the failure of a custom resource refers to a Workflow."""
    return bool(re.search(f"/{name}(?![-a-z0-9])", ready_condition(cr).get("message") or ""))


def asked_at(cr):
    """When the annotation was written, or a little later: by whoever wrote it."""
    times = [seconds_of(entry["time"]) for entry in cr["metadata"].get("managedFields") or [] if entry.get("time")
             and "f:" + SHOW in ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:annotations", {})]
    return max(times, default=float("inf"))


def refer(run, cr, place):
    """Says in the conditions of a failure where its Workflow is."""
    now = run.get_parent() if place else None
    if now is None or any(now["metadata"].get(key) != cr["metadata"].get(key) for key in ("uid", "generation")):
        return
    given = {one.get("type"): one for one in (now.get("status") or {}).get("conditions") or []}
    if not holds_true(given, "Stalled") or ready_condition(now).get("status") != "False":
        return
    changed = [dict(given[name], message=split_message(given[name])[0] + SEE + place) for name in ("Ready", "Stalled")]
    write_status(run, now, now["status"].get("observedGeneration", 0), now["status"], changed)


def tell(run, cr, name, reason, message):
    """Creates an Event about a Workflow. Never raises an exception."""
    event = event_of(run, cr, "Normal", reason, {"message": message}, name)
    event["metadata"]["name"] = f"{name}.{reason.lower()}"
    create_event(run, event)
