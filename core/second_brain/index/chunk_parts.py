"""What an answer shows of chunks and their notes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from second_brain.index.numbers import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from second_brain.index.reader import Reader


@dataclass(frozen=True, slots=True)
class ChunkPart:
    """A chunk with its text (redacted, as indexed) and what its note says of itself; `mtime` in epoch seconds."""

    id: int
    doc: int
    path: str
    content_hash: str
    mtime: float | None
    properties: dict[str, Any]
    heading_path: tuple[str, ...]
    ordinal: int
    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task of a note."""

    line: int
    done: bool
    text: str


def read(reader: Reader, chunks: Sequence[int]) -> dict[int, ChunkPart]:
    """The visible ones of *chunks*, by their number."""
    rows: Iterable[Any] = reader.connection.execute(
        "SELECT c.id, c.doc, f.path, coalesce(f.content_hash, ''), f.mtime, coalesce(f.properties, '{}'), c.heading_path,"
        " c.ordinal, c.start_line, c.end_line, substr(t.text, c.start + 1, c.stop - c.start)"
        " FROM chunks c JOIN files f ON f.doc = c.doc JOIN texts t ON t.doc = c.doc WHERE c.id IN carray(?)",
        (numbers(chunks),),
    )
    return {part.id: part for part in map(_part, rows)}


def _part(row: tuple[Any, ...]) -> ChunkPart:
    chunk, doc, path, content_hash, mtime, properties, heading_path, *place = row
    ordinal, start_line, end_line, text = place
    return ChunkPart(
        id=chunk,
        doc=doc,
        path=path,
        content_hash=content_hash,
        mtime=mtime,
        properties=json.loads(properties),
        heading_path=tuple(json.loads(heading_path)),
        ordinal=ordinal,
        start_line=start_line,
        end_line=end_line,
        text=text,
    )


def headed(reader: Reader, passes: Callable[[tuple[str, ...]], bool]) -> list[int]:
    """The visible chunks whose heading path *passes*."""
    rows = list(reader.connection.execute("SELECT id, heading_path FROM chunks"))
    accepted = {path for path in {path for _, path in rows} if passes(tuple(json.loads(path)))}
    return [chunk for chunk, path in rows if path in accepted]


def tasks(reader: Reader, docs: Sequence[int]) -> dict[int, list[TaskRow]]:
    """The tasks of each note of *docs*, in text order."""
    found: dict[int, list[TaskRow]] = {doc: [] for doc in docs}
    rows = reader.connection.execute(
        "SELECT doc, line, done, text FROM tasks WHERE doc IN carray(?) ORDER BY doc, ordinal", (numbers(docs),)
    )
    for doc, line, done, text in rows:
        found[doc].append(TaskRow(line, bool(done), text))
    return found


def link_targets(reader: Reader, docs: Sequence[int]) -> dict[int, list[str]]:
    """What each note of *docs* links to, as written, each target once and in text order."""
    found: dict[int, dict[str, None]] = {doc: {} for doc in docs}
    rows = reader.connection.execute(
        "SELECT doc, target FROM links WHERE doc IN carray(?) ORDER BY doc, ordinal", (numbers(docs),)
    )
    for doc, target in rows:
        found[doc][target] = None
    return {doc: list(targets) for doc, targets in found.items()}


def mtimes(reader: Reader, docs: Sequence[int]) -> dict[int, float]:
    """When each file of *docs* was last changed as far as the index knows, epoch seconds; unknown ones are missing."""
    rows = reader.connection.execute(
        "SELECT doc, mtime FROM files WHERE mtime IS NOT NULL AND doc IN carray(?)", (numbers(docs),)
    )
    return dict(rows)
