"""Small texts for people: counts, ages, sizes, and a query in plain words.  Pure functions."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from second_brain.search.query import Filters, Query

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3_600, 86_400, 604_800
MATCHED = {"words": "by words", "meaning": "by meaning", "both": "by words and meaning", "filters": ""}
RANKED = {"best": "by words and meaning", "meaning": "by meaning", "words": "by words"}


def plural(count: int, noun: str, many: str = "") -> str:
    """``1 note``, ``2,310 notes``."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def ago(moment: float, now: float) -> str:
    """How long *moment* lies before *now* (epoch seconds); a date beyond two months and in the future."""
    age = now - moment
    if age < 0 or age > 60 * _DAY:
        return datetime.fromtimestamp(moment).date().isoformat()  # noqa: DTZ006 - the reader's own calendar
    if age < _MINUTE:
        return "just now"
    if age < _HOUR:
        return f"{int(age // _MINUTE)} min ago"
    if age < _DAY:
        return f"{int(age // _HOUR)} h ago"
    if age < 2 * _WEEK:
        return f"{plural(int(age // _DAY), 'day')} ago"
    return f"{plural(int(age // _WEEK), 'week')} ago"


def size(count: int) -> str:
    """Bytes as ``512 B``, ``3.4 MB``."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":  # noqa: PLR2004 - decimal units
            break
        amount /= 1000
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def plain_words(query: Query) -> str:
    """A query as a person would say it: ``boiler "red tap" without rust, in 02-Areas, tagged #home``."""
    wanted = [f'"{term.text}"' if term.phrase else term.text for term in query.terms if not term.excluded]
    unwanted = [f'"{term.text}"' if term.phrase else term.text for term in query.excluded]
    what = " ".join(wanted) or "all notes"
    if unwanted:
        what += " without " + " or ".join(unwanted)
    return ", ".join([what, *_filters(query.filters)])


def _filters(filters: Filters) -> Iterable[str]:
    from second_brain.search.dates import describe_moment  # noqa: PLC0415 - cheap start

    if filters.folders:
        yield "in " + " or ".join(filters.folders)
    if filters.tags:
        yield "tagged " + " and ".join(_tag(tag.name, exact=tag.exact) for tag in filters.tags)
    if filters.modified_from:
        yield "changed since " + describe_moment(filters.modified_from, end=False)
    if filters.modified_to:
        yield "changed until " + describe_moment(filters.modified_to, end=True)
    for each in filters.contains:
        yield f'{each.field} {"without" if each.excluded else "with"} "{each.text}"'
    for prop in filters.properties:
        named = f"{prop.key} = {prop.value}" if prop.value else prop.key
        yield f"{'without' if prop.excluded else 'with'} {named}"
    if filters.excluded_folders:
        yield "not in " + " or ".join(filters.excluded_folders)
    if filters.excluded_tags:
        yield "not tagged " + " or ".join(_tag(tag.name, exact=tag.exact) for tag in filters.excluded_tags)


def _tag(name: str, *, exact: bool) -> str:
    return f"#{name}{' (exactly)' if exact else ''}"
