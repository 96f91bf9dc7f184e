#!/usr/bin/env python3
"""The steps of a generated operator that run in pods.

Runs as `python3 reconcile.py COMMAND` in the pods of the generated Workflows; argoperator generates the
configuration in config.json next to this file. Standard library only, because the image is a stock Python.

Every run reads the cluster first and is idempotent: a second run changes nothing.
Exit codes: 0 success, 1 failed, retry, 2 refused (the same input would fail again).
"""
import base64
import copy
import datetime
import hashlib
import json
import math
import os
import re
import stat
import sys
import threading
import time
import urllib.parse

from api import MESSAGE_LIMIT, ApiError, Client, Failed, Refused, log
from expressions import ExpressionError, built, merged, parse_json, seconds_of

MANAGED_BY = "app.kubernetes.io/managed-by"
OWNER_UID = "argoperator.dev/owner-uid"
OWNER = "argoperator.dev/owner"
DEFINITION = "argoperator.dev/definition"
SIBLINGS = "argoperator.dev/siblings"
FIXED = "argoperator.dev/fixed"  # a fingerprint of the fields whose change replaces the object
CHILD = "argoperator.dev/child"          # label: the template that a child comes from
RECONCILE = "argoperator.dev/reconcile"  # annotation of a custom resource: asks for a fresh computation
RELATED = "argoperator.dev/related-digest"  # annotation of a custom resource: what it was reconciled with, as a digest
TIMER = "argoperator.dev/timer"          # label of a Workflow that waits for its time: the custom resource's uid
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
DRIFT = "drift"                          # sent instead of children: another client changed a child

LAST_RECEIVED = "argoperator.dev/last-received-"  # annotation of the EventSource: when a Sensor received its heartbeat
SUBSCRIBED = "argoperator.dev/subscribed-"  # annotation of the EventSource's pod: the programs that a Sensor subscribed with
RESTARTED_BY = "argoperator.dev/restarted-by"  # annotation of a Sensor's pod: another value replaces the pod

WORKFLOWS = {"apiVersion": "argoproj.io/v1alpha1", "plural": "workflows", "namespaced": True}
SENSORS = dict(WORKFLOWS, plural="sensors")
SOURCES = dict(WORKFLOWS, plural="eventsources")
WORKFLOW = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"}
SECRETS = {"apiVersion": "v1", "plural": "secrets", "namespaced": True}
ACCOUNTS = dict(SECRETS, plural="serviceaccounts")
EVENTS = {"apiVersion": "v1", "plural": "events", "namespaced": True}

TRIES = 5            # of a write with a conflict
NO_VERSION = "1"     # a resourceVersion that no object has: an apply with it creates the object, or fails if it exists
RESPONSE_LIMIT = 10 << 20  # bytes of the logic's response
LONGEST_WAIT = 30 * 24 * 3600  # seconds; a longer delay is split
HEARTBEAT_TIMEOUT = 180  # seconds without a heartbeat after which a Sensor counts as disconnected
EVENT_LIMIT = 1024    # bytes of an Event's message, a limit of the API server
SEE = "; see workflow "  # between what failed and where
# Fields of metadata that the API server sets. Logic may return an object from its request.
SERVER_MADE = ("managedFields", "resourceVersion", "uid", "generation", "selfLink",
               "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


# ---------------------------------------------------------------------------------------------------------------
# Paths of the API server


def path_of(kind, namespace, name="", subresource=""):
    """The path of an object or, without a name, of a collection; no namespace means all of them."""
    version = kind["apiVersion"]
    parts = ["apis" if "/" in version else "api"] + version.split("/")
    if kind["namespaced"] and namespace:
        parts += ["namespaces", namespace]
    parts += [kind["plural"], name, subresource]
    return "/" + "/".join(urllib.parse.quote(segment(part), safe="") for part in parts if part)


def segment(name):
    """A name as one segment of a path, or Refused: the API server decodes an escaped slash."""
    if name in (".", "..") or "/" in name or "%" in name:
        raise Refused("%r cannot be the name of an object or a namespace" % name[:300])
    return name


# ---------------------------------------------------------------------------------------------------------------
# One run of one operator


class Run:
    """The context of a command: the operator's configuration, the API server, the environment, the time."""

    def __init__(self, env, client, now, sleep=time.sleep):
        with open(env["ARGOPERATOR_CONFIG"], encoding="utf-8") as file:
            self.config = json.load(file)
        self.env, self.client, self.now, self.sleep = env, client, now, sleep
        self.parent = self.config["parent"]
        self.operator = self.config["operator"]
        self.finalizer = self.config.get("finalizer") or ""
        self.logic = "ARGOPERATOR_RESPONSE" in env  # otherwise only templates create children
        self.templates = bool(self.config.get("templates"))  # the Sensor computes them
        self.related = self.config.get("related") or []
        self.desired = desired_from(env.get("ARGOPERATOR_DESIRED", ""))
        self.drift = env.get("ARGOPERATOR_DESIRED", "").strip() == DRIFT
        self.watched = self.config.get("watchNamespaces") or []
        self.allowed = self.config.get("allowedNamespaces") or ""
        self.key = env.get("ARGOPERATOR_KEY", "")
        self.namespace, _, self.name = self.key.partition(".")

    def file(self, name):
        """The path of a file in the workspace, which the containers of the pod share."""
        return os.path.join(self.env["ARGOPERATOR_WORKSPACE"], name)

    def state(self, name):
        """The path of a file that the logic cannot access."""
        return os.path.join(self.env.get("ARGOPERATOR_STATE") or self.env["ARGOPERATOR_WORKSPACE"], name)

    def workflow(self):
        """The Workflow in messages: namespace/name, with a link if the URL of Argo Server is configured."""
        place = "%s/%s" % (self.config["namespace"], self.env.get("ARGOPERATOR_WORKFLOW", ""))
        server = (self.config.get("argoServerURL") or "").rstrip("/")
        return place + (" %s/workflows/%s" % (server, place) if server else "")

    def parent_path(self, subresource=""):
        return path_of(self.parent, self.namespace, self.name, subresource)

    def get_parent(self):
        """The current custom resource, or None if there is nothing to do for it: it was deleted, and has no finalizer
        of the operator."""
        cr = self.client.get(self.parent_path())
        if cr and cr["metadata"].get("deletionTimestamp") and not self.has_finalizer(cr):
            return None
        return cr

    def has_finalizer(self, cr):
        """Whether the custom resource has the operator's finalizer."""
        return bool(self.finalizer) and self.finalizer in (cr["metadata"].get("finalizers") or [])

    def is_selected(self, cr):
        """Whether the operator manages this object: for an existing kind, a definition may have a selector."""
        try:
            return self.parent.get("selected") is None or built(self.parent["selected"], cr, {}) is True
        except ExpressionError:
            return False

    def unselected(self, cr):
        """Whether to delete what the operator has created for the object."""
        return bool(cr["metadata"].get("deletionTimestamp")) or not self.is_selected(cr)

    def kinds(self):
        """The declared kinds without duplicates: children of the same kind need only one list request."""
        kinds = {}
        for entry in self.config["children"]:
            kinds.setdefault((entry["apiVersion"], entry["kind"]), entry)
        return list(kinds.values())

    def declared(self, child):
        """The entry of the configuration that a child belongs to, or None. A child of a template carries its name.
        Where several entries have the kind of another, it belongs to the one whose name its own name ends with,
        else to the first; a template's only where there is no other."""
        same = [entry for entry in self.config["children"]
                if (entry["apiVersion"], entry["kind"]) == (child.get("apiVersion"), child.get("kind"))]
        labels = child["metadata"].get("labels")
        label = labels.get(CHILD) if isinstance(labels, dict) else None
        if label in [entry["name"] for entry in same]:
            return next(entry for entry in same if entry["name"] == label)
        same = [entry for entry in same if not entry.get("template")] or same
        name = "-" + str(child["metadata"]["name"])
        named = [entry for entry in same if name.endswith("-" + entry["name"])]
        return max(named, key=lambda entry: len(entry["name"])) if named else same[0] if same else None

    def ownable(self, child, entry, namespace=None):
        """Whether the child, in this namespace, can have an ownerReference to the custom resource."""
        if not self.parent["namespaced"]:
            return True
        return entry["namespaced"] and child["metadata"].get("namespace") == (self.namespace if namespace is None else namespace)

    def may_choose(self, namespace, own):
        """Whether a custom resource of namespace `own` may make the operator access a namespace."""
        return not self.allowed or namespace == own or re.fullmatch(self.allowed, namespace) is not None

    def namespaces_of(self, kind):
        """The namespaces that can contain children of the custom resource; "" means all."""
        if not kind["namespaced"]:
            return [""]
        if self.parent["namespaced"] and not self.finalizer:
            return [self.namespace]
        return sorted(set(self.watched + [self.namespace])) if self.watched and self.namespace else self.watched or [""]

    def children(self, cr):
        """The live children of the custom resource, sorted."""
        selector = "%s=%s,%s=%s" % (MANAGED_BY, self.operator, OWNER_UID, cr["metadata"]["uid"])
        found = []
        for kind in self.kinds():
            for namespace in self.namespaces_of(kind):
                found += self.client.list(path_of(kind, namespace), kind, selector)
        return sorted((child for child in found if belongs(self, cr, child)), key=identity)


def belongs(run, cr, child):
    """Whether an object is a child of the custom resource. Others may write labels, so a child that can be owned is
    known by its owner. Of the others an admission policy lets only the operator write the labels; but a controller
    copies them where the child's own template has them, as a Deployment does with those of its Pod template."""
    metadata, uid, entry = child["metadata"], cr["metadata"]["uid"], run.declared(child)
    if entry is None or not labelled(run, metadata, uid):
        return False
    if by_label(run, cr, child, entry):
        return all(owner.get("uid") == uid for owner in controllers(metadata))
    return run.ownable(child, entry, cr["metadata"].get("namespace") or "") and owned_by(metadata, uid)


def by_label(run, cr, child, entry):
    """Whether a child is known by its labels: it is not owned, because it cannot be or is to outlive its owner. Only of
    kinds of which the definition has such a child the labels are protected."""
    if not any(other.get("unowned") for other in run.config["children"]
               if (other["apiVersion"], other["kind"]) == (entry["apiVersion"], entry["kind"])):
        return False
    return entry.get("onDelete") == "Orphan" or not run.ownable(child, entry, cr["metadata"].get("namespace") or "")


def labelled(run, metadata, uid):
    labels = metadata.get("labels") or {}
    return labels.get(MANAGED_BY) == run.operator and labels.get(OWNER_UID) == uid


def controllers(metadata):
    return [owner for owner in metadata.get("ownerReferences") or [] if owner.get("controller")]


def owned_by(metadata, uid):
    return uid in [owner.get("uid") for owner in controllers(metadata)]


def identity(child):
    metadata = child["metadata"]
    return child["apiVersion"], child["kind"], metadata.get("namespace") or "", metadata["name"]


def display_name(child):
    """A child in messages."""
    metadata = child["metadata"]
    return "%s %s" % (child["kind"], "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part))


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return parse_json(file.read())


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# ---------------------------------------------------------------------------------------------------------------
# read: the request for the logic


def read(run):
    """Reads the custom resource and its children and writes the request of Metacontroller's sync hook."""
    for variable in ("ARGOPERATOR_REQUEST", "ARGOPERATOR_RESPONSE"):  # a retry may find files of an earlier attempt
        if os.path.exists(run.env[variable]):
            os.remove(run.env[variable])
    cr = acquire(run)
    if cr is None:
        write(run.state("state.json"), json.dumps({"gone": True}))
        return 0
    state = state_of(run, cr)
    return or_record(run, cr, state["generation"], lambda: ask_logic(run, cr, state))


def ask_logic(run, cr, state):
    """Writes the request, and next to it the state that `apply` needs."""
    refuse_templates(run, state)
    live = run.children(cr)
    read_related(run, cr, state)
    children = by_kind(run, run.kinds(), live)
    related = by_kind(run, run.related, [one for ones in state["related"].values() for one in ones])
    request = {"parent": cr, "children": children, "related": related, "finalizing": state["finalizing"]}
    if run.config.get("existing"):  # the names of Metacontroller's DecoratorController
        request.update(object=cr, attachments=children)
    write(run.state("state.json"), json.dumps(state))
    write(run.env["ARGOPERATOR_REQUEST"], json.dumps(request))
    log("read %s, generation %s, %d children%s%s" % (
        run.key, cr["metadata"].get("generation"), len(live),
        ", %d related" % sum(map(len, related.values())) if run.related else "",
        ", finalizing" if state["finalizing"] else ""))
    return 0


def by_kind(run, kinds, objects):
    """Objects in the form of the request: by kind, then by name. Every kind is included."""
    found = {"%s.%s" % (kind["kind"], kind["apiVersion"]): {} for kind in kinds}
    for one in objects:
        found["%s.%s" % (one["kind"], one["apiVersion"])][relative_name(run, one)] = one
    return found


def state_of(run, cr):
    """The state of the custom resource at the start of a run."""
    metadata = cr["metadata"]
    return {"gone": False, "uid": metadata["uid"], "generation": metadata.get("generation", 0),
            "finalizing": run.unselected(cr), "related": {}}


def acquire(run):
    """The custom resource with the operator's finalizer, or None if there is nothing to do for this run."""
    for _ in range(5):
        cr = run.get_parent()
        if cr is None:
            log("%s is gone: nothing to do" % run.key)
            return None
        if not run.is_selected(cr) and not run.has_finalizer(cr):
            return release_unselected(run, cr)
        if not is_current(run, cr):
            return None
        if not run.finalizer or run.has_finalizer(cr):
            return cr
        try:
            return set_finalizers(run, cr, (cr["metadata"].get("finalizers") or []) + [run.finalizer])
        except ApiError as error:
            if error.status not in (404, 409):
                raise
    raise Failed("%s changes too fast to add the finalizer" % run.key)


def release_unselected(run, cr):
    """Deletes what the operator created for an object that it no longer manages. None: there is nothing else to do."""
    failures = prune(run, cr, [])
    log("%s is not selected: nothing to do" % run.key)
    if failures:
        raise failures[0]


def set_finalizers(run, cr, finalizers):
    """Writes the list of finalizers, unless the custom resource has changed since it was read (409)."""
    body = {"metadata": {"finalizers": finalizers, "resourceVersion": cr["metadata"]["resourceVersion"]}}
    return run.client.request("PATCH", run.parent_path(), body, content_type="application/merge-patch+json")


def relative_name(run, child):
    """The key of a child in the request, as in Metacontroller; a child in another namespace needs its namespace too."""
    namespace, name = child["metadata"].get("namespace"), child["metadata"]["name"]
    return name if not namespace or namespace == run.namespace else "%s/%s" % (namespace, name)


# ---------------------------------------------------------------------------------------------------------------
# Related objects: objects of other controllers that a custom resource refers to


def read_related(run, cr, state):
    """Reads the current related objects, with the digest that detects later changes."""
    try:
        state["related"] = related_to(run, cr, lambda *wanted: fetch(run, *wanted))
    except Failed as failure:
        if not state["finalizing"]:
            raise
        log("on the way out without what is related: %s" % failure)
        state["related"] = {entry["name"]: [] for entry in run.related}
    state["digest"] = digest_of(run, state["related"])


def related_to(run, cr, source):
    """The related objects of a custom resource by the name of their entry. `source` returns those of an entry in a
    namespace; "" means all namespaces."""
    found = {}
    for entry in run.related:
        rule, own = rule_of(entry, cr), cr["metadata"].get("namespace") or ""
        namespace = (rule.get("namespace") or own or "*") if entry["namespaced"] else ""
        if namespace not in ("", "*") and run.watched and namespace not in run.watched:
            raise Refused("related %s: namespace %s is not one of watchNamespaces" % (entry["name"], namespace))
        if namespace not in ("", "*") and not run.may_choose(namespace, own):
            raise Refused("related %s: namespace %s is not one of install.allowedNamespaces" % (entry["name"], namespace))
        everywhere = (run.watched or [""]) if entry["namespaced"] else [""]
        places = everywhere if namespace in ("", "*") else [namespace]
        found[entry["name"]] = sorted((one for place in places for one in source(entry, place, rule) if not entry["namespaced"]
                                       or run.may_choose(one["metadata"]["namespace"], own)), key=identity)
    return found


def rule_of(entry, cr):
    """The objects that an entry selects for this custom resource: namespace, and names or labelSelector."""
    try:
        rule = built(entry["rule"], cr, {})
    except ExpressionError as error:
        raise Refused("related %s: %s" % (entry["name"], error)) from None
    names, selector = rule.get("names"), rule.get("labelSelector")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, (str, type(None))) for name in names)):
        raise Refused("related %s: names is not a list of strings" % entry["name"])
    if not isinstance(rule.get("namespace") or "", str):
        raise Refused("related %s: namespace is not a string" % entry["name"])
    if selector is not None:
        try:
            selector_text(selector)
        except (TypeError, ValueError, KeyError, AttributeError):
            raise Refused("related %s: labelSelector is not one of Kubernetes" % entry["name"]) from None
    if selector == {} and entry["rule"]["object"]["labelSelector"]["object"]:
        rule.pop("labelSelector")  # all of its values are null: it selects no object instead of every object
    return dict(rule, names=[name for name in names or [] if name])


def fetch(run, entry, namespace, rule):
    """The objects of a rule, from the API server."""
    if rule.get("labelSelector") is not None:
        return run.client.list(path_of(entry, namespace), entry, selector_text(rule["labelSelector"]))
    if entry["namespaced"] and not namespace and rule["names"]:
        return [one for one in run.client.list(path_of(entry, ""), entry) if one["metadata"]["name"] in rule["names"]]
    found = [run.client.get(path_of(entry, namespace, name)) for name in sorted(set(rule["names"]))]
    return [one for one in found if one]


def select(objects, namespace, rule):
    """The objects of a rule, from a list of all objects."""
    for one in objects:
        metadata = one["metadata"]
        if namespace and metadata.get("namespace") != namespace:
            continue
        if rule.get("labelSelector") is not None:
            if matches(rule["labelSelector"], metadata.get("labels") or {}):
                yield one
        elif metadata["name"] in rule["names"]:
            yield one


def requirements(selector):
    """A Kubernetes label selector as (key, operator, values)."""
    for key, value in sorted((selector.get("matchLabels") or {}).items()):
        if not isinstance(value, str):
            raise ValueError("a label is a string")
        yield label_key(key), "In", [label_value(value)]
    for one in selector.get("matchExpressions") or []:
        yield label_key(one["key"]), one["operator"], [label_value(str(value)) for value in one.get("values") or []]


LABEL = re.compile("([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)")
LABEL_PREFIX = re.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/")


def label_key(key):
    """A label key, or ValueError: other text could change the meaning of a selector."""
    prefix = LABEL_PREFIX.match(key)
    if not LABEL.fullmatch(key[prefix.end():] if prefix else key):
        raise ValueError("%r is no label key" % key[:300])
    return key


def label_value(value):
    if value and not LABEL.fullmatch(value):
        raise ValueError("%r is no label value" % value[:300])
    return value


def selector_text(selector):
    """A label selector in the form of a query parameter."""
    forms = {"In": "%s in (%s)", "NotIn": "%s notin (%s)", "Exists": "%s%s", "DoesNotExist": "!%s%s"}
    return ",".join(forms[operator] % (key, ",".join(values)) for key, operator, values in requirements(selector))


def matches(selector, labels):
    """Whether labels match a label selector."""
    for key, operator, values in requirements(selector):
        met = {"In": labels.get(key) in values, "NotIn": labels.get(key) not in values,
               "Exists": key in labels, "DoesNotExist": key not in labels}[operator]
        if not met:
            return False
    return True


def digest_of(run, related):
    """A digest of the related objects whose changes start a reconcile."""
    seen = [[entry["name"], one.get(DIGEST) or digest(one)] for entry in run.related if entry["watch"]
            for one in related.get(entry["name"]) or []]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]


DIGEST = "argoperator.dev/digest"  # of an object, instead of its content; no object has such a field


def digest(one):
    metadata = {key: value for key, value in one["metadata"].items() if key not in ("managedFields", "resourceVersion")}
    return hashlib.sha256(json.dumps(dict(one, metadata=metadata), sort_keys=True).encode()).hexdigest()


def condensed(one):
    """The part of a related object that identifies its referrers, because there may be many large objects."""
    metadata = {key: one["metadata"][key] for key in ("namespace", "name", "labels") if key in one["metadata"]}
    return {"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": metadata, DIGEST: digest(one)}


def store_related(run, cr, state):
    """Stores the digest on the custom resource: a later difference starts a reconcile."""
    if not run.related or state["finalizing"] or (cr["metadata"].get("annotations") or {}).get(RELATED) == state["digest"]:
        return
    annotate(run, cr, RELATED, state["digest"])


def annotate(run, cr, key, value):
    """Writes an annotation of a custom resource, if that still exists."""
    try:
        run.client.request("PATCH", path_of(run.parent, cr["metadata"].get("namespace"), cr["metadata"]["name"]),
                           {"metadata": {"annotations": {key: value}}}, {"fieldManager": run.operator},
                           "application/merge-patch+json")
    except ApiError as error:
        if error.status != 404:
            raise


# ---------------------------------------------------------------------------------------------------------------
# Templates: the Sensor evaluates them, and the Workflow has the result as a parameter


def desired_from(text):
    """What the Sensor computed; None if the event was not one of the custom resource, so that there was no input.
    Unreadable data is an error of the templates, reported like those of jq."""
    if text.strip() in ("", DRIFT):
        return None
    try:
        desired = parse_json(base64.b64decode(text.strip(), validate=True).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return {"error": "what the Sensor sent cannot be read: %s" % error}
    return desired if is_valid_desired(desired) else {"error": "what the Sensor sent is not of the expected form"}


def is_valid_desired(desired):
    inputs = desired.get("inputs") if isinstance(desired, dict) else None
    if not isinstance(inputs, dict) or not isinstance(desired.get("uid"), str):
        return False
    if not all(isinstance(inputs.get(field) or {}, dict) for field in ("labels", "annotations")):
        return False
    children = [] if desired.get("error") else desired.get("children")
    return isinstance(children, list) and all(
        isinstance(one, dict) and isinstance(one.get("child"), str) and "object" in one for one in children)


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
        log("%s was deleted and made again since: nothing to do" % run.key)
        return False
    if desired.get("digest", run.config["digest"]) != run.config["digest"]:
        log("%s was computed by another definition: the resync continues" % run.key)
        return False
    if inputs_of(cr, desired["inputs"]) != comparable(desired["inputs"]):
        log("%s: a newer change is on its way" % run.key)
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
    return [inputs.get("generation"), inputs.get("labels") or {}, annotations, inputs.get("content")]


def look(run, cr):
    """A run for the event of a child. It reports the state of the children, or requests a computation if that is not
    sufficient."""
    if run.logic or run.drift:
        reason = "the logic has to run" if run.logic else "a child was changed by others"
    else:
        live = located(run, cr, [child for child in run.children(cr) if not child["metadata"].get("deletionTimestamp")])
        reason = outdated(run, cr, live) or next(("%s may have been changed by others" % display_name(child)
                                                  for child in live if touched(run, child)), "")
    if not reason:
        return refresh(run, cr, live)
    request_computation(run, cr)
    log("%s: asked for a fresh computation: %s" % (run.key, reason))


def touched(run, child):
    """Whether another client may have written a child after the operator. Stricter than `drifted`, because the event of
    the change occurs only once: a write in the same second counts (times have no fractions), and so does a scale."""
    ours, others = last_writes(run, child, ("", "scale"))
    return others >= ours


def refresh(run, cr, live):
    """Writes the status computed from the live children."""
    generation = state_of(run, cr)["generation"]
    try:
        report_ready(run, cr, generation, computed_status(run, cr, live, {}), live)
    except Failed as failure:
        record_failure(run, cr, generation, str(failure), None)
        raise
    log("%s: %d children looked at, nothing to apply" % (run.key, len(live)))


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
        raise Refused("template: %s" % (error if isinstance(error, str) else json.dumps(error)))


class Desired:
    """The result of the templates, as far as it can be computed now."""

    def __init__(self):
        self.objects = []   # (name of the template, object)
        self.held = []      # why a template is not computed yet
        self.kept = set()   # identities of live children that stay as they are, because they cannot be computed now
        self.failures = []


def templated(run, cr, state, answer, live):
    """The result of the templates, given the live children and those that the logic wants."""
    desired = Desired()
    if state["finalizing"]:
        return desired
    if run.templates:
        desired.objects = [(one["child"], one["object"]) for one in run.desired["children"]]
        return desired
    names = named(run, located(run, cr, live, state["related"]), state["related"])
    made = {entry["name"]: logic_children(run, entry, answer) for entry in run.config["children"] if not entry.get("object")}
    for entry in (entry for entry in run.config["children"] if entry.get("object")):  # after its dependencies
        name, there = entry["name"], {identity(child) for child in live if run.declared(child) == entry}
        try:
            wait = "" if names["$children"][name] or not is_wanted(entry, cr, names) else waits_for(run, entry, made, live)
            if wait:
                desired.held.append("%s: waits for %s" % (name, wait))
                continue
            settled = settle(run, entry, cr, names, there)
            if settled is not None:
                desired.kept |= settled
                made[name] = sorted(settled)
                continue
            missing = missing_value(entry, cr, names, made)
            if missing and waits_for_value(run, entry, cr, names, desired, there, missing):
                continue
            objects = [built(entry["object"], cr, variables) for variables in items(entry, cr, names)]
            if objects:
                refuse_damage(entry, cr, names)
        except ExpressionError as error:
            desired.failures.append(Refused("template %s: %s" % (name, error)))
            desired.kept |= there
            continue
        made[name] = [key_of(run, entry, child) for child in objects]
        desired.objects += [(name, child) for child in objects]
    return desired


def settle(run, entry, cr, names, there):
    """The live children of an entry that is never updated, if they are all that it wants; else None."""
    if not entry.get("never") or not there:
        return None
    wanted = {key_of(run, entry, {"metadata": built(entry["place"], cr, variables)}, cr) for variables in items(entry, cr, names)}
    return wanted if wanted <= there else None


def missing_value(entry, cr, names, made):
    """The first value of other objects that a template needs and that is missing, or "". A child that is not wanted
    has none to wait for."""
    for need in entry.get("needs") or []:
        children = need.get("children") or []
        if (not children or any(made.get(name) != [] for name in children)) and evaluates_to_null(need["expr"], cr, names):
            return need["text"]
    return ""


def refuse_damage(entry, cr, names):
    """Raises ExpressionError if a template uses a value that is missing where null does damage."""
    for need in entry.get("needs") or []:
        if need.get("damage") and evaluates_to_null(need["expr"], cr, names):
            raise ExpressionError("%s has no value" % need["text"])


def waits_for_value(run, entry, cr, names, desired, there, missing):
    """Whether a template waits for a missing value, because it wants objects. Of its live children, those that it would
    make stay as they are; all of them if their number or their names are unknown, too."""
    if not is_wanted(entry, cr, names):
        return False
    try:
        every = items(entry, cr, names)
        unknown = bool(entry.get("forEach")) and not every and built(entry["forEach"], cr, names) is None
        wanted = [key_of(run, entry, {"metadata": built(entry["place"], cr, variables)}, cr) for variables in every]
    except ExpressionError:
        unknown, wanted = True, []
    kept = there if unknown else there & set(wanted)
    desired.kept |= kept
    if kept and not entry.get("never"):
        desired.held.append("%s: stays as it is until %s has a value" % (entry["name"], missing))
    elif unknown or set(wanted) - kept:
        desired.held.append("%s: waits for %s" % (entry["name"], missing))
    return unknown or bool(wanted)


def located(run, cr, live, related=None):
    """Those of the children that are where the templates place them for this custom resource. Of a template there may
    be others: what is to be pruned, and what somebody else has made. A place may be computed from other children, so
    those are found again until no more are."""
    templates = [entry for entry in run.config["children"] if entry.get("place")]
    others = [child for child in live if not (run.declared(child) or {}).get("place")]
    found, before = others, None
    while templates and len(found) != before:
        before, names = len(found), named(run, found, related or {})
        places = {key for entry in templates for key in locations_of(run, entry, cr, names)}
        found = others + [child for child in live if (run.declared(child) or {}).get("place")
                          and (run.declared(child)["name"],) + identity(child) in places]
    return found


def locations_of(run, entry, cr, names):
    """The locations of a template's objects, whether or not they are wanted now. An expression that fails yields
    none."""
    try:
        every = [names]
        if entry.get("placeEach"):
            every = [dict(names, **{"$item": item, "$index": index})
                     for index, item in enumerate(built(entry["placeEach"], cr, names) or [])]
    except ExpressionError:
        return
    for variables in every:
        try:
            metadata = built(entry["place"], cr, variables)
        except ExpressionError:
            continue
        yield (entry["name"],) + key_of(run, entry, {"metadata": metadata}, cr)


def logic_children(run, entry, answer):
    """The identities of the children of an entry without a template: those in the logic's response."""
    return [key_of(run, entry, child) for child in answer if isinstance(child, dict) and isinstance(child.get("metadata"), dict)
            and child["metadata"].get("name") and run.declared(child) == entry]


def is_wanted(entry, cr, names):
    return not entry.get("when") or built(entry["when"], cr, names) not in (None, False)


def items(entry, cr, names):
    """The variables of each object of a template: none if `when` is false."""
    if not is_wanted(entry, cr, names):
        return []
    if not entry.get("forEach"):
        return [names]
    found = built(entry["forEach"], cr, names)
    return [dict(names, **{"$item": item, "$index": index}) for index, item in enumerate(found or [])]


def key_of(run, entry, child, cr=None):
    """The identity of a child that has not been validated yet."""
    metadata = child.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    beside = (cr["metadata"].get("namespace") if cr else run.namespace) or ""
    namespace = (metadata.get("namespace") or beside) if entry["namespaced"] else ""
    return entry["apiVersion"], entry["kind"], str(namespace), str(metadata.get("name"))


def evaluates_to_null(node, cr, names):
    try:
        return built(node, cr, names) is None
    except ExpressionError:
        return False


# ---------------------------------------------------------------------------------------------------------------
# apply: the children of the templates and the response of the logic


def apply(run):
    """Applies the desired state: children, pruning, status, finalizer. Without logic there was no `read` before."""
    if "ARGOPERATOR_EXECUTOR" in run.env:
        for container in ("read", "logic"):
            code = exit_code_of(run, container)
            if code:
                log('dependency "%s" exited with non-zero code: %d' % (container, code))
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


def exit_code_of(run, container):
    """The exit code of another container of the pod, as soon as it has ended. The container writes it to a file,
    because Argo's executor only checks once a second. For a killed container the executor writes it."""
    places = (run.state(container + ".exit") if container == "read" else run.file(container + ".exit"),
              os.path.join(run.env["ARGOPERATOR_EXECUTOR"], container, "exitcode"))
    while True:
        for place in places:
            try:
                return int(plain_file(place, 100))
            except (OSError, ValueError):  # missing, or incomplete
                pass
        run.sleep(0.05)


def plain_file(path, limit):
    """The text of a file that the logic may have created: no link, no blocking file, nothing larger than expected."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("it is no regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError("it is larger than %d MiB" % (limit >> 20) if limit >> 20 else "it is too large")
    return data.decode("utf-8")


def unchanged_parent(run, state):
    """The current custom resource, or None if what was read of it is no longer valid."""
    cr = run.get_parent()
    if cr is None or cr["metadata"]["uid"] != state["uid"]:
        log("%s was deleted since it was read: nothing to do" % run.key)
        return None
    if run.unselected(cr) and not state["finalizing"]:
        log("%s is being deleted since it was read: the next run cleans up" % run.key)
        return None
    return cr if is_current(run, cr) else None


def or_record(run, cr, generation, work):
    """Does the work; reports a failure in the status of the custom resource, the log and the exit code."""
    try:
        return work()
    except Failed as failure:
        log("failed: %s" % failure)
        record_failure(run, cr, generation, str(failure), None)
        return failure.code


def apply_desired(run, cr, state):
    alone = state["finalizing"] and not run.logic  # no template is computed any more
    here = run.children(cr) if run.config.get("interdependent") and not alone else []
    if not run.logic:
        read_related(run, cr, state)
    refuse_templates(run, state)
    response = read_response(run) if run.logic else {"children": [], "status": {}}
    doomed = to_delete(run, state, response)
    wanted, live, held, failures = make_children(run, cr, state, response["children"], here)
    failures += prune(run, cr, wanted)
    failures += delete_related(run, doomed)
    waiting, refused = patch_others(run, cr, state, live)
    held, failures = held + waiting, failures + refused
    status = merged(computed_status(run, cr, live, state["related"]), response["status"])
    if failures:
        text = "; ".join(str(failure) for failure in failures)
        record_failure(run, cr, state["generation"], text, status)
        return min(failure.code for failure in failures)
    if state["finalizing"]:
        return finalize(run, cr, state["generation"], response, status)
    decorate(run, cr, response)
    report_ready(run, cr, state["generation"], status, live, held)
    store_related(run, cr, state)
    schedule_run(run, cr, response.get("resyncAfterSeconds"))
    return 0


def make_children(run, cr, state, answer, here):
    """Applies the wanted children: those of the templates and those that the logic answered with. A template may read
    what this run writes, so the templates are computed again after each round until nothing is left to write. Returns
    the wanted children, the living ones, the reasons why children are held back, and the failures."""
    live, applied, failures = {identity(child): child for child in here}, {}, {}
    for _ in range(len(run.config["children"]) + 1):
        desired = templated(run, cr, state, answer, list(live.values()))
        wanted = checked(run, cr, answer, desired.objects)
        wanted += [child for key, child in live.items() if key in desired.kept]
        places = {entry["name"]: [] for entry in run.config["children"]}
        for child in wanted:
            places[run.declared(child)["name"]].append(identity(child))
        held, written = list(desired.held), False
        for child in in_order(run, wanted):
            key = identity(child)
            if child is live.get(key) or applied.get(key) == child:
                continue
            wait = "" if key in live else waits_for(run, run.declared(child), places, live.values())
            if wait:
                log("%s waits for %s" % (display_name(child), wait))
                held.append("%s: waits for %s" % (display_name(child), wait))
                continue
            applied[key], written = child, True
            failures.pop(key, None)
            try:
                live[key] = apply_child(run, cr, child)
                log("applied %s" % display_name(child))
            except Failed as failure:
                log("failed: %s" % failure)
                failures[key] = failure
        if not written or not run.config.get("interdependent"):
            break
    keep = {identity(child) for child in wanted}
    return (wanted, [child for key, child in live.items() if key in keep], held,
            desired.failures + list(failures.values()))


def in_order(run, wanted):
    """The children in the order in which they are applied: the logic's, or that of the definition if children depend on
    each other."""
    if not run.config.get("interdependent"):
        return wanted
    position = {entry["name"]: index for index, entry in enumerate(run.config["children"])}
    return sorted(wanted, key=lambda child: position[run.declared(child)["name"]])


def read_response(run):
    """The response with defaults for children and status, or Refused."""
    try:
        text = plain_file(run.env["ARGOPERATOR_RESPONSE"], RESPONSE_LIMIT)
    except FileNotFoundError:
        raise Refused("the logic wrote no response to $ARGOPERATOR_RESPONSE") from None
    except (OSError, ValueError) as error:
        raise Refused("the logic's response cannot be read: %s" % error) from None
    try:
        response = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise Refused("the logic's response is not JSON: %s" % error) from None
    if not isinstance(response, dict):
        raise Refused("the logic's response is not a JSON object")
    if run.config.get("existing") and response.get("children") is None:
        response["children"] = response.get("attachments")
    for field, empty in (("children", []), ("status", {})):
        response[field] = empty if response.get(field) is None else response[field]
    problems = ["%s is not %s" % (field, word) for field, kind, word in (
        ("children", list, "a list"), ("status", dict, "an object"), ("finalized", bool, "a boolean"),
        ("delete", list, "a list"), ("labels", dict, "an object"), ("annotations", dict, "an object"),
        ("resyncAfterSeconds", (int, float), "a number"))
        if response.get(field) is not None and not isinstance(response[field], kind)]
    if not problems:
        problems = condition_problems(response["status"].get("conditions"))
    if problems:
        raise Refused("the logic's response is invalid: " + "; ".join(problems))
    return response


def condition_problems(conditions):
    if not isinstance(conditions or [], list):
        return ["status.conditions is not a list"]
    return ["status.conditions[%d] needs a type, and a status of True, False or Unknown" % index
            for index, condition in enumerate(conditions or [])
            if not isinstance(condition, dict) or not isinstance(condition.get("type"), str)
            or condition.get("status") not in ("True", "False", "Unknown")]


def checked(run, cr, children, desired=()):
    """The children complete and ready to be applied, the templates' before the logic's; all problems at once
    otherwise."""
    offers = [(name, "template %s" % name, child) for name, child in desired]
    offers += [("", "children[%d]" % index, child) for index, child in enumerate(children)]
    templates, logic, wanted, seen = [], [], [], {}
    for template, where, child in offers:
        child = marked(child, template)
        found = list(child_problems(run, child, template))
        if not found:
            child = completed(run, cr, child, len(offers))
            if identity(child) in seen:
                first = seen[identity(child)]
                found = [display_name(child) + (" is there twice" if first == template else
                                          " comes from template %s too" % first)]
            seen[identity(child)] = template
            wanted.append(child)
        (templates if template else logic).extend("%s: %s" % (where, problem) for problem in found)
    if logic:
        templates.append("the logic's response is invalid: " + "; ".join(logic))
    if templates:
        raise Refused("; ".join(templates))
    return wanted


def marked(child, template):
    """The child with the label of its template. A child of the logic has none, even if it was copied from one that
    has."""
    metadata = child.get("metadata") if isinstance(child, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("labels") or {}, dict):
        return child
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != CHILD}
    if template:
        labels[CHILD] = template
    return dict(child, metadata=dict(metadata, labels=labels))


def child_problems(run, child, template=""):
    if not isinstance(child, dict) or not isinstance(child.get("metadata"), dict):
        yield "is not an object with apiVersion, kind and metadata"
        return
    metadata = child["metadata"]
    if not metadata.get("name") or not isinstance(metadata["name"], str):
        yield "has no metadata.name" + (
            " (a generateName would make a new child in every run)" if metadata.get("generateName") else "")
        return
    for field in ("labels", "annotations"):
        if not isinstance(metadata.get(field) or {}, dict):
            yield "metadata.%s is not an object" % field
    owners = metadata.get("ownerReferences") or []
    if not isinstance(owners, list) or not all(isinstance(owner, dict) for owner in owners):
        yield "metadata.ownerReferences is not a list of objects"
    if not isinstance(metadata.get("namespace") or "", str):
        yield "metadata.namespace is not a string"
        return
    if child.get("status"):
        yield "has a status, which is not the operator's to write"
    entry = run.declared(child)
    if entry is None:
        yield "%s of %s is not declared in the operator's children" % (child.get("kind"), child.get("apiVersion"))
        return
    if template and not (entry.get("template") and entry["name"] == template):
        yield "%s of %s is not what the operator's children declare" % (child["kind"], child["apiVersion"])
        return
    if entry.get("template") and not template:
        yield "%s %s: this kind comes from template %s; the logic needs a child of the kind without a template" % (
            child["kind"], metadata["name"], entry["name"])
        return
    yield from place_problems(run, child, entry)


def place_problems(run, child, entry):
    """Checks where a child is: in a watched namespace, and where it is deleted with its owner."""
    namespace = child["metadata"].get("namespace") or run.namespace
    if entry["namespaced"] and not namespace:
        yield "needs a metadata.namespace, since %s is cluster-scoped" % run.parent["kind"]
    elif entry["namespaced"] and run.watched and namespace not in run.watched:
        yield "namespace %s is not one of watchNamespaces" % namespace
    elif entry["namespaced"] and not run.may_choose(namespace, run.namespace):
        yield "namespace %s is not one of install.allowedNamespaces" % namespace
    elif not run.finalizer and run.parent["namespaced"] and not (entry["namespaced"] and namespace == run.namespace):
        yield "%s %s outside of namespace %s needs a finalizer: Kubernetes would not delete it" % (
            child["kind"], child["metadata"]["name"], run.namespace)


def completed(run, cr, child, siblings):
    """The child with its namespace, the operator's labels and annotations, and its owner."""
    child, entry = copy.deepcopy(child), run.declared(child)
    child.pop("status", None)
    metadata = child["metadata"] = {key: value for key, value in child["metadata"].items() if key not in SERVER_MADE}
    if entry["namespaced"]:
        metadata["namespace"] = metadata.get("namespace") or run.namespace
    else:
        metadata.pop("namespace", None)
    uid = cr["metadata"]["uid"]
    if run.config.get("childMetadata") and CHILD not in (metadata.get("labels") or {}):  # templates have them already
        for field, common in built(run.config["childMetadata"], cr, {}).items():
            metadata[field] = dict(common, **(metadata.get(field) or {}))
    metadata["labels"] = dict(metadata.get("labels") or {}, **{MANAGED_BY: run.operator, OWNER_UID: uid})
    metadata["annotations"] = dict(metadata.get("annotations") or {}, **{
        OWNER: run.key, DEFINITION: run.config["digest"], SIBLINGS: str(siblings)})
    if entry.get("fixed"):
        metadata["annotations"][FIXED] = built(entry["fixed"], child, {})
    owners = [owner for owner in metadata.pop("ownerReferences", None) or [] if owner.get("uid") != uid]
    if entry.get("onDelete") != "Orphan" and run.ownable(child, entry):
        owners.append({"apiVersion": run.parent["apiVersion"], "kind": run.parent["kind"],
                       "name": run.name, "uid": uid, "controller": True})
    if owners:
        metadata["ownerReferences"] = owners
    return child


def waits_for(run, entry, wanted, live):
    """The child that must be ready before those of an entry are created, or "". `wanted` are the identities of the
    children by entry; a missing entry was not computed."""
    ready = {identity(child) for child in live if not unready_reason(run, child)}
    for name in entry.get("dependsOn") or []:
        if name not in wanted:
            return name
        for key in wanted[name]:
            if key not in ready:
                return "%s %s" % (key[1], "/".join(part for part in key[2:] if part))
    return ""


def to_delete(run, state, response):
    """The related objects that the logic wants to delete, or Refused."""
    allowed = {identity(one): (entry, one) for entry in run.related if entry.get("delete")
               for one in state["related"].get(entry["name"]) or []}
    found, problems = [], []
    for index, one in enumerate(response.get("delete") or []):
        metadata = one.get("metadata") if isinstance(one, dict) else None
        if not isinstance(metadata, dict) or not metadata.get("name"):
            problems.append("delete[%d] is not an object with apiVersion, kind and metadata.name" % index)
            continue
        key = (one.get("apiVersion"), one.get("kind"), metadata.get("namespace") or run.namespace, metadata["name"])
        key = key if key in allowed else key[:2] + ("",) + key[3:]
        if key in allowed:
            found.append(allowed[key])
        else:
            problems.append("delete[%d]: %s is not among the related objects that the definition lets it delete" % (
                index, display_name({"kind": one.get("kind"), "metadata": metadata})))
    if problems:
        raise Refused("the logic's response is invalid: " + "; ".join(problems))
    return found


def delete_related(run, doomed):
    """Deletes related objects, unless they have changed. Returns the failures."""
    return [failure for failure in (delete(run, entry, one, lambda now, one=one: still_related(now, one)) for entry, one in doomed)
            if failure]


def still_related(now, one):
    """Whether an object is still related. Its name cannot change."""
    return (now["metadata"].get("labels") or {}) == (one["metadata"].get("labels") or {})


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
        log("decorated %s" % run.key)


def schedule_run(run, cr, seconds):
    """Reconciles the custom resource again after some seconds: a Workflow waits without a pod. It replaces an earlier
    request."""
    if not run.config.get("timer"):
        if seconds:
            log("resyncAfterSeconds is left to the next resync: the definition does not say logic.resyncAfter")
        return
    namespace, uid = run.config["namespace"], cr["metadata"]["uid"]
    name = ""
    if seconds and seconds > 0:
        seconds = min(seconds, LONGEST_WAIT)
        due = int(seconds_of(run.now()) + math.ceil(seconds))
        name = "%s-timer-%s-%d" % (run.operator[:30].rstrip("-"), uid[:8].rstrip("-"), due)
        create_delayed_run(run, name, uid, max(1, math.ceil(seconds)))
    for one in run.client.list(path_of(WORKFLOWS, namespace), WORKFLOW, "%s=%s" % (TIMER, uid)):
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
        log("reconciles again in %d s" % seconds)
    except ApiError as error:
        if error.status != 409:  # it exists already
            raise


def apply_child(run, cr, child):
    entry = run.declared(child)
    path = path_of(entry, child["metadata"].get("namespace"), child["metadata"]["name"])
    try:
        for left in reversed(range(TRIES)):
            live = run.client.get(path)
            check_owner(run, cr, child, live)
            live = replaced(run, entry, child, live)
            if live and (entry.get("never") or live["metadata"].get("deletionTimestamp") and entry.get("fixed")):
                return dict({"apiVersion": child["apiVersion"], "kind": child["kind"]}, **live)
            try:
                return run.client.apply(path, with_precondition(child, live), run.operator, run.config.get("forceConflicts", True))
            except ApiError as error:
                if not left or not is_conflict(error):
                    raise
    except ApiError as error:
        refuse_conflicts(child, error)
        text = str(error)
        if child["kind"] == "Secret":  # the server's message may quote the invalid value
            text = ", ".join([error.reason] + [str(cause.get("field")) for cause in error.causes])
        raise (Refused if error.code == 2 else Failed)("%s: %s" % (display_name(child), text)) from None


def refuse_conflicts(child, error):
    """Raises Refused if other field managers hold fields that were applied."""
    held = ["%s (%s)" % (cause.get("field"), cause.get("message")) for cause in error.causes
            if cause.get("reason") == "FieldManagerConflict"]
    if held:
        raise Refused("%s: others manage %s" % (display_name(child), ", ".join(held))) from None


def replaced(run, entry, child, live):
    """The live object after it was deleted, with what it owns, if it differs in an immutable field; None if it is gone."""
    before = ((live or {}).get("metadata", {}).get("annotations") or {}).get(FIXED)
    if not entry.get("fixed") or before in (None, child["metadata"]["annotations"][FIXED]) or live["metadata"].get("deletionTimestamp"):
        return live
    failure = delete(run, entry, dict({"apiVersion": child["apiVersion"], "kind": child["kind"]}, **live), policy="Foreground")
    if failure:
        raise failure
    return run.client.get(path_of(entry, child["metadata"].get("namespace"), child["metadata"]["name"]))


def with_precondition(child, live):
    """The child restricted to the object that was read: with its uid, or as a new object."""
    metadata = child["metadata"]
    mark = {"uid": live["metadata"]["uid"]} if live else {"resourceVersion": NO_VERSION}
    return dict(child, metadata=dict(metadata, **mark))


def is_conflict(error):
    """Whether an object was created, deleted or replaced since it was read."""
    other = [cause for cause in error.causes if cause.get("field") == "metadata.uid"]
    return bool(other) or error.status == 409 and not any(cause.get("reason") == "FieldManagerConflict" for cause in error.causes)


def check_owner(run, cr, child, live):
    """Raises an error for an object of another owner, unless the definition adopts it."""
    entry, uid, metadata = run.declared(child), cr["metadata"]["uid"], (live or {}).get("metadata") or {}
    if not live or (labelled(run, metadata, uid) if by_label(run, cr, child, entry) else owned_by(metadata, uid)):
        return
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    same = labels.get(MANAGED_BY) == run.operator and annotations.get(OWNER) == run.key
    if same and entry.get("onDelete") != "Orphan" and not entry.get("adopt"):
        raise Failed("%s is still there from an earlier %s of this name" % (display_name(child), run.parent["kind"]))
    names = ", ".join("%s %s" % (owner.get("kind"), owner.get("name")) for owner in metadata.get("ownerReferences") or [])
    who = annotations.get(OWNER) or names or labels.get(MANAGED_BY) or "someone else"
    if not entry.get("adopt"):
        raise Refused("%s exists and belongs to %s; to take it over, write adopt: true on child %s" % (
            display_name(child), who, entry["name"]))
    if controllers(metadata) or has_other_owner(run, cr, metadata):
        raise Refused("%s exists and belongs to %s, so it is not adopted" % (display_name(child), who))


def has_other_owner(run, cr, metadata):
    """Whether an object is a child of another existing custom resource of the operator."""
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    namespace, _, name = (annotations.get(OWNER) or "").partition(".")
    if labels.get(MANAGED_BY) != run.operator or not name:
        return False
    other = run.client.get(path_of(run.parent, namespace, name))
    return bool(other) and other["metadata"]["uid"] != cr["metadata"]["uid"] and other["metadata"]["uid"] == labels.get(OWNER_UID)


def patch_others(run, cr, state, live):
    """Sets the fields of the patches, and gives up those that are not wanted any more. Which objects have some is in
    their managedFields. Returns the reasons why patches are held back, and the failures."""
    held, failures, entries = [], [], run.config.get("patches") or []
    names = named(run, located(run, cr, live, state["related"]), state["related"]) if entries else {}
    for entry in entries:
        manager = "%s.%s.%s" % (run.operator, cr["metadata"]["uid"], entry["name"])
        try:
            missing = "" if state["finalizing"] or not is_wanted(entry, cr, names) else missing_value(entry, cr, names, {})
            if missing:
                held.append("%s: waits for %s" % (entry["name"], missing))
                continue
            wanted = {} if state["finalizing"] else wanted_patches(run, entry, cr, names)
            for one in targets(run, entry):
                patch = wanted.pop(key_of(run, entry, one), None)
                if patch is not None or manages(one, manager):
                    apply_patch(run, entry, one, patch or {}, manager)
            held += ["%s: there is no %s %s" % (entry["name"], key[1], "/".join(part for part in key[2:] if part)) for key in wanted]
        except (ExpressionError, Failed) as error:
            refused = isinstance(error, (ExpressionError, Refused))
            failures.append((Refused if refused else Failed)("patch %s: %s" % (entry["name"], error)))
            log("failed: %s" % failures[-1])
    return held, failures


def wanted_patches(run, entry, cr, names):
    """The patches of an entry by the object that they are for; none for an object without a name."""
    wanted = {}
    for patch in (built(entry["object"], cr, variables) for variables in items(entry, cr, names)):
        metadata = patch["metadata"] if isinstance(patch.get("metadata"), dict) else {}
        if metadata.get("name") is None:
            continue
        key = key_of(run, entry, patch, cr)
        if entry["namespaced"] and (run.watched and key[2] not in run.watched or not run.may_choose(key[2], run.namespace)):
            raise Refused("namespace %s is not one that a %s may choose" % (key[2], run.parent["kind"]))
        if key in wanted:
            raise Refused("two are for %s %s" % (key[1], key[3]))
        wanted[key] = patch
    return wanted


def targets(run, entry):
    """The objects that a patch may be for."""
    for namespace in [run.namespace] if entry.get("beside") else run.namespaces_of(entry):
        yield from run.client.list(path_of(entry, namespace), entry)


def manages(one, manager):
    return any(given.get("manager") == manager for given in one["metadata"].get("managedFields") or [])


def apply_patch(run, entry, one, patch, manager):
    """Applies the fields to an object, and no others: without fields, it gives up all. It forces nothing."""
    given = patch["metadata"] if patch else {}
    metadata = {key: value for key, value in given.items() if key not in SERVER_MADE}
    metadata.update({key: one["metadata"][key] for key in ("name", "namespace", "uid") if key in one["metadata"]})
    body = dict(patch, apiVersion=entry["apiVersion"], kind=entry["kind"], metadata=metadata)
    try:
        run.client.apply(path_of(entry, metadata.get("namespace"), metadata["name"]), body, manager, False)
        log("%s %s" % ("patched" if patch else "gave up", display_name(one)))
    except ApiError as error:
        refuse_conflicts(one, error)
        if patch or error.status not in (404, 409):  # an object that is gone has no field to give up
            raise (Refused if error.code == 2 else Failed)("%s: %s" % (display_name(one), error)) from None


def prune(run, cr, wanted):
    """Deletes the children that are no longer wanted. Returns the failures."""
    keep, failures = {identity(child) for child in wanted}, []
    for child in run.children(cr):
        entry, metadata = run.declared(child), child["metadata"]
        if identity(child) in keep or entry.get("onDelete") == "Orphan" or metadata.get("deletionTimestamp"):
            continue
        failure = delete(run, entry, child, lambda now: belongs(run, cr, now))
        failures += [failure] if failure else []
    return failures


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
                log("deleted %s" % display_name(one))
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
        return Failed("%s: %s" % (display_name(one), error))


def finalize(run, cr, generation, response, status):
    """Removes the finalizer when the logic is finished and all that Kubernetes would not delete is gone. Without logic,
    it only waits for the deletions."""
    if not run.logic:
        return remove_finalizer(run, cr)
    left = [child for child in run.children(cr) if run.declared(child).get("onDelete") != "Orphan"]
    blocking = [child for child in left if not run.ownable(child, run.declared(child))]
    finalized = response.get("finalized")
    if finalized is None:
        finalized, blocking = not response["children"], left
    if not finalized or blocking:
        waiting = "waiting for " + (", ".join(map(display_name, blocking)) or "the logic's clean-up")
        log("finalizing: %s; a later event or the resync continues" % waiting)
        write_status(run, cr, generation, status, [condition("Ready", "False", "Finalizing", waiting)])
        return 0
    return remove_finalizer(run, cr)


def remove_finalizer(run, cr):
    """Removes the finalizer."""
    for _ in range(5):
        try:
            set_finalizers(run, cr, [name for name in cr["metadata"]["finalizers"] if name != run.finalizer])
            log("finalized %s" % run.key)
            return 0
        except ApiError as error:
            if error.status not in (404, 409):
                raise
        uid, cr = cr["metadata"]["uid"], run.get_parent()
        if cr is None or cr["metadata"]["uid"] != uid:
            return 0
    raise Failed("%s changes too fast to remove the finalizer" % run.key)


# ---------------------------------------------------------------------------------------------------------------
# Status


def condition(name, status, reason, message):
    return {"type": name, "status": status, "reason": reason, "message": message[:MESSAGE_LIMIT]}


def report_ready(run, cr, generation, status, live, held=()):
    """Writes the status after a successful run. The message contains nothing that differs from run to run."""
    waiting = ["%s: %s" % (display_name(child), unready_reason(run, child)) for child in sorted(live, key=identity)
               if unready_reason(run, child)] + list(held)
    if waiting:
        ready = condition("Ready", "False", "Progressing", "not ready: " + "; ".join(waiting))
    else:
        ready = condition("Ready", "True", "Reconciled", "all children are ready (%d)" % len(live))
    own = [given for given in status.get("conditions") or [] if given["type"] == "Ready"]
    write_status(run, cr, generation, status, own or [ready])


def record_failure(run, cr, generation, text, status):
    """Writes a failure to the status; None keeps the other fields, and so does a status that the API server rejects.
    Never raises an exception, because a failure is being reported."""
    message = text[:MESSAGE_LIMIT // 2] + SEE + run.workflow()
    conditions = [condition("Ready", "False", "ReconcileFailed", message),
                  condition("Stalled", "True", "ReconcileFailed", message)]
    try:
        write_status(run, cr, generation, cr.get("status") or {} if status is None else status, conditions)
    except Failed as failure:
        log("the status could not be written: %s" % failure)
        if status is not None:
            record_failure(run, cr, generation, text, None)


def write_status(run, cr, generation, status, conditions):
    """Writes the status if it differs from the current one. `conditions` replace those of the same type."""
    if not run.parent["status"]:
        return
    for _ in range(5):
        if cr is None:
            log("%s was deleted meanwhile: no status to write" % run.key)
            return
        try:
            return patch_status(run, cr, generation, status, conditions)
        except ApiError as error:
            if error.status not in (404, 409):
                raise
        now = run.get_parent()
        cr = now if now and now["metadata"]["uid"] == cr["metadata"]["uid"] else None
    raise Failed("%s changes too fast to write its status" % run.key)


def patch_status(run, cr, generation, status, conditions):
    current = cr.get("status") or {}
    mine = {given["type"] for given in conditions}
    conditions = [given for given in status.get("conditions") or [] if given["type"] not in mine] + conditions
    want = without_nulls(dict(status, observedGeneration=generation, conditions=[
        filled(given, current.get("conditions") or [], generation, run.now()) for given in conditions]))
    manager = run.operator + "-status"
    owned = {}
    for entry in cr["metadata"].get("managedFields") or []:
        if entry.get("manager") == manager and entry.get("subresource") == "status":
            owned = (entry.get("fieldsV1") or {}).get("f:status") or {}
    if is_applied(want, current, owned):
        return
    body = {"metadata": {"resourceVersion": cr["metadata"]["resourceVersion"]}, "status": merge_patch_for(want, current, owned)}
    written = run.client.request("PATCH", run.parent_path("status"), body, {"fieldManager": manager},
                                 "application/merge-patch+json")
    log("status: " + "; ".join("%(type)s=%(status)s %(reason)s" % given for given in want["conditions"]))
    emit_event(run, cr, written)


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


# ---------------------------------------------------------------------------------------------------------------
# Events on the custom resource, which `kubectl describe` shows


def emit_event(run, before, after):
    """Creates an Event for a change of Ready by a status write. Never raises an exception, because the status has the
    information."""
    news = event_reason(run, before, after) if run.config.get("emitEvents") else None
    if not news:
        return
    event = event_of(run, after, *news)
    path = path_of(EVENTS, event["metadata"]["namespace"])
    try:
        run.client.request("POST", path, event, {"fieldManager": run.operator})
        log("event: %(type)s %(reason)s" % event)
    except Failed as failure:
        if getattr(failure, "status", 0) != 409:  # 409: the Event of this write exists
            log("the Event could not be written: %s" % failure)


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
    if same and (text == old_text or place == old_place):
        return None
    return "Warning", ready.get("reason") or "ReconcileFailed"


def split_message(given):
    """The message of a condition, split into the text and the Workflow that it refers to."""
    message = given.get("message") or ""
    text, mark, place = message.rpartition(SEE)
    return (text, mark + place) if mark else (message, "")


def event_of(run, cr, kind, reason):
    """The Event. For a cluster-scoped object it is in namespace default. Its name contains the resourceVersion of the
    custom resource, so that no Event is created twice."""
    metadata, now = cr["metadata"], run.now()
    about = {key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in metadata}
    workflow = run.env.get("ARGOPERATOR_WORKFLOW", "")
    return {
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"namespace": metadata.get("namespace") or "default", "name": "%s.%s.%s" % (
            metadata["name"][:200].rstrip("-."), metadata["uid"][:8].rstrip("-"), metadata["resourceVersion"])},
        "involvedObject": dict(about, apiVersion=run.parent["apiVersion"], kind=run.parent["kind"]),
        "related": dict(WORKFLOW, namespace=run.config["namespace"], name=workflow),
        "type": kind, "reason": reason[:128], "action": "Reconcile", "message": truncated(ready_condition(cr)),
        "source": {"component": run.operator},
        "reportingComponent": run.operator, "reportingInstance": (workflow or run.operator)[:128],
        "firstTimestamp": now, "lastTimestamp": now, "eventTime": now[:-1] + ".000000Z", "count": 1}


def truncated(given):
    """The message of a condition, truncated for an Event; the Workflow that it refers to is kept."""
    text, place = (part.encode("utf-8", "replace") for part in split_message(given))
    place = place[:EVENT_LIMIT // 2]
    return text[:EVENT_LIMIT - len(place)].decode("utf-8", "ignore") + place.decode("utf-8", "ignore")


# ---------------------------------------------------------------------------------------------------------------
# What the definition computes


def named(run, live, related):
    """The variables of expressions: $children and $related by name, one object or, if there may be several, a list."""
    names = {"$children": {}, "$related": {}}
    for entry in run.config["children"]:
        ones = [one for one in sorted(live, key=lambda one: identity(one)[2:]) if run.declared(one)["name"] == entry["name"]]
        names["$children"][entry["name"]] = ones if entry.get("each") else ones[0] if ones else None
    for entry in run.related:
        ones = related.get(entry["name"]) or []
        names["$related"][entry["name"]] = ones if entry["several"] else ones[0] if ones else None
    return names


def computed_status(run, cr, live, related):
    """The status fields of the definition. A field whose expression fails is omitted."""
    status, names = {}, named(run, live, related)
    for field, node in ((run.config.get("status") or {}).get("object") or {}).items():
        try:
            status[field] = built(node, cr, names)
        except ExpressionError as error:
            log("status.%s is left out: %s" % (field, error))
    return status


def holds_true(conditions, name):
    return (conditions.get(name) or {}).get("status") == "True"


# ---------------------------------------------------------------------------------------------------------------
# Readiness


def unready_reason(run, child):
    """Why a child is not ready, or "": argoperator compiles the rule, from its readyWhen or for its kind."""
    if UNMET in child:
        return child[UNMET]
    rule = (run.declared(child) or {}).get("unready")
    if rule is None:
        return ""
    try:
        return built(rule, child, {})
    except ExpressionError as error:  # it exceeds the limits of steps or memory
        return "its readiness is unknown: %s" % error


# ---------------------------------------------------------------------------------------------------------------
# report: the exit handler


def report(run):
    """Reports a failure that no container of the Workflow could report itself: logic that crashed, a deadline."""
    cr = run.get_parent()
    if cr is None:
        log("%s is gone: nothing to report" % run.key)
        return 0
    for given in (cr.get("status") or {}).get("conditions") or []:
        told = run.workflow().split()[0] in (given.get("message") or "").split()
        if given.get("type") == "Ready" and given.get("status") == "False" and told:
            log("the failure is on the status already")
            return 0
    text = "reconcile failed: %s" % (failure_cause(run) or run.env.get("ARGOPERATOR_WORKFLOW_STATUS", "Failed"))
    record_failure(run, cr, cr["metadata"].get("generation", 0), text, None)
    return 0


def failure_cause(run):
    """The message of the step that failed last, or "" if it is unknown. It is read from the Workflow, because Argo
    would expand templates in a program's output."""
    try:
        workflow = run.client.get(path_of(WORKFLOWS, run.config["namespace"], run.env["ARGOPERATOR_WORKFLOW"])) or {}
    except Failed as failure:
        log("the Workflow could not be read: %s" % failure)
        return ""
    status = workflow.get("status") or {}
    failed = [node for node in (status.get("nodes") or {}).values() if node.get("phase") in ("Failed", "Error")
              and node.get("type") in ("Container", "Pod") and node.get("message")]
    # a container that only waited for another, and the pod of several, say less than the one that failed
    failed.sort(key=lambda node: ('dependency "' not in node["message"], node.get("finishedAt") or ""))
    return last_output(failed[-1]["message"] if failed else status.get("message") or "")


def last_output(message):
    """The exit code, and the line that the program ended with, without the lines of the executor."""
    code, mark, output = message.partition("): ")
    lines = [line.strip() for line in output.splitlines()
             if line.strip() and "argo=true" not in line and not line.lower().startswith(("error: exit status", "exit status"))]
    return (code + mark[:1] + (": " + final_line(lines) if lines else ""))[:300]


# Where a program failed: File "main.py", line 3 of Python; main.js:3, main.rb:3 and main.go:3; main.sh: line 3.
PLACE = re.compile(r"([\w.-]+\.[a-z]+)(?:\", line |: line |:)([0-9]+)")
OTHERS = re.compile(r"(^|[\"( ])/usr/|node:|<frozen|site-packages|node_modules")


def final_line(lines):
    """The line that says why a program failed: the last one, or the first of an error of Node.js or Go, which print the
    stack after it. With the place in the program's own files, if the line has none."""
    start = next((at for at, line in enumerate(lines) if re.match(r"panic: |(Uncaught )?\w*Error\b", line)), None)
    stack = lines[-1].startswith("Node.js v") or any(line.startswith("goroutine ") for line in lines)
    said = lines[start] if stack and start is not None else lines[-1]
    places = [place for line in lines if not OTHERS.search(line) for place in PLACE.findall(line)]
    if not places or PLACE.search(said):
        return said
    return "%s (%s line %s)" % ((said,) + (places[0] if stack else places[-1]))


# ---------------------------------------------------------------------------------------------------------------
# resync: the CronWorkflow


def resync(run):
    """Submits a Workflow for each custom resource that needs a reconcile or, if there are templates, makes the Sensor
    submit it. Repairs the effect of lost events."""
    failed, children, related = restart_disconnected(run), {}, all_related(run)
    for kind in run.kinds():
        for child in list_all(run, kind, "%s=%s" % (MANAGED_BY, run.operator)):
            if not child["metadata"].get("deletionTimestamp"):
                children.setdefault((child["metadata"].get("labels") or {}).get(OWNER_UID), []).append(condensed_child(run, child))

    def why(cr):
        own = [child for child in children.get(cr["metadata"]["uid"], []) if belongs(run, cr, child)]
        return due(run, cr, own, related)

    return 1 if reconcile_due(run, why, failed) else 0


def condensed_child(run, child):
    """The part of a child that shows its identity and whether it needs a run, because there may be many. Fields that a
    template may read to locate another child are not kept, so that child is not found and its custom resource gets a
    run."""
    metadata = {key: child["metadata"][key] for key in (
        "namespace", "name", "uid", "labels", "annotations", "ownerReferences") if key in child["metadata"]}
    metadata["managedFields"] = [{key: entry[key] for key in ("manager", "subresource", "time") if key in entry}
                                 for entry in child["metadata"].get("managedFields") or []]
    return {"apiVersion": child["apiVersion"], "kind": child["kind"], "metadata": metadata, UNMET: unready_reason(run, child)}


UNMET = "argoperator.dev/unmet"  # why a child is not ready, instead of its content; no object has such a field


def list_all(run, kind, selector=""):
    """The objects of a kind in the watched namespaces."""
    for namespace in (run.watched or [""]) if kind["namespaced"] else [""]:
        yield from run.client.list(path_of(kind, namespace), kind, selector)


def reconcile_due(run, why, failed=0):
    """Starts a reconcile of each custom resource that needs one. Returns the number of failures, added to `failed`."""
    total = submitted = 0
    for cr in list_all(run, run.parent):
        total += 1
        try:
            reason = why(cr)
        except RecursionError:  # continue with the others
            log("%s is nested too deep to be looked at" % cr["metadata"]["name"])
            reason, failed = "", failed + 1
        if reason:
            done = (ask if run.templates else submit)(run, cr, reason)
            submitted, failed = submitted + done, failed + (not done)
    log("%d custom resources, %d submitted, %d failed" % (total, submitted, failed))
    return failed


def all_related(run):
    """The related objects of all custom resources, by entry."""
    return {entry["name"]: [condensed(one) for one in list_all(run, entry)] for entry in run.related if entry["watch"]}


def enqueue(run):
    """Submits a Workflow for each custom resource whose related objects changed since its last reconcile. It lists all
    of them, so one run serves all changes before it."""
    related = all_related(run)

    def why(cr):
        return finalization_reason(run, cr) if run.unselected(cr) else related_outdated(run, cr, related) or last_run_failed(cr)

    return 1 if reconcile_due(run, why) else 0


def finalization_reason(run, cr):
    """Why an object that is being deleted needs a run, or ""."""
    return "waits for its clean-up" if run.has_finalizer(cr) else ""


def last_run_failed(cr):
    """Why a custom resource whose last run failed needs another one, or "": the change may have fixed it."""
    return "its last reconcile has failed" if ready_condition(cr).get("reason") == "ReconcileFailed" else ""


def related_outdated(run, cr, related):
    """Why a custom resource needs a run because of its related objects, or ""."""
    if not run.related:
        return ""
    try:
        found = related_to(run, cr, lambda entry, namespace, rule: select(related.get(entry["name"]) or [], namespace, rule))
    except Refused:  # the failed run has reported it
        return ""
    known = (cr["metadata"].get("annotations") or {}).get(RELATED)
    return "" if known == digest_of(run, found) else "what it refers to has changed"


def restart_disconnected(run):
    """Replaces the pods of disconnected Sensors, for example after the event bus lost its store. When they subscribe,
    they request a replay of the EventSource. Returns the number of failures."""
    path = path_of(SOURCES, run.config["namespace"], run.config["eventSource"])
    try:
        source = run.client.get(path) or {}
        stopped = [sensor for sensor in run.config["sensors"] if disconnected(run, source, sensor)]
        for sensor in stopped:
            log("Sensor %s stopped receiving events: replacing its pods" % sensor)
            run.client.request("PATCH", path_of(SENSORS, run.config["namespace"], sensor),
                               pod_annotations({RESTARTED_BY: run.workflow().split()[0]}), content_type="application/merge-patch+json")
        if stopped:
            run.client.request("PATCH", path, pod_annotations({SUBSCRIBED + sensor: None for sensor in stopped}),
                               content_type="application/merge-patch+json")
    except ApiError as error:
        log("checking the heartbeat failed: %s" % error)
        return 1
    return 0


def disconnected(run, source, sensor):
    """Whether the last heartbeat of a Sensor is too old, unless the EventSource was created since."""
    metadata = source.get("metadata") or {}
    received = (metadata.get("annotations") or {}).get(LAST_RECEIVED + sensor) or ""
    try:
        return seconds_of(run.now()) - seconds_of(max(received, metadata.get("creationTimestamp") or "")) > HEARTBEAT_TIMEOUT
    except ValueError:
        return True


def pod_annotations(annotations):
    """The patch of an EventSource or a Sensor that sets annotations of its pod."""
    return {"spec": {"template": {"metadata": {"annotations": annotations}}}}


def due(run, cr, children, related=None):
    """Why a custom resource needs a run, or "". Uses only data of the lists."""
    if cr["metadata"].get("deletionTimestamp"):
        return finalization_reason(run, cr)
    if not run.is_selected(cr):
        return "is not selected any more" if children or run.has_finalizer(cr) else ""
    if run.config.get("resyncPolicy") == "Always":
        return "resync always"
    return outdated(run, cr, children) or related_outdated(run, cr, related or {}) or status_outdated(run, cr, children)


def outdated(run, cr, children):
    """Why the children of a custom resource need to be applied, or ""."""
    metadata, status = cr["metadata"], cr.get("status") or {}
    if run.finalizer and not run.has_finalizer(cr):
        return "has no finalizer yet"
    if run.parent["status"]:
        if status.get("observedGeneration") != metadata.get("generation"):
            return "its latest change is not reconciled"
        ready = ready_condition(cr)
        if ready.get("status") != "True" and ready.get("reason") in (None, "ReconcileFailed"):
            return "is not ready"
    if not children and run.config["children"]:
        return "has no children"
    if run.config.get("patches"):
        return "patches objects of others"
    there = {(run.declared(child) or {}).get("name") for child in children}
    missing = [entry["name"] for entry in run.config["children"] if entry.get("expected") and entry["name"] not in there]
    if missing:
        return "%s is missing" % missing[0]
    return next((reason for reason in (drifted(run, child, len(children)) for child in children) if reason), "")


def status_outdated(run, cr, children):
    """Why the status of a custom resource differs from the state of its children, or ""."""
    if not run.parent["status"]:
        return ""
    ready, waiting = ready_condition(cr), any(unready_reason(run, child) for child in children)
    state = ready.get("status"), ready.get("reason")
    if waiting and state == ("True", "Reconciled"):
        return "is shown as ready, and a child is not"
    return "is not ready" if state[0] != "True" and not (waiting and state == ("False", "Progressing")) else ""


def ready_condition(cr):
    """The condition Ready of a custom resource."""
    conditions = (cr.get("status") or {}).get("conditions") or []
    return next((given for given in conditions if given.get("type") == "Ready"), {})


def drifted(run, child, siblings):
    annotations = child["metadata"].get("annotations") or {}
    if (run.declared(child) or {}).get("never"):
        return ""
    if annotations.get(SIBLINGS) != str(siblings):
        return "has %d children instead of %s" % (siblings, annotations.get(SIBLINGS))
    if annotations.get(DEFINITION) != run.config["digest"]:
        return "%s is of another definition" % display_name(child)
    ours, others = last_writes(run, child, ("",))
    return "%s was changed by others" % display_name(child) if others > ours else ""


def last_writes(run, child, through):
    """When the operator and when others wrote a child last, through these subresources ("" is the object itself). RFC
    3339 in UTC sorts by time."""
    times = {True: "", False: ""}
    for entry in child["metadata"].get("managedFields") or []:
        if (entry.get("subresource") or "") in through:
            ours = entry.get("manager") == run.operator
            times[ours] = max(times[ours], entry.get("time") or "")
    return times[True], times[False]


def ask(run, cr, reason):
    """Makes the Sensor compute a custom resource. Returns whether that succeeded."""
    key = "%s.%s" % (cr["metadata"].get("namespace") or "", cr["metadata"]["name"])
    try:
        request_computation(run, cr)
        log("%s: %s" % (key, reason))
        return True
    except ApiError as error:
        log("%s: %s, but no fresh computation could be asked for: %s" % (key, reason, error))
        return False


def submit(run, cr, reason):
    """Creates the Workflow. Returns whether that succeeded."""
    namespace, name = cr["metadata"].get("namespace") or "", cr["metadata"]["name"]
    key = "%s.%s" % (namespace, name)
    prefix = ("%s-%s" % (run.operator, name)).replace(".", "-")[:56].rstrip("-") + "-"
    workflow = {
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
        "metadata": {"generateName": prefix, "namespace": run.config["namespace"],
                     "labels": {MANAGED_BY: run.operator}},
        "spec": {"workflowTemplateRef": {"name": run.config["workflowTemplate"]},
                 "arguments": {"parameters": [{"name": "key", "value": key}]}}}
    try:
        run.client.request("POST", path_of(WORKFLOWS, run.config["namespace"]), workflow)
        log("%s: %s" % (key, reason))
        return True
    except ApiError as error:
        log("%s: %s, but no Workflow could be created: %s" % (key, reason, error))
        return False


# ---------------------------------------------------------------------------------------------------------------
# The steps engine: every step is a pod, and values are passed as Argo parameters


def safe_json(value):
    """JSON that Argo can substitute: without "{{", which Argo would expand, and only printable ASCII."""
    def escaped(match):
        return match.group().replace("{", "\\u007b").replace("}", "\\u007d")
    return re.sub(r'"(?:[^"\\]|\\.)*"', escaped, json.dumps(value))


def steps_read(run):
    """The custom resource and the definition's files as parameters, and whether there is anything to do."""
    cr = run.get_parent()
    metadata = dict((cr or {}).get("metadata") or {})
    metadata.pop("managedFields", None)
    about = run.env.get("ARGOPERATOR_GENERATION", "")
    overtaken = about.isdigit() and 0 < int(about) < metadata.get("generation", 0)
    write(run.file("go"), "true" if cr and not metadata.get("deletionTimestamp") and not overtaken else "false")
    write(run.file("manifest"), safe_json(dict(cr, metadata=metadata) if cr else {}))
    folder = run.env.get("ARGOPERATOR_PARAMETERS", "/operator/parameters")
    for name in run.config.get("parameters") or []:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            write(run.file(name), parameter(name, file.read()))
    if overtaken:
        log("%s: a newer change is on its way" % run.key)
    else:
        log("read %s" % run.key if cr else "%s is gone: nothing to do" % run.key)
    return 0


def parameter(name, text):
    """A file's text in a form that Argo can substitute."""
    try:
        return safe_json(json.loads(text))
    except ValueError:
        pass
    unprintable = any(not letter.isprintable() and letter not in "\n\r\t" for letter in text)
    if "{{" in text or unprintable:
        raise Refused("parameter %s contains %s, which Argo would not pass on as it is" % (
            name, "unprintable characters" if unprintable else "{{"))
    return text


def steps_set_owner(run):
    """Makes the object of the script a child of the custom resource."""
    cr = json.loads(run.env["ARGOPERATOR_MANIFEST"])
    if not cr.get("metadata"):
        raise Refused("$ARGOPERATOR_MANIFEST is no custom resource")
    return or_record(run, cr, cr["metadata"].get("generation", 0), lambda: own(run, cr))


def own(run, cr):
    try:
        with open(run.env["ARGOPERATOR_RESULT"], encoding="utf-8") as result:
            child = json.load(result)
    except (OSError, ValueError) as error:
        raise Refused("the script's result is not JSON: %s" % error) from None
    if isinstance(child, dict) and isinstance(child.get("metadata"), dict) and child["metadata"].get("name"):
        child["metadata"] = dict(child["metadata"], name=child_name(run, str(child["metadata"]["name"])),
                                 namespace=run.namespace)
    child, = checked(run, cr, [child])
    spec = child.get("spec") or {}
    selector, labels = (spec.get("selector") or {}).get("matchLabels"), None
    if selector:
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:  # otherwise two custom resources would adopt each other's Pods
        selector[OWNER_UID] = labels[OWNER_UID] = cr["metadata"]["uid"]
    path = path_of(run.declared(child), run.namespace, child["metadata"]["name"])
    check_owner(run, cr, child, run.client.get(path))
    write(run.file("manifest"), safe_json(child))
    log("%s belongs to %s" % (display_name(child), run.key))
    return 0


def child_name(run, name):
    """The name that the script chose, made unique for the custom resource, because two of them must not share a
    child."""
    if name == run.name or name.startswith(run.name + "-"):
        return name
    kind = run.parent["kind"].lower() + "-"
    return "%s-%s" % (run.name, name[len(kind):] if name.startswith(kind) else name)


def steps_status(run):
    """Writes the status from the custom resource and its live children."""
    cr = run.get_parent()
    if cr is None:
        log("%s is gone: nothing to do" % run.key)
        return 0
    seen = json.loads(run.env.get("ARGOPERATOR_MANIFEST") or "{}").get("metadata") or {}
    current = cr["metadata"].get("generation", 0)
    generation = seen.get("generation", current) if seen.get("uid") == cr["metadata"]["uid"] else current
    live = run.children(cr)
    return or_record(run, cr, generation,
                     lambda: report_ready(run, cr, generation, computed_status(run, cr, live, {}), live) or 0)


def rotate(run):
    """Writes a new token for the Sensors to the Secret that their pods mount. It is bound to that Secret: deleting it
    invalidates the token."""
    to, namespace = run.config["token"], run.config["namespace"]
    answer = run.client.request("POST", path_of(ACCOUNTS, namespace, to["serviceAccount"], "token"), {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": to["seconds"],
                 "boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": to["secret"]}}})
    granted, wanted = seconds_of(answer["status"]["expirationTimestamp"]) - seconds_of(run.now()), to["seconds"]
    if granted * 3 < wanted * 2:  # the next run is after a third of the requested time, and may fail once
        raise Refused("the API server grants a token for %d seconds only: want install.tokenRotation to be half of that or less"
                      % granted)
    header = base64.b64encode(("Bearer " + answer["status"]["token"]).encode()).decode()
    run.client.request("PATCH", path_of(SECRETS, namespace, to["secret"]), {"data": {to["key"]: header}},
                       content_type="application/merge-patch+json")
    log("the Sensors have a token until %s" % answer["status"]["expirationTimestamp"])
    return 0


COMMANDS = {"read": read, "apply": apply, "report": report, "resync": resync, "enqueue": enqueue,
            "steps-read": steps_read, "steps-set-owner": steps_set_owner, "steps-status": steps_status,
            "rotate": rotate}


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main(arguments, env=os.environ, sleep=time.sleep, clock=time.monotonic, now=utc_now):
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        log("usage: reconcile.py %s" % "|".join(COMMANDS))
        return 2
    client, code = Client(env, sleep, clock), 1
    try:
        code = COMMANDS[arguments[0]](Run(env, client, now, sleep))
    except Failed as failure:
        log("failed: %s" % failure)
        code = failure.code
    finally:
        client.close()
        if arguments[0] == "read":  # the other containers of the pod wait for it
            for place in {env.get("ARGOPERATOR_STATE") or env["ARGOPERATOR_WORKSPACE"], env["ARGOPERATOR_WORKSPACE"]}:
                write(os.path.join(place, "read.exit"), str(code))
    return code


def deep(work):
    """Does the work on data nested as deep as the API server allows, which is 10,000 levels: some versions of Python
    are limited by the stack, others by a setting."""
    result = []
    threading.stack_size(256 << 20)  # only the used part is allocated
    sys.setrecursionlimit(50000)
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    thread.join()
    return result[0] if result else 1


if __name__ == "__main__":
    sys.exit(deep(lambda: main(sys.argv[1:])))
