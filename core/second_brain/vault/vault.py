"""The files of a vault: listing, telling whether one changed, reading one.

Nothing outside the root is ever opened (followed folder links are the one exception, and off by default), nothing but a
regular file is ever opened, and nothing is ever written.
"""

# Paths are strings here: a scan touches every file, and Path objects would double its time.
# ruff: noqa: PTH111, PTH112, PTH115, PTH118, PTH120, PTH208

from __future__ import annotations

import errno
import hashlib
import os
import stat as stat_module
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from second_brain.errors import InvalidParameter, NoteUnreadable, NotFound, VaultUnavailable
from second_brain.model import FileStat, NoteFile, folder_of
from second_brain.vault.decode import decode
from second_brain.vault.ignore import IGNORE_FILE, IgnoreRules

_LAST_NS = 2**63 - 1
LONGEST_PATH = 4_000
_DELETED = " (deleted)"
MAX_NOTE_BYTES = 50 * 1024 * 1024

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe put in place of the note must not make us wait for a writer
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


@dataclass(frozen=True, slots=True)
class Scan:
    """The notes of a vault at one moment.

    `folders` counts those that were read.  `problems` tells by path why something is not in `files`.  Notes below one
    of `incomplete_folders` may exist although they are not listed: do not take them for deleted.
    """

    files: dict[str, FileStat] = field(default_factory=dict)
    folders: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    incomplete_folders: tuple[str, ...] = ()


def read_ignore_file(root: Path) -> str:
    """The text of the vault's own ignore file, "" without one.  Raises `VaultUnavailable` when it cannot be read."""
    path = root / IGNORE_FILE
    try:
        return decode(path.read_bytes())[0] if path.is_file() else ""
    except OSError as error:
        # Going on without it would index what its owner wanted left alone.
        raise VaultUnavailable(
            f"{path} cannot be read: {_reason(error)}", hint="Make the file readable or remove it."
        ) from error


class Vault:
    """The notes below *root*, as far as *rules* allow.

    With *follow_symlinks* a link to a folder that lies apart from the vault (and from every other followed folder) is
    listed as if it were a folder here, and a link to a note of the vault as if it were a note; without it no link is
    followed.  Raises `VaultUnavailable` when *root* is missing, not a folder or not readable.
    """

    def __init__(self, root: Path, rules: IgnoreRules, *, follow_symlinks: bool = False) -> None:
        self.root = Path(os.path.realpath(root))
        self._base = str(self.root)
        self._rules = rules
        self._follow_symlinks = follow_symlinks
        self._linked_folders: dict[str, str] | None = None
        self._list_root()

    def scan(self) -> Scan:
        """All notes now.  Raises `VaultUnavailable` when the vault itself has gone."""
        self._list_root()
        walk = _Walk(self._base, self._rules, follow_symlinks=self._follow_symlinks)
        result = walk.run()
        self._linked_folders = walk.linked_folders
        return result

    def eligible(self, path: str) -> bool:
        """True when *path* is well formed and names a note by the rules, whether or not it exists."""
        return _well_formed(path) and self._rules.allows(path)

    def stat(self, path: str) -> FileStat | None:
        """The stamp of a note, None without such a note.  Raises `NoteUnreadable` when that cannot be told."""
        try:
            found = self._locate(path)
        except NotFound:
            return None
        return _stamp(found[1])

    def read(self, path: str) -> NoteFile:
        """The note at *path*.  Raises `NotFound` when it is gone or no note, else `NoteUnreadable` with the reason."""
        real, _ = self._locate(path)
        try:
            descriptor = os.open(real, _OPEN_FLAGS)
        except FileNotFoundError as error:
            raise self._missing(path) from error
        except OSError as error:
            raise _unreadable(path, _reason(error)) from error
        try:
            raw, status = _contents(descriptor, path)
            moved = _place_of(descriptor, real) != real  # a folder on the way became a link while we were opening
        except OSError as error:
            raise _unreadable(path, _reason(error)) from error
        finally:
            os.close(descriptor)
        if moved:
            raise _unreadable(path, "it was moved while it was being read")
        text, problem = decode(raw)
        return NoteFile(path, text, _stamp(status), hashlib.sha256(raw).hexdigest(), problem)

    def absolute(self, path: str) -> Path:
        """Where the note *path* lies on disk."""
        return self.root / path

    def relative(self, argument: str) -> str:
        """The vault path that a person means by *argument*, absolute or relative to the root; it need not exist.

        Raises `InvalidParameter` for ``file_path`` when it does not lie inside the vault.
        """
        if not argument.strip() or "\0" in argument or len(argument) > LONGEST_PATH:
            raise self._not_inside(argument)
        typed = os.path.normpath(os.path.join(self._base, os.path.expanduser(argument)))
        real = os.path.realpath(typed)
        place = typed if _inside(typed, self._base) else real
        if not _inside(place, self._base):
            raise self._not_inside(argument)
        path = _relative(place, self._base)
        if not (_inside(real, self._base) or real == self._place(path)):
            raise self._not_inside(argument)
        return self._as_on_disk(path)

    def _list_root(self) -> None:
        try:
            os.scandir(self._base).close()
        except OSError as error:
            raise VaultUnavailable(
                f"The vault folder {self._base} cannot be read: {_reason(error)}",
                hint="Check that the folder exists, that its disk is connected and that you may read it.",
            ) from error

    def _locate(self, path: str) -> tuple[str, os.stat_result]:
        """The real place and the status of a note."""
        if not self.eligible(path):
            raise self._missing(path)
        real = os.path.realpath(os.path.join(self._base, path))
        if not self._reachable(path, real):
            raise self._missing(path)
        try:
            status = os.lstat(real)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._missing(path) from error
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise self._missing(path) from error  # no file can have this name
            raise _unreadable(path, _reason(error)) from error
        if not stat_module.S_ISREG(status.st_mode):
            raise self._missing(path)
        return real, status

    def _reachable(self, path: str, real: str) -> bool:
        """True when *path* leads to *real* through no link, or only through those that a scan follows."""
        place = self._place(path)
        if real == place:
            return True
        if not (self._follow_symlinks and _inside(real, self._base)):
            return False
        folder = os.path.dirname(place)
        return os.path.realpath(folder) == folder and self._rules.allows(_relative(real, self._base))

    def _place(self, path: str) -> str:
        """Where *path* lies when the followed folder links, and no others, are resolved."""
        if self._follow_symlinks and self._linked_folders is None:
            self.scan()
        links = self._linked_folders or {}
        link = max((link for link in links if path.startswith(f"{link}/")), key=len, default="")
        start, rest = (links[link], path[len(link) + 1 :]) if link else (self._base, path)
        return os.path.normpath(os.path.join(start, rest))

    def _as_on_disk(self, path: str) -> str:
        """*path* with each name spelt as on disk where only the Unicode form differs."""
        parts: list[str] = []
        for name in path.split("/"):
            folder = os.path.join(self._base, *parts)
            spelt = name
            if not name.isascii() and not os.path.lexists(os.path.join(folder, name)) and os.path.isdir(folder):
                composed = unicodedata.normalize("NFC", name)
                spelt = next((n for n in os.listdir(folder) if unicodedata.normalize("NFC", n) == composed), name)
            parts.append(spelt)
        return "/".join(parts)

    def _missing(self, path: str) -> NotFound:
        self._list_root()  # when the whole vault is away, no single note is to blame
        return NotFound(f"There is no note {path}", hint="Check the path, or search for the note by its title.")

    def _not_inside(self, argument: str) -> InvalidParameter:
        return InvalidParameter(
            f"{argument[:LONGEST_PATH]!r} is not a path inside the vault {self._base}",
            hint="Give a path relative to the vault, or an absolute one below it.",
            parameter="file_path",
        )


class _Walk:
    """One listing of a vault; folder links wait until the real folders are done, so that order never decides."""

    def __init__(self, base: str, rules: IgnoreRules, *, follow_symlinks: bool) -> None:
        self._base = base
        self._rules = rules
        self._follow_symlinks = follow_symlinks
        self._folders: list[tuple[str, str]] = [(base, "")]
        self._links: list[str] = []
        self._files: dict[str, FileStat] = {}
        self._problems: dict[str, str] = {}
        self._incomplete: list[str] = []
        self._count = 0
        self.linked_folders: dict[str, str] = {}  # the path here -> the real folder

    def run(self) -> Scan:
        while self._folders or self._links:
            while self._folders:
                self._list(*self._folders.pop())
            if self._links:
                self._links.sort(reverse=True)
                self._follow_folder(self._links.pop())
        return Scan(self._files, self._count, self._problems, tuple(sorted(self._incomplete)))

    def _list(self, place: str, folder: str) -> None:
        prefix = f"{folder}/" if folder else ""
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if not entry.name.startswith("."):
                        self._take(entry, prefix + entry.name)
        except FileNotFoundError:
            self._need(folder)  # deleted since its parent was listed
        except OSError as error:
            self._need(folder)
            self._problems[folder] = f"the folder cannot be read: {_reason(error)}"
            self._incomplete.append(folder)
        else:
            self._count += 1

    def _need(self, folder: str) -> None:
        """An unreadable root is no empty vault."""
        if not folder:
            raise VaultUnavailable(
                f"The vault folder {self._base} cannot be read", hint="Check that its disk is connected."
            )

    def _take(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            if entry.is_symlink():
                if self._follow_symlinks:
                    self._take_link(path)
            elif entry.is_dir(follow_symlinks=False):
                if self._rules.allows_folder(path) and self._representable(path):
                    self._folders.append((entry.path, path))
            elif (
                entry.name[-3:].lower() == ".md"
                and entry.is_file(follow_symlinks=False)
                and self._rules.allows(path)
                and self._representable(path)
            ):
                self._files[path] = _stamp(entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            return  # deleted since the folder was opened
        except OSError as error:
            self._problems[path] = f"the file cannot be looked at: {_reason(error)}"
            self._incomplete.append(folder_of(path))

    def _take_link(self, path: str) -> None:
        real = os.path.realpath(os.path.join(self._base, path))
        if os.path.isdir(real):
            if self._rules.allows_folder(path) and self._representable(path):
                self._links.append(path)
            return
        if not (_inside(real, self._base) and self._rules.allows(path) and self._representable(path)):
            return
        status = os.lstat(real)
        if stat_module.S_ISREG(status.st_mode) and self._rules.allows(_relative(real, self._base)):
            self._files[path] = _stamp(status)

    def _follow_folder(self, path: str) -> None:
        real = os.path.realpath(os.path.join(self._base, path))
        if not any(_overlap(real, other) for other in (self._base, *self.linked_folders.values())):
            self.linked_folders[path] = real
            self._folders.append((real, path))

    def _representable(self, path: str) -> bool:
        """False, and a problem, for a name that no database and no JSON can hold."""
        if path.isascii():
            return True
        try:
            path.encode()
        except UnicodeEncodeError:
            shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            self._problems[shown] = "the name is not valid UTF-8; rename it to have it indexed"
            return False
        return True


def _well_formed(path: str) -> bool:
    if "\0" in path or (os.sep != "/" and (os.sep in path or ":" in path)):
        return False
    return all(segment not in ("", ".", "..") for segment in path.split("/"))


def _relative(place: str, base: str) -> str:
    return os.path.relpath(place, base).replace(os.sep, "/")


def _inside(place: str, folder: str) -> bool:
    return place.startswith(folder if folder.endswith(os.sep) else folder + os.sep) and place != folder


def _overlap(one: str, other: str) -> bool:
    return one == other or _inside(one, other) or _inside(other, one)


def _stamp(status: os.stat_result) -> FileStat:
    # A time stamp outside of what a database holds (before 1678, after 2262) is as good as its nearest neighbour.
    return FileStat(max(-_LAST_NS, min(status.st_mtime_ns, _LAST_NS)), status.st_size)


def _contents(descriptor: int, path: str) -> tuple[bytes, os.stat_result]:
    """All bytes and the status from before they were read, so that a later write shows as a change."""
    status = os.fstat(descriptor)
    if not stat_module.S_ISREG(status.st_mode):
        raise _unreadable(path, "it is not a regular file")
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(descriptor, 1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_NOTE_BYTES:
            raise _unreadable(path, f"it is larger than {MAX_NOTE_BYTES // 1024**2} MB")
    return b"".join(pieces), status


def _place_of(descriptor: int, real: str) -> str:
    """Where an open file lies, *real* for one that was replaced or deleted there; Linux tells it at once."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").removesuffix(_DELETED)
    except OSError:
        return os.path.realpath(real)


def _unreadable(path: str, reason: str) -> NoteUnreadable:
    return NoteUnreadable(f"The note {path} cannot be read: {reason}", hint="Check the file and its permissions.")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
