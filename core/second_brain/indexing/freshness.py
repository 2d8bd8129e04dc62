"""What of the vault changed since it was indexed, for answers that must not be out of date.

Every question costs a look at the time stamps of all files.  What changed is read and parsed, once per version of a file, and laid
over the index in memory; nothing is written.
"""

from __future__ import annotations

import threading
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.errors import InvalidParameter, NoteUnreadable, NotFound
from second_brain.index import catalog
from second_brain.index.reader import open_reader
from second_brain.indexing.preparing import Preparation
from second_brain.model import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from second_brain.index.note_rows import NoteRecord
    from second_brain.index.overlay import Overlay
    from second_brain.index.reader import Reader
    from second_brain.indexing.preparing import Rules
    from second_brain.model import FileStat
    from second_brain.vault.vault import Scan, Vault

MOST = 1_000
"""So many changed notes are read for an answer, about a millisecond each; more of them are what a sync is for."""


@dataclass(frozen=True, slots=True)
class _Changes:
    """`written` are notes that the index lacks or has in another version, `gone` those that it has and the vault has not."""

    written: Mapping[str, FileStat]
    gone: frozenset[str]


class Freshness:
    """Compares the vault with the index at *db_path*; for any number of threads."""

    def __init__(self, db_path: Path, vault: Callable[[], Vault], rules: Rules) -> None:
        self._db_path = db_path
        self._vault = vault
        self._rules = rules
        self._reader: Reader | None = None
        self._records: dict[str, tuple[FileStat, NoteRecord | None]] = {}
        self._changes = _Changes({}, frozenset())
        self._overlay: Overlay | None = None
        self._lock = threading.Lock()

    def overlay(self, scope: Scope) -> tuple[Overlay | None, int]:
        """What to lay over the index within *scope* (None: nothing), and how many changed notes were too many to be read.

        Raises `VaultUnavailable`, and `IndexUnavailable` as `open_reader` does.
        """
        with self._lock:
            vault = self._vault()
            changes = self._differences(vault.scan(), scope)
            left = len(changes.written) if len(changes.written) > MOST else 0
            if left:
                changes = _Changes({}, changes.gone)
            if changes != self._changes:
                self._overlay = self._made(vault, changes)
                self._changes = changes
            return self._overlay, left

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    def _differences(self, scan: Scan, scope: Scope) -> _Changes:
        """Compared with the whole index, whatever the scope: what lies outside is not new."""
        if self._reader is None:
            self._reader = open_reader(self._db_path, Scope())
        reader = self._reader
        with reader.snapshot():
            return _differences(scan, reader.derived("stamps", lambda: catalog.file_stats(reader)), scope)

    def _made(self, vault: Vault, changes: _Changes) -> Overlay | None:
        self._records = {
            path: self._records[path]
            if path in self._records and self._records[path][0] == stat
            else (stat, self._record(vault, path))
            for path, stat in changes.written.items()
        }
        records = [record for _, record in self._records.values() if record is not None]
        if not (records or changes.gone):
            return None
        from second_brain.index.overlay import overlay_of  # noqa: PLC0415 - seldom needed

        return overlay_of(records, changes.gone)

    def _record(self, vault: Vault, path: str) -> NoteRecord | None:
        """The note as it is now; None when it cannot be read, and what the index has of it stays."""
        preparation = Preparation(vault, self._rules, {})
        try:
            return preparation.record(preparation.redacted(vault.read(path)))
        except (NotFound, NoteUnreadable, InvalidParameter):
            return None


def _differences(scan: Scan, known: Mapping[str, FileStat | None], scope: Scope) -> _Changes:
    written = {path: stat for path, stat in scan.files.items() if known.get(path) != stat and _may_be_seen(path, scope)}
    unsure = tuple(f"{folder}/" if folder else "" for folder in scan.incomplete_folders)
    gone = frozenset(path for path in known.keys() - scan.files.keys() if not path.startswith(unsure))
    return _Changes(written, gone)


def _may_be_seen(path: str, scope: Scope) -> bool:
    """False only for what lies outside of the scope's folders; tags are told by the note itself."""
    return not scope.folders or any(_plain(path).startswith(f"{_plain(folder)}/") for folder in scope.folders)


def _plain(path: str) -> str:
    return unicodedata.normalize("NFC", path.rstrip("/"))
