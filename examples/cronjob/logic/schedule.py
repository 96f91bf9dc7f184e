"""The five fields of cron, in UTC."""

import datetime

BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def field(text, low, high):
    """The values that a field allows: *, 5, 1-5, */10, 0-30/5, and lists of these."""
    values = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = (str(low), "", str(high)) if span == "*" else span.partition("-")
        first, last = int(first), int(last) if last else (high if step else int(first))
        if not low <= first <= last <= high:
            raise ValueError("%s is not within %d-%d" % (part, low, high))
        values.update(range(first, last + 1, int(step or 1)))
    return values


class Schedule:
    def __init__(self, text):
        fields = text.split()
        if len(fields) != 5:
            raise ValueError("%r does not have five fields" % text)
        self.minutes, self.hours, self.days, self.months, weekdays = (
            field(one, *bounds) for one, bounds in zip(fields, BOUNDS))
        self.weekdays = {day % 7 for day in weekdays}
        self.either = fields[2] != "*" and fields[4] != "*"  # cron: one of both is enough

    def meets(self, day):
        by_date, by_weekday = day.day in self.days, (day.weekday() + 1) % 7 in self.weekdays
        return day.month in self.months and (by_date or by_weekday if self.either else by_date and by_weekday)

    def after(self, moment):
        """The first time after a moment, or None in the next four years."""
        day = moment.date()
        for _ in range(4 * 366):
            if self.meets(day):
                for hour in sorted(self.hours):
                    for minute in sorted(self.minutes):
                        at = datetime.datetime(day.year, day.month, day.day, hour, minute, tzinfo=datetime.timezone.utc)
                        if at > moment:
                            return at
            day += datetime.timedelta(days=1)
        return None
