"""Which notes a note links to, and which link to it, among the notes of the scope.

Links are resolved among the visible notes only, so a link that leads out of the scope is like one to a note never written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.index import catalog
from second_brain.index.resolve import resolve
from second_brain.index.schema import tag_key
from second_brain.model import LinkKind, linked_name
from second_brain.network import network_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from second_brain.index.catalog import LinkRow
    from second_brain.index.reader import Reader


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link where it stands: in the note `source`, on `line`, under the headings `heading`.

    `name` is what it is called there, without folders; `target` the path that it leads to, None when no visible note bears
    that name.
    """

    source: str
    line: int
    kind: LinkKind
    name: str
    target: str | None
    heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteLinks:
    """The links of the note `path` in both directions.

    `outgoing` and `backlinks` are paths, `unresolved` names without folders, each unique and sorted; `links_out` and
    `links_in` are the single links in the order of path and text.  Links of a note to itself count in none of them.
    """

    path: str
    outgoing: tuple[str, ...]
    backlinks: tuple[str, ...]
    unresolved: tuple[str, ...]
    links_out: tuple[NoteLink, ...]
    links_in: tuple[NoteLink, ...]
    warnings: tuple[str, ...] = ()


def links_of(reader: Reader, name: str) -> NoteLinks:
    """The links from and to the note *name*.  Raises `NotFound` and `Ambiguous` as `resolve` does."""
    with reader.snapshot():
        path = resolve(reader, name).path
        network = network_of(reader)
        out = _links(reader, network.links_from(path))
        into = _links(reader, [(row, path) for row in network.links_to(path)])
    return NoteLinks(
        path=path,
        outgoing=tuple(sorted({link.target for link in out if link.target is not None})),
        backlinks=tuple(sorted({link.source for link in into})),
        unresolved=_names(link.name for link in out if link.target is None),
        links_out=tuple(out),
        links_in=tuple(into),
    )


def _links(reader: Reader, rows: Sequence[tuple[LinkRow, str | None]]) -> list[NoteLink]:
    headings = catalog.heading_paths(reader, [(row.doc, row.line) for row, _ in rows])
    return [
        NoteLink(
            row.source, row.line, LinkKind(row.kind), linked_name(row.target) or row.target.strip(), target, heading
        )
        for (row, target), heading in zip(rows, headings, strict=True)
    ]


def _names(names: Iterable[str]) -> tuple[str, ...]:
    """Unique but for case and Unicode form, under the first spelling, sorted."""
    unique: dict[str, str] = {}
    for name in names:
        unique.setdefault(tag_key(name), name)
    return tuple(sorted(unique.values()))
