"""From the entries of a frontmatter to what the product uses: JSON values, flat rows, tags, aliases, title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from second_brain.model import Frontmatter
from second_brain.vault.tags import fold, tag_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MAX_ROWS = 500
_MAX_TEXT = 2000
_MAX_DIGITS = 15  # what JSON readers keep exactly

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?)(?:[eE][-+]?\d+)?", re.ASCII)
_DATE = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)"
    r"(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d)(?::(\d\d)(\.\d+)?)?[ \t]*(?:([Zz])|([-+])(\d\d?):?(\d\d)?)?)?",
    re.ASCII,
)
_WORD = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value: as JSON, and as the text that was typed."""

    value: str | int | float | bool
    typed: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A top-level key; the value is a `Scalar`, None, a list or a dict of such values."""

    key: str
    value: Any


def text_entry(text: str) -> Scalar:
    """A quoted or block scalar: text whatever it looks like."""
    return Scalar(text, text)


def entry_of_text(typed: str) -> Scalar | None:
    """A plain scalar by the YAML 1.2 core schema; dates become ISO text, everything else stays as typed."""
    if typed in _NULL:
        return None
    if typed in _TRUTH:
        return Scalar(_TRUTH[typed], typed)
    if typed[0] in "+-.0123456789" and len(typed) <= _MAX_TEXT:
        if _INTEGER.fullmatch(typed):
            return Scalar(int(typed) if len(typed) <= _MAX_DIGITS else typed, typed)
        if _FLOAT.fullmatch(typed):
            number = float(typed)
            return Scalar(number if abs(number) != float("inf") else typed, typed)
        if match := _DATE.fullmatch(typed):
            return Scalar(_iso(match), typed)
    return Scalar(typed, typed)


def collect(entries: Sequence[Entry], end_line: int, problem: str) -> Frontmatter:
    """All forms of a frontmatter; of a key that stands twice the last value counts, its tags and aliases add up."""
    values = {entry.key: _json(entry.value) for entry in entries}
    last = {entry.key: entry.value for entry in entries}
    names = [(fold(entry.key.strip()), entry.value) for entry in entries]
    return Frontmatter(
        values=values,
        rows=tuple(_rows(last)),
        tags=_unique(tag for name, value in names if name in ("tags", "tag") for tag in _tags(value)),
        aliases=_unique(alias for name, value in names if name in ("aliases", "alias") for alias in _aliases(value)),
        title=next((title for name, value in names if name == "title" and (title := _title(value))), ""),
        end_line=end_line,
        problem=problem,
    )


def _iso(match: re.Match[str]) -> str:
    """The ISO form of a date or time, or the text as typed when there is no such day."""
    year, month, day, hour, minute, second, fraction, zulu, sign, zone_hour, zone_minute = match.groups()
    try:
        text = date(int(year), int(month), int(day)).isoformat()
        if hour is None:
            return text
        time = datetime.strptime(f"{hour}:{minute}:{second or '0'}", "%H:%M:%S").time()  # noqa: DTZ007 - wall clock only
    except ValueError:
        return match[0]
    zone = "Z" if zulu else f"{sign}{int(zone_hour):02}:{zone_minute or '00'}" if sign else ""
    return f"{text}T{time.isoformat()}{fraction or ''}{zone}"


def _json(value: Any) -> Any:
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, dict):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    return None


def _rows(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for count, row in enumerate(_flat("", values)):
        if count == _MAX_ROWS:
            return
        yield row


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Scalar):
        if text := _row_text(value)[:_MAX_TEXT]:
            yield key, text
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _flat(f"{key}.{name}" if key else name, item)
    elif isinstance(value, list):
        for item in value:
            yield from _flat(key, item)


def _row_text(scalar: Scalar) -> str:
    """Numbers as typed (``1.10`` is a version, too), dates as ISO, truth values in one spelling."""
    if isinstance(scalar.value, bool):
        return "true" if scalar.value else "false"
    return scalar.value if isinstance(scalar.value, str) else scalar.typed


def _tags(value: Any) -> Iterator[str]:
    if isinstance(value, Scalar):
        yield from filter(None, map(tag_name, _WORD.findall(value.typed)))
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, Scalar):
                yield from filter(None, map(tag_name, item.typed.split(",")))


def _aliases(value: Any) -> Iterator[str]:
    if isinstance(value, Scalar):
        yield from filter(None, (part.strip() for part in value.typed.split(",")))
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, Scalar) and item.typed.strip():
                yield item.typed.strip()


def _title(value: Any) -> str:
    return " ".join(value.typed.split()) if isinstance(value, Scalar) else ""


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    """The first spelling of each name, in order."""
    spelt: dict[str, str] = {}
    for name in names:
        spelt.setdefault(fold(name), name)
    return tuple(spelt.values())
