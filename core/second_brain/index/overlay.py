"""Notes as they are now, in front of those that the index has of the same paths, for readers that must not be out of date.

An overlay is a small database of the same tables.  A reader that gets one sees through its views the notes of the overlay instead
of those that it hides, so every query is up to date without knowing it.  Vectors are those of the index: what a note means is
not computed again for a moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from second_brain.index import note_rows, schema
from second_brain.index.note_writer import NoteWriter

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from second_brain.index.note_rows import NoteRecord

FIRST_DOC = 3 << 30
"""Notes of overlays have numbers from here on, which no note of an index reaches; none is used twice in a process."""

_next_doc = FIRST_DOC


@dataclass(frozen=True, slots=True)
class Overlay:
    """A database image; `edited` are its notes whose text the index has not, so that it knows no vectors of it."""

    image: bytes
    edited: frozenset[str]


def overlay_of(records: Sequence[NoteRecord], hidden: Collection[str], moved: Mapping[str, str]) -> Overlay:
    """The notes of *records* in front of the index, and those at *hidden* not there any more.

    *moved*: under which path the index has the content of a note, and with it the vector.
    """
    first = _numbers(len(records))
    connection = apsw.Connection(":memory:")
    try:
        schema.migrate(connection, Path(":memory:"))
        notes = frozenset(record.file.path for record in records)
        with connection:
            if records:
                NoteWriter().put_built(connection, note_rows.build(list(enumerate(records, start=first))))
            connection.execute("UPDATE chunks SET id = id + ?", (schema.FIRST_OF_OVERLAYS,))
            connection.execute("CREATE TABLE moved(path TEXT PRIMARY KEY, former TEXT NOT NULL) WITHOUT ROWID")
            connection.executemany("INSERT INTO moved VALUES(?, ?)", sorted(moved.items()))
            connection.execute("CREATE TABLE hidden(path TEXT PRIMARY KEY) WITHOUT ROWID")
            connection.executemany("INSERT INTO hidden VALUES(?)", [(path,) for path in sorted(notes | set(hidden))])
        return Overlay(connection.serialize("main"), notes - moved.keys())
    finally:
        connection.close()


def _numbers(count: int) -> int:
    """The first of *count* numbers that no note had."""
    global _next_doc
    first, _next_doc = _next_doc, _next_doc + count
    return first
