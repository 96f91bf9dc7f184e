"""Related entries with times in place of objects: schedules in the form of a CronJob."""
import datetime
import functools
import zoneinfo

from api import Refused
from dates import time_at
from expressions import built
from values import ExpressionError

ALIASES = {"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
           "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
FIELDS = (("minute", 0, 59, []), ("hour", 0, 23, []), ("day of month", 1, 31, []), ("month", 1, 12, MONTHS), ("day of week", 0, 6, DAYS))
FAR = 8 * 366  # days; the 29th of February may be so far away
SHIFT = 4      # hours, more than any clock has ever been changed by


def scheduled(run, cr):
    """What expressions read of the schedules, by the name of the entry."""
    return {name: {"lastScheduleTime": time_at(times[0])} if times else None for name, times in times_of(run, cr).items()}


def times_of(run, cr):
    """The last and the next time of each schedule by its name; None if this custom resource has none."""
    found = {}
    for entry in run.schedules:
        try:
            rule = built(entry["rule"], cr, {})
        except ExpressionError as error:
            raise Refused(f"related {entry['name']}: {error}") from None
        text, zone = rule.get("schedule"), rule.get("timeZone", "UTC")
        if text is None:
            found[entry["name"]] = None
            continue
        if not isinstance(text, str) or not isinstance(zone, str):
            raise Refused(f"related {entry['name']}: schedule and timeZone must be strings")
        if len(text) > entry["longest"]:
            raise Refused(f"related {entry['name']}: schedule has more than {entry['longest']} characters")
        try:
            found[entry["name"]] = around(text, zone, run.seconds() // 60 * 60)
        except ValueError as error:
            raise Refused(f"related {entry['name']}: {error}") from None
    return found


@functools.lru_cache(maxsize=256)
def around(text, zone, minute):
    """The last and the next time of a schedule within a minute."""
    times = Schedule(text, zone)
    last, following = times.last(minute), times.next(minute)
    if last is None or following is None:
        raise ValueError(f"no time fits {text[:100]!r}")
    return last, following


class Schedule:
    """The times of a schedule in a time zone. ValueError tells why it has none."""

    def __init__(self, text, zone):
        fields = ALIASES.get(text, text).split()
        if len(fields) != len(FIELDS):
            raise ValueError(f"{text[:100]!r} has {len(fields)} fields, want 5")
        (self.minutes, _), (self.hours, _), (self.days, any_day), (self.months, _), (self.weekdays, any_weekday) = (
            members(one, *of) for one, of in zip(fields, FIELDS))
        self.either = not any_day and not any_weekday
        try:
            self.zone = zoneinfo.ZoneInfo(zone)
        except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
            raise ValueError(f"there is no time zone {zone[:100]!r}") from None

    def last(self, now):
        """The last time that is not after `now`, in seconds since 1970; None if there is none in eight years."""
        return max(self.near(now, -1, lambda time: time <= now), default=None)

    def next(self, now):
        """The first time after `now`."""
        return min(self.near(now, 1, lambda time: time > now), default=None)

    def near(self, now, step, wanted):
        """The wanted times of the nearest hours on one side of `now`. As clocks change, one of these hours may be before
        another one that has an earlier name."""
        start = datetime.datetime.fromtimestamp(now, self.zone)
        day, found, left = start.date(), [], SHIFT
        for passed in range(FAR):
            for hour in self.hours[::step] if self.fits(day) else ():
                if passed or (hour - start.hour) * step >= -SHIFT:
                    found += filter(wanted, self.during(day, hour))
                    left -= bool(found)
                if not left:
                    return found
            if found:
                break
            day += datetime.timedelta(step)
        return found

    def fits(self, day):
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and (in_month or in_week if self.either else in_month and in_week)

    def during(self, day, hour):
        """The times of an hour, those twice that the clocks show twice. A time that they skip is none."""
        for minute in self.minutes:
            local = datetime.datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.zone)
            for time in {int(local.replace(fold=fold).timestamp()) for fold in (0, 1)}:
                if datetime.datetime.fromtimestamp(time, self.zone).replace(tzinfo=None, fold=0) == local.replace(tzinfo=None):
                    yield time


def members(text, name, low, high, names):
    """The numbers of a field, and whether it is any."""
    found, star = set(), False
    for part in filter(None, text.split(",")):
        span, slash, step = part.partition("/")
        size = int(step) if is_number(step) else 0
        if slash and not size:
            raise ValueError(f"{name}: {step[:20]!r} is not a step")
        start, dash, end = span.partition("-")
        if start in ("*", "?"):
            first, last, star = low, high, star or size in (0, 1)
        else:
            first = number(start, name, low, high, names)
            last = number(end, name, low, high, names) if dash else high if slash else first
        if first > last:
            raise ValueError(f"{name}: {span[:20]!r} ends before it begins")
        found.update(range(first, last + 1, size or 1))
    return sorted(found), star


def number(text, name, low, high, names):
    value = names.index(text.lower()) + low if text.lower() in names else int(text) if is_number(text) else -1
    if not low <= value <= high:
        raise ValueError(f"{name}: {text[:20]!r} is not between {low} and {high}")
    return value


def is_number(text):
    digits = text.removeprefix("+")
    return digits.isascii() and digits.isdigit() and len(digits) < 10
