"""The scores of the note graph (contracts 1.6), each a function of numbers.

Every signal and every composite is computed here and nowhere else, with arrays and single values alike, so that one edge has
the same bits whether it was computed alone or with all others.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from second_brain.graph.settings import Settings

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Nodes = NDArray[np.int64]

ONE_WAY = 0.7
MUTUAL = 1.0


@dataclass(frozen=True, slots=True)
class Signals:
    """The four parts of a composite, each 0..1."""

    semantic: float
    link: float
    tag: float
    comention: float


@dataclass(frozen=True, slots=True)
class Edge:
    """Two notes that belong together, ``a < b``; `a_to_b`: a links to b; `comention_count`: notes that link to both."""

    a: int
    b: int
    signals: Signals
    composite: float
    a_to_b: bool
    b_to_a: bool
    comention_count: int


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Edges by (a, b), each pair once, as columns of equal length; iterating gives `Edge` values.

    Columns, because tens of thousands of edges are computed, stored and filtered, and few of them looked at.
    """

    a: Nodes
    b: Nodes
    semantic: Numbers
    link: Numbers
    tag: Numbers
    comention: Numbers
    composite: Numbers
    a_to_b: Flags
    b_to_a: Flags
    comention_count: Nodes

    @classmethod
    def of(cls, edges: Iterable[Edge]) -> Self:
        """The columns of single *edges*, in any order."""
        rows = sorted((e.a, e.b, *_parts(e), e.composite, e.a_to_b, e.b_to_a, e.comention_count) for e in edges)
        columns = list(zip(*rows, strict=True)) or [()] * len(_TYPES)
        return cls(*(np.array(column, dtype=kind) for column, kind in zip(columns, _TYPES, strict=True)))

    def __len__(self) -> int:
        return len(self.a)

    def __iter__(self) -> Iterator[Edge]:
        columns = (getattr(self, column.name).tolist() for column in fields(self))
        for a, b, near, linked, tag, both, score, there, back, count in zip(*columns, strict=True):
            yield Edge(a, b, Signals(near, linked, tag, both), score, there, back, count)

    def where(self, chosen: Flags | Nodes) -> Self:
        """Those that a mask or places choose, in that order."""
        return type(self)(*(getattr(self, column.name)[chosen] for column in fields(self)))


_TYPES = (np.int64, np.int64, *[np.float64] * 5, np.bool_, np.bool_, np.int64)


def _parts(edge: Edge) -> tuple[float, float, float, float]:
    signals = edge.signals
    return signals.semantic, signals.link, signals.tag, signals.comention


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is known of pairs before they are scored, by (a, b); a cosine is NaN where one of the two has no vector."""

    a: Nodes
    b: Nodes
    cosines: Numbers
    tag: Numbers
    a_to_b: Flags
    b_to_a: Flags
    counts: Nodes


def scored(pairs: Candidates, settings: Settings) -> Edges:
    """The edges among *pairs*: those with enough score, and every link and common mention whatever its score."""
    near, linked = semantic(pairs.cosines), link(pairs.a_to_b, pairs.b_to_a)
    both = comention(pairs.counts, settings)
    score = _composite(settings, near, linked, pairs.tag, both)
    keep = (score >= settings.min_edge_score) | (linked > 0) | (pairs.counts > 0)
    return Edges(
        pairs.a, pairs.b, near, linked, pairs.tag, both, score, pairs.a_to_b, pairs.b_to_a, pairs.counts
    ).where(keep)


def semantic(cosines: Numbers) -> Numbers:
    """The cosine of the notes' vectors; 0 where it is negative or NaN (one of the notes has no vector)."""
    return np.fmax(0.0, cosines)


def link(a_to_b: Flags, b_to_a: Flags) -> Numbers:
    """1 for links both ways, 0.7 for one way, else 0."""
    return np.where(a_to_b & b_to_a, MUTUAL, np.where(a_to_b | b_to_a, ONE_WAY, 0.0))


def jaccard(left: AbstractSet[str], right: AbstractSet[str]) -> float:
    """What two sets of folded tags share, as a part of their union; 0 when both are empty."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def comention(counts: Nodes, settings: Settings) -> Numbers:
    """The number of notes that link to both as a part of `comention_cap`, at most 1; a cap below 1 counts as 1."""
    return np.minimum(1.0, counts / max(1, settings.comention_cap))


def gives_pairs(targets: int, settings: Settings) -> bool:
    """Whether a note with so many distinct resolved *targets* says that they belong together: 2 to `comention_max_fanout`."""
    return 2 <= targets <= settings.comention_max_fanout  # noqa: PLR2004 - a pair needs two


def _composite(settings: Settings, near: Numbers, linked: Numbers, tag: Numbers, both: Numbers) -> Numbers:
    """The weighted sum, added in this order: a sum of floats depends on it."""
    total: Numbers = settings.weight_semantic * near + settings.weight_link * linked
    return total + settings.weight_tag * tag + settings.weight_comention * both
