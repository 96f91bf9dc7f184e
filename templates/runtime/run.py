"""One run of one operator: its configuration, its custom resource, and which children belong to that."""
import base64
import datetime
import hashlib
import json
import os
import re
import sys
import threading
import time

from api import ApiError, Failed
from dates import seconds_of
from expressions import built
from names import CHILD, LAST_APPLIED, MANAGED_BY, OPERATOR_NAMESPACE, OWNER_UID, PAUSED, path_of
from values import ExpressionError, parse_json

DRIFT = "drift"  # sent instead of children: another client changed a child


class Run:
    """The context of a command: the operator's configuration, the API server, the environment, the time."""

    def __init__(self, env, client, now, sleep=time.sleep, config=None):
        self.config = config or read_config(env["ARGOPERATOR_CONFIG"])
        self.unreported = False  # whether a failure could not be written to the status
        self.doubts = False  # whether a look is to find what events that may be lost have said
        self.later = None      # in a worker: requests another run after some seconds; none if they are 0
        self.finalizing = False  # whether the logic is asked to clean up
        self.shown = None      # in a worker: where the Workflow is that shows the failure of a custom resource, or ""
        self.holds = False     # whether others may have fields of the patches, or are to get some
        self.left = None       # the seconds until the worker comes back by itself
        self.refers = None     # in a worker: stores what the custom resource refers to, before that is read
        self.before, self.after = {}, None  # in a worker: by uid, what the run before and this one have applied
        self.gone, self.cr = False, None  # whether there was nothing to do for the custom resource when it was read last; else what it was
        self.env, self.client, self.now, self.sleep = env, client, now, sleep
        self.parent = self.config["parent"]
        self.operator = self.config["operator"]
        self.finalizer = self.config.get("finalizer") or ""
        self.logic = "ARGOPERATOR_RESPONSE" in env  # otherwise only templates create children
        self.templates = bool(self.config.get("sensorTemplates"))  # the Sensor computes them
        self.related, self.schedules = self.config.get("related") or [], self.config.get("schedules") or []
        self.depends = bool(self.related or self.schedules)  # on more than the custom resource and its children
        self.desired = desired_from(env.get("ARGOPERATOR_DESIRED", ""))
        self.drift = env.get("ARGOPERATOR_DESIRED", "").strip() == DRIFT
        self.watched = self.config.get("watchNamespaces") or []
        self.allowed = self.config.get("allowedNamespaces") or ""
        self.system = self.config.get("systemNamespaces") or ""
        self.key = env.get("ARGOPERATOR_KEY", "")
        self.namespace, _, self.name = self.key.partition(".")

    def file(self, name):
        """The path of a file in the workspace, which the containers of the pod share."""
        return os.path.join(self.env["ARGOPERATOR_WORKSPACE"], name)

    def state(self, name):
        """The path of a file that the logic cannot access."""
        return os.path.join(self.env.get("ARGOPERATOR_STATE") or self.env["ARGOPERATOR_WORKSPACE"], name)

    def place(self):
        """Where the run is, in messages: its Workflow, or the Deployment of the worker."""
        if self.config.get("worker") and "ARGOPERATOR_WORKFLOW" not in self.env:
            return f"deployment {self.config['namespace']}/{self.config['worker']}"
        return self.workflow_place(self.env.get("ARGOPERATOR_WORKFLOW", ""))

    def workflow_place(self, name):
        """Where a Workflow is, with a link if the URL of Argo Server is configured."""
        place, server = f"{self.config['namespace']}/{name}", (self.config.get("argoServerURL") or "").rstrip("/")
        return f"workflow {place}" + (f" {server}/workflows/{place}" if server else "")

    def parent_path(self, subresource=""):
        return path_of(self.parent, self.namespace, self.name, subresource)

    def get_parent(self):
        """The current custom resource, or None if there is nothing to do for it: it was deleted, and has no finalizer
        of the operator."""
        cr = self.client.get(self.parent_path())
        self.gone = not cr or bool(cr["metadata"].get("deletionTimestamp")) and not self.has_finalizer(cr)
        self.cr = None if self.gone else cr
        return self.cr

    def has_finalizer(self, cr):
        """Whether the custom resource has the operator's finalizer."""
        return bool(self.finalizer) and self.finalizer in (cr["metadata"].get("finalizers") or [])

    def is_selected(self, cr):
        """Whether the operator manages this object: for an existing kind, a definition may have a selector."""
        try:
            return self.parent.get("selected") is None or built(self.parent["selected"], as_others_wrote(self, cr), {}) is True
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
        else to the first; a template's only where there is no other. The API server lists it in every version of its
        kind, of which that of its template counts."""
        same = [entry for entry in self.config["children"]
                if (entry["apiVersion"], entry["kind"]) == (child.get("apiVersion"), child.get("kind"))]
        labels = child["metadata"].get("labels")
        label = labels.get(CHILD) if isinstance(labels, dict) else None
        template = next((entry for entry in self.config["children"] if entry["name"] == label), None)
        if template in same:
            return template
        if template and (group_of(template), template["kind"]) == (group_of(child), child.get("kind")):
            return None
        same = [entry for entry in same if not entry.get("template")] or same
        name = "-" + str(child["metadata"]["name"])
        named = [entry for entry in same if name.endswith("-" + entry["name"])]
        return max(named, key=lambda entry: len(entry["name"])) if named else same[0] if same else None

    def is_left(self, child):
        """Whether a child comes from a template that the definition no longer has: it stays, unless another one takes
        it over, whose name it carries then. Those of the logic carry none."""
        labels = child["metadata"].get("labels")
        label = labels.get(CHILD) if isinstance(labels, dict) else None
        return label is not None and all(entry["name"] != label for entry in self.config["children"])

    def ownable(self, child, entry, namespace=None):
        """Whether the child, in this namespace, can have an ownerReference to the custom resource."""
        if not self.parent["namespaced"]:
            return True
        return entry["namespaced"] and child["metadata"].get("namespace") == (self.namespace if namespace is None else namespace)

    def is_own_child(self, cr):
        """Whether an object of the custom resource's kind is a child of another one, which the Sensor ignores, too."""
        kinds = [(group_of(entry), entry["kind"]) for entry in [self.parent] + self.config["children"]]
        return kinds[0] in kinds[1:] and (cr["metadata"].get("labels") or {}).get(MANAGED_BY) == self.operator

    def has_unowned(self, kind):
        """Whether the definition has a child of this kind that cannot, or must not, have an ownerReference."""
        return any(other.get("unowned") for other in self.config["children"]
                   if (other["apiVersion"], other["kind"]) == (kind["apiVersion"], kind["kind"]))

    def seconds(self):
        """The time in seconds since 1970."""
        return seconds_of(self.now())

    def may_choose(self, entry, namespace, own):
        """Whether a custom resource of namespace `own` may make the operator access a namespace. "" is none."""
        if namespace in ("", own) or not entry.get("chosen"):
            return True
        return bool(re.fullmatch(self.allowed, namespace)) if self.allowed else not re.fullmatch(self.system, namespace)

    def refusal(self, entry, namespace, own):
        """Why a custom resource of namespace `own` may not make the operator access a namespace; "" if it may."""
        if entry["namespaced"] and self.watched and namespace not in self.watched:
            return f"namespace {namespace} is not one of watchNamespaces"
        if not self.may_choose(entry, namespace, own):
            return f"namespace {namespace} is not one of install.allowedNamespaces"
        return ""

    def namespaces_of(self, kind):
        """The namespaces that can contain children of the custom resource; "" means all."""
        if not kind["namespaced"]:
            return [""]
        if self.parent["namespaced"] and not self.finalizer and not self.has_unowned(kind):
            return [self.namespace]
        return sorted(set(self.watched + [self.namespace])) if self.watched and self.namespace else self.watched or [""]

    def stands(self, child, live):
        """Whether a child is as the run before left it, which wanted the same: to apply it again would change nothing."""
        uid = ((live or {}).get("metadata") or {}).get("uid")
        if self.after is None or uid not in self.before or self.before[uid] != applied(self, child, live):
            return False
        self.after[uid] = self.before[uid]
        return True

    def note(self, child, live):
        """Remembers how a child is after it was applied."""
        if self.after is not None:
            self.after[live["metadata"]["uid"]] = applied(self, child, live)

    def children(self, cr):
        """The live children of the custom resource, sorted."""
        selector = f"{MANAGED_BY}={self.operator},{OWNER_UID}={cr['metadata']['uid']}"
        found = []
        for kind in self.kinds():
            for namespace in self.namespaces_of(kind):
                found += self.client.list(path_of(kind, namespace), kind, selector)
        return sorted((child for child in found if belongs(self, cr, child)), key=identity)


def is_paused(cr):
    """Whether its annotation says that nothing may be written for a custom resource."""
    return (cr["metadata"].get("annotations") or {}).get(PAUSED) == "true"


def is_for_another(config, key):
    """Whether another worker reconciles a custom resource: each has those whose key has its remainder, as in parent.jq."""
    workers = config.get("workers")
    return bool(workers) and workers[sum(map(ord, key)) % len(workers)] != config["worker"]


def is_first(config):
    """Whether a worker does what one of them must do."""
    return config["worker"] == (config.get("first") or (config.get("workers") or [config["worker"]])[0])


def place_of(entry, one, own):
    """The namespace that an object is in, or which Namespace it is; "" for others that are cluster-scoped."""
    metadata = one["metadata"]
    if (entry["apiVersion"], entry["kind"]) == ("v1", "Namespace"):
        return str(metadata["name"])
    return str(metadata.get("namespace") or own) if entry["namespaced"] else ""


def desired_from(text):
    """What the Sensor computed; None if the event was not one of the custom resource, so that there was no input.
    Unreadable data is an error of the templates, reported like those of jq."""
    if text.strip() in ("", DRIFT):
        return None
    try:
        desired = parse_json(base64.b64decode(text.strip(), validate=True).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return {"error": f"what the Sensor sent cannot be read: {error}"}
    return desired if is_valid_desired(desired) else {"error": "what the Sensor sent is not of the expected form"}


def is_valid_desired(desired):
    inputs = desired.get("inputs") if isinstance(desired, dict) else None
    if not isinstance(inputs, dict) or not isinstance(desired.get("uid"), str):
        return False
    if not all(isinstance(inputs.get(field) or {}, dict) for field in ("labels", "annotations")):
        return False
    children = [] if desired.get("error") else desired.get("children")
    return isinstance(children, list) and all(
        isinstance(one, dict) and isinstance(one.get("child"), str) and ("object" in one or isinstance(one.get("error"), str))
        for one in children)


def as_others_wrote(run, cr):
    """An object without the labels and annotations that only the operator has set. They do not count for the selector:
    a patch would deselect the object that it is for, which gives up the patch, which selects it again."""
    metadata, keys = dict(cr["metadata"]), {True: set(), False: set()}
    for entry in metadata.get("managedFields") or []:
        ours = entry.get("manager") == run.operator or entry.get("manager", "").startswith(f"{run.operator}.{metadata['uid']}.")
        fields = (entry.get("fieldsV1") or {}).get("f:metadata") or {}
        keys[ours].update((part, key[2:]) for part in ("labels", "annotations") for key in fields.get("f:" + part) or {})
    for part in ("labels", "annotations"):
        if part in metadata:
            metadata[part] = {key: value for key, value in metadata[part].items() if (part, key) not in keys[True] - keys[False]}
    return dict(cr, metadata=metadata)


def digest_of_inputs(run, cr):
    """A digest of what starts a run when it changes, without what operators set. A status names the generation, which
    stands for the content; without one it does not, because it counts the operator's own annotations of a Deployment."""
    cr = as_others_wrote(run, cr)
    metadata = cr["metadata"]
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items()
                   if key != LAST_APPLIED and not key.partition("/")[0].endswith("argoperator.dev")}
    content = None
    if not run.parent["status"]:
        content = {key: cr[key] for key in cr if key not in ("apiVersion", "kind", "metadata", "status")}
    inputs = [metadata.get("labels") or {}, annotations, content]
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:16]


def applied(run, child, live):
    """A digest of a child and of how its fields are: their values, and who manages them. What others add to it changes nothing."""
    ours = [entry for entry in live["metadata"].get("managedFields") or [] if entry.get("manager") == run.operator]
    return hashlib.sha256(json.dumps([child, ours, part_of(child, live)], sort_keys=True).encode("utf-8", "replace")).digest()


def part_of(wanted, live):
    """The live values of the fields of an object; lists are whole."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        return {key: part_of(value, live.get(key)) for key, value in wanted.items()}
    return live


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
    owned = entry.get("onDelete") != "Orphan" and run.ownable(child, entry, cr["metadata"].get("namespace") or "")
    return run.has_unowned(entry) and not owned


def labelled(run, metadata, uid):
    labels = metadata.get("labels") or {}
    return made_by(run, labels) and labels.get(OWNER_UID) == uid


def made_by(run, labels):
    """Whether labels are of this operator, not of one of the same name in another namespace."""
    return labels.get(MANAGED_BY) == run.operator and labels.get(OPERATOR_NAMESPACE, run.config["namespace"]) == run.config["namespace"]


def controllers(metadata):
    return [owner for owner in metadata.get("ownerReferences") or [] if owner.get("controller")]


def owned_by(metadata, uid):
    return uid in [owner.get("uid") for owner in controllers(metadata)]


def identity(child):
    metadata = child["metadata"]
    return child["apiVersion"], child["kind"], metadata.get("namespace") or "", metadata["name"]


def group_of(one):
    return str(one.get("apiVersion")).rpartition("/")[0]


def one_object(child):
    """The identity of a child in every version of its kind."""
    return (group_of(child),) + identity(child)[1:]


def display_name(child):
    """A child in messages."""
    return name_of(child["kind"], child["metadata"].get("namespace"), child["metadata"]["name"])


def name_of(kind, namespace, name):
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def annotate(run, cr, key, value):
    """Writes an annotation of a custom resource, if that still exists."""
    try:
        run.client.request("PATCH", path_of(run.parent, cr["metadata"].get("namespace"), cr["metadata"]["name"]),
                           {"metadata": {"annotations": {key: value}}}, {"fieldManager": run.operator},
                           "application/merge-patch+json")
    except ApiError as error:
        if error.status != 404:
            raise


def hold(run, cr):
    """Adds the finalizer to a custom resource, before something is written that would be left behind when it goes."""
    while run.finalizer and not run.has_finalizer(cr):
        try:
            cr["metadata"] = add_finalizer(run, cr)["metadata"]
        except ApiError as error:
            if error.status not in (404, 409):
                raise
            now = run.get_parent()
            if not now or now["metadata"]["uid"] != cr["metadata"]["uid"] or now["metadata"].get("deletionTimestamp"):
                raise Failed(f"{run.key} was deleted meanwhile") from None
            cr["metadata"] = now["metadata"]


def release(run, cr):
    """Removes a finalizer that nothing needs any more: one that only patches have needed."""
    needed = run.holds or run.config.get("finalizerForced") or any(entry.get("held") for entry in run.config["children"])
    if needed or not run.has_finalizer(cr):
        return
    try:
        cr["metadata"] = drop_finalizer(run, cr)["metadata"]
    except ApiError as error:
        if error.status not in (404, 409):  # a later run removes it
            raise


def add_finalizer(run, cr):
    return set_finalizers(run, cr, (cr["metadata"].get("finalizers") or []) + [run.finalizer])


def drop_finalizer(run, cr):
    return set_finalizers(run, cr, [name for name in cr["metadata"]["finalizers"] if name != run.finalizer])


def set_finalizers(run, cr, finalizers):
    """Writes the list of finalizers, unless the custom resource has changed since it was read (409)."""
    body = {"metadata": {"finalizers": finalizers, "resourceVersion": cr["metadata"]["resourceVersion"]}}
    return run.client.request("PATCH", run.parent_path(), body, content_type="application/merge-patch+json")


def utc_now():
    """The time in the form of Kubernetes."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def deep_thread(work):
    """A thread that can work on data nested as deep as the API server allows."""
    sys.setrecursionlimit(50000)
    before = threading.stack_size(256 << 20)  # only the used part is allocated
    try:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread
    finally:
        threading.stack_size(before)


def read_config(path):
    """The configuration that argoperator generates."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read_configs(env):
    """The configurations of the operators that a worker runs, with its own name. It may not be one of those workers any more
    that share the custom resources."""
    configs = [read_config(path) for path in env["ARGOPERATOR_CONFIG"].split(":")]
    return [dict(config, workers=config.get("workers") or [config["worker"]], worker=env.get("ARGOPERATOR_WORKER") or config["worker"])
            for config in configs]


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return parse_json(file.read())


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
