"""Moments as people write them.

A moment is given by a unit of time (a year, a month, a day, a minute) and stands for the start or the end of that
unit, both inclusive.  Results are aware and carry the fixed UTC offset that the zone has at that moment.
"""

from __future__ import annotations

import re
import time
from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from second_brain.errors import InvalidParameter

ACCEPTED = "a day such as 2026-06-01, a month (2026-06), a year (2026), or a time such as 2026-06-01T14:30+02:00"

_ISO = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?"
    r"(?:(Z)|([+-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)?)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_AGO = re.compile(r"(\d{1,6})([dwmy])", re.ASCII)
_PERIOD = re.compile(r"(this|last)[ -](week|month|year)")
_MICROSECOND = timedelta(microseconds=1)


class _LocalZone(tzinfo):
    """The zone of this computer with its summer time, which the fixed offset of ``astimezone()`` lacks."""

    def utcoffset(self, moment: datetime | None, /) -> timedelta:
        standard = timedelta(seconds=-time.timezone)
        if moment is None:
            return standard
        try:
            return moment.replace(tzinfo=None).astimezone().utcoffset() or timedelta()
        except (OverflowError, OSError, ValueError):  # years that the C library does not know
            return standard

    def dst(self, moment: datetime | None, /) -> timedelta:
        return self.utcoffset(moment) - timedelta(seconds=-time.timezone)

    def tzname(self, moment: datetime | None, /) -> str:
        return time.tzname[bool(self.dst(moment))]

    def fromutc(self, moment: datetime, /) -> datetime:
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


LOCAL: tzinfo = _LocalZone()


def local_now() -> datetime:
    """The present in `LOCAL`, as the query grammar wants it."""
    return datetime.now(LOCAL)


def iso_moment(text: str, *, parameter: str, end: bool, zone: tzinfo) -> datetime:
    """Read ISO 8601 as tools and flags give it; naive times are of *zone*, a fraction of a second is taken as it is.

    Raises `InvalidParameter` naming *parameter* for anything else, relative words and days that no month has included.
    """
    moment = _iso(text.strip(), end=end, zone=zone) if isinstance(text, str) else None
    if moment is None:
        raise InvalidParameter(
            f"{parameter}: {str(text)[:80]!r} is not an ISO 8601 date", hint=f"Give {ACCEPTED}.", parameter=parameter
        )
    return moment


def moment_of(text: str, *, now: datetime, end: bool) -> datetime | None:
    """Read a date of the query grammar: ISO 8601 or relative, in the zone of *now*; None when it is neither."""
    zone = now.tzinfo or LOCAL
    return _iso(text.strip(), end=end, zone=zone) or relative_moment(text, now=now, end=end)


def relative_moment(text: str, *, now: datetime, end: bool) -> datetime | None:
    """Read ``7d``, ``2w``, ``3m``, ``1y``, ``today``, ``yesterday``, ``this week`` (``last``; ``month``, ``year``).

    A number of days, weeks, months or years ago means the day that lies so far back; weeks begin on Monday; ``last-week``
    will do.  None for anything else and for times before the calendar.
    """
    words = " ".join(text.casefold().split())
    zone = now.tzinfo or LOCAL
    today = now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None, fold=0)
    try:
        span = _relative_days(words, today)
    except (OverflowError, ValueError):
        return None
    if span is None:
        return None
    first, last = span
    return _pinned(_end_of_day(last), zone, end=True) if end else _pinned(first, zone, end=False)


def iso_text(moment: datetime, *, zone: tzinfo, end: bool) -> str:
    """The shortest ISO form that `iso_moment` reads back as the same moment."""
    day = moment.date().isoformat()
    if _iso(day, end=end, zone=zone) == moment:
        return day
    return moment.isoformat(timespec="microseconds")


def describe_moment(moment: datetime, *, end: bool) -> str:
    """The moment for a sentence: the day alone when it is the start (or end) of a day, else to the second."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if moment == (_end_of_day(day) if end else day):
        return moment.date().isoformat()
    return moment.isoformat(timespec="seconds")


def later(first: datetime | None, second: datetime | None) -> datetime | None:
    """The narrower of two lower bounds."""
    return max(filter(None, (first, second)), default=None)


def earlier(first: datetime | None, second: datetime | None) -> datetime | None:
    """The narrower of two upper bounds."""
    return min(filter(None, (first, second)), default=None)


def _iso(text: str, *, end: bool, zone: tzinfo) -> datetime | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zulu, sign, *offset = match.groups()
    try:
        naive = datetime(int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001
        if fraction:
            naive += int(fraction[:6].ljust(6, "0")) * _MICROSECOND
        elif end:
            naive = _end_of_unit(naive, month, day, hour, second)
        if zulu:
            return naive.replace(tzinfo=UTC)
        if sign:
            hours, minutes, seconds = (int(part or 0) for part in offset)
            shift = timedelta(hours=hours, minutes=minutes, seconds=seconds)
            return naive.replace(tzinfo=timezone(-shift if sign == "-" else shift))
    except ValueError:
        return None
    return _pinned(naive, zone, end=end)


def _end_of_unit(start: datetime, month: str | None, day: str | None, hour: str | None, second: str | None) -> datetime:
    if second:
        return start.replace(microsecond=999_999)
    if hour:
        return start.replace(second=59, microsecond=999_999)
    if not month:
        start = start.replace(month=12)
    if not day:
        start = start.replace(day=monthrange(start.year, start.month)[1])
    return _end_of_day(start)


def _end_of_day(day: datetime) -> datetime:
    return day.replace(hour=23, minute=59, second=59, microsecond=999_999)


def _pinned(naive: datetime, zone: tzinfo, *, end: bool) -> datetime:
    """Fix the offset: moments of different zones compare equal only when theirs is fixed.  An hour that exists twice is
    meant from its first start to its last end.
    """
    offset = naive.replace(tzinfo=zone, fold=int(end)).utcoffset() or timedelta()
    return naive.replace(tzinfo=timezone(offset), fold=0)


def _relative_days(words: str, today: datetime) -> tuple[datetime, datetime] | None:
    """First and last day."""
    if words == "today":
        return today, today
    if words == "yesterday":
        return _days_before(today, 1)
    if match := _AGO.fullmatch(words):
        count, unit = int(match[1]), match[2]
        if unit in "dw":
            return _days_before(today, count * (7 if unit == "w" else 1))
        day = _months_before(today, count * (12 if unit == "y" else 1))
        return day, day
    if match := _PERIOD.fullmatch(words):
        return _period(match[2], today, back=int(match[1] == "last"))
    return None


def _days_before(today: datetime, count: int) -> tuple[datetime, datetime]:
    day = today - timedelta(days=count)
    return day, day


def _months_before(day: datetime, count: int) -> datetime:
    """The same day of an earlier month, or its last one."""
    year, month = divmod(day.year * 12 + day.month - 1 - count, 12)
    return day.replace(day=1).replace(
        year=year, month=month + 1, day=min(day.day, monthrange(max(year, 1), month + 1)[1])
    )


def _period(unit: str, today: datetime, *, back: int) -> tuple[datetime, datetime]:
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return monday, monday + timedelta(days=6)
    if unit == "year":
        first = today.replace(year=today.year - back, month=1, day=1)
        return first, first.replace(month=12, day=31)
    first = _months_before(today.replace(day=1), back)
    return first, first.replace(day=monthrange(first.year, first.month)[1])
