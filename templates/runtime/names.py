"""Names on the API server: the operator's labels and annotations, kinds, paths."""
import urllib.parse

from api import Refused

# Keys of labels and annotations.
MANAGED_BY = "app.kubernetes.io/managed-by"
NAME = "app.kubernetes.io/name"  # of the operator, on its own pods
COMPONENT = "app.kubernetes.io/component"
OWNER_UID = "argoperator.dev/owner-uid"
OWNER = "argoperator.dev/owner"
OPERATOR_NAMESPACE = "argoperator.dev/operator-namespace"  # label of children: operators of one name have other namespaces
DEFINITION = "argoperator.dev/definition"
SIBLINGS = "argoperator.dev/siblings"
INPUTS = "argoperator.dev/inputs"  # a digest of what a child was computed from and the status does not name
FIXED = "argoperator.dev/fixed"  # a fingerprint of the fields whose change replaces the object
DEPTH = "argoperator.dev/depth"  # of a custom resource: how many operators made before it, each for the one before
CHILD = "argoperator.dev/child"  # label: the template that a child comes from
RECONCILE = "argoperator.dev/reconcile"  # annotation of a custom resource: asks for a fresh computation
RELATED = "argoperator.dev/related-digest"  # annotation of a custom resource: what it was reconciled with, as a digest
PAUSED = "argoperator.dev/paused"  # annotation of a custom resource: "true" stops all writes to it and its children
SHOW = "argoperator.dev/show"  # annotation of a custom resource: asks a worker for a reconcile as a Workflow; another value asks again
SHOWN = "argoperator.dev/shown"  # label of a Workflow that shows one reconcile: the custom resource's uid
TIMER = "argoperator.dev/timer"  # label of a Workflow that waits for its time: the custom resource's uid
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LAST_RECEIVED = "argoperator.dev/last-received-"  # annotation of the EventSource: when a Sensor received its heartbeat
SUBSCRIBED = "argoperator.dev/subscribed-"  # annotation of the EventSource's pod: the programs that a Sensor subscribed with
RESTARTED_BY = "argoperator.dev/restarted-by"  # annotation of a pod of Argo Events: another value replaces it

# Kinds.
WORKFLOWS = {"apiVersion": "argoproj.io/v1alpha1", "plural": "workflows", "namespaced": True}
SENSORS = dict(WORKFLOWS, plural="sensors")
SOURCES = dict(WORKFLOWS, plural="eventsources")
WORKFLOW = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"}
SECRETS = {"apiVersion": "v1", "plural": "secrets", "namespaced": True}
ACCOUNTS = dict(SECRETS, plural="serviceaccounts")
EVENTS = {"apiVersion": "v1", "plural": "events", "namespaced": True}

# Fields of metadata that the API server sets. Logic may return an object from its request.
SERVER_MADE = ("managedFields", "resourceVersion", "uid", "generation", "selfLink",
               "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


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
        raise Refused(f"{name[:300]!r} cannot be the name of an object or a namespace")
    return name
