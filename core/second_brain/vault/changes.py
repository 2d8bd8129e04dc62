"""What changed, as functions of values: disk against index, and bursts of file events.

Nothing here touches the disk.  An event only means "look at this path"; size and time stamp say what to read, the
content hash is the truth, and the same hash gone and come is a move.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from second_brain.model import ChangeSet, FileStat, Move, folder_of
from second_brain.vault.ignore import IGNORE_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

CONFIRM_AFTER_S = 20.0
"""Seconds after which a second look confirms a mass disappearance."""

_FEW_NOTES = 5  # so few are read again in no time, should they come back


@dataclass(frozen=True, slots=True)
class Known:
    """A note as the index has it."""

    content_hash: str
    stat: FileStat


@dataclass(frozen=True, slots=True)
class Suspects:
    """Paths to look at more closely, each sorted."""

    changed: tuple[str, ...]  # new, or another size or time stamp: read and hash them
    missing: tuple[str, ...]


def diff(
    disk: Mapping[str, FileStat], known: Mapping[str, Known], *, incomplete_folders: Iterable[str] = ()
) -> Suspects:
    """Compare a scan with the index; nothing below an incomplete folder ("" is the root) counts as missing."""
    incomplete = tuple(incomplete_folders)
    changed = (path for path, stat in disk.items() if path not in known or known[path].stat != stat)
    missing = (path for path in known if path not in disk and not any(is_below(path, top) for top in incomplete))
    return Suspects(tuple(sorted(changed)), tuple(sorted(missing)))


def settle(suspects: Suspects, hashes: Mapping[str, str], known: Mapping[str, Known]) -> ChangeSet:
    """Decide by content what happened to *suspects*.

    *hashes* has the content hash of every changed path that could be read; one that is not in it is left out, so an
    unreadable note keeps what the index has.  Only a path that is new can be where a note moved to.
    """
    readable = [path for path in suspects.changed if path in hashes]
    touched = tuple(path for path in readable if path in known and known[path].content_hash == hashes[path])
    new = [path for path in readable if path not in known]
    moved = _pair({path: known[path].content_hash for path in suspects.missing}, {path: hashes[path] for path in new})
    settled = {move.new for move in moved}.union(touched)
    gone = {move.old for move in moved}
    return ChangeSet(
        written=tuple(path for path in readable if path not in settled),
        deleted=tuple(path for path in suspects.missing if path not in gone),
        moved=moved,
        touched=touched,
    )


def _pair(gone: Mapping[str, str], come: Mapping[str, str]) -> tuple[Move, ...]:
    """Moves between paths of equal hash: those of the same file name first, then in path order; each path once."""
    olds: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(gone):
        olds[gone[path]].append(path)
    moves = {}
    for same_name in (True, False):
        for new in sorted(come):
            fits = (old for old in olds[come[new]] if not same_name or _name(old) == _name(new))
            old = next(fits, None) if new not in moves else None
            if old is not None:
                olds[come[new]].remove(old)
                moves[new] = old
    return tuple(sorted((Move(old, new) for new, old in moves.items()), key=lambda move: (move.old, move.new)))


class RootState(StrEnum):
    """The vault's root folder, compared with the one that was indexed by its device and inode."""

    SAME = "same"
    REPLACED = "replaced"
    GONE = "gone"  # missing or not readable


def root_state(indexed: tuple[int, int] | None, now: tuple[int, int] | None) -> RootState:
    """Compare the root's (device, inode); ``None`` for *indexed* means that nothing was indexed before."""
    if now is None:
        return RootState.GONE
    return RootState.SAME if indexed in (None, now) else RootState.REPLACED


def mass_disappearance(
    known_count: int, missing_count: int, root: RootState, *, unreadable_folders: int = 0, seen_for_s: float = 0.0
) -> str:
    """Why the deletion of *missing_count* of *known_count* notes has to wait, or "" when it is to be followed.

    *seen_for_s*: how long ago a look first gave this result.  A deletion that leaves a note behind in a healthy vault
    is followed at once, however large; one that leaves nothing is followed when a look `CONFIRM_AFTER_S` later agrees.
    A vanished root, or another folder in its place without a known note (what a lost mount leaves), is never followed.
    """
    everything, most = missing_count >= known_count, 2 * missing_count >= known_count
    notes = "1 note" if missing_count == 1 else f"{missing_count} notes"
    lasting = (
        (root is RootState.GONE, f"The vault folder is missing or cannot be read; {notes} stay in the index."),
        (
            root is RootState.REPLACED and everything,
            f"Another folder without any known note is in the vault's place; {notes} stay in the index.",
        ),
    )
    until_confirmed = (
        (root is RootState.REPLACED and most, f"The vault folder was replaced and {notes} are missing"),
        (unreadable_folders > 0 and most, f"Folders cannot be read and {notes} are missing"),
        (everything and known_count > _FEW_NOTES, f"All {notes} vanished at once"),
    )
    if missing_count == 0:
        return ""
    reasons = [reason for holds, reason in lasting if holds]
    if seen_for_s < CONFIRM_AFTER_S:
        reasons += [f"{reason}; a second look decides." for holds, reason in until_confirmed if holds]
    return reasons[0] if reasons else ""


class EventKind(StrEnum):
    """What a file system event reports."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    MOVED = "moved"
    LOST = "lost"  # events were lost or may have been: look at everything


class PathEvent(NamedTuple):
    """One raw event, paths relative to the vault ("" is its root)."""

    kind: EventKind
    path: str
    dest: str = ""  # where a MOVED one went
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Where to look: at `paths`, below `folders` (outermost only), or with `overflow` at the whole vault."""

    paths: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    overflow: bool = False

    def __bool__(self) -> bool:
        return bool(self.paths or self.folders or self.overflow)

    def covers(self, path: str) -> bool:
        """True when a look at this batch looks at *path*."""
        return self.overflow or path in self.paths or any(is_below(path, folder) for folder in self.folders)


def coalesce(events: Sequence[PathEvent], eligible: Callable[[str], bool]) -> Batch:
    """Reduce raw events to the places to look at; *eligible* tells whether a path can be a note.

    Kind and order do not matter, because the disk decides what happened.  What the ignore file says concerns every path.
    """
    paths: set[str] = set()
    folders: set[str] = set()
    for event in events:
        for side in (event.path, event.dest):
            if event.folder and side and not is_hidden(side):
                folders.add(side)
            elif not event.folder and not is_ignored(side) and eligible(side):
                paths.add(side)
    everything = any(event.kind is EventKind.LOST or IGNORE_FILE in (event.path, event.dest) for event in events)
    return Batch(frozenset(paths), outermost(folders), everything)


def is_ignored(path: str) -> bool:
    """True for a file that no event is followed for: "", ``*.tmp``, ``*~`` and what is hidden."""
    return not path or path.endswith((".tmp", "~")) or is_hidden(path)


def is_hidden(path: str) -> bool:
    """True for a dot file or dot folder and everything below one."""
    return path.startswith(".") or "/." in path


def is_below(path: str, folder: str) -> bool:
    """True when *path* is *folder* or lies somewhere below it; everything is below ""."""
    return not folder or path == folder or path.startswith(folder + "/")


def outermost(folders: Iterable[str]) -> frozenset[str]:
    """*folders* without those that lie below another one of them."""
    every = frozenset(folders)
    return frozenset(folder for folder in every if not any(top in every for top in _parents(folder)))


def _parents(path: str) -> Iterable[str]:
    while path:
        path = folder_of(path)
        yield path


def _name(path: str) -> str:
    return path.rpartition("/")[2]
