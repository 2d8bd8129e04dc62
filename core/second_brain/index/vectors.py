"""Nearest passages and notes by cosine.  Vectors are unit float32 arrays, cosines are 1 - sqlite-vec's cosine distance.

One question, or a narrow filter, is answered in SQLite, row by row.  When more is asked of the same state of the index,
candidates are found in memory first: by the vectors themselves where they take at most `MATRIX_BYTES`, which loses nothing, above
that by a sketch of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from second_brain.index import catalog, matrix, sketch
from second_brain.index.numbers import numbers
from second_brain.index.schema import FIRST_OF_OVERLAYS, FIRST_VERSION_MODEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader

MATRIX_BYTES = 80_000_000
"""50,000 vectors of 384 dimensions."""

NARROW = 0.25
"""A filter that lets through less than this share of the passages spares loading them all."""

ROWS_FIRST = 1
"""So many questions to one state of the index are answered row by row: loading everything takes as long as four of them."""


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model as the index knows it.  `state`: "active" answers queries, "building" is being filled."""

    id: int
    fingerprint: str
    dim: int
    layout: int
    state: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was found: its note's place in the reader's columns, and the cosine to the query."""

    chunk: int
    place: int
    cosine: float


def models(reader: Reader) -> list[Model]:
    """All models with vectors in the index, oldest first."""

    def load() -> list[Model]:
        rows = reader.connection.execute("SELECT id, fingerprint, dim, layout, state FROM models ORDER BY id")
        return [Model(*row) for row in rows]

    return reader.derived("models", load)


def active_model(reader: Reader) -> Model | None:
    """The model whose vectors answer queries."""
    return next((model for model in models(reader) if model.state == "active"), None)


def note_model(reader: Reader) -> str | None:
    """The fingerprint of the whole-note vectors that answer: the active model's, else those of a first-version database."""
    model = active_model(reader)
    if model is not None:
        return model.fingerprint
    row = reader.connection.execute(
        "SELECT coalesce(model, '') AS name FROM embeddings WHERE vector IS NOT NULL"
        " GROUP BY name ORDER BY count(*) DESC, name LIMIT 1"
    ).fetchone()
    return FIRST_VERSION_MODEL + row[0] if row else None


def embedded(reader: Reader, model: Model) -> tuple[int, int]:
    """How many of the visible chunks have a vector, and how many there are."""

    def count() -> tuple[int, int]:
        total = reader.connection.execute("SELECT count(*) FROM chunks WHERE layout = ?", (model.layout,)).get
        done = reader.connection.execute(
            "SELECT count(*) FROM chunks c JOIN vectors v ON v.model = ? AND v.chunk = c.id WHERE c.layout = ?",
            (model.id, model.layout),
        ).get
        return int(done), int(total)

    return reader.derived(f"embedded {model.id}", count)


def embedded_passages(reader: Reader) -> tuple[int, int]:
    """How many of the visible passages in the index have a vector that answers, and how many there are."""
    model = active_model(reader)
    if model is None:
        return 0, 0 if note_model(reader) else catalog.newest_chunk_count(reader)
    done, total = embedded(reader, model)
    laid_over = reader.connection.execute("SELECT count(doc) FROM chunks WHERE id >= ?", (FIRST_OF_OVERLAYS,)).get
    return done, total - int(laid_over)


def waiting(reader: Reader, docs: Sequence[int]) -> set[int]:
    """Which of *docs* have a passage that the active model has yet to embed."""
    rows = reader.connection.execute(
        "SELECT DISTINCT c.doc FROM chunks c JOIN models m ON m.layout = c.layout AND m.state = 'active'"
        " WHERE c.doc IN carray(?) AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = m.id AND v.chunk = c.id)",
        (numbers(docs),),
    )
    return {doc for (doc,) in rows}


def nearest(
    reader: Reader, model: Model, query: NDArray[np.float32], *, allowed: NDArray[np.bool_] | None, limit: int
) -> list[Passage]:
    """The *limit* nearest passages of the notes where *allowed* is true (None: of every visible note), nearest first."""
    reader.load_vector_functions()
    query = query / np.linalg.norm(query)  # margins are those of unit vectors
    docs = _docs(reader, allowed)
    total = embedded(reader, model)[0]
    count = total if docs is None else _chunk_count(reader, model, docs)
    chunks = None
    if 4 * model.dim * total <= MATRIX_BYTES:
        if matrix.is_current(reader, model) or (count >= NARROW * total and _asked_again(reader)):
            chunks = matrix.candidates(reader, model, query, allowed=allowed, limit=limit)
    elif 4 * model.dim * count > MATRIX_BYTES and _asked_again(reader):
        chunks = sketch.candidates(reader, model, query, allowed=allowed, limit=limit)
        count = count if chunks is None else len(chunks)
    reader.counters.vectors_read += count
    rows = _exact(reader, model, query, docs, limit) if chunks is None else _among(reader, model, query, chunks, limit)
    return _placed(reader, rows)[:limit]


def _asked_again(reader: Reader) -> bool:
    """Whether this state of the index was asked often enough already for loading vectors to pay."""
    asked = reader.derived("questions to all vectors", lambda: [0])
    asked[0] += 1
    return asked[0] > ROWS_FIRST


def _docs(reader: Reader, allowed: NDArray[np.bool_] | None) -> NDArray[np.int64] | None:
    """The notes to look at; None: all of the index."""
    if allowed is not None:
        return reader.columns.docs[allowed]
    return None if reader.scope.whole_vault else reader.columns.docs


def _chunk_count(reader: Reader, model: Model, docs: NDArray[np.int64]) -> int:
    return int(
        reader.connection.execute(
            "SELECT count(*) FROM chunks WHERE layout = ? AND doc IN carray(?)", (model.layout, numbers(docs))
        ).get
        if len(docs)
        else 0
    )


def _exact(
    reader: Reader, model: Model, query: NDArray[np.float32], docs: NDArray[np.int64] | None, limit: int
) -> list[tuple[int, float]]:
    """The chunks of *docs* (None: all) by cosine; see `_nearest_rows`."""
    if docs is None:
        sql = (
            "SELECT chunk AS found, vec_distance_cosine(vector, ?) AS distance FROM vectors NOT INDEXED"
            " WHERE model = ? AND chunk IS NOT NULL"
        )
        return _nearest_rows(reader, sql, (_blob(query), model.id), limit)
    if not len(docs):
        return []
    sql = (
        "SELECT c.id AS found, vec_distance_cosine(v.vector, ?) AS distance FROM chunks c"
        " CROSS JOIN vectors v ON v.model = ? AND v.chunk = c.id WHERE c.layout = ? AND c.doc IN carray(?)"
    )
    return _nearest_rows(reader, sql, (_blob(query), model.id, model.layout, numbers(docs)), limit)


def _among(
    reader: Reader, model: Model, query: NDArray[np.float32], chunks: NDArray[np.int64], limit: int
) -> list[tuple[int, float]]:
    """Just these chunks by cosine; see `_nearest_rows`."""
    sql = (
        "SELECT chunk AS found, vec_distance_cosine(vector, ?) AS distance FROM vectors"
        " WHERE model = ? AND chunk IN carray(?)"
    )
    return _nearest_rows(reader, sql, (_blob(query), model.id, numbers(chunks)), limit)


def _nearest_rows(reader: Reader, sql: str, values: tuple[object, ...], limit: int) -> list[tuple[int, float]]:
    """The (chunk, cosine) of the rows of *sql*, the best *limit* and those that are as near as the last of them."""
    order = " ORDER BY distance, found"
    found: list[Any] = reader.connection.execute(f"{sql}{order} LIMIT ?", (*values, limit + 1)).fetchall()
    if found and found[0][1] is None:
        raise apsw.CorruptError  # a distance to what is no vector
    if limit < len(found):
        # A cut among equals goes by path, which is known later; chunk numbers depend on the index's history.
        last = found[limit - 1][1] if limit else -1.0
        tied = found[limit][1] == last
        found = found[:limit]
        if tied:
            found = reader.connection.execute(
                f"SELECT * FROM ({sql}) WHERE distance <= ?{order}", (*values, last)
            ).fetchall()
    return [(chunk, 1.0 - distance) for chunk, distance in found]


def _placed(reader: Reader, rows: list[tuple[int, float]]) -> list[Passage]:
    """Chunks of visible notes only, nearest first, equal cosines in path order."""
    chunks = np.array([chunk for chunk, _ in rows], dtype=np.int64)
    if not len(chunks):
        return []
    found: list[Any] = reader.connection.execute(
        "SELECT id, doc FROM chunks WHERE id IN carray(?)", (numbers(chunks),)
    ).fetchall()
    doc_of: dict[int, int] = dict(found)
    known = [(chunk, cosine) for chunk, cosine in rows if chunk in doc_of]
    places, visible = reader.columns.places(np.array([doc_of[chunk] for chunk, _ in known], dtype=np.int64))
    shown = [row for row, is_visible in zip(known, visible, strict=True) if is_visible]
    passages = [
        Passage(chunk, int(place), cosine) for (chunk, cosine), place in zip(shown, places.tolist(), strict=True)
    ]
    return sorted(passages, key=lambda passage: (-passage.cosine, passage.place, passage.chunk))


def nearest_of_each(
    reader: Reader, model: Model, query: NDArray[np.float32], places: NDArray[np.intp]
) -> list[Passage]:
    """The nearest passage of each of the notes at *places*, nearest first; the first one of equals."""
    if not len(places):
        return []
    reader.load_vector_functions()
    docs = reader.columns.docs[places]
    rows: list[Any] = reader.connection.execute(
        # Beside a minimum SQLite gives the other columns of its row; of equal ones the first, in the order of the index.
        "SELECT c.id, min(vec_distance_cosine(v.vector, ?)), count(*) FROM chunks c CROSS JOIN vectors v ON v.model = ? AND v.chunk = c.id"
        " WHERE c.layout = ? AND c.doc IN carray(?) GROUP BY c.doc",
        (_blob(query), model.id, model.layout, numbers(docs)),
    ).fetchall()
    reader.counters.vectors_read += sum(compared for _, _, compared in rows)
    if any(distance is None for _, distance, _ in rows):
        raise apsw.CorruptError
    return _placed(reader, [(chunk, 1.0 - distance) for chunk, distance, _ in rows])


def note_cosines(
    reader: Reader, fingerprint: str, query: NDArray[np.float32], *, allowed: NDArray[np.bool_] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Places and cosines of the allowed notes that have a whole-note vector of *fingerprint*, in place order.

    Vectors of another dimension or of length zero have no cosine and are left out.
    """
    sql = (
        "SELECT f.doc, e.vector FROM embeddings e JOIN files f ON f.path = e.path"
        " WHERE coalesce(e.model, '') = ? AND length(e.vector) = ?"
    )
    values: tuple[object, ...] = (fingerprint.removeprefix(FIRST_VERSION_MODEL), 4 * len(query))
    if allowed is not None:
        docs = reader.columns.docs[allowed]
        if not len(docs):
            return np.empty(0, dtype=np.intp), np.empty(0)
        sql += " AND f.doc IN carray(?)"
        values += (numbers(docs),)
    rows: list[Any] = reader.connection.execute(sql, values).fetchall()
    reader.counters.vectors_read += len(rows)
    if not rows:
        return np.empty(0, dtype=np.intp), np.empty(0)
    matrix = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), len(query))
    places, visible = reader.columns.places(np.array([doc for doc, _ in rows], dtype=np.int64))
    matrix = matrix[visible].astype(np.float64)
    norms = np.linalg.norm(matrix, axis=1) * max(float(np.linalg.norm(query)), 1e-12)
    good = np.isfinite(norms) & (norms > 0)
    cosines = (matrix[good] @ query.astype(np.float64)) / norms[good]
    order = np.argsort(places[good])
    return places[good][order], cosines[order]


def _blob(vector: NDArray[np.float32]) -> bytes:
    return vector.astype("<f4", copy=False).tobytes()
