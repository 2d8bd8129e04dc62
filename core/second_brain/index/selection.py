"""Filters as SQL over the files and tags tables; what passes is known before anything is ranked."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from second_brain.index.numbers import numbers
from second_brain.index.schema import tag_key, value_key
from second_brain.index.text import exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from second_brain.index.reader import Reader


@dataclass(frozen=True, slots=True)
class Condition:
    """One filter: SQL over a row of `files`, and the values it binds."""

    sql: str
    values: tuple[object, ...] = ()

    def negated(self) -> Condition:
        """Notes that do not pass."""
        return Condition(f"NOT ({self.sql})", self.values)


def below_any(folders: tuple[str, ...]) -> Condition:
    """Notes in or below one of *folders* (names as on disk, "" is the root), none without a folder; segment by segment."""
    parts = ["path >= ? AND path < ?" if folder else "1" for folder in folders]
    values = [value for folder in folders if folder for value in (folder + "/", folder + "0")]
    return Condition("(" + (" OR ".join(f"({part})" for part in parts) or "0") + ")", tuple(values))


def tagged(tag: str, *, exactly: bool = False) -> Condition:
    """Notes with *tag* or, unless *exactly*, one of its children."""
    key = tag_key(tag)
    if exactly:
        return Condition("path IN (SELECT path FROM tags WHERE key = ?)", (key,))
    return Condition(
        "path IN (SELECT path FROM tags WHERE key = ? UNION ALL SELECT path FROM tags WHERE key >= ? AND key < ?)",
        (key, key + "/", key + "0"),
    )


def modified(start: float | None, end: float | None) -> Condition:
    """Notes whose content changed between *start* and *end* (epoch seconds, inclusive)."""
    time = "coalesce(content_mtime, mtime)"
    parts = ([f"{time} >= ?"] if start is not None else []) + ([f"{time} <= ?"] if end is not None else [])
    return Condition(" AND ".join(parts) or "1", tuple(value for value in (start, end) if value is not None))


def property_is(key: str, value: str) -> Condition:
    """Notes with a frontmatter property (keys without regard to case); an empty *value* asks only that it is there."""
    spelled = _spellings(key)
    sql = f"doc IN (SELECT doc FROM frontmatter WHERE key COLLATE NOCASE IN ({','.join('?' * len(spelled))})"
    return Condition(sql + (" AND folded = ?)" if value else ")"), (*spelled, value_key(value)) if value else spelled)


def _spellings(key: str) -> tuple[str, ...]:
    """How a key may be written where SQLite, which folds ASCII only, sees a difference."""
    if key.isascii():
        return (key,)
    cases = {key, key.lower(), key.upper(), key.capitalize(), key.casefold()}
    return tuple(sorted({unicodedata.normalize(form, case) for form in ("NFC", "NFD") for case in cases}))


def name_contains(reader: Reader, field: str, text: str) -> Condition:
    """Notes whose path or title contains *text*, compared as quoted pieces are."""
    needle = exact(text)
    rows = reader.connection.execute(f"SELECT doc, {'path' if field == 'path' else 'title'} FROM files")
    return Condition("doc IN carray(?)", (numbers([doc for doc, name in rows if needle in exact(name or "")]),))


def passing(reader: Reader, conditions: list[Condition]) -> NDArray[np.bool_]:
    """Which visible notes (places in `reader.columns`) pass all *conditions*."""
    where = " AND ".join(condition.sql for condition in conditions) or "1"
    values = tuple(value for condition in conditions for value in condition.values)
    rows = reader.connection.execute(f"SELECT doc FROM files WHERE {where}", values)
    mask = np.zeros(len(reader.columns), dtype=np.bool_)
    places, _ = reader.columns.places(np.fromiter(chain.from_iterable(rows), dtype=np.int64))
    mask[places] = True
    return mask
