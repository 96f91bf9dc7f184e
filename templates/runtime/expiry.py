"""Times at which a worker comes back to a custom resource by itself: the end of its life, and those of schedules."""
import math

from api import Refused, log
from dates import seconds_of
from expressions import built
from objects import delete
from run import is_paused
from schedules import times_of
from values import ExpressionError, as_float, is_number


def left(run, cr):
    """The seconds until a custom resource is to be deleted; None if it is not."""
    rule = run.config.get("deleteAfter")
    if rule is None or rests(cr):
        return None
    try:
        after = built(rule, cr, {})
    except ExpressionError as error:
        raise Refused(f"deleteAfter: {error}") from None
    if not is_number(after) or not math.isfinite(as_float(after)):
        return None
    return seconds_of(cr["metadata"]["creationTimestamp"]) + as_float(after) - run.seconds()


def wait_of(run, cr, end):
    """The seconds until the worker has to come back to a custom resource by itself: at its end, or at the next time of a
    schedule. None if neither is known."""
    waits = [end]
    if not rests(cr):
        try:
            waits += [times[1] - run.seconds() for times in times_of(run, cr).values() if times]
        except Refused:  # reading what is related reports it
            pass
    return min((max(wait, 0) for wait in waits if wait is not None), default=None)


def rests(cr):
    """Whether no time has an effect on a custom resource."""
    return bool(cr["metadata"].get("deletionTimestamp")) or is_paused(cr)


def is_over(run, cr):
    """Whether the time of a custom resource is over: then it is deleted. Else the worker comes back when it is, or when a
    time of a schedule is due."""
    end = left(run, cr)
    if end is None or end > 0:
        run.left = wait_of(run, cr, end)
        if run.left is not None and run.later:
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
