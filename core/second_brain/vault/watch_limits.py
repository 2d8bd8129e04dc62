"""The limits of inotify: which folders it really watches, and when it lost events.

watchdog swallows the error of a folder that gets no watch, so the kernel's own list (``/proc/self/fdinfo``) is compared
with the folders on disk.  Where there is no such list, every folder counts as watched.
"""

from __future__ import annotations

import logging
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from second_brain.vault.changes import is_hidden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_WATCH = re.compile(r"^inotify wd:[0-9a-f]+ ino:([0-9a-f]+) ", re.MULTILINE)
_FDS = Path("/proc/self/fd")
_FDINFO = Path("/proc/self/fdinfo")


@dataclass(frozen=True, slots=True)
class Coverage:
    """All folders ("" is the root) and those of them without a watch, sorted."""

    total: int
    unwatched: tuple[str, ...] = ()

    @property
    def watched(self) -> int:
        """How many folders have a watch."""
        return self.total - len(self.unwatched)


def root_identity(root: Path) -> tuple[int, int] | None:
    """(device, inode) of the folder that *root* leads to, ``None`` when it is missing, no folder or not readable."""
    try:
        status = root.stat()
        os.scandir(root).close()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def inotify_descriptors() -> frozenset[int]:
    """The inotify instances that this process has open; empty off Linux."""
    found = set()
    with suppress(OSError):
        for descriptor in _FDS.iterdir():
            with suppress(OSError):  # the descriptor of the listing itself is closed again
                if descriptor.readlink().name.endswith("inotify"):
                    found.add(int(descriptor.name))
    return frozenset(found)


def list_folders(root: Path) -> dict[str, int]:
    """Inode by folder that events are followed for, the root as ""; links to folders are not entered."""
    folders = {}
    with suppress(OSError):
        folders[""] = root.stat().st_ino
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with suppress(OSError), os.scandir(root / below) as entries:
            for entry in entries:
                path = f"{below}/{entry.name}" if below else entry.name
                if not is_hidden(path) and entry.is_dir(follow_symlinks=False):
                    folders[path] = entry.inode()
                    waiting.append(path)
    return folders


def coverage(root: Path, descriptors: Iterable[int]) -> Coverage:
    """Compare the folders below *root* with the watches of the given inotify instances."""
    folders = list_folders(root)
    watched = _watched_inodes(descriptors)
    if watched is None:
        return Coverage(len(folders))
    if folders.get("") not in watched:
        # A layered file system numbers its inodes differently there: only the count can be compared.
        return Coverage(len(folders), () if len(watched) >= len(folders) else tuple(sorted(folders)))
    missing = (path for path, inode in folders.items() if inode not in watched)
    return Coverage(len(folders), tuple(sorted(path for path in missing if not _is_mount(root / path, watched))))


def _watched_inodes(descriptors: Iterable[int]) -> frozenset[int] | None:
    """Inodes with a watch, ``None`` when the kernel does not tell."""
    inodes: set[int] = set()
    told = False
    for descriptor in descriptors:
        with suppress(OSError):
            inodes.update(int(number, 16) for number in _WATCH.findall((_FDINFO / str(descriptor)).read_text()))
            told = True
    return frozenset(inodes) if told else None


def _is_mount(folder: Path, watched: frozenset[int]) -> bool:
    """True when *folder* is watched after all: a mount point's listed inode is that of the folder it covers."""
    try:
        return folder.stat().st_ino in watched
    except OSError:
        return True  # gone in the meantime


class OverflowLog(logging.Handler):
    """Calls *on_overflow* at the only sign of an overflow of the kernel's event queue: a line in watchdog's log."""

    _logger = logging.getLogger("watchdog.observers.inotify_c")

    def __init__(self, on_overflow: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._on_overflow = on_overflow

    def attach(self) -> None:
        """Begin to listen."""
        if not self._logger.isEnabledFor(logging.WARNING):
            self._logger.setLevel(logging.WARNING)
        self._logger.addHandler(self)

    def detach(self) -> None:
        """Listen no more."""
        self._logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record of the log."""
        if "overflow" in record.getMessage().lower():
            self._on_overflow()
