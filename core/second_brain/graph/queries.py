"""What people and agents ask the graph: related notes, how two notes are connected, the map of all, and walks along links.

Pure functions of one state of the index, seen through its reader: inside a scope everything comes from the scope's notes alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from second_brain.errors import InvalidParameter, SecondBrainError
from second_brain.graph import walks
from second_brain.graph.connections import connections
from second_brain.graph.edges import all_edges
from second_brain.graph.formulas import Edge, Edges
from second_brain.graph.indexed import IndexedFacts, complete_facts, outgoing_of, places_of
from second_brain.graph.overview import Node, Overview, overview
from second_brain.graph.related import Evidence, Neighbour, because, evidence, related
from second_brain.index import catalog, schema, vectors
from second_brain.index.resolve import resolve
from second_brain.model import linked_name
from second_brain.network import network_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from second_brain.graph.facts import Complete
    from second_brain.graph.formulas import Signals
    from second_brain.graph.settings import Settings
    from second_brain.index.catalog import LinkRow
    from second_brain.index.reader import Reader

MOST = 50
MOST_HOPS = 20
MOST_AROUND = 500
MOST_DEPTH = 3
HUBS = 10

_OLD_MEANING = (
    "The note was changed or added since the last sync: similar text is that of before. Run: second-brain sync"
)


@dataclass(frozen=True, slots=True)
class Related:
    """The notes related to the one at `path`, the strongest first."""

    path: str
    title: str
    neighbours: tuple[Neighbour, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """An edge along a way, from the note `src` to `dst`; `because` are phrases in which "here" is `src`."""

    src: str
    dst: str
    composite: float
    signals: Signals
    evidence: Evidence
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Connected:
    """How two notes are connected; see `connections.Connection`.  `path` and `steps` go from the first note to the second."""

    note_a: str
    note_b: str
    connected: bool
    direct: Step | None
    closeness: float
    path: tuple[str, ...]
    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VaultMap:
    """The map, and what it was made of, for a picture."""

    overview: Overview
    nodes: tuple[Node, ...]
    edges: Edges = field(repr=False)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkFigures:
    """Figures over all links.  `hubs`: the paths with most links from other notes, and how many; `unresolved`: the names that no
    note bears, and where (path, line) they are linked to; both by (-count, name).
    """

    notes: int
    links: int
    hubs: tuple[tuple[str, int], ...]
    unresolved: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    orphans: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The notes around the one at `path` with their distance in links, itself first at 0, and the links among them.

    `left_out`: how many more there are within the depth.
    """

    path: str
    notes: tuple[tuple[str, int], ...]
    links: tuple[tuple[str, str], ...]
    left_out: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """The paths of the notes along a way, both ends included; empty when there is none."""

    path: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def related_notes(reader: Reader, settings: Settings, name: str, *, top_k: int = 10) -> Related:
    """The at most *top_k* (1 to 50) notes that belong to the note *name*, with the reasons.

    Raises `NotFound` and `Ambiguous` as `resolve` does, `InvalidParameter` for *top_k*.
    """
    _check("top_k", top_k, 1, MOST)
    with reader.snapshot():
        path = resolve(reader, name).path
        facts = IndexedFacts(reader, settings)
        node = places_of(reader).of[path]
        found = related(facts, settings, node, top_k) if settings.enabled else []
        old = (_OLD_MEANING,) if path in reader.edited and settings.enabled else ()
        return Related(path, facts.title(node), tuple(found), (*old, *_missing_meaning(reader, settings)))


def connection_of(reader: Reader, settings: Settings, one: str, other: str) -> Connected:
    """How the notes *one* and *other* are connected.

    Raises `NotFound` and `Ambiguous` as `resolve` does (parameters note_a, note_b), `InvalidParameter` when they are the same.
    """
    with reader.snapshot():
        paths = [_resolved(reader, name, parameter) for name, parameter in ((one, "note_a"), (other, "note_b"))]
        if paths[0] == paths[1]:
            raise InvalidParameter(
                f"Both names mean the note {paths[0]}.", hint="Name two different notes.", parameter="note_b"
            )
        if not settings.enabled:
            return Connected(paths[0], paths[1], connected=False, direct=None, closeness=0.0, path=(), steps=())
        warnings = _missing_meaning(reader, settings)
        facts = _complete(reader, settings)
        a, b = (places_of(reader).of[path] for path in paths)
        found = connections(_edges(reader, settings), a, b)
    steps = [_step(facts, settings, edge, node) for edge, node in zip(found.path_edges, found.path or (), strict=False)]
    return Connected(
        note_a=paths[0],
        note_b=paths[1],
        connected=found.connected,
        direct=_step(facts, settings, found.direct_edge, a) if found.direct_edge else None,
        closeness=found.closeness,
        path=tuple(facts.path(node) for node in found.path or ()),
        steps=tuple(steps),
        warnings=warnings,
    )


def vault_map(reader: Reader, settings: Settings, *, min_score: float | None = None) -> VaultMap:
    """The map of the visible notes; edges below *min_score* (0 to 1) count for nothing.  Raises `InvalidParameter`."""
    if min_score is not None and not 0 <= min_score <= 1:
        raise InvalidParameter(f"min_score is {min_score}.", hint="Give a number from 0 to 1.", parameter="min_score")
    with reader.snapshot():
        nodes = _nodes(reader)
        edges = _edges(reader, settings)
        warnings = _missing_meaning(reader, settings)
    return VaultMap(overview(nodes, edges, settings, min_score), nodes, edges, warnings)


def edge_count(reader: Reader, settings: Settings) -> int:
    """How many edges the visible notes have."""
    with reader.snapshot():
        return len(_edges(reader, settings))


def link_figures(reader: Reader) -> LinkFigures:
    """Hubs, orphans and links that lead nowhere, over all visible notes."""
    with reader.snapshot():
        paths = places_of(reader).paths
        everything = list(network_of(reader).everything())
    into = Counter(target for _, target in everything if target is not None)
    linked = into.keys() | {row.source for row, target in everything if target is not None}
    return LinkFigures(
        notes=len(paths),
        links=len(everything),
        hubs=tuple(sorted(into.items(), key=_most_first)[:HUBS]),
        unresolved=_dead(row for row, target in everything if target is None),
        orphans=tuple(path for path in paths if path not in linked),
    )


def neighbourhood(reader: Reader, name: str, *, depth: int = 1, limit: int = 50) -> Neighbourhood:
    """The notes at most *depth* (1 to 3) links away from the note *name*, in either direction, at most *limit* (1 to 500).

    Raises `NotFound` and `Ambiguous` as `resolve` does, `InvalidParameter` for the numbers.
    """
    _check("depth", depth, 1, MOST_DEPTH)
    _check("limit", limit, 1, MOST_AROUND)
    with reader.snapshot():
        path = resolve(reader, name).path
        places = places_of(reader)
        found = walks.within(*_both_ways(reader), places.of[path], depth, limit)
    return Neighbourhood(
        path=path,
        notes=tuple((places.paths[note], distance) for note, distance in found.nodes),
        links=tuple((places.paths[source], places.paths[target]) for source, target in found.links),
        left_out=found.left_out,
    )


def way_between(reader: Reader, one: str, other: str, *, max_hops: int = 6) -> Way:
    """A shortest way along links, in either direction, from the note *one* to *other*.

    Raises `NotFound` and `Ambiguous` as `resolve` does (parameters from, to), `InvalidParameter` for *max_hops* (1 to 20).
    """
    _check("max_hops", max_hops, 1, MOST_HOPS)
    with reader.snapshot():
        places = places_of(reader)
        ends = [places.of[_resolved(reader, name, parameter)] for name, parameter in ((one, "from"), (other, "to"))]
        found = walks.path_between(*_both_ways(reader), ends[0], ends[1], max_hops)
    return Way(tuple(places.paths[note] for note in found or ()))


# -- shared ---------------------------------------------------------------------------------------------------------------


def _check(parameter: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidParameter(
            f"{parameter} is {value}.", hint=f"Give a number from {least} to {most}.", parameter=parameter
        )


def _resolved(reader: Reader, name: str, parameter: str) -> str:
    try:
        return resolve(reader, name).path
    except SecondBrainError as error:
        error.parameter = parameter
        raise


def _missing_meaning(reader: Reader, settings: Settings) -> tuple[str, ...]:
    """What is to be said while similar texts cannot all be told."""
    if not settings.enabled:
        return ()
    done, total = vectors.embedded_passages(reader)
    if done >= total:
        return ()
    if not done:
        return ("No passage is embedded yet: similar text is not told. Run: second-brain sync",)
    return (f"{total - done:,} of {total:,} passages are not embedded yet: similar text is told of the others alone.",)


def _complete(reader: Reader, settings: Settings) -> Complete:
    return reader.derived(f"graph facts {settings}", lambda: complete_facts(reader, settings))


def _edges(reader: Reader, settings: Settings) -> Edges:
    def compute() -> Edges:
        return all_edges(_complete(reader, settings), settings) if settings.enabled else Edges.of(())

    return reader.derived(f"edges {settings}", compute)


def _nodes(reader: Reader) -> tuple[Node, ...]:
    titles, tags = catalog.titles(reader), catalog.tag_keys(reader, None)
    return tuple(Node(path, titles[path], tags.get(path, {})) for path in places_of(reader).paths)


def _step(facts: Complete, settings: Settings, edge: Edge, node: int) -> Step:
    found = evidence(facts, edge, node)
    other = edge.b if node == edge.a else edge.a
    words = because(found, edge.signals, settings)
    return Step(facts.path(node), facts.path(other), edge.composite, edge.signals, found, words)


def _both_ways(reader: Reader) -> tuple[walks.Links, walks.Links]:
    """What each note links to, and what links to it."""
    outgoing = outgoing_of(reader)
    into: dict[int, set[int]] = {}
    for source, targets in enumerate(outgoing):
        for target in targets:
            into.setdefault(target, set()).add(source)
    return dict(enumerate(outgoing)), into


def _dead(rows: Iterable[LinkRow]) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Names with the places of their links, under the first spelling; case and Unicode form make no difference."""
    spellings: dict[str, str] = {}
    places: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        name = linked_name(row.target) or row.target.strip()
        key = schema.tag_key(name)
        spellings.setdefault(key, name)
        places.setdefault(key, []).append((row.source, row.line))
    found = [(spellings[key], tuple(at)) for key, at in places.items()]
    return tuple(sorted(found, key=lambda item: (-len(item[1]), item[0])))


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
