"""The note that is asked for, and all notes that mention it: by links, or by its names in plain text."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from second_brain.errors import Ambiguous, NotFound
from second_brain.index import catalog
from second_brain.index.resolve import readings, resolve
from second_brain.network import network_of
from second_brain.reading.sources import Source, linked
from second_brain.reading.unlinked import plain_mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from second_brain.index.catalog import LinkRow
    from second_brain.index.reader import Reader

KEPT = 4
"""Of so many notes the mentions are kept while the index stays as it is: whoever asks for one note often goes on with it."""


class Target(NamedTuple):
    """What the mentions are of; `path` is None for an unwritten note, whose `names` are what was asked for."""

    note: str
    path: str | None
    names: tuple[str, ...]
    ambiguous: tuple[str, ...] = ()


def target_of(reader: Reader, name: str) -> Target:
    """The note that *name* means, of several the one with the shortest path; else an unwritten one.

    Raises `NotFound` as `resolve` does when no link leads to such a name either.
    """
    ambiguous: tuple[str, ...] = ()
    try:
        path = resolve(reader, name).path
    except Ambiguous as error:
        ambiguous = error.options
        path = ambiguous[0]  # the shortest
    except NotFound:
        network = network_of(reader)
        unwritten = next((form for form in readings(name) if network.links_to_unwritten(form)), None)
        if unwritten is None:
            raise
        return Target(unwritten, None, (unwritten,))
    note = catalog.note_at(reader, path)
    title = note.title if note else ""
    return Target(title or name, path, (title, *catalog.names_of(reader, path)), ambiguous)


def sources_of(reader: Reader, target: Target, endings: Sequence[str] | None) -> Sequence[Source]:
    """The other notes that mention *target*, in path order: by links, or given *endings* by names that these may follow."""
    kept: OrderedDict[object, Sequence[Source]] = reader.derived("mentions", OrderedDict)
    key = (target.path, target.names, endings if endings is None else tuple(endings))
    if key not in kept:
        found = linked(_links_to(reader, target)) if endings is None else plain_mentions(reader, target.names, endings)
        kept[key] = [source for source in found if source.path != target.path]
    kept.move_to_end(key)
    while len(kept) > KEPT:
        kept.popitem(last=False)
    return kept[key]


def resolved_paths(reader: Reader, names: Iterable[str]) -> tuple[str, ...]:
    """The notes *names* to look in.  Raises `NotFound` and `Ambiguous` as `resolve` does, of the parameter ``paths``."""
    found: dict[str, None] = {}
    for name in names:
        try:
            found[resolve(reader, name).path] = None
        except (NotFound, Ambiguous) as error:
            raise type(error)(error.message, hint=error.hint, parameter="paths", options=error.options) from None
    return tuple(found)


def _links_to(reader: Reader, target: Target) -> list[LinkRow]:
    network = network_of(reader)
    return network.links_to_unwritten(target.note) if target.path is None else network.links_to(target.path)
