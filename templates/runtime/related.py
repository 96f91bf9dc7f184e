"""Related objects: objects of other controllers that a custom resource refers to."""
import hashlib
import json
import re

from api import Failed, Refused, log
from compute import told
from expressions import built
from names import COMPONENT, MANAGED_BY, NAME, RECONCILE, RELATED, path_of
from run import annotate, identity
from schedules import scheduled
from values import ExpressionError

DIGEST = "argoperator.dev/digest"  # of an object, instead of its content; no object has such a field
LABEL = re.compile("([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)")
LABEL_PREFIX = re.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/")


def read_related(run, cr, state):
    """Reads the current related objects, with the digest that detects later changes."""
    if run.refers:
        run.refers(cr)
    try:
        state["related"] = dict(related_to(run, cr, lambda *wanted: fetch(run, *wanted)), **scheduled(run, cr))
    except Failed as failure:
        if not state["finalizing"]:
            raise
        log(f"on the way out without what is related: {failure}")
        state["related"] = {}
    state["digest"] = digest_of(run, state["related"])


def related_to(run, cr, source):
    """The related objects of a custom resource by the name of their entry. `source` returns those of an entry in a
    namespace; "" means all namespaces."""
    found = {}
    for entry in run.related:
        rule, own = rule_of(entry, cr), cr["metadata"].get("namespace") or ""
        namespace = (rule.get("namespace") or own or "*") if entry["namespaced"] else ""
        refusal = "" if namespace in ("", "*") else run.refusal(entry, namespace, own)
        if refusal:
            raise Refused(f"related {entry['name']}: {refusal}")
        everywhere = (run.watched or [""]) if entry["namespaced"] else [""]
        places = everywhere if namespace in ("", "*") else [namespace]
        found[entry["name"]] = sorted((one for place in places for one in source(entry, place, rule) if not entry["namespaced"]
                                       or run.may_choose(entry, one["metadata"]["namespace"], own)), key=identity)
    return found


def rule_of(entry, cr):
    """The objects that an entry selects for this custom resource: namespace, and names or labelSelector."""
    try:
        rule = built(entry["rule"], cr, {})
    except ExpressionError as error:
        raise Refused(f"related {entry['name']}: {told(entry, error)}") from None
    names, selector = rule.get("names"), rule.get("labelSelector")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, (str, type(None))) for name in names)):
        raise Refused(f"related {entry['name']}: names is not a list of strings")
    if not isinstance(rule.get("namespace") or "", str):
        raise Refused(f"related {entry['name']}: namespace is not a string")
    if selector is not None:
        try:
            selector_text(selector)
        except (TypeError, ValueError, KeyError, AttributeError):
            raise Refused(f"related {entry['name']}: labelSelector is not one of Kubernetes") from None
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


def label_key(key):
    """A label key, or ValueError: other text could change the meaning of a selector."""
    prefix = LABEL_PREFIX.match(key)
    if not LABEL.fullmatch(key[prefix.end():] if prefix else key):
        raise ValueError(f"{key[:300]!r} is no label key")
    return key


def label_value(value):
    if value and not LABEL.fullmatch(value):
        raise ValueError(f"{value[:300]!r} is no label value")
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
    seen = [[entry["name"], one.get(DIGEST) or digest(run, one)] for entry in run.related if entry["watch"]
            for one in related.get(entry["name"]) or [] if not made_by_run(run, one)]
    seen += [[entry["name"], related.get(entry["name"])] for entry in run.schedules]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]


def made_by_run(run, one):
    """Whether an object is a Workflow or a pod of the operator, of which every run makes new ones."""
    labels = one["metadata"].get("labels") or {}
    return one["metadata"].get("namespace") == run.config["namespace"] and (
        one["kind"] == "Workflow" and labels.get(MANAGED_BY) == run.operator
        or one["kind"] == "Pod" and labels.get(COMPONENT) == "operator" and labels.get(NAME) == run.operator)


def digest(run, one):
    """A digest of an object without what a run writes into a custom resource in any case: a run must not start another
    one."""
    metadata = {key: value for key, value in one["metadata"].items() if key not in ("managedFields", "resourceVersion", "generation")}
    metadata["annotations"] = {key: value for key, value in (metadata.get("annotations") or {}).items()
                               if key not in (RELATED, RECONCILE)}
    one = dict(one, metadata=metadata)
    if (one["apiVersion"], one["kind"]) == (run.parent["apiVersion"], run.parent["kind"]):
        conditions = [{key: value for key, value in given.items() if key not in ("message", "lastTransitionTime")}
                      for given in (one.get("status") or {}).get("conditions") or []]
        one["status"] = dict(one.get("status") or {}, conditions=conditions)
    return hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()


def condensed(run, one):
    """The part of a related object that identifies its referrers, because there may be many large objects."""
    metadata = {key: one["metadata"][key] for key in ("namespace", "name", "labels") if key in one["metadata"]}
    return {"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": metadata, DIGEST: digest(run, one)}


def store_related(run, cr, state):
    """Stores the digest on the custom resource: a later difference starts a reconcile."""
    if not run.depends or state["finalizing"] or (cr["metadata"].get("annotations") or {}).get(RELATED) == state["digest"]:
        return
    annotate(run, cr, RELATED, state["digest"])
