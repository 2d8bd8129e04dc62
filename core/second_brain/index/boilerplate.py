"""What notes mean without what many notes have: templates, navigation, queries.

A line that stands in at least `FEW` notes, and in one of a hundred, says nothing about the note that it stands in.  A passage of
little else is left out of its note's vector.  Where such lines are a part of a passage, what passages with the same ones have in
common is taken off it, as much as is their share of the text.

Everything is a function of what a connection sees: inside a scope, of the scope's notes alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from second_brain.index.numbers import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import apsw
    from numpy.typing import NDArray

    from second_brain.index.graph_rows import NoteModel

FEW = 5
ONE_OF = 100

PURE = 0.9
"""From this share of such lines on, in characters, a passage is left out."""

MIXED = 0.3
"""Below this share a passage stays as it is: headings that many notes have do not change what a text means."""

SAMPLE = 32
"""So many passages, the first ones by path, tell what those with the same lines have in common."""

_SHORTEST = 1e-6
_MARK_BYTES = 8  # see `line_marks`


@dataclass(frozen=True, slots=True)
class _Passages:
    """Passages by path and ordinal; `template` names the boilerplate of those that have enough of it, by place."""

    chunks: list[int]
    paths: list[str]
    share: NDArray[np.float64]
    template: Mapping[int, bytes]


def reduced(connection: apsw.Connection, model: NoteModel) -> dict[str, NDArray[np.float32] | None]:
    """By path, the unit vectors of the notes that are not those of the whole note.

    None where nothing else is left, or where a passage has yet to be embedded: then what is left cannot be told.
    """
    passages = _passages(connection, model)
    if not passages.template:
        return {}
    affected = {passages.paths[place] for place in passages.template}
    places = [place for place, path in enumerate(passages.paths) if path in affected]
    vectors = _vectors(connection, model, [passages.chunks[place] for place in places])
    common = _in_common(passages, vectors)
    found: dict[str, NDArray[np.float32] | None] = {}
    for path, group in groupby(places, key=passages.paths.__getitem__):
        own = list(group)
        there = all(passages.chunks[place] in vectors for place in own)
        found[path] = (
            _direction([part for place in own for part in _left(passages, place, vectors, common)]) if there else None
        )
    return found


def _passages(connection: apsw.Connection, model: NoteModel) -> _Passages:
    rows: list[Any] = connection.execute(
        "SELECT c.id, f.path, c.lines FROM files f JOIN chunks c ON c.doc = f.doc WHERE c.layout = ? AND c.lines IS NOT NULL"
        " ORDER BY f.path, c.ordinal",
        (model.layout,),
    ).fetchall()
    chunks, paths = [row[0] for row in rows], [row[1] for row in rows]
    marks = np.frombuffer(b"".join(row[2] for row in rows), dtype="<u4").reshape(-1, 2).astype(np.int64)
    sizes = np.array([len(row[2]) // _MARK_BYTES for row in rows], dtype=np.int64)
    of_line, ends = np.repeat(np.arange(len(rows)), sizes), np.cumsum(sizes)
    notes = int(connection.execute("SELECT count(doc) FROM files").get)
    common = np.isin(marks[:, 0], _repeated(marks[:, 0], _note_numbers(paths)[of_line], max(FEW, -(-notes // ONE_OF))))
    length = np.bincount(of_line, weights=marks[:, 1], minlength=len(rows))
    share = np.bincount(of_line, weights=marks[:, 1] * common, minlength=len(rows)) / np.maximum(length, 1)
    template = {}
    for place in np.flatnonzero(share >= MIXED).tolist():
        own = slice(ends[place] - sizes[place], ends[place])
        template[place] = np.unique(marks[own, 0][common[own]]).tobytes()
    return _Passages(chunks, paths, share, template)


def _note_numbers(paths: Sequence[str]) -> NDArray[np.int64]:
    """A number for each run of equal paths."""
    changes = [int(path != before) for path, before in zip(paths, [None, *paths], strict=False)]
    return np.cumsum(np.array(changes, dtype=np.int64))


def _repeated(lines: NDArray[np.int64], notes: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Those of *lines* that stand in at least *least* of *notes*."""
    each_once = np.unique(notes * (1 << 32) + lines) & 0xFFFFFFFF
    values, counts = np.unique(each_once, return_counts=True)
    repeated: NDArray[np.int64] = values[counts >= least]
    return repeated


def _vectors(connection: apsw.Connection, model: NoteModel, chunks: Sequence[int]) -> dict[int, NDArray[np.float64]]:
    rows = connection.execute(
        "SELECT chunk, vector FROM vectors WHERE model = ? AND chunk IN carray(?)", (model.id, numbers(chunks))
    )
    return {chunk: np.frombuffer(vector, dtype="<f4").astype(np.float64) for chunk, vector in rows}


def _in_common(passages: _Passages, vectors: Mapping[int, NDArray[np.float64]]) -> dict[bytes, NDArray[np.float64]]:
    """The common direction of the passages of each template that stands in enough notes."""
    members: dict[bytes, list[int]] = {}
    for place in sorted(passages.template):
        if passages.chunks[place] in vectors:
            members.setdefault(passages.template[place], []).append(place)
    found = {}
    for template, places in members.items():
        if len({passages.paths[place] for place in places}) >= FEW:
            mean = np.mean([vectors[passages.chunks[place]] for place in places[:SAMPLE]], axis=0)
            if (norm := float(np.linalg.norm(mean))) > _SHORTEST:
                found[template] = mean / norm
    return found


def _left(
    passages: _Passages,
    place: int,
    vectors: Mapping[int, NDArray[np.float64]],
    common: Mapping[bytes, NDArray[np.float64]],
) -> Iterator[NDArray[np.float64]]:
    """What is left of a passage's vector, nothing when it is boilerplate."""
    vector, share = vectors[passages.chunks[place]], float(passages.share[place])
    if share >= PURE:
        return
    direction = common.get(passages.template.get(place, b""))
    yield vector if direction is None else vector - share * float(vector @ direction) * direction


def _direction(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float32] | None:
    if not parts:
        return None
    mean = np.mean(parts, axis=0)
    norm = float(np.linalg.norm(mean))
    return None if norm < _SHORTEST else (mean / norm).astype("<f4")
