"""What of the vault changed since it was indexed, for answers that must not be out of date.

Every question costs a look at the time stamps of all files.  What changed is read and parsed, once per version of a file, and laid
over the index in memory; nothing is written.
"""

from __future__ import annotations

import threading
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from second_brain.errors import InvalidParameter, NoteUnreadable, NotFound, NotRedacted, OutOfDate, VaultUnavailable
from second_brain.index import catalog
from second_brain.index.reader import open_reader
from second_brain.indexing.preparing import Preparation
from second_brain.model import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from second_brain.index.catalog import IndexedFile
    from second_brain.index.note_rows import NoteRecord
    from second_brain.index.overlay import Overlay
    from second_brain.index.reader import Reader
    from second_brain.indexing.preparing import Rules
    from second_brain.model import FileStat
    from second_brain.vault.vault import Scan, Vault

MOST = 1_000
"""At most so many changed notes are read for an answer, about a millisecond each; more of them are what a sync is for."""

FEW = 5
"""From more notes than this not all are deleted at once: their disk is away."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the vault.  `left` changed notes were too many to be read: what is told is the index as it is."""

    vault: Vault
    left: int


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of a changed file; without a `record` nothing of it can be told: it is `hidden`, or else as the index has it."""

    stat: FileStat
    record: NoteRecord | None = None
    hidden: bool = False


@dataclass(slots=True)
class _Laid:
    """What an overlay was made of."""

    written: Mapping[str, FileStat] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    overlay: Overlay | None = None


class Freshness:
    """Compares the vault with the index at *db_path*, for readers in *scope*; for any number of threads."""

    def __init__(self, db_path: Path, scope: Scope, vault: Callable[[], Vault], rules: Rules) -> None:
        self._db_path = db_path
        self._scope = scope
        self._vault = vault
        self._rules = rules
        self._readers: dict[Scope, Reader] = {}
        self._versions: dict[str, _Version] = {}
        self._laid = _Laid()
        self._lock = threading.Lock()

    def lay_over(self, reader: Reader) -> Look:
        """Let *reader* see the vault as it is now, from its next snapshot on; a later look is never undone by an earlier one.

        Raises `VaultUnavailable`, `OutOfDate` when what may be shown has changed and a sync has yet to follow, and
        `IndexUnavailable` as `open_reader` does.
        """
        with self._lock:
            vault = self._vault()
            scan = vault.scan()
            index = self._reader(Scope())
            with index.snapshot():
                known = index.derived("files as read", lambda: catalog.indexed_files(index))
                changed, gone = _differences(scan, known, self._rules.form, self._scope)
                if len(known) > FEW and not scan.files:
                    raise _empty(vault)
                chosen, left = self._chosen(changed, known)
                written, gone = {path: scan.files[path] for path in chosen}, gone if not left else frozenset()
                if written != self._laid.written or gone != self._laid.gone:
                    self._laid = self._made(vault, index, written, gone, known)
            reader.lay_over(self._laid.overlay)
            return Look(vault, left)

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            for reader in self._readers.values():
                reader.close()
            self._readers.clear()

    def _reader(self, scope: Scope) -> Reader:
        if scope not in self._readers:
            self._readers[scope] = open_reader(self._db_path, scope)
        return self._readers[scope]

    def _chosen(self, changed: Sequence[str], known: Mapping[str, IndexedFile]) -> tuple[Sequence[str], int]:
        """Which of the *changed* notes are read, or none and how many there are: then the index is told as it is.

        In a scope of tags only a note itself tells whether it is inside.  Those that were come first; how many others there are is
        nobody's business.
        """
        if len(changed) <= MOST:
            return changed, 0
        if any(known[path].form != self._rules.form for path in changed if path in known):
            raise OutOfDate(
                "What the index may hold of notes has changed (redact_patterns, inline_tags, or the program).",
                hint="Run: second-brain sync",
            )
        if not self._scope.tags:
            return (), len(changed)
        scoped = self._reader(self._scope)
        with scoped.snapshot():
            seen = set(catalog.paths(scoped)) & set(changed)
        if len(seen) > MOST:
            return (), len(seen)
        return sorted(changed, key=lambda path: (path not in seen, path))[:MOST], 0

    def _made(
        self,
        vault: Vault,
        index: Reader,
        written: Mapping[str, FileStat],
        gone: frozenset[str],
        known: Mapping[str, IndexedFile],
    ) -> _Laid:
        preparation = Preparation(vault, self._rules, catalog.layout_in_use(index))
        versions = {path: self._version(preparation, path, stat, known.get(path)) for path, stat in written.items()}
        self._versions = {path: version for path, version in versions.items() if version is not None}
        if len(self._versions) < len(written):
            written = {}  # what could not be read is tried again by the next look
        records = [version.record for version in self._versions.values() if version.record is not None]
        hidden = gone | {path for path, version in self._versions.items() if version.hidden}
        if not (records or hidden):
            return _Laid(written, gone)
        from second_brain.index.overlay import overlay_of  # noqa: PLC0415 - seldom needed

        return _Laid(written, gone, overlay_of(records, hidden, _moves(records, gone, known)))

    def _version(
        self, preparation: Preparation, path: str, stat: FileStat, known: IndexedFile | None
    ) -> _Version | None:
        """The file as it is now; None when it cannot be read, and what the index has of it stays."""
        kept = self._versions.get(path)
        if kept is not None and kept.stat == stat:
            return kept
        try:
            file = preparation.redacted(preparation.vault.read(path))
        except NotRedacted:
            return _Version(stat, hidden=True)
        except (NotFound, NoteUnreadable, InvalidParameter):
            return None
        if known is not None and (known.content_hash, known.form) == (file.content_hash, self._rules.form):
            return _Version(stat)  # only its time stamp is another
        return _Version(stat, preparation.record(file))


def _differences(
    scan: Scan, known: Mapping[str, IndexedFile], form: str, scope: Scope
) -> tuple[list[str], frozenset[str]]:
    """Notes that the index lacks or has in another version or form, and those that it has and the vault has not."""
    changed = [
        path
        for path, stat in scan.files.items()
        if ((file := known.get(path)) is None or file.stat != stat or file.form != form) and _may_be_seen(path, scope)
    ]
    unsure = tuple(f"{folder}/" if folder else "" for folder in scan.incomplete_folders)
    gone = frozenset(path for path in known.keys() - scan.files.keys() if not path.startswith(unsure))
    return sorted(changed), gone


def _moves(records: Sequence[NoteRecord], gone: frozenset[str], known: Mapping[str, IndexedFile]) -> dict[str, str]:
    """For notes whose content lay under another path: that path."""
    by_content = {known[path].content_hash: path for path in sorted(gone, reverse=True)}
    return {
        record.file.path: by_content[record.file.content_hash]
        for record in records
        if record.file.path not in known and record.file.content_hash in by_content
    }


def _may_be_seen(path: str, scope: Scope) -> bool:
    """False for what lies outside of the scope's folders; tags are told by the note itself."""
    inside = not scope.folders or any(_lies_in(path, folder) for folder in scope.folders)
    return inside and not any(_lies_in(path, folder) for folder in scope.excluded)


def _lies_in(path: str, folder: str) -> bool:
    return _plain(path).startswith(f"{_plain(folder)}/")


def _plain(path: str) -> str:
    return path.rstrip("/") if path.isascii() else unicodedata.normalize("NFC", path.rstrip("/"))


def _empty(vault: Vault) -> VaultUnavailable:
    return VaultUnavailable(
        f"The vault folder {vault.root} holds none of the notes that were indexed.",
        hint="Is its disk connected? If they were deleted on purpose, run: second-brain sync",
    )
