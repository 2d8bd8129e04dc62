"""Arithmetic on vectors: what a model answered is checked here before anyone else sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_SHORTEST = 1e-12  # a vector below this length points nowhere


def unit_rows(answer: ArrayLike, *, count: int, dimension: int, source: str) -> NDArray[np.float32]:
    """*answer* as *count* rows of length 1 with *dimension* numbers each.

    Raises `EmbedderUnavailable`, naming *source* and what is wrong, when rows are missing, have another dimension, are
    zero, hold NaN or infinity, or are so long that no direction is left.
    """
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise _unusable(source, "its vectors are not rows of numbers of one length") from error
    if rows.shape[0] != count:
        raise _unusable(source, f"it gave {rows.shape[0]} vectors for {count} texts")
    if rows.ndim != 2 or rows.shape[1] != dimension:  # noqa: PLR2004 - rows and columns
        raise _unusable(source, f"its vectors have {rows.shape[-1]} numbers instead of {dimension}")
    if not np.isfinite(rows).all():
        raise _unusable(source, "a vector holds NaN or infinity")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if (lengths < _SHORTEST).any():
        raise _unusable(source, "a vector is all zeros")
    if not np.isfinite(lengths).all():
        raise _unusable(source, "a vector's numbers are too large")
    unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return unit


def pooled(rows: NDArray[np.float32], weights: Sequence[int], *, source: str) -> NDArray[np.float32]:
    """The unit vector of the mean of *rows*, each with its weight (the length of its piece)."""
    mean = np.average(rows.astype(np.float64), axis=0, weights=weights)
    vector: NDArray[np.float32] = unit_rows(mean[np.newaxis], count=1, dimension=rows.shape[1], source=source)[0]
    return vector


def _unusable(source: str, what: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"The answer of {source} cannot be used: {what}.",
        hint="Choose another embedding model, or set embedder = builtin.",
    )
