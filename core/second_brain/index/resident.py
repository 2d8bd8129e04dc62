"""Vectors of a model that stay in memory in some form, brought up to date by reading only what is new.

Within one database a vector is told by its model, its chunk and the hash of the text it was made from: the same three have the
same vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from second_brain.index import vector_checks
from second_brain.index.numbers import numbers
from second_brain.index.schema import HASH_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader
    from second_brain.index.vectors import Model

_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class Resident:
    """One entry per visible chunk that has a vector of `model`, chunk numbers ascending; `codes` are the vectors in their form.

    `places` are those of the chunks' notes in the reader's columns, as of the reader's state `generation`.
    """

    model: Model
    generation: int
    chunks: NDArray[np.int64]
    places: NDArray[np.intp]
    texts: NDArray[np.void]
    codes: NDArray[Any]

    def __len__(self) -> int:
        return len(self.chunks)


def current(
    reader: Reader,
    model: Model,
    encode: Callable[[NDArray[np.float32]], NDArray[Any]],
    before: Resident | None = None,
) -> tuple[Resident, int]:
    """What *reader* sees now, and how many vectors came or went; those that *before* has are not read again.

    *encode* gives the codes of a float32 matrix, row by row.  Raises `apsw.CorruptError` for a vector that can be none.
    """
    before = before if before is not None and before.model == model else None
    chunks, places, texts = _rows(reader, model)
    where, kept = _known(before, chunks, texts)
    changed = len(chunks) + (len(before) if before else 0) - 2 * int(kept.sum())
    if before is not None and not changed:
        return Resident(model, reader.generation, chunks, places, texts, before.codes), 0
    form = encode(np.empty((0, model.dim), dtype=np.float32))
    codes = np.empty((len(chunks), form.shape[1]), dtype=form.dtype)
    for start in range(0, len(chunks), _BATCH):
        part = np.arange(start, min(start + _BATCH, len(chunks)))
        old, new = part[kept[part]], part[~kept[part]]
        if before is not None and len(old):
            codes[old] = before.codes[where[old]]
        if len(new):
            codes[new] = encode(vectors_of(reader, model, chunks[new]))
    return Resident(model, reader.generation, chunks, places, texts, codes), changed


def vectors_of(reader: Reader, model: Model, chunks: NDArray[np.int64]) -> NDArray[np.float32]:
    """The vectors of *chunks* (ascending), one per row.  Raises `apsw.CorruptError` for one that can be none."""
    rows: list[Any] = reader.connection.execute(
        "SELECT vector FROM vectors WHERE model = ? AND chunk IN carray(?) ORDER BY chunk", (model.id, numbers(chunks))
    ).fetchall()
    blobs = [vector for (vector,) in rows]
    if not vector_checks.are_sound(blobs, model.dim):
        raise apsw.CorruptError
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(-1, model.dim)


def _rows(reader: Reader, model: Model) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.void]]:
    """The visible chunks that have a vector, ascending, the places of their notes and the hashes of their texts."""
    rows: list[Any] = reader.connection.execute(
        # Of the visible chunks alone: what lies outside a scope may not even decide how it is searched.
        "SELECT v.chunk, c.doc, v.text_hash FROM chunks c CROSS JOIN vectors v ON v.model = ? AND v.chunk = c.id"
        " WHERE c.layout = ? ORDER BY v.chunk",
        (model.id, model.layout),
    ).fetchall()
    chunks, docs, hashes = zip(*rows, strict=True) if rows else ((), (), ())
    if any(len(text_hash) != HASH_BYTES for text_hash in hashes):
        raise apsw.CorruptError
    places, visible = reader.columns.places(np.array(docs, dtype=np.int64))
    texts = np.frombuffer(b"".join(hashes), dtype=f"V{HASH_BYTES}")
    return np.array(chunks, dtype=np.int64)[visible], places, texts[visible]


def _known(
    before: Resident | None, chunks: NDArray[np.int64], texts: NDArray[np.void]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where *chunks* stand in *before*, and which of them really stand there with the same text."""
    if not before or not len(chunks):
        return np.zeros(len(chunks), dtype=np.intp), np.zeros(len(chunks), dtype=np.bool_)
    where = np.minimum(np.searchsorted(before.chunks, chunks), len(before) - 1)
    return where, (before.chunks[where] == chunks) & (before.texts[where] == texts)
