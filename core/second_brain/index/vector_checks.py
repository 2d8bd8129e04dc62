"""Find vectors that can be none: of another length than the model's, not finite, or not of length 1."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from second_brain.index import vector_rows
from second_brain.index.schema import HASH_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UNIT_WITHIN = 0.01
"""So far from 1 the length of a stored vector may be."""

MOST_DIMENSIONS = 65_536

_BATCH = 4_096


def are_sound(blobs: Sequence[bytes], dim: int) -> bool:
    """Whether these are unit vectors of *dim* numbers."""
    return all(_sound(blobs, dim))


def check(connection: apsw.Connection) -> None:
    """Raises `apsw.CorruptError` when there is a vector that can be none."""
    for _ in chain(_damaged_passages(connection), _damaged_notes(connection)):
        raise apsw.CorruptError


def drop_damaged(connection: apsw.Connection) -> None:
    """Delete rows of `vectors` and `embeddings` that hold none, within the caller's transaction; the next run makes them anew."""
    connection.executemany("DELETE FROM vectors WHERE id = ?", list(_damaged_passages(connection)))
    connection.executemany("DELETE FROM embeddings WHERE path = ?", list(_damaged_notes(connection)))
    without = connection.execute(
        "SELECT doc FROM files WHERE doc IS NOT NULL AND path NOT IN (SELECT path FROM embeddings)"
    )
    vector_rows.refresh_notes(connection, [doc for (doc,) in without])


def _damaged_passages(connection: apsw.Connection) -> Iterable[tuple[int]]:
    models: list[Any] = connection.execute("SELECT id, dim FROM models").fetchall()
    for model, dim in models:
        if not 0 < dim <= MOST_DIMENSIONS:
            raise apsw.CorruptError
        last = -1
        while True:
            rows: list[Any] = connection.execute(
                "SELECT id, vector, length(text_hash) FROM vectors WHERE model = ? AND id > ? ORDER BY id LIMIT ?",
                (model, last, _BATCH),
            ).fetchall()
            if not rows:
                break
            sound = _sound([vector for _, vector, _ in rows], dim)
            yield from (
                (row,) for (row, _, size), good in zip(rows, sound, strict=True) if not good or size != HASH_BYTES
            )
            last = rows[-1][0]


def _damaged_notes(connection: apsw.Connection) -> Iterable[tuple[str]]:
    """Whole-note vectors of our own models; those of a first-version database are left as they are."""
    rows: list[Any] = connection.execute(
        "SELECT DISTINCT e.path, e.vector, m.dim FROM embeddings e JOIN models m ON m.fingerprint = e.model AND m.state = 'active'"
    ).fetchall()
    return ((path,) for path, vector, dim in rows if not are_sound([vector], dim))


def _sound(blobs: Sequence[bytes | None], dim: int) -> list[bool]:
    sized = [blob if blob is not None and len(blob) == 4 * dim else bytes(4 * dim) for blob in blobs]
    matrix = np.frombuffer(b"".join(sized), dtype="<f4").reshape(len(blobs), dim)
    with np.errstate(over="ignore", invalid="ignore"):
        return (np.abs(np.linalg.norm(matrix, axis=1) - 1.0) < UNIT_WITHIN).tolist()  # type: ignore[no-any-return]
