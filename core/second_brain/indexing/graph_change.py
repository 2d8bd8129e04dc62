"""Which neighbours of which notes are others since notes, or their vectors, changed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from second_brain.graph import neighbours
from second_brain.index import boilerplate, graph_rows, graph_vectors
from second_brain.index.graph_rows import GraphChange

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from second_brain.graph.settings import Settings
    from second_brain.index.graph_rows import Connection, NoteModel

    Vector = NDArray[np.float32]

BLOCK = 512
"""So many lists are computed between two pulses."""


@dataclass(frozen=True, slots=True)
class Due:
    """What there is to do: notes are `marked`, or all are to be looked at `anew`, for a graph of another `form`."""

    form: str
    marked: set[str]
    anew: bool


def change_of(
    connection: Connection,
    model: NoteModel | None,
    settings: Settings,
    due: Due,
    pulse: Callable[[], None],
) -> GraphChange:
    """What to write so that the stored graph is that of the notes now; *pulse* is called about every tenth of a second."""
    paths = sorted(graph_vectors.docs(connection))
    known = graph_rows.known(connection)
    reduced = boilerplate.reduced(connection, model) if model else {}
    pulse()
    differing = _differing(reduced, graph_rows.reduced(connection))
    there = set(paths)
    looked_at = due.marked | differing | (there | known if due.anew else set())
    matrix = _matrix(connection, model, paths, reduced)
    rows = np.arange(len(paths)) if due.anew else _stale(connection, settings, paths, matrix, looked_at)
    return GraphChange(
        form=due.form,
        built=time.time(),
        looked_at=looked_at,
        gone=looked_at - there,
        reduced={
            path: b"" if vector is None else vector.tobytes() for path, vector in reduced.items() if path in looked_at
        },
        lists=_lists(settings, paths, matrix, rows, pulse),
    )


def _differing(now: Mapping[str, Vector | None], before: Mapping[str, bytes | None]) -> set[str]:
    """The paths whose reduced vectors are others than before."""
    told = {path: vector.tobytes() if vector is not None else None for path, vector in now.items()}
    return {path for path in now.keys() | before.keys() if told.get(path, b"whole") != before.get(path, b"whole")}


def _matrix(
    connection: Connection, model: NoteModel | None, paths: Sequence[str], reduced: Mapping[str, Vector | None]
) -> NDArray[np.float32]:
    """A row for each of *paths*; see `graph_vectors.unit_rows`."""
    if model is None:
        return np.zeros((len(paths), 1), dtype=np.float32)
    whole = graph_vectors.of_notes(connection, model)
    return graph_vectors.unit_rows([reduced[path] if path in reduced else whole.get(path) for path in paths], model.dim)


def _stale(
    connection: Connection,
    settings: Settings,
    paths: Sequence[str],
    matrix: NDArray[np.float32],
    changed: Collection[str],
) -> NDArray[np.int64]:
    """The rows whose lists may be others now."""
    ends = graph_rows.list_ends(connection)
    bounds = np.full(len(paths), settings.semantic_min)
    for row, path in enumerate(paths):
        length, last = ends.get(path, (0, 0.0))
        if length >= settings.knn_k:
            bounds[row] = last
    touched = graph_rows.lists_with(connection, changed)
    holding = np.array([path in touched for path in paths], dtype=np.bool_)
    rows = np.array([row for row, path in enumerate(paths) if path in changed], dtype=np.int64)
    return neighbours.stale_rows(matrix, bounds, holding, rows)


def _lists(
    settings: Settings,
    paths: Sequence[str],
    matrix: NDArray[np.float32],
    rows: NDArray[np.int64],
    pulse: Callable[[], None],
) -> dict[str, list[tuple[str, float]]]:
    found = {}
    for start in range(0, len(rows), BLOCK):
        pulse()
        part = rows[start : start + BLOCK]
        lists = neighbours.nearest(matrix, part, settings.knn_k, settings.semantic_min)
        for line, row in enumerate(part):
            found[paths[row]] = [(paths[other], cosine) for other, cosine in lists.of(line).items()]
    return found
