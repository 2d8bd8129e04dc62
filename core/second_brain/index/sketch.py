"""Find candidates among very many vectors by their signs, to be ranked exactly afterwards.

Each vector is reduced to one bit per dimension, its sign, which depends on no other vector; the Hamming
distance to the query's bits orders the candidates.  250,000 vectors of 384 dimensions take 12 MB.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from second_brain.index.reader import Reader

RESCORED_PER_HIT = 16
LEAST_RESCORED = 4_000
_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class Sketch:
    """The bits of all vectors of a model, `bits` of shape (vectors, words) uint64, `chunks` ascending."""

    generation: tuple[int, ...] | None
    chunks: NDArray[np.int64]
    bits: NDArray[np.uint64]


_SKETCHES: weakref.WeakKeyDictionary[Reader, dict[int, Sketch]] = weakref.WeakKeyDictionary()


def candidates(
    reader: Reader,
    model: int,
    dim: int,
    query: NDArray[np.float32],
    *,
    docs: NDArray[np.int64] | None,
    layout: int,
    limit: int,
) -> NDArray[np.int64]:
    """Chunks (ascending) worth an exact look: at least 16 per wanted hit, of the notes *docs* (None: of all)."""
    sketch = _sketch(reader, model, dim)
    distance = np.bitwise_count(sketch.bits ^ _signs(query[None, :])[0]).sum(axis=1, dtype=np.int32)
    chunks = sketch.chunks
    if docs is not None:
        wanted = np.array(
            reader.connection.execute(
                "SELECT id FROM chunks WHERE layout = ? AND doc IN carray(?) ORDER BY id", (layout, apsw.carray(docs))
            ).fetchall(),
            dtype=np.int64,
        ).reshape(-1)
        among = np.isin(chunks, wanted, assume_unique=True)
        chunks, distance = chunks[among], distance[among]
    keep = max(RESCORED_PER_HIT * limit, LEAST_RESCORED)
    if len(chunks) > keep:
        # Everything at the threshold stays in: the choice must not depend on the order of storage.
        threshold = np.partition(distance, keep)[keep]
        chunks = chunks[distance <= threshold]
    return np.sort(chunks)


def _sketch(reader: Reader, model: int, dim: int) -> Sketch:
    sketches = _SKETCHES.setdefault(reader, {})
    known = sketches.get(model)
    if known is None or known.generation != reader.generation:
        known = sketches[model] = _build(reader, model, dim)
    return known


def _build(reader: Reader, model: int, dim: int) -> Sketch:
    chunks: list[int] = []
    bits: list[NDArray[np.uint64]] = []
    cursor = reader.connection.execute(
        "SELECT chunk, vector FROM vectors WHERE model = ? AND chunk IS NOT NULL ORDER BY chunk", (model,)
    )
    while rows := _some(cursor):
        chunks.extend(chunk for chunk, _ in rows)
        matrix = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), dim)
        bits.append(_signs(matrix))
    words = (dim + 63) // 64
    return Sketch(
        reader.generation,
        np.array(chunks, dtype=np.int64),
        np.concatenate(bits) if bits else np.empty((0, words), dtype=np.uint64),
    )


def _some(cursor: apsw.Cursor) -> list[tuple[int, bytes]]:
    rows = []
    for row in cursor:
        rows.append(row)
        if len(rows) == _BATCH:
            break
    return rows


def _signs(matrix: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One bit per dimension, padded to whole 64-bit words."""
    packed = np.packbits(matrix > 0, axis=1)
    padded = np.zeros((len(matrix), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)
