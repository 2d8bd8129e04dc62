"""The facts of the visible notes as the index gives them.

The numbers of notes are their places in path order.  The neighbours by meaning of a whole vault are stored; a scope, and an index
whose stored ones are not of these notes and settings, has its own computed when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from second_brain.graph import neighbours
from second_brain.graph.facts import Complete
from second_brain.graph.neighbours import Lists
from second_brain.index import boilerplate, catalog, graph_rows, graph_vectors
from second_brain.network import network_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from second_brain.graph.neighbours import Matrix
    from second_brain.graph.settings import Settings
    from second_brain.index.graph_rows import NoteModel
    from second_brain.index.reader import Reader

_MANY = 300
"""Links of more notes than this are sooner found by a look at all."""


@dataclass(frozen=True, slots=True)
class Places:
    """The visible notes: their paths in order, and the place of each."""

    paths: tuple[str, ...]
    of: Mapping[str, int]

    def known(self, paths: Collection[str]) -> frozenset[int]:
        """The places of those of *paths* that can be seen."""
        return frozenset(self.of[path] for path in paths if path in self.of)


def places_of(reader: Reader) -> Places:
    """The places of the notes in the state that *reader* sees."""

    def load() -> Places:
        paths = tuple(catalog.paths_in_order(reader))
        return Places(paths, {path: place for place, path in enumerate(paths)})

    return reader.derived("places", load)


class Meaning(Protocol):
    """The neighbours of notes by meaning."""

    def nearest(self, node: int) -> Mapping[int, float]:
        """See `Facts.nearest`."""
        ...

    def nearest_to(self, node: int) -> Collection[int]:
        """See `Facts.nearest_to`."""
        ...

    def cosines(self, node: int, others: Sequence[int]) -> Sequence[float | None]:
        """See `Facts.cosines`."""
        ...

    def complete(self) -> tuple[Matrix, Lists]:
        """The vectors and the lists of all notes."""
        ...


class IndexedFacts:
    """`Facts` of the state that *reader* sees; to be used within its snapshot.  Loads what is asked for, and little more."""

    def __init__(self, reader: Reader, settings: Settings) -> None:
        self._reader = reader
        self._places = places_of(reader)
        self._meaning = meaning_of(reader, settings)
        self._network = network_of(reader)

    def path(self, node: int) -> str:
        """See `Facts`, as with all that follow."""
        return self._places.paths[node]

    def title(self, node: int) -> str:
        """See `Facts`."""
        row = catalog.note_at(self._reader, self.path(node))
        return row.title if row else ""

    def nearest(self, node: int) -> Mapping[int, float]:
        """See `Facts`."""
        return self._meaning.nearest(node)

    def nearest_to(self, node: int) -> Collection[int]:
        """See `Facts`."""
        return self._meaning.nearest_to(node)

    def links_from(self, node: int) -> frozenset[int]:
        """See `Facts`."""
        return self._places.known({path for _, path in self._network.links_from(self.path(node)) if path is not None})

    def links_to(self, node: int) -> frozenset[int]:
        """See `Facts`."""
        return self._places.known({row.source for row in self._network.links_to(self.path(node))})

    def links_from_each(self, nodes: Sequence[int]) -> Sequence[Collection[int]]:
        """See `Facts`."""
        if len(nodes) <= _MANY:
            return [self.links_from(node) for node in nodes]
        outgoing = outgoing_of(self._reader)
        return [outgoing[node] for node in nodes]

    def tags(self, node: int) -> Mapping[str, str]:
        """See `Facts`."""
        return self.tags_of_each([node])[0]

    def tags_of_each(self, nodes: Sequence[int]) -> Sequence[Mapping[str, str]]:
        """See `Facts`."""
        found = catalog.tag_keys(self._reader, [self.path(node) for node in nodes])
        return [found.get(self.path(node), {}) for node in nodes]

    def cosines(self, node: int, others: Sequence[int]) -> Sequence[float | None]:
        """See `Facts`."""
        return self._meaning.cosines(node, others)


def complete_facts(reader: Reader, settings: Settings) -> Complete:
    """The facts of all visible notes at once."""
    places = places_of(reader)
    tags = catalog.tag_keys(reader, None)
    titles = catalog.titles(reader)
    matrix, lists = meaning_of(reader, settings).complete()
    return Complete(
        paths=places.paths,
        titles=[titles[path] for path in places.paths],
        outgoing=outgoing_of(reader),
        tag_names=[tags.get(path, {}) for path in places.paths],
        matrix=matrix,
        lists=lists,
    )


def outgoing_of(reader: Reader) -> list[frozenset[int]]:
    """For every visible note those that it links to."""

    def load() -> list[frozenset[int]]:
        places = places_of(reader)
        targets: list[set[int]] = [set() for _ in places.paths]
        for row, target in network_of(reader).everything():
            if target is not None:
                targets[places.of[row.source]].add(places.of[target])
        return list(map(frozenset, targets))

    return reader.derived("outgoing", load)


def meaning_of(reader: Reader, settings: Settings) -> Meaning:
    """Where the neighbours by meaning come from."""

    def choose() -> Meaning:
        model = graph_rows.note_model(reader.connection)
        if model is None:
            return _Computed(places_of(reader), np.zeros((len(places_of(reader).paths), 1), dtype=np.float32), settings)
        if _is_stored(reader, model, settings):
            return _Stored(reader, places_of(reader), model, settings)
        return _Computed(places_of(reader), _matrix(reader, model, None), settings)

    return reader.derived(f"meaning {settings.knn_k} {settings.semantic_min}", choose)


def _is_stored(reader: Reader, model: NoteModel, settings: Settings) -> bool:
    form = graph_rows.form_of(model, settings.knn_k, settings.semantic_min)
    return (
        reader.scope.whole_vault
        and graph_rows.form(reader.connection) == form
        and not graph_rows.has_lost_notes(reader.connection)
    )


def _matrix(reader: Reader, model: NoteModel, reduced: Mapping[str, bytes | None] | None) -> Matrix:
    """A unit vector per visible note; which of them are *reduced* is told by the visible passages unless it is known."""
    vectors: dict[str, Any] = dict(graph_vectors.of_notes(reader.connection, model))
    vectors.update(boilerplate.reduced(reader.connection, model) if reduced is None else reduced)
    return graph_vectors.unit_rows([vectors.get(path) for path in places_of(reader).paths], model.dim)


class _Computed:
    """Neighbours among the visible notes alone."""

    def __init__(self, places: Places, matrix: Matrix, settings: Settings) -> None:
        self._matrix = matrix
        rows = np.arange(len(places.paths))
        self._lists = neighbours.nearest(matrix, rows, settings.knn_k, settings.semantic_min)

    def nearest(self, node: int) -> Mapping[int, float]:
        return self._lists.of(node)

    def nearest_to(self, node: int) -> Collection[int]:
        found: list[int] = np.flatnonzero((self._lists.numbers == node).any(axis=1)).tolist()
        return found

    def cosines(self, node: int, others: Sequence[int]) -> Sequence[float | None]:
        found = neighbours.cosines(self._matrix, np.full(len(others), node), np.asarray(others, dtype=np.int64))
        return [None if np.isnan(value) else float(value) for value in found]

    def complete(self) -> tuple[Matrix, Lists]:
        return self._matrix, self._lists


class _Stored:
    """The neighbours that the index keeps for the whole vault."""

    def __init__(self, reader: Reader, places: Places, model: NoteModel, settings: Settings) -> None:
        self._reader = reader
        self._places = places
        self._model = model
        self._settings = settings

    def nearest(self, node: int) -> Mapping[int, float]:
        rows = graph_rows.list_of(self._reader.connection, self._places.paths[node])
        return {self._places.of[path]: cosine for path, cosine in rows if path in self._places.of}

    def nearest_to(self, node: int) -> Collection[int]:
        return self._places.known(graph_rows.lists_with(self._reader.connection, [self._places.paths[node]]))

    def cosines(self, node: int, others: Sequence[int]) -> Sequence[float | None]:
        paths = [self._places.paths[place] for place in (node, *others)]
        vectors: dict[str, bytes | None] = dict(graph_vectors.of_notes(self._reader.connection, self._model, paths))
        vectors.update(graph_rows.reduced(self._reader.connection, paths))
        matrix = graph_vectors.unit_rows([vectors.get(path) for path in paths], self._model.dim)
        found = neighbours.cosines(matrix, np.zeros(len(others), dtype=np.int64), np.arange(1, len(paths)))
        return [None if np.isnan(value) else float(value) for value in found]

    def complete(self) -> tuple[Matrix, Lists]:
        matrix = _matrix(self._reader, self._model, graph_rows.reduced(self._reader.connection))
        return matrix, self._lists(matrix)

    def _lists(self, matrix: Matrix) -> Lists:
        """The stored lists with the cosines of now: a vector may be newer than the last update of the graph."""
        size, k = len(self._places.paths), self._settings.knn_k
        lists = Lists(np.full((size, k), neighbours.NOBODY, dtype=np.int64), np.zeros((size, k)))
        nodes = graph_rows.nodes(self._reader.connection)
        place = np.full(max(nodes, default=0) + 1, neighbours.NOBODY, dtype=np.int64)
        for number, path in nodes.items():
            place[number] = self._places.of.get(path, neighbours.NOBODY)
        rows = np.array(graph_rows.all_lists(self._reader.connection), dtype=np.float64).reshape(-1, 3)
        node, other, cosine = place[rows[:, 0].astype(np.int64)], place[rows[:, 1].astype(np.int64)], rows[:, 2]
        order = np.lexsort((other, -cosine, node))
        order = order[(node[order] >= 0) & (other[order] >= 0)]
        node, other, cosine = node[order], other[order], cosine[order]
        rank = np.arange(len(node)) - np.searchsorted(node, node)
        lists.numbers[node, rank], lists.cosines[node, rank] = other, neighbours.cosines(matrix, node, other)
        return lists
