"""Find candidates among very many vectors by their signs, to be ranked exactly afterwards.

Each vector is reduced to one bit per dimension, its sign, which depends on no other vector; the Hamming
distance to the query's bits orders the candidates.  250,000 vectors of 384 dimensions take 12 MB.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from second_brain.index.numbers import numbers
from second_brain.index.schema import HASH_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from second_brain.index.reader import Reader

RESCORED_PER_HIT = 40
LEAST_RESCORED = 8_000
SAMPLES = 16
LEAST_RECALL = 0.98
MOST_CHANGED = 0.2
"""Until so many vectors, as a share of all, came or went, a sketch is extended and taken to be as faithful as it was found."""

_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class Sketch:
    """The bits of all vectors of a model, `bits` of shape (vectors, words) uint64, `chunks` ascending.

    `texts` are the hashes of the embedded texts: the same chunk with the same text has the same vector.
    """

    generation: tuple[int, ...] | None
    chunks: NDArray[np.int64]
    texts: NDArray[np.void]
    bits: NDArray[np.uint64]
    faithful: bool  # whether sampled vectors found their exact neighbours through it
    unchecked: int = 0  # how many vectors came or went since that was found out


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
) -> NDArray[np.int64] | None:
    """Chunks (ascending) worth an exact look, many per wanted hit, of the notes *docs* (None: of all).

    None when the signs of these vectors tell too little: then only an exact search will do.
    """
    sketch = _sketch(reader, model, dim, layout)
    if not sketch.faithful:
        return None
    distance = np.bitwise_count(sketch.bits ^ _signs(query[None, :])[0]).sum(axis=1, dtype=np.int32)
    chunks = sketch.chunks
    if docs is not None:
        wanted = np.array(
            reader.connection.execute(
                "SELECT id FROM chunks WHERE layout = ? AND doc IN carray(?) ORDER BY id", (layout, numbers(docs))
            ).fetchall(),
            dtype=np.int64,
        ).reshape(-1)
        among = np.isin(chunks, wanted, assume_unique=True)
        chunks, distance = chunks[among], distance[among]
    return np.sort(chunks[_near(distance, max(RESCORED_PER_HIT * limit, LEAST_RESCORED))])


def _near(distance: NDArray[np.int32], keep: int) -> NDArray[np.bool_]:
    """The *keep* least distances; everything at the threshold stays in, so that the order of storage does not matter."""
    if len(distance) <= keep:
        return np.ones(len(distance), dtype=np.bool_)
    return np.asarray(distance <= np.partition(distance, keep)[keep])


def _sketch(reader: Reader, model: int, dim: int, layout: int) -> Sketch:
    sketches = _SKETCHES.setdefault(reader, {})
    known = sketches.get(model)
    if known is None or known.generation != reader.generation:
        known = sketches[model] = _current(reader, model, dim, layout, known)
    return known


def _current(reader: Reader, model: int, dim: int, layout: int, before: Sketch | None) -> Sketch:
    """The sketch of what is visible now; only vectors that *before* did not have are read, unless they are many."""
    chunks, texts = _rows(reader, model, layout)
    kept = np.zeros(len(chunks), dtype=np.bool_)
    places = kept.nonzero()[0]
    if before is not None and len(before.chunks) and len(chunks):
        places = np.minimum(np.searchsorted(before.chunks, chunks), len(before.chunks) - 1)
        kept = (before.chunks[places] == chunks) & (before.texts[places] == texts)
    unchecked = 0 if before is None else before.unchecked + len(chunks) + len(before.chunks) - 2 * int(kept.sum())
    if before is None or unchecked > MOST_CHANGED * len(chunks):
        bits, faithful = _build(reader, model, dim, chunks)
        return Sketch(reader.generation, chunks, texts, bits, faithful)
    bits = np.empty((len(chunks), before.bits.shape[1]), dtype=np.uint64)
    bits[kept] = before.bits[places[kept]]
    bits[~kept] = _signs(_vectors(reader, model, dim, chunks[~kept]))
    return Sketch(reader.generation, chunks, texts, bits, before.faithful, unchecked)


def _rows(reader: Reader, model: int, layout: int) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    """The visible chunks that have a vector, ascending, and the hashes of their texts."""
    rows: list[Any] = reader.connection.execute(
        # Of the visible chunks alone: what lies outside a scope may not even decide how it is searched.
        "SELECT v.chunk, v.text_hash FROM chunks c CROSS JOIN vectors v ON v.model = ? AND v.chunk = c.id"
        " WHERE c.layout = ? ORDER BY v.chunk",
        (model, layout),
    ).fetchall()
    texts = np.frombuffer(b"".join(text_hash for _, text_hash in rows), dtype=f"V{HASH_BYTES}")
    return np.array([chunk for chunk, _ in rows], dtype=np.int64), texts


def _build(reader: Reader, model: int, dim: int, chunks: NDArray[np.int64]) -> tuple[NDArray[np.uint64], bool]:
    """The bits of all *chunks*, and whether they tell enough."""
    samples = _vectors(reader, model, dim, chunks[:: max(1, len(chunks) // SAMPLES)][:SAMPLES])
    bits: list[NDArray[np.uint64]] = []
    cosines: list[NDArray[np.float32]] = []
    for start in range(0, len(chunks), _BATCH):
        matrix = _vectors(reader, model, dim, chunks[start : start + _BATCH])
        bits.append(_signs(matrix))
        cosines.append(matrix @ samples.T)
    if not bits:
        return np.empty((0, (dim + 63) // 64), dtype=np.uint64), True
    all_bits = np.concatenate(bits)
    return all_bits, _recall(all_bits, samples, np.concatenate(cosines)) >= LEAST_RECALL


def _vectors(reader: Reader, model: int, dim: int, chunks: NDArray[np.int64]) -> NDArray[np.float32]:
    """The vectors of *chunks* (ascending), one per row."""
    rows = reader.connection.execute(
        "SELECT vector FROM vectors WHERE model = ? AND chunk IN carray(?) ORDER BY chunk", (model, numbers(chunks))
    )
    return np.frombuffer(b"".join(vector for (vector,) in rows), dtype="<f4").reshape(-1, dim)


def _recall(bits: NDArray[np.uint64], samples: NDArray[np.float32], cosines: NDArray[np.float32]) -> float:
    """How many of the ten nearest of each sample are among its candidates, 0..1; *cosines* of shape (vectors, samples)."""
    found = []
    for sample, near in zip(_signs(samples), cosines.T, strict=True):
        kept = _near(np.bitwise_count(bits ^ sample).sum(axis=1, dtype=np.int32), LEAST_RESCORED)
        nearest = np.argpartition(-near, min(10, len(near) - 1))[:10]
        found.append(float(kept[nearest].mean()))
    return float(np.mean(found))


def _signs(matrix: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One bit per dimension, padded to whole 64-bit words."""
    packed = np.packbits(matrix > 0, axis=1)
    padded = np.zeros((len(matrix), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)
