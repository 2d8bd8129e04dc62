"""Combine the ranking by words with the ranking by meaning.

Pure functions of scores.  Word scores and cosines live on different scales, so both are brought to 0..1 over the candidates
of this query.  How much meaning counts depends on whether the embedder speaks the language of the query: an English model must
not drag another language down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEANING_COVERED = 0.55
MEANING_UNCOVERED = 0.2
MEANING_LEAST = 0.1
MEANING_GAIN = 0.3
"""How much more meaning counts when no note holds a word of the query at all."""

FAR = 0.5
"""A note without any of the words must be at least so near, as a share of the nearest one's cosine."""

RRF_K = 60


@dataclass(frozen=True, slots=True)
class Candidates:
    """Notes that either ranking proposes: places, word scores (0 without a match), cosines (nan where unknown)."""

    places: NDArray[np.intp]
    words: NDArray[np.float64]
    cosines: NDArray[np.float64]


def meaning_weight(*, covered: bool, named: float, complete: float) -> float:
    """How much the cosine counts in `fuse`.

    Little when the model does not cover the query's language (*covered*); less the more of the query names a thing instead of meaning
    one (*named*, 0..1); more the less the best note by words holds of the query (*complete*, 0..1).
    """
    weight = MEANING_COVERED + MEANING_GAIN * (1.0 - complete) if covered else MEANING_UNCOVERED
    return max(MEANING_LEAST, weight * (1.0 - named))


def fuse(candidates: Candidates, meaning_weight: float) -> NDArray[np.float64]:
    """A score in 0..1 for each candidate: the weighted mean of both, each relative to the best of this query."""
    words = candidates.words / max(float(candidates.words.max(initial=0.0)), 1e-12)
    known = ~np.isnan(candidates.cosines)
    meaning = words.copy()  # what is not embedded yet is neither better nor worse for it
    if known.any():
        low, high = float(candidates.cosines[known].min()), float(candidates.cosines[known].max())
        # Where all are equally near, each is as near as the nearest.
        meaning[known] = (candidates.cosines[known] - low) / (high - low) if high > low else 1.0
    return np.asarray((1.0 - meaning_weight) * words + meaning_weight * meaning)


def worth_showing(candidates: Candidates) -> NDArray[np.bool_]:
    """Which candidates hold a word of the query or are near in meaning; the others only fill up the list."""
    nearest = max(float(np.nanmax(candidates.cosines, initial=0.0)), 1e-9)
    return np.asarray((candidates.words > 0) | (np.nan_to_num(candidates.cosines, nan=-1.0) >= FAR * nearest))


def reciprocal_ranks(rankings: list[list[int]]) -> dict[int, float]:
    """Reciprocal rank fusion: each list gives 1 / (60 + rank), ranks from 1."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (RRF_K + rank)
    return scores
