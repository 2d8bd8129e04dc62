"""The map of a vault: which notes form clusters, which stand alone, which hold clusters together.

A pure function of notes and edges that keeps nothing.  The same vault gives the same map, in whatever order its edges come.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from second_brain.graph.formulas import Edges
    from second_brain.graph.settings import Settings

_EDGES_OF_GREEDY, _DEGREE_OF_GREEDY = 5_000, 100
_SEED = 7
_NOTES_SHOWN = 25
_TAGS_SHOWN = 5
_PATH_AT_LEAST = 3


@dataclass(frozen=True, slots=True)
class Node:
    """A note as the map shows it; `tags`: folded to as typed."""

    path: str
    title: str
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Notes that belong together.

    `members`: all of them, ascending; `notes`: the paths of at most 25 by (-degree, path); `top_tags`: at most five, without
    ``#``, by (-count, tag); `hub`: the path of the note with most edges.
    """

    id: int
    label: str
    members: tuple[int, ...]
    notes: tuple[str, ...]
    top_tags: tuple[str, ...]
    hub: str

    @property
    def size(self) -> int:
        """How many notes it has."""
        return len(self.members)


@dataclass(frozen=True, slots=True)
class Bridge:
    """A note without which a part of the graph falls off; `connects_clusters`: its own and its neighbours', ascending."""

    node: int
    path: str
    title: str
    connects_clusters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """The map; clusters by (-size, members), orphans (notes without an edge) and bridges by path.

    `least`: the composite from which on edges counted.
    """

    note_count: int
    edge_count: int
    clusters: tuple[Cluster, ...]
    orphans: tuple[str, ...]
    bridges: tuple[Bridge, ...]
    least: float


def overview(nodes: Sequence[Node], edges: Edges, settings: Settings, min_score: float | None = None) -> Overview:
    """The map of *nodes*, of which node i is number i in *edges*.

    Edges with a composite below *min_score* (None: `settings.min_edge_score`) count for nothing, links among them.
    """
    least = settings.min_edge_score if min_score is None else min_score
    strong = edges.where(edges.composite >= least)
    degrees = np.bincount(np.concatenate([strong.a, strong.b]), minlength=len(nodes)).tolist()
    graph = _graph(strong)
    clusters = _clusters(nodes, degrees, _communities(graph))
    return Overview(
        note_count=len(nodes),
        edge_count=len(strong),
        clusters=clusters,
        orphans=tuple(node.path for node, degree in zip(nodes, degrees, strict=True) if not degree),
        bridges=_bridges(nodes, graph, clusters),
        least=least,
    )


def _graph(edges: Edges) -> Any:
    """The edges in order: both algorithms and `networkx` itself follow the order in which a graph was made."""
    import networkx as nx  # noqa: PLC0415 - a quarter of a second that nothing but a map needs

    order = np.lexsort((edges.b, edges.a))
    graph: Any = nx.Graph()
    graph.add_nodes_from(np.unique(np.concatenate([edges.a, edges.b])).tolist())
    columns = (column[order].tolist() for column in (edges.a, edges.b, edges.composite))
    graph.add_weighted_edges_from(zip(*columns, strict=True))
    return graph


def _communities(graph: Any) -> list[list[int]]:
    """Communities of at least two notes, by (-size, members).

    Greedy modularity (Clauset, Newman and Moore) is what contracts 1.6 names.  In pure Python it takes .7 s for 5,000 edges, 1.2 s
    for 8,000 and 10 to 56 s for the 23,000 to 43,000 of a vault of 5,000 notes.  Beyond 5,000 edges Louvain (Blondel and others)
    raises the same measure: on the same 3,000, 5,000 and 8,000 edges to .983, .981 and .982, as greedy does to within .0002, and
    40,000 edges take .6 s.  So does Louvain where a note has very many edges: greedy takes 5 s for a star of 500 notes.
    """
    import networkx.algorithms.community as found_by  # noqa: PLC0415 - see above

    if not graph.size():
        return []
    if graph.size() <= _EDGES_OF_GREEDY and max(degree for _, degree in graph.degree) <= _DEGREE_OF_GREEDY:
        found: Iterable[Collection[int]] = found_by.greedy_modularity_communities(graph, weight="weight")
    else:
        found = found_by.louvain_communities(graph, weight="weight", seed=_SEED)
    groups = [sorted(members) for members in found if len(members) > 1]
    return sorted(groups, key=lambda members: (-len(members), members))


def _clusters(nodes: Sequence[Node], degrees: Sequence[int], groups: Sequence[list[int]]) -> tuple[Cluster, ...]:
    used: set[str] = set()
    clusters = []
    for number, members in enumerate(groups):
        ordered = sorted(members, key=lambda node: (-degrees[node], node))
        tags = _by_count(nodes[node].tags for node in members)
        label = _label(tags, nodes[ordered[0]], used)
        used.add(label.casefold())
        notes = tuple(nodes[node].path for node in ordered[:_NOTES_SHOWN])
        clusters.append(Cluster(number, label, tuple(members), notes, tuple(tags[:_TAGS_SHOWN]), notes[0]))
    return tuple(clusters)


def _by_count(tags: Iterable[Mapping[str, str]]) -> list[str]:
    """Tags by (-notes that carry them, folded), each as most notes type it."""
    spellings: dict[str, Counter[str]] = {}
    for of_note in tags:
        for key, typed in of_note.items():
            spellings.setdefault(key, Counter())[typed] += 1
    ordered = sorted(spellings, key=lambda key: (-spellings[key].total(), key))
    return [min((-count, typed) for typed, count in spellings[key].items())[1] for key in ordered]


def _label(tags: Sequence[str], hub: Node, used: Collection[str]) -> str:
    """The most common tag that is no label yet, else the title or the path of the hub, with a number when that is one, too."""
    for tag in tags:
        if tag.casefold() not in used:
            return tag
    name = hub.title.strip() or hub.path
    numbered = (f"{name} ({number})" for number in range(2, len(used) + 3))
    return next(label for label in (name, *numbered) if label.casefold() not in used)


def _bridges(nodes: Sequence[Node], graph: Any, clusters: Sequence[Cluster]) -> tuple[Bridge, ...]:
    import networkx as nx  # noqa: PLC0415 - see above

    if len(graph) < _PATH_AT_LEAST:
        return ()
    cluster_of = {node: cluster.id for cluster in clusters for node in cluster.members}
    bridges = []
    for node in sorted(set(nx.articulation_points(graph))):
        around = {cluster_of[near] for near in (node, *graph.adj[node]) if near in cluster_of}
        bridges.append(Bridge(node, nodes[node].path, nodes[node].title, tuple(sorted(around))))
    return tuple(bridges)
