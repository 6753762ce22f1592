"""Dates and times as numbers: seconds since the start of 1970, or seconds of a day or of a duration."""

import re
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from latree._util.arrays import FloatArray

# What a clock shows: a day; a day and a time, in the place of the data or, as an instant, in UTC; a time of any day; or
# how long something takes.
Clock: TypeAlias = Literal["date", "datetime", "instant", "time", "duration"]
CLOCKS: tuple[Clock, ...] = get_args(Clock)
# What cells are called in messages, with the form of text that is read.
FORMS: dict[Clock, str] = {
    "date": "date such as 2024-03-01",
    "datetime": "date and time such as 2024-03-01 12:30",
    "instant": "date and time such as 2024-03-01T12:30Z",
    "time": "time such as 12:30",
    "duration": "duration such as 3 days",
}
Unit: TypeAlias = Literal["day", "hour", "minute", "second"]
SECONDS: dict[Unit, int] = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}

_START = datetime(1970, 1, 1)
_FIRST, _LAST = ((end - _START).total_seconds() for end in (datetime.min, datetime(9999, 12, 31, 23, 59, 59)))
# Seconds are exact to six decimals, as in Python.
_DECIMALS = 6
# Texts as in ISO 8601, such as 2024-03-01, 2024-03-01T12:30 or 2024-03-01 12:30:00.5+01:00.
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.]\d{1,9})?)?( ?(Z|UTC|[+-]\d{2}(:?\d{2})?))?)?")
_TIME = re.compile(r"\d{2}:\d{2}(:\d{2}([.]\d{1,6})?)?")
_DURATION = re.compile(r"(-?\d+(?:[.]\d+)?) (day|hour|minute|second)s?")


def seconds_of(value: Any) -> tuple[Clock, float] | None:
    """Return what a value of Python shows, and its seconds; None if it is no date and no time."""
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return "instant", (value.astimezone(UTC).replace(tzinfo=None) - _START).total_seconds()
        return "datetime", (value - _START).total_seconds()
    if isinstance(value, date):
        return "date", float((value - _START.date()).days * SECONDS["day"])
    if isinstance(value, time):
        return "time", (datetime.combine(date.min, value.replace(tzinfo=None)) - datetime.min).total_seconds()
    return ("duration", value.total_seconds()) if isinstance(value, timedelta) else None


def parse_date(text: str) -> tuple[Clock, float] | None:
    """Return what a text in the form of ISO 8601 shows, a date or a date with a time, and its seconds; or None."""
    if _ISO.fullmatch(text) is None:
        return None
    with suppress(ValueError):  # the 30th of February
        if len(text) == len("2024-03-01"):
            return seconds_of(date.fromisoformat(text))
        return seconds_of(datetime.fromisoformat(text.replace("UTC", "Z").replace(" Z", "Z").replace(" +", "+")))
    return None


def parse_clock(text: str, clock: Clock) -> float | None:
    """Return the seconds of a text in a column of dates or times, or None."""
    if clock == "time":
        with suppress(ValueError):
            found = seconds_of(time.fromisoformat(text)) if _TIME.fullmatch(text) else None
            return None if found is None else found[1]
        return None
    if clock == "duration":
        match = _DURATION.fullmatch(text)
        unit: Any = match and match[2]
        return None if match is None else float(match[1]) * SECONDS[unit]
    found = parse_date(text)
    return None if found is None else found[1]


def common_clock(clocks: Collection[Clock]) -> Clock | None:
    """Return what cells show that show several things: dates among dates with times are midnights; else None."""
    if len(clocks) == 1:
        return next(iter(clocks))
    return "datetime" if set(clocks) == {"date", "datetime"} else None


def unit_of(clock: Clock, seconds: FloatArray) -> Unit:
    """Return the largest unit in which all times are whole numbers; seconds, if none is."""
    if clock == "date":
        return "day"
    units = (unit for unit, size in SECONDS.items() if not (seconds % size).any())
    return next(units, "second")


def clock_value(clock: Clock, seconds: float) -> date | time | timedelta:
    """Return the value of Python that some seconds mean; the nearest one, if it would be too early or too late."""
    seconds = round(seconds, _DECIMALS)
    if clock == "duration":
        most = 86_400 * (timedelta.max.days - 1)
        return timedelta(seconds=min(max(seconds, -most), most))
    if clock == "time":
        return (datetime.min + timedelta(seconds=min(max(seconds, 0.0), 86_400 - 1e-6))).time()
    moment = _START + timedelta(seconds=min(max(seconds, _FIRST), _LAST))
    if clock == "date":
        return moment.date()
    return moment.replace(tzinfo=UTC) if clock == "instant" else moment


def clock_label(clock: Clock, seconds: float, unit: Unit = "second") -> str:
    """Return the text of a date or time, to the resolution of the data; empty if it is missing.

    A moment between two days, or hours, is in the first of them. A duration has fractions.
    """
    if not isfinite(seconds):
        return ""
    if clock != "duration" and unit != "second":
        seconds = float(np.floor(round(seconds / SECONDS[unit], _DECIMALS)) * SECONDS[unit])
    if clock == "duration":
        number = f"{seconds / SECONDS[unit]:.{_DECIMALS}f}".rstrip("0").rstrip(".")
        return f"{number} {unit}" + ("" if number == "1" else "s")
    value = clock_value(clock, seconds)
    if isinstance(value, datetime):
        is_day = unit == "day" or (unit != "second" and clock == "date")
        text = f"{value:%Y-%m-%d}" if is_day else _with_time(value.replace(tzinfo=None).isoformat(" "))
        return text.zfill(10) + ("Z" if clock == "instant" and not is_day else "")
    return _with_time(str(value))


def _with_time(text: str) -> str:
    """Return a text without seconds that are zero."""
    return text.removesuffix(":00") if text.count(":") == 2 else text


def as_numbers(seconds: FloatArray, unit: Unit) -> FloatArray:
    """Return seconds in another unit."""
    return np.asarray(seconds / SECONDS[unit])
