"""Where the discs of a map and the notes within them go.

Discs never overlap and lie inside their frame; those with strong ties start near each other.  The same input gives the same
places on the same version of numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from second_brain.graph.formulas import Numbers
    from second_brain.graph.lettering import Box

Ties = Mapping[tuple[int, int], float]
Point = tuple[float, float]

_SEED = 7
_ROUNDS = 240
_FILLED = 0.72  # the part of the frame that discs fill at first, more than ever fits
_SHRINK = 0.94
_TOUCHING = 0.5
_GOLDEN = math.pi * (3 - math.sqrt(5))


def discs(weights: Sequence[float], ties: Ties, frame: Box, gap: float) -> list[tuple[float, float, float]]:
    """(x, y, radius) per weight, areas as the weights, at least *gap* from each other; as large as was found to fit."""
    if not weights:
        return []
    wide, high = frame.right - frame.left, frame.bottom - frame.top
    shares = np.sqrt(np.asarray(weights, dtype=np.float64))
    scale = min(
        math.sqrt(_FILLED * wide * high / (math.pi * float((shares**2).sum()))),
        (min(wide, high) - gap) / 2 / float(shares.max()),
    )
    start = _start(len(weights), ties, frame)
    while True:
        radii = shares * scale
        places = _apart(start.copy(), radii + gap / 2, frame)
        if _overlap(places, radii + gap / 2) <= _TOUCHING:
            return [(x, y, r) for (x, y), r in zip(places.tolist(), radii.tolist(), strict=True)]
        scale *= _SHRINK
        gap *= _SHRINK  # else a hundred discs in a small frame would never fit


def in_disc(number: int, radius: float) -> list[Point]:
    """Offsets of *number* points from the middle of a disc, the first in the middle, evenly spread (Vogel's spiral)."""
    reach = [radius * math.sqrt(at / max(1, number)) for at in range(number)]
    return [(r * math.cos(at * _GOLDEN), r * math.sin(at * _GOLDEN)) for at, r in enumerate(reach)]


def _start(number: int, ties: Ties, frame: Box) -> Numbers:
    """Places by springs along the ties, spread over the frame."""
    import networkx as nx  # noqa: PLC0415 - a quarter of a second that nothing but a map needs

    graph: Any = nx.Graph()
    graph.add_nodes_from(range(number))
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in sorted(ties.items()))
    found = nx.spring_layout(graph, weight="weight", seed=_SEED, iterations=80)
    points = np.array([found[node] for node in range(number)], dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    spread = (points - low) / np.maximum(high - low, 1e-9) if number > 1 else np.full((1, 2), 0.5)
    return np.asarray([frame.left, frame.top] + spread * [frame.right - frame.left, frame.bottom - frame.top])


def _apart(places: Numbers, radii: Numbers, frame: Box) -> Numbers:
    """Push overlapping discs away from each other and into the frame, over and over."""
    low = np.array([frame.left, frame.top]) + radii[:, None]
    high = np.maximum(low, np.array([frame.right, frame.bottom]) - radii[:, None])
    sums = radii[:, None] + radii[None, :]
    lean = np.arange(len(radii)) * _GOLDEN  # a direction for discs in one place
    for _ in range(_ROUNDS):
        places = np.clip(places, low, high)
        away = places[:, None, :] - places[None, :, :]
        distance = np.sqrt((away**2).sum(axis=2))
        away = np.where(distance[..., None] < 1e-6, np.stack([np.cos(lean), np.sin(lean)], axis=1)[:, None], away)  # noqa: PLR2004
        depth = np.maximum(0.0, sums - distance)
        np.fill_diagonal(depth, 0.0)
        if depth.max() <= _TOUCHING / 2:
            break
        push = away / np.maximum(np.sqrt((away**2).sum(axis=2)), 1e-6)[..., None] * depth[..., None]
        places = places + 0.45 * push.sum(axis=1)
    return np.clip(places, low, high)


def _overlap(places: Numbers, radii: Numbers) -> float:
    """The deepest overlap of two discs, in pixels."""
    away = places[:, None, :] - places[None, :, :]
    depth = radii[:, None] + radii[None, :] - np.sqrt((away**2).sum(axis=2))
    np.fill_diagonal(depth, 0.0)
    return float(depth.max(initial=0.0))
