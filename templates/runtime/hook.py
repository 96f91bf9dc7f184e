"""The logic: its request and its response, those of Metacontroller's sync hook."""
import json
import os
import stat

from api import Refused, log
from expressions import built
from parent import acquire, refuse_templates, state_of
from related import read_related
from run import display_name, identity, write
from status import or_record
from values import parse_json

RESPONSE_LIMIT = 10 << 20  # bytes of the logic's response


def read(run):
    """Reads the custom resource and its children and writes the request of Metacontroller's sync hook."""
    for path in (run.env["ARGOPERATOR_REQUEST"], run.env["ARGOPERATOR_RESPONSE"], values_of(run)):
        if os.path.exists(path):  # a retry may find files of an earlier attempt
            os.remove(path)
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
    related = by_kind(run, run.related, [one for entry in run.related for one in state["related"].get(entry["name"]) or []])
    run.finalizing = state["finalizing"]
    request = {"parent": cr, "children": children, "related": related, "finalizing": run.finalizing}
    if run.config.get("existing"):  # the names of Metacontroller's DecoratorController
        request.update(object=cr, attachments=children)
    if run.schedules:
        request["schedules"] = {entry["name"]: state["related"].get(entry["name"]) for entry in run.schedules}
    if run.config.get("inputs"):
        request["parameters"] = built(run.config["inputs"], cr, {})
    write(run.state("state.json"), json.dumps(state))
    write(run.env["ARGOPERATOR_REQUEST"], json.dumps(request))
    if run.config.get("chart") and not state["finalizing"]:
        write(values_of(run), json.dumps(cr.get("spec") or {}))
    text = f"read {run.key}, generation {cr['metadata'].get('generation')}, {len(live)} children"
    if run.related:
        text += f", {sum(map(len, related.values()))} related"
    log(text + (", finalizing" if state["finalizing"] else ""))
    return 0


def values_of(run):
    """The path of the values of a chart."""
    return os.path.join(os.path.dirname(run.env["ARGOPERATOR_REQUEST"]), "values.json")


def by_kind(run, kinds, objects):
    """Objects in the form of the request: by kind, then by name. Every kind is included."""
    found = {f"{kind['kind']}.{kind['apiVersion']}": {} for kind in kinds}
    for one in objects:
        found[f"{one['kind']}.{one['apiVersion']}"][relative_name(run, one)] = one
    return found


def relative_name(run, child):
    """The key of a child in the request, as in Metacontroller; a child in another namespace needs its namespace too."""
    namespace, name = child["metadata"].get("namespace"), child["metadata"]["name"]
    short = namespace == run.namespace and (run.config.get("logic") or {}).get("version") != "v2"
    return name if not namespace or short else f"{namespace}/{name}"


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
        raise ValueError(f"it is larger than {limit >> 20} MiB" if limit >> 20 else "it is too large")
    return data.decode("utf-8")


def read_response(run):
    """The response with defaults for children and status, or Refused."""
    try:
        text = plain_file(run.env["ARGOPERATOR_RESPONSE"], RESPONSE_LIMIT)
    except FileNotFoundError:
        raise Refused("the logic wrote no response to $ARGOPERATOR_RESPONSE") from None
    except (OSError, ValueError) as error:
        raise Refused(f"the logic's response cannot be read: {error}") from None
    try:
        response = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the logic's response is not JSON: {error}") from None
    if not isinstance(response, dict):
        raise Refused("the logic's response is not a JSON object")
    if run.config.get("existing") and response.get("children") is None:
        response["children"] = response.get("attachments")
    for field, empty in (("children", []), ("status", {})):
        response[field] = empty if response.get(field) is None else response[field]
    problems = [f"{field} is not {word}" for field, kind, word in (
        ("children", list, "a list"), ("status", dict, "an object"), ("finalized", bool, "a boolean"),
        ("delete", list, "a list"), ("labels", dict, "an object"), ("annotations", dict, "an object"),
        ("resyncAfterSeconds", (int, float), "a number"))
        if response.get(field) is not None and not isinstance(response[field], kind)]
    if not problems:
        problems = condition_problems(response["status"].get("conditions"))
    if problems:
        raise Refused("the logic's response is invalid: " + "; ".join(problems))
    if (run.config.get("logic") or {}).get("port"):  # hooks of Metacontroller may send one, which has no effect there either
        for index, child in enumerate(response["children"]):
            if isinstance(child, dict) and child.pop("status", None):
                log(f"ignored children[{index}].status")
    return response


def condition_problems(conditions):
    if not isinstance(conditions or [], list):
        return ["status.conditions is not a list"]
    return [f"status.conditions[{index}] needs a type, and a status of True, False or Unknown"
            for index, condition in enumerate(conditions or [])
            if not isinstance(condition, dict) or not isinstance(condition.get("type"), str)
            or condition.get("status") not in ("True", "False", "Unknown")]


def to_delete(run, state, response):
    """The related objects that the logic wants to delete, or Refused."""
    allowed = {identity(one): (entry, one) for entry in run.related if entry.get("delete")
               for one in state["related"].get(entry["name"]) or []}
    found, problems = [], []
    for index, one in enumerate(response.get("delete") or []):
        metadata = one.get("metadata") if isinstance(one, dict) else None
        if not isinstance(metadata, dict) or not metadata.get("name"):
            problems.append(f"delete[{index}] is not an object with apiVersion, kind and metadata.name")
            continue
        key = (one.get("apiVersion"), one.get("kind"), metadata.get("namespace") or run.namespace, metadata["name"])
        key = key if key in allowed else key[:2] + ("",) + key[3:]
        if key in allowed:
            found.append(allowed[key])
        else:
            name = display_name({"kind": one.get("kind"), "metadata": metadata})
            problems.append(f"delete[{index}]: {name} is not among the related objects that the definition lets it delete")
    if problems:
        raise Refused("the logic's response is invalid: " + "; ".join(problems))
    return found
