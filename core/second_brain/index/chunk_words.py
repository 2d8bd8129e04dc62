"""Find chunks by their words: all of them, ranked by BM25 over the visible chunks alone.

The formula is that of SQLite's FTS5 (k1 = 1.2, b = 0.75, a floor under the weight of very common words), so a score is what
``-bm25(table)`` gives for a table of just these chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from second_brain.index.chunk_table import ChunkTable
    from second_brain.index.reader import Reader

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6


def scores(reader: Reader, table: ChunkTable, terms: Sequence[str]) -> NDArray[np.float64]:
    """A positive number for each row that holds every one of *terms* (as `text.query_terms` gives them), else 0."""
    wanted = list(dict.fromkeys(terms))
    total = np.zeros(len(table))
    holds_all = np.full(len(table), bool(wanted))
    length = K1 * (1.0 - B + B * table.lengths / table.mean_length)
    for term in wanted:
        frequency = _frequency(reader, table, term)
        holds = frequency > 0
        holds_all &= holds
        if not holds_all.any():
            return np.zeros(len(table))
        total += _idf(len(table), int(holds.sum())) * frequency * (K1 + 1.0) / (frequency + length)
    return np.where(holds_all, total, 0.0)


def _idf(chunks: int, holding: int) -> float:
    return max(float(np.log((chunks - holding + 0.5) / (holding + 0.5))), LEAST_IDF)


def _frequency(reader: Reader, table: ChunkTable, term: str) -> NDArray[np.int64]:
    """How often *term* stands in each chunk; what lies in the overlap of two chunks counts in both."""
    places, found = reader.occurrences(term)
    if not len(found.positions):
        return np.zeros(len(table), dtype=np.int64)
    keys = (np.repeat(places.astype(np.int64), found.body_tf) << 32) + found.positions
    keys.sort()
    return np.searchsorted(keys, table.ends, side="right") - np.searchsorted(keys, table.starts, side="left")
