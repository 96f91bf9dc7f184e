"""Custom resources that are deleted some time after their creation."""
import math

from api import Refused, log
from dates import seconds_of
from expressions import built
from objects import delete
from run import is_paused
from values import ExpressionError, as_float, is_number


def left(run, cr):
    """The seconds until a custom resource is to be deleted; None if it is not."""
    rule = run.config.get("deleteAfter")
    if rule is None or cr["metadata"].get("deletionTimestamp") or is_paused(cr):
        return None
    try:
        after = built(rule, cr, {})
    except ExpressionError as error:
        raise Refused(f"deleteAfter: {error}") from None
    if not is_number(after) or not math.isfinite(as_float(after)):
        return None
    return seconds_of(cr["metadata"]["creationTimestamp"]) + as_float(after) - now_of(run)


def now_of(run):
    return seconds_of(run.now())


def is_over(run, cr):
    """Whether the time of a custom resource is over: then it is deleted. Else the worker comes back when it is."""
    run.left = left(run, cr)
    if run.left is None:
        return False
    if run.left > 0:
        if run.later:
            run.later(run.left)
        return False

    def still(now):
        rest = left(run, now)
        return rest is not None and rest <= 0

    failure = delete(run, run.parent, cr, still)
    if failure:
        raise failure
    log(f"{run.key} is deleted: its time is over")
    return True
