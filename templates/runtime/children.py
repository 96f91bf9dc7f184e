"""Checks the children that templates and logic want, and completes them."""
import base64
import copy

from api import Refused
from compute import key_of
from expressions import built
from names import CHILD, DEFINITION, DEPTH, FIXED, INPUTS, MANAGED_BY, OPERATOR_NAMESPACE, OWNER, OWNER_UID, SERVER_MADE, SIBLINGS
from run import display_name, one_object, place_of


class Refusals:
    """What is refused of the templates, which stays as it is; the rest of the children does not wait for it."""

    def __init__(self):
        self.texts = []
        self.places = {}        # by identity, the names of templates
        self.templates = set()  # names of templates of which nothing is written
        self.wanted = {}        # by template that failed: the identities that it wants, or None if they are unknown

    def fail(self, failed):
        """Adds the templates that failed."""
        self.wanted = {template: keys for template, keys in failed.items() if template not in self.templates}
        self.templates |= set(failed)

    def covers(self, key, template):
        """Whether a live child stays as it is."""
        keys = self.wanted.get(template)
        return key in self.places or template in self.templates and (keys is None or key in keys)


def checked(run, cr, inputs, children, desired=(), kept=(), later=0):
    """The children complete and ready to be applied, the templates' before the logic's, and what is refused of the
    templates. Raises Refused if the logic's are wrong. Kept are those that stay as they are, which no other takes. Those that
    come later count as siblings, because a write of an annotation makes a Deployment unready for a moment: what others wait
    for must not decide about it."""
    offers = [(name, f"template {name}", child) for name, child in desired]
    offers += [("", f"children[{index}]", child) for index, child in enumerate(children)]
    refusals, logic, wanted = Refusals(), [], []
    seen = {one_object(child): run.declared(child)["name"] for child in kept}
    for template, where, child in offers:
        child = marked(child, template)
        found = list(child_problems(run, child, template)) or list(depth_problems(run, cr, child))
        misplaced = [] if found else list(place_problems(run, child, run.declared(child)))
        if not found and not misplaced:
            child = completed(run, cr, child, {SIBLINGS: str(len(offers) + len(kept) + later), INPUTS: inputs})
            if one_object(child) in seen:
                first = seen[one_object(child)]
                found = [display_name(child) + (" is there twice" if first == template else
                                          f" comes from template {first} too")]
            seen.setdefault(one_object(child), template)
            wanted.append((template, child))
        (refusals.texts if template else logic).extend(f"{where}: {problem}" for problem in found + misplaced)
        if found and template:
            refusals.templates.add(template)
        elif misplaced and template:
            refusals.places[key_of(run, run.declared(child), child)] = template
    if logic or not refusals.templates <= {entry["name"] for entry in run.config["children"]}:
        raise Refused("; ".join(refusals.texts + (["the logic's response is invalid: " + "; ".join(logic)] if logic else [])))
    return [child for template, child in wanted if template not in refusals.templates], refusals


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
            yield f"metadata.{field} is not an object"
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
        yield f"{child.get('kind')} of {child.get('apiVersion')} is not declared in the operator's children"
        return
    if template and not (entry.get("template") and entry["name"] == template):
        yield f"{child['kind']} of {child['apiVersion']} is not what the operator's children declare"
        return
    if entry.get("template") and not template:
        yield (f"{child['kind']} {metadata['name']}: this kind comes from template {entry['name']}; "
               "the logic needs a child of the kind without a template")


def place_problems(run, child, entry):
    """Checks where a child is: in a watched namespace, and where it is deleted with its owner, unless it outlives it."""
    namespace = child["metadata"].get("namespace") or run.namespace
    refusal = run.refusal(entry, place_of(entry, child, run.namespace), run.namespace)
    if entry["namespaced"] and not namespace:
        yield f"needs a metadata.namespace, since {run.parent['kind']} is cluster-scoped"
    elif refusal:
        yield refusal
    elif not run.finalizer and entry.get("onDelete") != "Orphan" and run.parent["namespaced"] and not (
            entry["namespaced"] and namespace == run.namespace):
        yield (f"{child['kind']} {child['metadata']['name']} outside of namespace {run.namespace} needs a finalizer: "
               "Kubernetes would not delete it")


def depth_problems(run, cr, child):
    """Checks that operators do not make each other's custom resources without an end."""
    entry = run.declared(child)
    if entry.get("maxDepth") and depth_of(cr) not in map(str, range(entry["maxDepth"])):
        yield entry["tooDeep"]


def depth_of(cr):
    """How many custom resources operators have made before this one, each for the one before. Others may write any
    text."""
    return (cr["metadata"].get("annotations") or {}).get(DEPTH, "0")


def encoded(child):
    """A Secret with its texts in data: the API server converts stringData, so it would neither remove a key that is no
    longer there nor report that another client changed one."""
    texts, data = child.get("stringData"), child.get("data") or {}
    if (child["apiVersion"], child["kind"]) != ("v1", "Secret") or not isinstance(texts, dict) or not isinstance(data, dict):
        return child
    texts = {key: base64.b64encode(text.encode("utf-8", "replace")).decode() if isinstance(text, str) else text
             for key, text in texts.items() if text is not None}
    return dict({key: value for key, value in child.items() if key != "stringData"}, data=dict(data, **texts))


def completed(run, cr, child, marks):
    """The child with its namespace, the operator's labels and annotations, and its owner."""
    child, entry = encoded(copy.deepcopy(child)), run.declared(child)
    child.pop("status", None)
    metadata = child["metadata"] = {key: value for key, value in child["metadata"].items() if key not in SERVER_MADE}
    if entry["namespaced"]:
        metadata["namespace"] = metadata.get("namespace") or run.namespace
    else:
        metadata.pop("namespace", None)
    uid = cr["metadata"]["uid"]
    if run.config.get("childMetadata") and CHILD not in (metadata.get("labels") or {}):  # templates have them already
        for field, common in built(run.config["childMetadata"], cr, {}).items():
            if not isinstance(common, dict):
                raise Refused(f"childMetadata.{field} is no mapping: {common!r}")
            metadata[field] = dict(common, **(metadata.get(field) or {}))
    metadata["labels"] = dict(metadata.get("labels") or {}, **{
        MANAGED_BY: run.operator, OWNER_UID: uid, OPERATOR_NAMESPACE: run.config["namespace"]})
    metadata["annotations"] = dict(metadata.get("annotations") or {}, **{
        OWNER: run.key, DEFINITION: run.config["digest"]}, **marks)
    if entry.get("maxDepth"):
        metadata["annotations"][DEPTH] = str(int(depth_of(cr)) + 1)
    if entry.get("fixed"):
        metadata["annotations"][FIXED] = built(entry["fixed"], child, {})
    owners = [owner for owner in metadata.pop("ownerReferences", None) or [] if owner.get("uid") != uid]
    if entry.get("onDelete") != "Orphan" and run.ownable(child, entry):
        owners.append({"apiVersion": run.parent["apiVersion"], "kind": run.parent["kind"],
                       "name": run.name, "uid": uid, "controller": True})
    if owners:
        metadata["ownerReferences"] = owners
    return child
