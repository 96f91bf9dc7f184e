"""What the definition computes from the cluster: templates, status fields, readiness."""
from api import Refused, log
from expressions import built
from run import identity, name_of
from values import ExpressionError

MOST_PASSES = 10  # over the fields of a status
UNMET = "argoperator.dev/unmet"  # why a child is not ready, instead of its content; no object has such a field


def named(run, live, related):
    """The variables of expressions: $children and $related by name, one object or, if there may be several, a list."""
    names = {"$children": {}, "$related": {}}
    for entry in run.config["children"]:
        ones = [one for one in sorted(live, key=lambda one: identity(one)[2:]) if run.declared(one)["name"] == entry["name"]]
        names["$children"][entry["name"]] = ones if entry.get("each") else ones[0] if ones else None
    for entry in run.related:
        ones = related.get(entry["name"]) or []
        names["$related"][entry["name"]] = ones if entry["multiple"] else ones[0] if ones else None
    for entry in run.schedules:
        names["$related"][entry["name"]] = related.get(entry["name"])
    return names


def computed_status(run, cr, live, related, say=log):
    """The status fields of the definition. One that reads related objects keeps its value if they could not be read, so that
    there are none by name. Some read others, as they are written now: they are computed until none changes."""
    nodes, names = (run.config.get("status") or {}).get("object") or {}, named(run, live, related)
    unread = {field for field, node in nodes.items() if run.depends and not related and mentions(node, "$related")}
    kept = {field: value for field, value in (cr.get("status") or {}).items() if field in unread}
    nodes = {field: node for field, node in nodes.items() if field not in unread}
    for _ in range(MOST_PASSES if run.config.get("statusReadsStatus") else 1):
        status, was = status_fields(run, cr, nodes, names, say), cr.get("status") or {}
        now = {field: value for field, value in was.items() if field not in nodes or field == "conditions"}
        now.update((field, value) for field, value in status.items() if value is not None and field != "conditions")
        if now == was:
            break
        cr = dict(cr, status=now)
    return dict(status, **kept)


def status_fields(run, cr, nodes, names, say):
    """The fields that one custom resource gives. One whose expression fails is omitted."""
    status = {}
    for field, node in nodes.items():
        try:
            status[field] = built(node, cr, names)
        except ExpressionError as error:
            say(f"status.{field} is left out: {told({'secret': field in run.config.get('secretStatus', [])}, error)}")
    return status


def told(entry, error):
    """The message of an error. That of an expression may quote a Secret that it reads."""
    if entry.get("secret") and isinstance(error, ExpressionError):
        return "an expression fails; its message can quote a Secret and is not shown"
    return str(error)


def mentions(node, name):
    """Whether an expression of the configuration reads a variable."""
    if isinstance(node, dict):
        node = list(node.values())
    return node == name or isinstance(node, list) and any(mentions(item, name) for item in node)


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
        return f"its readiness is unknown: {error}"


class Desired:
    """The result of the templates, as far as it can be computed now."""

    def __init__(self):
        self.objects = []   # (name of the template, object)
        self.held = []      # why a template is not computed yet
        self.waiting = {}   # by template that waits: how many objects it will have, as far as that is known
        self.kept = set()   # identities of live children that stay as they are, because they cannot be computed now
        self.failed = {}    # by template that failed: the identities that it wants, or None if they are unknown
        self.failures = []

    def fail(self, template, text):
        self.failed[template] = None
        self.failures.append(Refused(f"template {template}: {text}"))


def templated(run, cr, state, answer, live):
    """The result of the templates, given the live children and those that the logic wants."""
    desired = Desired()
    if state["finalizing"]:
        return desired
    if run.templates:
        settled = {name: settled_as_computed(run, name, live) for name in failing_settled(run)}
        for one in run.desired["children"]:
            if settled.get(one["child"]):
                desired.kept |= settled[one["child"]]
            elif "error" in one:
                desired.fail(one["child"], one["error"])
            else:
                desired.objects.append((one["child"], one["object"]))
        desired.failed = {name: wanted_by(run, name) for name in desired.failed}
        return desired
    names = named(run, located(run, cr, live, state["related"]), state["related"])
    made = {entry["name"]: logic_children(run, entry, answer) for entry in run.config["children"] if not entry.get("object")}
    for entry in (entry for entry in run.config["children"] if entry.get("object")):  # after its dependencies
        name, there = entry["name"], existing(run, entry["name"], live)
        try:
            wait = "" if names["$children"][name] or wants_none(entry, cr, names) else waits_for(run, entry, made, live)
            if wait:
                desired.held.append(f"{name}: waits for {wait}")
                desired.waiting[name] = count(entry, cr, names)
                continue
            settled = settle(run, entry, cr, names, there)
            if settled is not None:
                desired.kept |= settled
                made[name] = sorted(settled)
                continue
            missing = missing_value(entry, cr, names, made)
            if missing and waits_for_value(run, entry, cr, names, desired, there, missing, made):
                continue
            every = items(entry, cr, names)
            if every:
                refuse_damage(entry, cr, names)
        except ExpressionError as error:
            desired.fail(name, told(entry, error))
            continue
        objects = []
        for variables in every:
            try:
                objects.append(built(entry["object"], cr, variables))
            except ExpressionError as error:
                desired.fail(name, told(entry, error))
        if name in desired.failed:
            desired.failed[name] = known_identities(run, entry, cr, every)
        else:
            made[name] = [key_of(run, entry, child) for child in objects]
        desired.objects += [(name, child) for child in objects]
    for entry in run.config["children"]:
        if any(is_absent(run, name, made, live) for name in entry.get("decidedBy") or []):
            desired.kept |= existing(run, entry["name"], live) - set(made.get(entry["name"], ()))
    return desired


def existing(run, name, live):
    """The identities of those of the live children that belong to an entry."""
    return {identity(child) for child in live if (run.declared(child) or {}).get("name") == name}


def is_absent(run, name, made, live):
    """Whether an object of a child is wanted and does not exist, or may be wanted. What it decides about others may be the
    same when it is back, so none of those is deleted."""
    return name not in made or not existing(run, name, live).issuperset(made[name])


def settle(run, entry, cr, names, there):
    """The live children of an entry that is never updated, if they are all that it wants; else None."""
    if not entry.get("never") or not there:
        return None
    wanted = identities(run, entry, cr, items(entry, cr, names))
    return wanted if wanted <= there else None


def failing_settled(run):
    """The templates that the Sensor could not compute and whose objects are never updated, so that those that exist stay."""
    never = {entry["name"] for entry in run.config["children"] if entry.get("never")}
    return {one["child"] for one in (run.desired or {}).get("children") or [] if "error" in one} & never


def settled_as_computed(run, name, live):
    """The identities of the objects of such a template, if all exist; else None."""
    wanted = wanted_by(run, name)
    return wanted if wanted and wanted <= existing(run, name, live) else None


def wanted_by(run, name):
    """The identities of the objects of a template that the Sensor computed, or None if it cannot say them."""
    entry = next((entry for entry in run.config["children"] if entry["name"] == name), None)
    places = [one.get("place") if "error" in one else one["object"] for one in run.desired["children"] if one["child"] == name]
    return None if entry is None or None in places else {key_of(run, entry, one) for one in places}


def identities(run, entry, cr, every):
    """The identities of the objects of a template, given the variables of each."""
    return {key_of(run, entry, {"metadata": built(entry["identity"], cr, variables)}, cr) for variables in every}


def known_identities(run, entry, cr, every):
    """The same, or None if they are unknown."""
    try:
        return identities(run, entry, cr, every)
    except (ExpressionError, KeyError):
        return None


def missing_value(entry, cr, names, made=None):
    """The first value of other objects that a template needs and that is missing, or "". A child that is not wanted has
    none to wait for when it is gone. Of a list, each object has to be there with its value, if it is known which are wanted."""
    for need in entry.get("needs") or []:
        children, of = need.get("children") or [], need.get("list")
        if children and made is not None and all(made.get(name) == [] and not names["$children"][name] for name in children):
            continue
        incomplete = of and made is not None and (of not in made or len(names["$children"][of]) < len(made[of]))
        if incomplete or evaluates_to_null(need["expr"], cr, names):
            return need["text"]
    return ""


def refuse_damage(entry, cr, names):
    """Raises ExpressionError if a template uses a value that is missing where null does damage."""
    for need in entry.get("needs") or []:
        if need.get("damage") and evaluates_to_null(need["expr"], cr, names):
            raise ExpressionError(f"{need['text']} has no value")


def waits_for_value(run, entry, cr, names, desired, there, missing, made):
    """Whether a template waits for a missing value, because it wants objects. Of its live children, those that it would
    make stay as they are, and count as made if they are all; all of them stay if their number or their names are unknown, too."""
    if not is_wanted(entry, cr, names):
        return False
    try:
        every = items(entry, cr, names)
        unknown = bool(entry.get("forEach")) and not every and built(entry["forEach"], cr, names) is None
        wanted = identities(run, entry, cr, every)
    except ExpressionError:
        unknown, wanted = True, set()
    kept = there if unknown else there & wanted
    desired.kept |= kept
    if not unknown and wanted <= kept:
        made[entry["name"]] = sorted(kept)
    if kept and not entry.get("never"):
        desired.held.append(f"{entry['name']}: stays as it is until {missing} has a value")
    elif unknown or wanted - kept:
        desired.held.append(f"{entry['name']}: waits for {missing}")
        desired.waiting[entry["name"]] = len(wanted - kept)
    return unknown or bool(wanted)


def waits_for(run, entry, wanted, live, failures=()):
    """The child that must be ready before those of an entry are created, or "". `wanted` are the identities of the
    children by entry; a missing entry was not computed. One whose last request failed is not ready, but exists."""
    ready = {identity(child) for child in live if identity(child) not in failures and not unready_reason(run, child)}
    for name in entry.get("dependsOn") or []:
        if name not in wanted:
            return name
        for key in wanted[name]:
            if key not in ready:
                return name_of(*key[1:])
    return next((name for name in entry.get("deciders") or [] if is_absent(run, name, wanted, live)), "")


def located(run, cr, live, related=None):
    """Those of the children that are where the templates place them for this custom resource. Of a template there may
    be others: what is to be pruned, and what somebody else has made. A place may be computed from other children, so
    those are found again until no more are."""
    templates = [entry for entry in run.config["children"] if entry.get("identity")]
    others = [child for child in live if not (run.declared(child) or {}).get("identity") and not run.is_left(child)]
    found, before = others, None
    while templates and len(found) != before:
        before, names = len(found), named(run, found, related or {})
        places = {key for entry in templates for key in locations_of(run, entry, cr, names)}
        found = others + [child for child in live if (run.declared(child) or {}).get("identity")
                          and (run.declared(child)["name"],) + identity(child) in places]
    return found


def locations_of(run, entry, cr, names):
    """The locations of a template's objects, whether or not they are wanted now. An expression that fails yields
    none."""
    try:
        every = [names]
        if entry.get("forEach"):
            every = [dict(names, **{"$item": item, "$index": index})
                     for index, item in enumerate(built(entry["forEach"], cr, names) or [])]
    except ExpressionError:
        return
    for variables in every:
        try:
            metadata = built(entry["identity"], cr, variables)
        except ExpressionError:
            continue
        yield (entry["name"],) + key_of(run, entry, {"metadata": metadata}, cr)


def logic_children(run, entry, answer):
    """The identities of the children of an entry without a template: those in the logic's response."""
    return [key_of(run, entry, child) for child in answer if isinstance(child, dict) and isinstance(child.get("metadata"), dict)
            and child["metadata"].get("name") and run.declared(child) == entry]


def is_wanted(entry, cr, names):
    return not entry.get("when") or built(entry["when"], cr, names) not in (None, False)


def wants_none(entry, cr, names):
    """Whether a template is known to want no object."""
    try:
        return not is_wanted(entry, cr, names) or bool(entry.get("forEach")) and built(entry["forEach"], cr, names) == []
    except ExpressionError:  # what it reads may be missing
        return False


def items(entry, cr, names):
    """The variables of each object of a template: none if `when` is false."""
    if not is_wanted(entry, cr, names):
        return []
    if not entry.get("forEach"):
        return [names]
    found = built(entry["forEach"], cr, names)
    return [dict(names, **{"$item": item, "$index": index}) for index, item in enumerate(found or [])]


def count(entry, cr, names):
    """How many objects a template has, or 0 if that is unknown."""
    try:
        return len(items(entry, cr, names))
    except ExpressionError:
        return 0


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
