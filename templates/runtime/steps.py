"""The steps engine: every step is a pod, and values are passed as Argo parameters."""
import json
import os
import re

from api import Refused, log
from children import checked
from compute import computed_status
from names import OWNER_UID, path_of
from objects import check_owner
from run import digest_of_inputs, display_name, is_paused, write
from status import or_record, report_paused, report_ready


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
    paused = cr and is_paused(cr)
    write(run.file("go"), "true" if cr and not metadata.get("deletionTimestamp") and not overtaken and not paused else "false")
    write(run.file("manifest"), safe_json(dict(cr, metadata=metadata) if cr else {}))
    folder = run.env.get("ARGOPERATOR_PARAMETERS", "/operator/parameters")
    for name in run.config.get("parameters") or []:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            write(run.file(name), parameter(name, file.read()))
    if paused:
        report_paused(run, cr)
    elif overtaken:
        log(f"{run.key}: a newer change is on its way")
    else:
        log(f"read {run.key}" if cr else f"{run.key} is gone: nothing to do")
    return 0


def parameter(name, text):
    """A file's text in a form that Argo can substitute."""
    try:
        return safe_json(json.loads(text))
    except ValueError:
        pass
    unprintable = any(not letter.isprintable() and letter not in "\n\r\t" for letter in text)
    if "{{" in text or unprintable:
        what = "unprintable characters" if unprintable else "{{"
        raise Refused(f"parameter {name} contains {what}, which Argo would not pass on as it is")
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
        raise Refused(f"the script's result is not JSON: {error}") from None
    if isinstance(child, dict) and isinstance(child.get("metadata"), dict) and child["metadata"].get("name"):
        child["metadata"] = dict(child["metadata"], name=child_name(run, str(child["metadata"]["name"])),
                                 namespace=run.namespace)
    (child,), _ = checked(run, cr, digest_of_inputs(run, cr), [child])
    spec = child.get("spec") or {}
    selector, labels = (spec.get("selector") or {}).get("matchLabels"), None
    if selector:
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:  # otherwise two custom resources would adopt each other's Pods
        selector[OWNER_UID] = labels[OWNER_UID] = cr["metadata"]["uid"]
    path = path_of(run.declared(child), run.namespace, child["metadata"]["name"])
    check_owner(run, cr, child, run.client.get(path))
    write(run.file("manifest"), safe_json(child))
    log(f"{display_name(child)} belongs to {run.key}")
    return 0


def child_name(run, name):
    """The name that the script chose, made unique for the custom resource, because two of them must not share a
    child."""
    if name == run.name or name.startswith(run.name + "-"):
        return name
    kind = run.parent["kind"].lower() + "-"
    return f"{run.name}-{name[len(kind):] if name.startswith(kind) else name}"


def steps_status(run):
    """Writes the status from the custom resource and its live children."""
    cr = run.get_parent()
    if cr is None:
        log(f"{run.key} is gone: nothing to do")
        return 0
    seen = json.loads(run.env.get("ARGOPERATOR_MANIFEST") or "{}").get("metadata") or {}
    current = cr["metadata"].get("generation", 0)
    generation = seen.get("generation", current) if seen.get("uid") == cr["metadata"]["uid"] else current
    live = run.children(cr)
    return or_record(run, cr, generation,
                     lambda: report_ready(run, cr, generation, computed_status(run, cr, live, {}), live) or 0)
