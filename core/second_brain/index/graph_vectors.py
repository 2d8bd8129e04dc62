"""The vectors by which notes are near to each other: those of the notes, without the passages that are only boilerplate.

A passage whose text stands in at least `FEW` notes, and in one of a hundred, says nothing about the note that it stands in: a
template, a navigation, a query.  Where a note has such passages its vector is the normalised mean of its others.

Everything here is a function of what a connection sees: of a scope's notes alone when it is scoped.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from second_brain.index.numbers import numbers
from second_brain.index.schema import FIRST_VERSION_MODEL
from second_brain.index.vector_rows import direction

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from second_brain.index.graph_rows import NoteModel

FEW = 5
SHARE = 100
"""One of so many notes."""


def docs(connection: apsw.Connection) -> dict[str, int]:
    """The number of each note by its path."""
    return dict(connection.execute("SELECT path, doc FROM files WHERE doc IS NOT NULL"))


def boilerplate(connection: apsw.Connection, model: NoteModel) -> frozenset[bytes]:
    """The `body_hash` of every passage that is only boilerplate."""
    notes = int(connection.execute("SELECT count(doc) FROM files").get)
    rows = connection.execute(
        "SELECT body_hash FROM chunks WHERE layout = ? AND body_hash IS NOT NULL GROUP BY body_hash"
        " HAVING count(DISTINCT doc) >= ?",
        (model.layout, max(FEW, -(-notes // SHARE))),
    )
    return frozenset(body for (body,) in rows)


def bearers(connection: apsw.Connection, model: NoteModel, bodies: Collection[bytes]) -> dict[int, str]:
    """The notes (doc: path) in which one of the passages *bodies* stands."""
    if not bodies:
        return {}
    rows = connection.execute(
        "SELECT f.doc, f.path FROM files f WHERE f.doc IN"
        " (SELECT doc FROM chunks WHERE layout = ? AND body_hash IN carray(?))",
        (model.layout, apsw.carray(tuple(sorted(bodies)))),
    )
    return dict(rows)


def without(
    connection: apsw.Connection, model: NoteModel, bodies: Collection[bytes], docs: Collection[int]
) -> dict[str, NDArray[np.float32] | None]:
    """By path, for those of *docs* that hold passages of *bodies*: the vector of the note without them, None when it has none."""
    affected = {doc: path for doc, path in bearers(connection, model, bodies).items() if doc in docs}
    if not affected:
        return {}
    rows: list[Any] = connection.execute(
        "SELECT c.doc, v.vector FROM chunks c LEFT JOIN vectors v ON v.model = ? AND v.chunk = c.id"
        " WHERE c.layout = ? AND c.doc IN carray(?) AND c.body_hash NOT IN carray(?) ORDER BY c.doc, c.ordinal",
        (model.id, model.layout, numbers(sorted(affected)), apsw.carray(tuple(sorted(bodies)))),
    ).fetchall()
    found: dict[str, NDArray[np.float32] | None] = dict.fromkeys(affected.values())
    for doc, group in groupby(rows, key=lambda row: row[0]):
        found[affected[doc]] = direction([blob for _, blob in group], model.dim)
    return found


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
