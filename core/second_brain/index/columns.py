"""What every query needs of every note, as arrays, read once per state of the database.

Notes are in path order, so a note's place in the arrays breaks ties by path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import apsw
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Columns:
    """One entry per visible note.  `order` sorts `docs`; `words` are body lengths in tokens."""

    docs: NDArray[np.int64]
    words: NDArray[np.float64]
    english: NDArray[np.bool_]
    order: NDArray[np.intp]
    sorted_docs: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.docs)

    @property
    def mean_words(self) -> float:
        """The mean body length, at least 1."""
        return max(1.0, float(self.words.mean())) if len(self.words) else 1.0

    def places(self, docs: NDArray[np.uint32] | NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where *docs* stand in the arrays, and which of them are visible at all (places cover only these)."""
        if not len(self.sorted_docs):
            return np.empty(0, dtype=np.intp), np.zeros(len(docs), dtype=np.bool_)
        where = np.searchsorted(self.sorted_docs, docs)
        where[where == len(self.sorted_docs)] = 0
        visible = np.asarray(self.sorted_docs[where] == docs, dtype=np.bool_)
        return self.order[where[visible]], visible


def load(connection: apsw.Connection) -> Columns:
    """The columns of the notes that *connection* sees."""
    rows = connection.execute("SELECT doc, words, english FROM files ORDER BY path").fetchall()
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    docs = table[:, 0].copy()
    order = np.argsort(docs)
    return Columns(docs, table[:, 1].astype(np.float64), table[:, 2].astype(np.bool_), order, docs[order])
