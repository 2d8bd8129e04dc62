"""How two notes are connected: directly, or by the strongest chain of edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from second_brain.graph.formulas import Edge, Edges

_LEAST_COST = 0.05
_UNIT = 10**12
_HOP = 2**24  # more than any chain has edges


@dataclass(frozen=True, slots=True)
class Connection:
    """How `closeness` (0 when not connected) comes about.

    A direct edge has its composite and needs no chain: `path` holds the two notes and `path_edges` nothing.  A chain has the
    product of its composites; `path_edges` go along `path`, each with its own ``a < b``.
    """

    connected: bool
    direct_edge: Edge | None = None
    closeness: float = 0.0
    path: tuple[int, ...] | None = None
    path_edges: tuple[Edge, ...] = ()


def connections(edges: Edges, a: int, b: int) -> Connection:
    """How *a* and *b*, two different notes, are connected.

    The strongest chain is that of the least sum of ``max(0.05, 1 - composite)`` (Dijkstra; contracts 1.6); of equal ones that
    of the fewest notes, then that whose notes come first.
    """
    direct = _between(edges, a, b)
    if direct:
        return Connection(True, direct, direct.composite, (a, b))
    chain = _strongest_chain(edges, a, b)
    if not chain:
        return Connection(False)
    steps = [_between(edges, one, other) for one, other in pairwise(chain)]
    along = tuple(step for step in steps if step)
    return Connection(True, None, math.prod(step.composite for step in along), chain, along)


def _between(edges: Edges, a: int, b: int) -> Edge | None:
    chosen = (edges.a == min(a, b)) & (edges.b == max(a, b))
    return next(iter(edges.where(chosen)), None)


def _strongest_chain(edges: Edges, a: int, b: int) -> tuple[int, ...]:
    """The notes from *a* to *b*, none when there is no way.

    From *a* on, the first note is taken that loses nothing on the way to *b*.
    """
    graph = _weighted(edges)
    left = _distances(graph, a, b)
    if a not in left:
        return ()
    chain = [a]
    while chain[-1] != b:
        here = chain[-1]
        steps = graph.adj[here].items()
        chain.append(min(note for note, step in steps if note in left and left[note] + step["cost"] == left[here]))
    return tuple(chain)


def _weighted(edges: Edges) -> Any:
    """The edges with whole-numbered costs: sums are exact, so equal chains are equal, and a hop costs more than none."""
    import networkx as nx  # noqa: PLC0415 - a quarter of a second that only chains need

    graph: Any = nx.Graph()
    ends = zip(edges.a.tolist(), edges.b.tolist(), edges.composite.tolist(), strict=True)
    graph.add_weighted_edges_from(((a, b, _cost(composite)) for a, b, composite in ends), weight="cost")
    return graph


def _cost(composite: float) -> int:
    return round(max(_LEAST_COST, 1 - composite) * _UNIT) * _HOP + 1


def _distances(graph: Any, a: int, b: int) -> dict[int, int]:
    """The costs to *b* of all notes not farther from it than *a*."""
    import networkx as nx  # noqa: PLC0415 - see above

    if a not in graph or b not in graph:
        return {}
    try:
        farthest, _ = nx.bidirectional_dijkstra(graph, a, b, weight="cost")
    except nx.NetworkXNoPath:
        return {}
    found: Any = nx.single_source_dijkstra_path_length(graph, b, cutoff=farthest, weight="cost")
    return dict(found)
