"""The links among the visible notes, resolved by Obsidian's rules.

The index stores links as they are written.  What one means depends on which notes can be seen, so a link that leads out of the
scope is like one to a note never written.  Links of a note to itself are not told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.index import catalog, schema
from second_brain.model import LinkKind
from second_brain.vault import links
from second_brain.vault.links import LinkResolver, NoteNames, is_attachment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from second_brain.index.catalog import LinkRow
    from second_brain.index.reader import Reader

_KINDS = {str(kind): kind for kind in LinkKind}


def network_of(reader: Reader) -> Network:
    """The network of the state that *reader* sees; to be used within its snapshot."""
    return reader.derived("network", lambda: Network(reader))


class Network:
    """Links in both directions, found through the index or, when all are asked for, from one pass over them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._resolver = LinkResolver(_IndexedNames(reader))

    def links_from(self, path: str) -> list[tuple[LinkRow, str | None]]:
        """The links of the note *path* to other notes in the order of the text, each with the path that it leads to.

        None: it leads to no visible note.  Links to attachments are left out.
        """
        return list(self._resolved(catalog.links(self._reader, path), self._resolver))

    def links_to(self, path: str) -> list[LinkRow]:
        """The links of other notes that lead to *path*, in path and text order."""
        keys = {key for name in catalog.names_of(self._reader, path) for key in schema.name_keys(name)}
        rows = self._resolved(catalog.links_by_key(self._reader, sorted(keys)), self._resolver)
        return [row for row, target in rows if target == path]

    def links_to_unwritten(self, name: str) -> list[LinkRow]:
        """The links that lead to no note but would to one called *name* (a path or the end of one), in path and text order."""
        rows = self._resolved(catalog.links_by_key(self._reader, [schema.link_key(name)]), self._resolver)
        return [row for row, target in rows if target is None and links.ends_with(row.target, name)]

    def everything(self) -> Iterator[tuple[LinkRow, str | None]]:
        """All links, as `links_from` tells them, in path and text order."""
        names = NoteNames(catalog.aliases(self._reader).items())
        return self._resolved(catalog.links(self._reader), LinkResolver(names))

    def _resolved(self, rows: Sequence[LinkRow], resolver: LinkResolver) -> Iterator[tuple[LinkRow, str | None]]:
        for row in rows:
            target = resolver.resolve(row.target, row.source, kind=_KINDS[row.kind])
            if target != row.source and (target is not None or not is_attachment(row.target)):
                yield row, target


class _IndexedNames:
    """The names of the visible notes, looked up one by one."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._named: dict[str, list[str]] = {}
        self._called: dict[str, list[str]] = {}

    def named(self, key: str) -> Sequence[str]:
        if key not in self._named:
            rows = catalog.bearers(self._reader, schema.value_key(key), "stem")
            self._named[key] = [path for path, _ in rows if links.key(path.rpartition("/")[2]) == key]
        return self._named[key]

    def called(self, key: str) -> Sequence[str]:
        if key not in self._called:
            rows = {
                row for form in _written(key) for row in catalog.bearers(self._reader, schema.value_key(form), "alias")
            }
            self._called[key] = [path for path, alias in sorted(rows) if links.key(alias) == key]
        return self._called[key]

    def holds(self, path: str) -> bool:
        return catalog.note_at(self._reader, path) is not None


def _written(key: str) -> tuple[str, ...]:
    """How an alias may be written that is compared as *key*."""
    return (key, f"{key}.md", f"{key}/", f"/{key}", key.replace("/", "\\"))
