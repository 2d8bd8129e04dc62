"""What is stored of the graph: which notes changed since it was brought up to date, and the neighbours of each by meaning.

Links, tags and common mentions are not stored a second time: edges follow from them when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from second_brain.index import schema
from second_brain.index.numbers import numbers
from second_brain.index.schema import FIRST_VERSION_MODEL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

Connection = apsw.Connection
"""The name of it for those who compute what is to be written, and know no SQLite."""

_VERSION = "1"
"""Raise it when other neighbours come of the same notes."""

FORM = "graph_form"
"""The key in `meta` of what the stored neighbours were made with."""

BUILT = "graph_built"
"""The key in `meta` of when they were last brought up to date, epoch seconds."""


@dataclass(frozen=True, slots=True)
class GraphChange:
    """What an update of the graph writes.

    Of the notes `looked_at`, those of `gone` are no notes any more, and those of `reduced` have another vector than that of the
    whole note (b"": none).  `lists` gives by path the neighbours (path, cosine) of notes, the nearest first.
    """

    form: str
    built: float
    looked_at: Collection[str]
    gone: Collection[str]
    reduced: Mapping[str, bytes]
    lists: Mapping[str, Sequence[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class NoteModel:
    """What made the vectors of the notes.  `id` and `layout` are 0 for those of a first-version database."""

    fingerprint: str
    dim: int
    id: int
    layout: int


def note_model(connection: apsw.Connection) -> NoteModel | None:
    """The model whose vectors of notes answer: the active one, else that of a first-version database."""
    active = connection.execute("SELECT fingerprint, dim, id, layout FROM models WHERE state = 'active'").fetchone()
    if active:
        return NoteModel(*active)
    former = connection.execute(
        "SELECT coalesce(model, '') AS name, length(vector) / 4 AS dim FROM embeddings WHERE vector IS NOT NULL"
        " GROUP BY name, dim ORDER BY count(path) DESC, name LIMIT 1"
    ).fetchone()
    return NoteModel(FIRST_VERSION_MODEL + former[0], former[1], 0, 0) if former and former[1] else None


def form_of(model: NoteModel | None, knn_k: int, semantic_min: float) -> str:
    """What stored neighbours depend on besides the notes."""
    made_by = f"{model.fingerprint} {model.dim} {model.layout}" if model else ""
    return f"{_VERSION} {knn_k} {semantic_min} {made_by}"


def form(connection: apsw.Connection) -> str:
    """What the stored neighbours were made with, "" when there are none."""
    return schema.get_meta(connection, FORM)


def mark(connection: apsw.Connection, paths: Iterable[str]) -> None:
    """Remember that the notes at *paths* changed, came or went."""
    connection.executemany("INSERT OR IGNORE INTO graph_changed(path) VALUES(?)", [(path,) for path in paths])


def changed(connection: apsw.Connection) -> set[str]:
    """The marked paths."""
    return {path for (path,) in connection.execute("SELECT path FROM graph_changed")}


def known(connection: apsw.Connection) -> set[str]:
    """The paths that the stored graph has."""
    return {path for (path,) in connection.execute("SELECT path FROM graph_nodes")}


def reduced(connection: apsw.Connection, paths: Collection[str] | None = None) -> dict[str, bytes | None]:
    """The vectors, by path, of the notes (all, or those of *paths*) whose vector is not that of the whole note; None for one without."""
    sql = "SELECT path, vector FROM graph_nodes WHERE vector IS NOT NULL"
    values: tuple[Any, ...] = ()
    if paths is not None:
        sql, values = f"{sql} AND path IN carray(?)", (apsw.carray(tuple(sorted(paths))),)
    return {path: vector or None for path, vector in connection.execute(sql, values)}


def list_of(connection: apsw.Connection, path: str) -> list[tuple[str, float]]:
    """The neighbours of the note at *path*, the nearest first, equal ones by path."""
    return list(
        connection.execute(
            "SELECT o.path, n.cosine FROM graph_nodes g JOIN neighbours n ON n.node = g.id JOIN graph_nodes o ON o.id = n.other"
            " WHERE g.path = ? ORDER BY n.cosine DESC, o.path",
            (path,),
        )
    )


def nodes(connection: apsw.Connection) -> dict[int, str]:
    """The notes of the stored graph: number and path."""
    return dict(connection.execute("SELECT id, path FROM graph_nodes"))


def all_lists(connection: apsw.Connection) -> list[tuple[int, int, float]]:
    """(note, neighbour, cosine) of all lists, by the numbers of `nodes`, in no order."""
    rows: list[Any] = connection.execute("SELECT node, other, cosine FROM neighbours").fetchall()
    return rows


def has_lost_notes(connection: apsw.Connection) -> bool:
    """Whether the stored graph has a note that cannot be seen any more: its place in the lists of others is taken."""
    return bool(
        connection.execute(
            "SELECT EXISTS(SELECT 1 FROM graph_nodes g WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.path = g.path))"
        ).get
    )


def lists_with(connection: apsw.Connection, paths: Collection[str]) -> set[str]:
    """The notes in whose list one of *paths* stands."""
    if not paths:
        return set()
    rows = connection.execute(
        "SELECT DISTINCT g.path FROM graph_nodes o JOIN neighbours n ON n.other = o.id JOIN graph_nodes g ON g.id = n.node"
        " WHERE o.path IN carray(?)",
        (apsw.carray(tuple(sorted(paths))),),
    )
    return {path for (path,) in rows}


def list_ends(connection: apsw.Connection) -> dict[str, tuple[int, float]]:
    """How long the list of each note is, and the cosine of its last; notes without a list are missing."""
    rows = connection.execute(
        "SELECT g.path, n.length, n.last FROM (SELECT node, count(other) AS length, min(cosine) AS last FROM neighbours"
        " GROUP BY node) n JOIN graph_nodes g ON g.id = n.node"
    )
    return {path: (length, last) for path, length, last in rows}


def apply(connection: apsw.Connection, change: GraphChange) -> None:
    """Write *change*."""
    _drop(connection, change.gone)
    there = [(path,) for path in sorted(change.lists.keys() | change.looked_at) if path not in change.gone]
    connection.executemany("INSERT OR IGNORE INTO graph_nodes(path) VALUES(?)", there)
    connection.executemany(
        "UPDATE graph_nodes SET vector = NULL WHERE path = ?", [(path,) for path in change.looked_at]
    )
    connection.executemany(
        "UPDATE graph_nodes SET vector = ? WHERE path = ?", [(vector, path) for path, vector in change.reduced.items()]
    )
    _put_lists(connection, change.lists)
    connection.executemany("DELETE FROM graph_changed WHERE path = ?", [(path,) for path in change.looked_at])
    schema.set_meta(connection, FORM, change.form)
    schema.set_meta(connection, BUILT, str(change.built))


def _drop(connection: apsw.Connection, paths: Collection[str]) -> None:
    for path in paths:
        node = connection.execute("SELECT id FROM graph_nodes WHERE path = ?", (path,)).get
        if node is not None:
            connection.execute("DELETE FROM neighbours WHERE node = ? OR other = ?", (node, node))
            connection.execute("DELETE FROM graph_nodes WHERE id = ?", (node,))


def _put_lists(connection: apsw.Connection, lists: Mapping[str, Sequence[tuple[str, float]]]) -> None:
    """Replace the lists of these notes."""
    ids: dict[str, int] = dict(connection.execute("SELECT path, id FROM graph_nodes"))
    nodes = sorted(ids[path] for path in lists)
    connection.execute("DELETE FROM neighbours WHERE node IN carray(?)", (numbers(nodes),))
    rows: list[Any] = [
        (ids[path], ids[other], cosine) for path, neighbours in lists.items() for other, cosine in neighbours
    ]
    connection.executemany("INSERT INTO neighbours(node, other, cosine) VALUES(?, ?, ?)", sorted(rows))
