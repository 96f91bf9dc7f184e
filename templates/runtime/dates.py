"""The functions of times, with Go's 64-bit arithmetic."""
import datetime
import math
import re

from values import as_float, cannot_with, float_of, int_of, is_number, listed, unreadable

EPOCH_YEAR = 292277022400  # before year 0: where Go counts days from, on March 1
EPOCH_DAYS = EPOCH_YEAR // 400 * 146097 + 719468  # from there to 1970


def wrapped(number):
    return (number + 2 ** 63) % 2 ** 64 - 2 ** 63


def int64(number):
    """The result of Go's conversion from float64."""
    return int(number) if -2.0 ** 63 <= number < 2.0 ** 63 else -2 ** 63


def days_until(year, month, day):
    """The days from 1970 to a date, whose day may be out of range."""
    early = month < 3
    count = (year - early + EPOCH_YEAR) % 2 ** 64
    within = 1461 * (count % 100) // 4 + (979 * (month + 12 * early) - 2919 >> 5)
    return wrapped(146097 * (count // 100) % 2 ** 64 // 4 + within + day - 1 - EPOCH_DAYS)


def date_in(days):
    """Year, month and day of a number of days."""
    era, day = divmod(days, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    return year + era * 400 - EPOCH_YEAR + (month >= 10), month + (3 if month < 10 else -9), day - (153 * month + 2) // 5 + 1


def moment_of(year, month, day, hour, minute, second, part=0):
    """Seconds since 1970; each number may be out of range."""
    carry, month = divmod(wrapped(month - 1), 12)
    year = wrapped(year + carry)
    carry, _ = divmod(part, 10 ** 9)
    carry, second = divmod(wrapped(second + carry), 60)
    carry, minute = divmod(wrapped(minute + carry), 60)
    carry, hour = divmod(wrapped(hour + carry), 24)
    return wrapped(days_until(year, month + 1, wrapped(day + carry)) * 86400 + hour * 3600 + minute * 60 + second)


def moment_in(value, fail):
    """The seconds of a number, or of jq's array of broken down time."""
    number = float_of(value)
    if number is not None:
        part = int64((number - (math.floor(number) if math.isfinite(number) else number)) * 1e9)
        return wrapped(int64(number) + part // 10 ** 9)
    places = [0] * 8
    for at, item in enumerate(listed(value, fail)[:8]):
        if not is_number(item) or at == 5 and float_of(item) is None:
            raise unreadable('strftime("%Y-%m-%dT%H:%M:%SZ")', value, "expected an array of 8 numbers")
        places[at] = int64(as_float(item)) if at == 5 else int_of(item)
    second = float_of(value[5]) if len(value) > 5 else 0.0
    part = int64((second - (math.floor(second) if math.isfinite(second) else second)) * 1e9)
    year, month, day, hour, minute = places[:5]
    return moment_of(year, month + 1, day, hour, minute, places[5], part)


def date_of(value):
    moment = moment_in(value, cannot_with("strftime", value, "%Y-%m-%dT%H:%M:%SZ"))
    days, second = divmod((moment + EPOCH_DAYS * 86400) % 2 ** 64, 86400)
    year, month, day = date_in(days)
    return f"{year:04d}-{month:02d}-{day:02d}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


TIME = re.compile(r"(-?[0-9]{1,4})-([0-9]{1,2})-([0-9]{1,2})T([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})"
                  r"(?:Z|([+-])([0-9]{2})(?:([0-9]{2})|:([0-9]{2})(?::([0-9]{2}))?)?)")


def seconds_at(text):
    """The seconds since 1970 of a time with its zone, or None. February 30 is March 1 or 2."""
    found = TIME.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    sign, ahead, short, long, rest = found.groups()[6:]
    zone = [int(part or 0) for part in (ahead, short or long, rest)]
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second <= 60
            and zone[0] < 24 and zone[1] < 60 and zone[2] < 60):
        return None
    offset = (zone[0] * 60 + zone[1]) * 60 + zone[2]
    return moment_of(year, month, day, hour, minute, second) - (-offset if sign == "-" else offset)


def from_date(value):
    if not isinstance(value, str):
        raise cannot_with("strptime", value, "%Y-%m-%dT%H:%M:%S%z")
    seconds = seconds_at(value)
    if seconds is None or seconds == moment_of(1, 1, 1, 0, 0, 0):
        raise cannot_with("strptime", value, "%Y-%m-%dT%H:%M:%S%z")
    return float(seconds)


def seconds_of(text):
    """A time of the API server in seconds."""
    seconds = seconds_at(text)
    if seconds is None:
        raise ValueError(f"{text!r} is no time")
    return seconds


def time_at(seconds):
    """A time in the form of Kubernetes."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
