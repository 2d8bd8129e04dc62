"""The vectors by which notes are near to each other: those of whole notes; `boilerplate` has those that differ.

Everything here is a function of what a connection sees: of a scope's notes alone when it is scoped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import numpy as np

from second_brain.index.schema import FIRST_VERSION_MODEL

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from second_brain.index.graph_rows import NoteModel


def docs(connection: apsw.Connection) -> dict[str, int]:
    """The number of each note by its path."""
    return dict(connection.execute("SELECT path, doc FROM files WHERE doc IS NOT NULL"))


def of_notes(connection: apsw.Connection, model: NoteModel, paths: Collection[str] | None = None) -> dict[str, bytes]:
    """By path, the whole vectors of all notes, or of *paths*; what has another dimension is left out."""
    sql = (
        "SELECT e.path, e.vector FROM embeddings e JOIN files f ON f.path = e.path"
        " WHERE coalesce(e.model, '') = ? AND length(e.vector) = ?"
    )
    values: tuple[object, ...] = (model.fingerprint.removeprefix(FIRST_VERSION_MODEL), 4 * model.dim)
    if paths is not None:
        sql, values = f"{sql} AND e.path IN carray(?)", (*values, apsw.carray(tuple(sorted(paths))))
    return dict(connection.execute(sql, values)) if paths is None or paths else {}


def unit_rows(vectors: list[bytes | NDArray[np.float32] | None], dim: int) -> NDArray[np.float32]:
    """One row of length 1 for each vector; zeros where there is none, or one without a direction."""
    rows = np.zeros((len(vectors), dim), dtype=np.float32)
    for place, vector in enumerate(vectors):
        if vector is not None:
            rows[place] = np.frombuffer(vector, dtype="<f4") if isinstance(vector, bytes) else vector
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    good = np.isfinite(norms) & (norms > 0)
    rows[~good] = 0
    rows[good] /= norms[good, None].astype(np.float32)
    return rows
