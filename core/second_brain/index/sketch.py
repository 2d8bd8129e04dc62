"""Find candidates among very many vectors by their signs, to be ranked exactly afterwards.

Each vector is reduced to one bit per dimension, its sign, which depends on no other vector; the Hamming
distance to the query's bits orders the candidates.  250,000 vectors of 384 dimensions take 12 MB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from second_brain.index import resident

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from second_brain.index.reader import Reader
    from second_brain.index.resident import Resident
    from second_brain.index.vectors import Model

RESCORED_PER_HIT = 40
LEAST_RESCORED = 16_000
SAMPLES = 16
LEAST_RECALL = 0.98
MOST_CHANGED = 0.2
"""Until so many vectors, as a share of all, came or went, a sketch is extended and taken to be as faithful as it was found."""

_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class Sketch:
    """The signs of all visible vectors of a model, codes of shape (vectors, words) uint64."""

    rows: Resident
    faithful: bool  # whether sampled vectors found their exact neighbours through it
    unchecked: int = 0  # how many vectors came or went since that was found out


def candidates(
    reader: Reader, model: Model, query: NDArray[np.float32], *, allowed: NDArray[np.bool_] | None, limit: int
) -> NDArray[np.int64] | None:
    """Chunks (ascending) of the *allowed* notes that are worth an exact look, many per wanted hit.

    None when the signs of these vectors tell too little: then only an exact search will do.
    """
    sketch = _sketch(reader, model)
    if not sketch.faithful:
        return None
    rows = sketch.rows
    distance = _hamming(rows.codes, _signs(query[None, :])[0])
    chunks = rows.chunks
    if allowed is not None:
        wanted = allowed[rows.places]
        chunks, distance = chunks[wanted], distance[wanted]
    return chunks[_near(distance, max(RESCORED_PER_HIT * limit, LEAST_RESCORED))]


def _hamming(codes: NDArray[np.uint64], code: NDArray[np.uint64]) -> NDArray[np.int32]:
    """In how many bits each row differs from *code*."""
    return np.asarray(np.bitwise_count(codes ^ code).sum(axis=1, dtype=np.int32))


def _near(distance: NDArray[np.int32], keep: int) -> NDArray[np.bool_]:
    """The *keep* least distances; everything at the threshold stays in, so that the order of storage does not matter."""
    if len(distance) <= keep:
        return np.ones(len(distance), dtype=np.bool_)
    return np.asarray(distance <= np.partition(distance, keep)[keep])


def _sketch(reader: Reader, model: Model) -> Sketch:
    held = reader.held.get("vectors")
    known = held if isinstance(held, Sketch) and held.rows.model == model else None
    if known is None or known.rows.generation != reader.generation:
        known = reader.held["vectors"] = _current(reader, model, known)
    return known


def _current(reader: Reader, model: Model, before: Sketch | None) -> Sketch:
    """The sketch of what is visible now; it is tried anew when many vectors came or went since it was tried last."""
    rows, changed = resident.current(reader, model, _signs, before.rows if before else None)
    if before is not None and before.unchecked + changed <= MOST_CHANGED * len(rows):
        return Sketch(rows, before.faithful, before.unchecked + changed)
    return Sketch(rows, _recall(reader, model, rows) >= LEAST_RECALL)


def _recall(reader: Reader, model: Model, rows: Resident) -> float:
    """How many of the ten nearest of some sampled vectors are among the candidates for them, 0..1."""
    if not len(rows):
        return 1.0
    samples = resident.vectors_of(reader, model, rows.chunks[:: max(1, len(rows) // SAMPLES)][:SAMPLES])
    cosines = np.concatenate(
        [
            resident.vectors_of(reader, model, rows.chunks[start : start + _BATCH]) @ samples.T
            for start in range(0, len(rows), _BATCH)
        ]
    )
    found = []
    for sample, near in zip(_signs(samples), cosines.T, strict=True):
        kept = _near(_hamming(rows.codes, sample), LEAST_RESCORED)
        nearest = np.argpartition(-near, min(10, len(near) - 1))[:10]
        found.append(float(kept[nearest].mean()))
    return float(np.mean(found))


def _signs(matrix: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One bit per dimension, padded to whole 64-bit words."""
    packed = np.packbits(matrix > 0, axis=1)
    padded = np.zeros((len(matrix), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)
