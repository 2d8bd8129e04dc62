"""Find chunks by meaning: cosines of the active model's vectors, by row of the chunk table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from second_brain.index import vectors
from second_brain.index.numbers import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from second_brain.index.chunk_table import ChunkTable
    from second_brain.index.reader import Reader
    from second_brain.index.vectors import Model

Ranked = tuple["NDArray[np.intp]", "NDArray[np.float64]"]
"""Rows and their cosines, the nearest first, equal ones in row order."""


def nearest(
    reader: Reader,
    table: ChunkTable,
    model: Model,
    query: NDArray[np.float32],
    *,
    notes: NDArray[np.bool_] | None,
    limit: int,
) -> Ranked:
    """The *limit* nearest chunks of *notes* (places in the reader's columns; None: of all)."""
    asked = limit + 1
    while True:
        found = vectors.nearest(reader, model, query, allowed=notes, limit=asked)
        if len(found) < asked or found[-1].cosine < found[limit - 1].cosine:
            break
        asked *= 4  # Which of several equal ones come first is decided by path, so all of them must be here.
    chunks = np.array([passage.chunk for passage in found], dtype=np.int64)
    cosines = np.array([passage.cosine for passage in found])
    return _ranked(table.rows_of(chunks), cosines, limit)


def among(
    reader: Reader,
    table: ChunkTable,
    model: Model,
    query: NDArray[np.float32],
    rows: NDArray[np.intp],
    *,
    least: float = -np.inf,
    limit: int | None = None,
) -> Ranked:
    """The cosines of just these *rows*, without those below *least* or without a vector; exact, whatever their number."""
    if not len(rows):
        return rows, np.empty(0)
    reader.load_vector_functions()
    found = reader.connection.execute(
        "SELECT chunk, cosine FROM (SELECT chunk, 1.0 - vec_distance_cosine(vector, ?) AS cosine FROM vectors"
        " WHERE model = ? AND chunk IN carray(?)) WHERE cosine >= ?",
        (query.astype("<f4", copy=False).tobytes(), model.id, numbers(table.ids[rows]), max(least, -2.0)),
    ).fetchall()
    reader.counters.vectors_read += len(rows)
    chunks = np.array([chunk for chunk, _ in found], dtype=np.int64)
    return _ranked(table.rows_of(chunks), np.array([cosine for _, cosine in found]), limit)


def _ranked(rows: NDArray[np.intp], cosines: NDArray[np.float64], limit: int | None) -> Ranked:
    cosines = np.clip(cosines, -1.0, 1.0)  # rounding
    order = np.lexsort((rows, -cosines))[:limit]
    return rows[order], cosines[order]
