"""The chunks that answer, as arrays, read once per state of the database.

Rows are in path and text order, so a row number breaks ties by path, then by place in the note.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from second_brain.index import vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from second_brain.index.reader import Reader
    from second_brain.index.vectors import Model


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """One entry per visible chunk.

    `places` are those of the notes in the reader's columns; `starts` and `ends` hold the place above and the first and last
    token position below bit 32; `lengths` are in tokens.  `embedded` counts the chunks that have a vector of `model`.
    """

    model: Model | None
    embedded: int
    ids: NDArray[np.int64]
    places: NDArray[np.intp]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lengths: NDArray[np.float64]
    by_id: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def mean_length(self) -> float:
        """The mean length in tokens, at least 1."""
        return max(1.0, float(self.lengths.mean())) if len(self.lengths) else 1.0

    def rows_of(self, chunks: NDArray[np.int64]) -> NDArray[np.intp]:
        """The rows of *chunks*, all of which must be in the table."""
        return self.by_id[np.searchsorted(self.ids, chunks, sorter=self.by_id)]

    def rows_at(self, place: int) -> NDArray[np.intp]:
        """The rows of one note, in text order."""
        first, last = np.searchsorted(self.places, [place, place + 1])
        return np.arange(first, last)


def of(reader: Reader) -> ChunkTable:
    """The chunks that *reader* sees now; within a snapshot."""
    return reader.derived("chunk table", lambda: _load(reader))


def _load(reader: Reader) -> ChunkTable:
    model = vectors.active_model(reader)
    columns = "id, doc, ordinal, first_token, last_token"
    if model is not None:
        found = reader.connection.execute(f"SELECT {columns} FROM chunks WHERE layout = ?", (model.layout,))
    else:
        # Without a model every note answers as it was cut last.
        found = reader.connection.execute(
            f"SELECT {columns} FROM chunks c WHERE layout = (SELECT max(o.layout) FROM chunks o WHERE o.doc = c.doc)"
        )
    table = np.array(found.fetchall(), dtype=np.int64).reshape(-1, 5)
    places, visible = reader.columns.places(table[:, 1])
    table = table[visible]
    order = np.lexsort((table[:, 2], places))
    table, places = table[order], places[order]
    base = places.astype(np.int64) << 32
    return ChunkTable(
        model=model,
        embedded=vectors.embedded(reader, model)[0] if model is not None else 0,
        ids=table[:, 0].copy(),
        places=places,
        starts=base + table[:, 3],
        ends=base + table[:, 4],
        lengths=(table[:, 4] - table[:, 3] + 1).astype(np.float64),
        by_id=np.argsort(table[:, 0]),
    )
