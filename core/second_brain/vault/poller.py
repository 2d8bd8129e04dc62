"""Find changes by looking, for folders that no event is delivered for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from second_brain.model import FileStat
from second_brain.vault.changes import EventKind, PathEvent, is_hidden, is_ignored
from second_brain.vault.ignore import IGNORE_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_Listing = dict[str, FileStat | None]  # by name; None is a folder


class Poller:
    """Remembers what the polled folders contained and reports differences as events.

    Each folder is looked at on its own, not below it.  The first look at a folder reports nothing.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: dict[str, _Listing] = {}

    def watch(self, folders: Iterable[str]) -> None:
        """Poll exactly *folders* ("" is the root) from now on."""
        wanted = set(folders)
        self._seen = {folder: listing for folder, listing in self._seen.items() if folder in wanted}
        for folder in wanted - self._seen.keys():
            self._seen[folder] = self._list(folder) or {}

    def look(self) -> list[PathEvent]:
        """What differs from the look before."""
        events: list[PathEvent] = []
        for folder, before in self._seen.items():
            now = self._list(folder)
            if now is not None:
                events.extend(_differences(folder, before, now))
                self._seen[folder] = now
        return events

    def _list(self, folder: str) -> _Listing | None:
        """``None`` when the folder cannot be read now; a missing one is empty."""
        listing: _Listing = {}
        try:
            with os.scandir(self._root / folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not is_hidden(entry.name):
                            listing[entry.name] = None
                    elif not is_ignored(entry.name) or (not folder and entry.name == IGNORE_FILE):
                        listing.update(_stat_of(entry))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError:
            return None
        return listing


def _stat_of(entry: os.DirEntry[str]) -> _Listing:
    try:
        status = entry.stat()
    except OSError:  # gone in the meantime, or a link that leads nowhere
        return {}
    return {entry.name: FileStat(status.st_mtime_ns, status.st_size)}


def _differences(folder: str, before: _Listing, now: _Listing) -> Iterator[PathEvent]:
    for name in sorted(before.keys() | now.keys()):
        path = f"{folder}/{name}" if folder else name
        if name not in now:
            yield PathEvent(EventKind.DELETED, path, folder=before[name] is None)
        elif name not in before:
            yield PathEvent(EventKind.CREATED, path, folder=now[name] is None)
        elif before[name] != now[name]:
            yield PathEvent(EventKind.MODIFIED, path, folder=None in (before[name], now[name]))
