"""The rows of models and vectors.

A vector belongs to a model and to the hash of the text it was made from; `vectors.chunk` says which chunk it answers for now,
NULL for a spare one.  Models of one fingerprint and several layouts share what their texts have in common.  Every function
works inside the caller's transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from second_brain.index import graph_rows
from second_brain.index.numbers import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw
    import numpy as np
    from numpy.typing import NDArray


_SHORTEST = 1e-6


@dataclass(frozen=True, slots=True)
class WaitingChunk:
    """A chunk without a vector; `embedded` is the text to embed."""

    id: int
    doc: int
    text_hash: bytes
    embedded: str


def begin_model(connection: apsw.Connection, fingerprint: str, dim: int, layout: int) -> int:
    """The number of the model that is to answer from now on; see `Writer.begin_model`."""
    _drop_other_dimensions(connection, fingerprint, dim)
    connection.execute(
        "INSERT INTO models(fingerprint, dim, layout, state) VALUES(?, ?, ?, 'spare') ON CONFLICT DO NOTHING",
        (fingerprint, dim, layout),
    )
    row: Any = connection.execute(
        "SELECT id, state FROM models WHERE fingerprint = ? AND layout = ?", (fingerprint, layout)
    ).fetchone()
    model, state = row
    connection.execute("UPDATE models SET state = 'spare' WHERE state = 'building' AND id <> ?", (model,))
    if state != "active":
        others_answer = connection.execute(
            "SELECT EXISTS (SELECT 1 FROM models WHERE state = 'active') OR EXISTS (SELECT 1 FROM embeddings)"
        ).get
        connection.execute(
            "UPDATE models SET state = ? WHERE id = ?", ("building" if others_answer else "active", model)
        )
        docs = [doc for (doc,) in connection.execute("SELECT DISTINCT doc FROM chunks WHERE layout = ?", (layout,))]
        adopt(connection, docs)
        refresh_notes(connection, docs)
    return int(model)


def _drop_other_dimensions(connection: apsw.Connection, fingerprint: str, dim: int) -> None:
    """The same fingerprint with another dimension is another model, whatever its maker says."""
    strangers = connection.execute(
        "SELECT id FROM models WHERE fingerprint = ? AND dim <> ?", (fingerprint, dim)
    ).fetchall()
    connection.executemany("DELETE FROM vectors WHERE model = ?", strangers)
    connection.executemany("DELETE FROM models WHERE id = ?", strangers)
    if strangers:
        connection.execute("DELETE FROM embeddings WHERE model = ?", (fingerprint,))


def finish_model(connection: apsw.Connection, model: int) -> None:
    """Let *model* answer from now on; see `Writer.finish_model`."""
    connection.execute("DELETE FROM chunks WHERE layout <> (SELECT layout FROM models WHERE id = ?)", (model,))
    if connection.execute("SELECT count(*) FROM models").get > 1:
        # Spare vectors of the same maker stay of use.
        connection.execute(
            "UPDATE vectors SET model = ?1, chunk = NULL WHERE model IN (SELECT o.id FROM models m JOIN models o"
            " ON o.fingerprint = m.fingerprint AND o.id <> m.id WHERE m.id = ?1)",
            (model,),
        )
        former = _keep_former(connection, model)
        connection.execute("DELETE FROM vectors WHERE model NOT IN (?, ?)", (model, former))
        connection.execute("DELETE FROM models WHERE id NOT IN (?, ?)", (model, former))
    if connection.execute("SELECT state FROM models WHERE id = ?", (model,)).get != "active":
        connection.execute("UPDATE models SET state = 'active' WHERE id = ?", (model,))
        connection.execute("DELETE FROM embeddings")
        refresh_notes(connection, [doc for (doc,) in connection.execute("SELECT doc FROM files WHERE doc IS NOT NULL")])


def _keep_former(connection: apsw.Connection, model: int) -> int:
    """The other maker's model that answered before *model*, whose vectors are spare ones from now on; 0 without one."""
    former: int = (
        connection.execute(
            "SELECT id FROM models WHERE state IN ('active', 'former')"
            " AND fingerprint <> (SELECT fingerprint FROM models WHERE id = ?) ORDER BY state LIMIT 1",
            (model,),
        ).get
        or 0
    )
    connection.execute("UPDATE models SET state = 'former' WHERE id = ? AND state <> 'former'", (former,))
    connection.execute("UPDATE vectors SET chunk = NULL WHERE model = ? AND chunk IS NOT NULL", (former,))
    return former


def prune(connection: apsw.Connection) -> None:
    """Drop vectors of vanished texts beyond a tenth of the living ones (at least 1,000), but none of the former model."""
    spare = "chunk IS NULL AND model NOT IN (SELECT id FROM models WHERE state = 'former')"
    live = connection.execute("SELECT count(*) FROM vectors WHERE chunk IS NOT NULL").get
    surplus = connection.execute(f"SELECT count(*) FROM vectors WHERE {spare}").get - max(1_000, live // 10)
    if surplus > 0:
        connection.execute(
            f"DELETE FROM vectors WHERE id IN (SELECT id FROM vectors WHERE {spare} ORDER BY id LIMIT ?)", (surplus,)
        )


def notes_without_chunks(connection: apsw.Connection, layout: int) -> list[tuple[int, str]]:
    """Notes (doc, path) with text that were never cut by *layout*, in path order."""
    rows: list[Any] = connection.execute(
        "SELECT f.doc, f.path FROM files f JOIN texts t ON t.doc = f.doc"
        " WHERE t.text <> '' AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.doc = f.doc AND c.layout = ?)"
        " ORDER BY f.path",
        (layout,),
    ).fetchall()
    return rows


def waiting(connection: apsw.Connection, model: int) -> list[int]:
    """Chunks that *model* has yet to embed, in path order."""
    rows = connection.execute(
        "SELECT c.id FROM models m CROSS JOIN files f CROSS JOIN chunks c ON c.doc = f.doc AND c.layout = m.layout"
        " WHERE m.id = ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = m.id AND v.chunk = c.id)"
        " ORDER BY f.path, c.ordinal",
        (model,),
    )
    return [chunk for (chunk,) in rows]


def waiting_notes(connection: apsw.Connection, model: int) -> set[str]:
    """Paths of the notes that `waiting` tells a chunk of."""
    rows = connection.execute(
        "SELECT DISTINCT f.path FROM models m JOIN chunks c ON c.layout = m.layout JOIN files f ON f.doc = c.doc"
        " WHERE m.id = ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = m.id AND v.chunk = c.id)",
        (model,),
    )
    return {path for (path,) in rows}


def texts_to_embed(connection: apsw.Connection, chunks: Sequence[int]) -> list[WaitingChunk]:
    """The texts of *chunks*, without those that vanished meanwhile."""
    rows = connection.execute(
        "SELECT c.id, c.doc, c.text_hash, c.prefix || substr(t.text, c.start + 1, c.stop - c.start)"
        " FROM chunks c JOIN texts t ON t.doc = c.doc WHERE c.id IN carray(?) ORDER BY c.id",
        (numbers(chunks),),
    )
    return [WaitingChunk(*row) for row in rows]


def insert(connection: apsw.Connection, model: int, chunk: WaitingChunk, vector: NDArray[np.float32]) -> None:
    """Store the vector of *chunk*, as a spare one when the chunk has vanished meanwhile."""
    alive = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM vectors WHERE model = m.id AND chunk = c.id) FROM chunks c"
        " JOIN models m ON m.id = ? AND m.layout = c.layout WHERE c.id = ? AND c.text_hash = ?",
        (model, chunk.id, chunk.text_hash),
    ).fetchone()
    if alive == (1,):
        return
    connection.execute(
        "INSERT INTO vectors(model, chunk, text_hash, vector) VALUES(?, ?, ?, ?)",
        (model, chunk.id if alive else None, chunk.text_hash, vector.astype("<f4", copy=False).tobytes()),
    )


def release(connection: apsw.Connection, doc: int) -> None:
    """Make spare ones of the vectors of a note whose chunks are about to go."""
    connection.execute(
        "UPDATE vectors SET chunk = NULL WHERE model IN (SELECT id FROM models)"  # for the index: (model, chunk)
        " AND chunk IN (SELECT id FROM chunks WHERE doc = ?)",
        (doc,),
    )


def adopt(connection: apsw.Connection, docs: Sequence[int]) -> None:
    """Give chunks of *docs* the vectors that their text already has, from a spare row or from another chunk."""
    if not docs:
        return
    rows = connection.execute(
        "SELECT m.id, m.fingerprint, c.id, c.text_hash FROM chunks c"
        " JOIN models m ON m.layout = c.layout AND m.state IN ('active', 'building')"
        " WHERE c.doc IN carray(?)"
        " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = m.id AND v.chunk = c.id) ORDER BY c.id",
        (numbers(docs),),
    ).fetchall()
    for model, fingerprint, chunk, text_hash in rows:
        found = connection.execute(
            "SELECT id, chunk IS NULL FROM vectors WHERE model IN (SELECT id FROM models WHERE fingerprint = ?)"
            " AND text_hash = ? ORDER BY chunk IS NOT NULL LIMIT 1",
            (fingerprint, text_hash),
        ).fetchone()
        if found is None:
            continue
        vector, is_spare = found
        if is_spare:
            connection.execute("UPDATE vectors SET model = ?, chunk = ? WHERE id = ?", (model, chunk, vector))
        else:
            connection.execute(
                "INSERT INTO vectors(model, chunk, text_hash, vector)"
                " SELECT ?, ?, text_hash, vector FROM vectors WHERE id = ?",
                (model, chunk, vector),
            )


def refresh_notes(connection: apsw.Connection, docs: Sequence[int]) -> None:
    """Write the normalised mean of a note's passages, for notes of the active model whose passages all have vectors."""
    model = connection.execute("SELECT id, fingerprint, dim, layout FROM models WHERE state = 'active'").fetchone()
    if model is None or not docs:
        return
    number, fingerprint, dim, layout = model
    for doc in docs:
        note = connection.execute("SELECT path, content_hash FROM files WHERE doc = ?", (doc,)).fetchone()
        if note is None:
            continue
        path, content_hash = note
        graph_rows.mark(connection, [path])
        rows: list[Any] = connection.execute(
            "SELECT v.vector FROM chunks c LEFT JOIN vectors v ON v.model = ? AND v.chunk = c.id"
            " WHERE c.doc = ? AND c.layout = ? ORDER BY c.ordinal",
            (number, doc, layout),
        ).fetchall()
        vector = direction([blob for (blob,) in rows], dim)
        if vector is None:
            connection.execute("DELETE FROM embeddings WHERE path = ?", (path,))
            continue
        connection.execute(
            "INSERT OR REPLACE INTO embeddings(path, model, dim, vector, content_hash) VALUES(?, ?, ?, ?, ?)",
            (path, fingerprint, dim, vector.tobytes(), content_hash),
        )


def direction(blobs: Sequence[bytes | None], dim: int) -> NDArray[np.float32] | None:
    """The normalised mean of vectors; None when one is missing, there are none, or they point everywhere."""
    import numpy as np  # noqa: PLC0415 - an unchanged vault does without

    if not blobs or None in blobs:
        return None
    joined = b"".join(blob for blob in blobs if blob is not None)
    mean = np.frombuffer(joined, dtype="<f4").reshape(len(blobs), dim).astype(np.float64).mean(axis=0)
    norm = float(np.linalg.norm(mean))
    return None if norm < _SHORTEST else (mean / norm).astype("<f4")
