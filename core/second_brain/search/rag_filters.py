"""The filters of the ``rag`` tools: checked first, then turned into the chunks that may be ranked.

All filters apply, before anything is ranked or cut.  A filter that is null is as good as left out.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from second_brain.errors import InvalidParameter
from second_brain.index import chunk_parts, properties, selection
from second_brain.model import stem_of
from second_brain.search import rag_fields
from second_brain.search.dates import iso_moment
from second_brain.search.query import clean, tag_filter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from second_brain.index.chunk_table import ChunkTable
    from second_brain.index.reader import Reader
    from second_brain.search.query import TagFilter

DATE_KEYS = ("due", "deadline", "start", "created", "date")
"""The first of these that a note has is its date."""

_NAMED = ("exclude_status", "modified_since", "date_range", "frontmatter_contains", "tags", "path_prefix")
_LONGEST_ROW = 2_000  # the index keeps so much of a property's text for comparison


@dataclass(frozen=True, slots=True)
class RagFilters:
    """Valid filters; moments in epoch seconds, `others` are (field, value) for equality."""

    excluded_status: frozenset[str] = frozenset()
    modified_since: float | None = None
    date_from: float | None = None
    date_to: float | None = None
    contains: tuple[tuple[str, Any], ...] = ()
    tags: tuple[TagFilter, ...] = ()
    path_prefix: str = ""
    others: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may be ranked: `rows` of the chunk table; `notes` says the same by note, unless `by_chunk`; None: everything."""

    notes: NDArray[np.bool_] | None
    rows: NDArray[np.bool_] | None
    by_chunk: bool = False


# -- checking ---------------------------------------------------------------------------------------------------------------


def parse(filters: Mapping[str, Any] | None, default_status: Sequence[str]) -> RagFilters:
    """Check *filters*; *default_status* are the excluded ones unless ``exclude_status`` is given.

    Raises `InvalidParameter` naming ``filters`` or ``filters.NAME``.
    """
    given = {} if filters is None else _object("filters", filters)
    named = {name: given[name] for name in _NAMED if given.get(name) is not None}
    excluded = _texts("exclude_status", named["exclude_status"]) if "exclude_status" in named else default_status
    since = _moment("filters.modified_since", named["modified_since"], end=False) if "modified_since" in named else None
    start, end = _date_range(named.get("date_range", {}))
    contains = _object("filters.frontmatter_contains", named.get("frontmatter_contains", {}))
    return RagFilters(
        excluded_status=frozenset(map(_status_key, excluded)),
        modified_since=since,
        date_from=start,
        date_to=end,
        contains=tuple((key, _value(f"filters.frontmatter_contains.{key}", value)) for key, value in contains.items()),
        tags=tuple(map(_tag, _tag_texts(named.get("tags", [])))),
        path_prefix=_text("filters.path_prefix", named.get("path_prefix", "")),
        others=tuple((key, _other(key, value)) for key, value in given.items() if key not in _NAMED),
    )


def _object(parameter: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidParameter(
            f"{parameter}: {str(value)[:80]!r} is not an object", hint='Give {"name": value, …}.', parameter=parameter
        )
    return {clean(key): item for key, item in value.items()}


def _text(parameter: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidParameter(
            f"{parameter}: {str(value)[:80]!r} is not text", hint="Give a string.", parameter=parameter
        )
    return clean(value)


def _texts(name: str, value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise InvalidParameter(
            f"filters.{name}: {str(value)[:80]!r} is not a list of strings",
            hint="Give a list of strings; [] for none.",
            parameter=f"filters.{name}",
        )
    return [clean(item) for item in value]


def _tag_texts(value: Any) -> list[str]:
    return [clean(value)] if isinstance(value, str) else _texts("tags", value)


def _tag(text: str) -> TagFilter:
    found = tag_filter(text)
    if found is None:
        raise InvalidParameter(
            f"filters.tags: {text[:80]!r} names no tag", hint="Leave it out.", parameter="filters.tags"
        )
    return found


def _date_range(value: Any) -> tuple[float | None, float | None]:
    bounds = _object("filters.date_range", value)
    unknown = next((key for key in bounds if key not in ("start", "end")), None)
    if unknown is not None:
        raise InvalidParameter(
            f"filters.date_range: {unknown[:80]!r} is neither start nor end",
            hint="Give start, end or both, as ISO 8601 dates.",
            parameter="filters.date_range",
            options=("start", "end"),
        )
    start, end = bounds.get("start"), bounds.get("end")
    return (
        None if start is None else _moment("filters.date_range", start, end=False),
        None if end is None else _moment("filters.date_range", end, end=True),
    )


def _moment(parameter: str, value: Any, *, end: bool) -> float:
    return iso_moment(value, parameter=parameter, end=end, zone=UTC).timestamp()


def _value(parameter: str, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidParameter(f"{parameter}: {value} is no number", hint="Give a finite number.", parameter=parameter)
    return clean(value) if isinstance(value, str) else value


def _other(field: str, value: Any) -> Any:
    if field == "tasks":
        raise InvalidParameter(
            "filters.tasks: tasks cannot be compared",
            hint="Leave it out; look for their words with the query.",
            parameter="filters.tasks",
        )
    return _value(f"filters.{field}", value)


def _status_key(status: str) -> str:
    return status.strip().casefold()


# -- applying ---------------------------------------------------------------------------------------------------------------


def allowed(reader: Reader, table: ChunkTable, filters: RagFilters) -> Allowed:
    """The chunks of *table* that pass all *filters*."""
    conditions = [selection.tagged(tag.name, exactly=tag.exact) for tag in filters.tags]
    if filters.path_prefix:
        conditions.append(properties.path_starts(filters.path_prefix))
    if filters.modified_since is not None:
        conditions.append(properties.indexed_since(filters.modified_since))
    masks = [selection.passing(reader, conditions)] if conditions else []
    if filters.date_from is not None or filters.date_to is not None:
        masks.append(_dated(reader, filters))
    if filters.excluded_status:
        masks.append(~properties.with_text(reader, "status", lambda text: _status_key(text) in filters.excluded_status))
    masks += [_holding(reader, key, value) for key, value in filters.contains]
    masks += [_equal(reader, key, value) for key, value in filters.others if key != "heading_path"]
    notes = np.logical_and.reduce(masks) if masks else None
    rows = None if notes is None else notes[table.places]
    headings = [value for key, value in filters.others if key == "heading_path"]
    for heading in headings:
        under = np.isin(table.ids, chunk_parts.headed(reader, partial(_is_heading, heading)))
        rows = under if rows is None else rows & under
    return Allowed(notes, rows, by_chunk=bool(headings))


def warnings(reader: Reader, filters: RagFilters) -> list[str]:
    """What a person should know of filters that cannot let anything through."""
    return [
        f"filters.{key}: no note has a property of this name, so nothing can match."
        for key, value in filters.others
        if value is not None and key not in rag_fields.OF_A_HIT and not properties.is_known(reader, key)
    ]


def _dated(reader: Reader, filters: RagFilters) -> NDArray[np.bool_]:
    low = -math.inf if filters.date_from is None else filters.date_from
    high = math.inf if filters.date_to is None else filters.date_to
    dates = {doc: _span(text) for doc, text in properties.first_texts(reader, DATE_KEYS).items()}
    return properties.mask(reader, [doc for doc, span in dates.items() if span and span[1] >= low and span[0] <= high])


@lru_cache(maxsize=1 << 15)
def _span(text: str) -> tuple[float, float] | None:
    """First and last moment of a note's date (a day is the whole of it, UTC), None when it is no date."""
    try:
        return _moment("date", text, end=False), _moment("date", text, end=True)
    except InvalidParameter:
        return None


def _holding(reader: Reader, key: str, value: Any) -> NDArray[np.bool_]:
    """Notes whose property *key* is *value*, or a list with it; a text also fits a number that was typed so."""
    if isinstance(value, str) and 0 < len(value) < _LONGEST_ROW:
        return properties.with_text(reader, key, lambda text: text == value)
    return properties.matching(
        reader,
        lambda values: rag_fields.is_or_has(rag_fields.property_of(values, key), value),
        key=key if isinstance(value, int | float) else "",
    )


def _is_heading(wanted: Any, path: tuple[str, ...]) -> bool:
    """Whether *wanted* is the whole path, or its last heading alone as in the original."""
    return wanted in (rag_fields.heading_text(path), path[-1] if path else rag_fields.ROOT)


def _equal(reader: Reader, field: str, value: Any) -> NDArray[np.bool_]:
    """Notes whose *field* equals *value*; a name that no hit has is that of a property."""
    match field:
        case "path":
            found = properties.with_path(reader, lambda path: _nfc(path) == _nfc(value))
        case "note_title":
            found = properties.with_path(reader, lambda path: _nfc(stem_of(path)) == _nfc(value))
        case "mtime":
            found = properties.with_mtime(reader, lambda mtime: rag_fields.same(mtime, value))
        case "links":
            found = properties.with_links(reader, lambda targets: value in targets or value == targets)
        case "status" if isinstance(value, str):
            found = properties.with_text(reader, field, lambda text: _status_key(text) == _status_key(value))
        case "raw_frontmatter":
            found = properties.matching(reader, lambda values: rag_fields.same(values, value))
        case "derived_fields":
            found = properties.matching(reader, lambda values: rag_fields.same(rag_fields.derived(values), value))
        case _:
            found = _holding(reader, field, value)
    return found


def _nfc(value: Any) -> Any:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value
