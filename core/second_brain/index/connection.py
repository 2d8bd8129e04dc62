"""Open the database file and turn every SQLite failure into an error a person can act on."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from second_brain.errors import IndexUnavailable, WriterBusy

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = logging.getLogger(__name__)

DATABASE_SUFFIX = ".db"
SQLITE_MARK = b"SQLite format 3\0"
BUSY_MS = 5_000
_FULL_BELOW = 1 << 20  # bytes

SURPRISES = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, MemoryError),
    *(apsw.SQLError, apsw.ConstraintError, apsw.MismatchError),
)
"""What comes of a value that no database of ours holds, or of a fault of our own: `checking` tells which."""


@contextlib.contextmanager
def told_in_words(path: Path) -> Iterator[None]:
    """Within the block every SQLite exception becomes `IndexUnavailable` or `WriterBusy`, naming the database."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, apsw.FormatError) as error:
        raise corrupt(path) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise IndexUnavailable(
            f"The index {path} cannot be written: the file or its folder is read-only.",
            hint="Make it writable, or choose another place with --db.",
        ) from error
    except apsw.FullError as error:
        raise _full(path) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise WriterBusy(
            f"The index {path} is locked by another program.",
            hint="Wait for the other program to finish, or stop it.",
        ) from error
    except (apsw.CantOpenError, apsw.ConnectionClosedError) as error:
        raise IndexUnavailable(
            f"The index {path} cannot be opened.",
            hint="Check that the folder exists and that you may read and write it, or choose another place with --db.",
        ) from error
    except apsw.IOError as error:
        if _no_space_left(path):  # what SQLite says when its shared memory file cannot grow
            raise _full(path) from error
        raise IndexUnavailable(
            f"Reading or writing the index {path} failed on the disk.",
            hint="Check the disk; the index can be rebuilt with: second-brain sync --mode full",
        ) from error
    except apsw.SQLError as error:
        if "no such" not in str(error):
            raise
        raise corrupt(path) from error  # a table or column of ours is missing


def _full(path: Path) -> IndexUnavailable:
    error = IndexUnavailable(
        f"The disk is full: the index {path} could not grow. What was indexed before is kept.",
        hint="Free some space, then run the same command again.",
    )
    error.passing = True
    return error


def _no_space_left(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _FULL_BELOW
    except OSError:
        return False


def corrupt(path: Path) -> IndexUnavailable:
    """The error for a file that is no usable database."""
    error = IndexUnavailable(
        f"The index {path} is damaged or is not a Second Brain index.",
        hint="Run `second-brain sync --mode full`: the damaged file is kept aside and a new index is built.",
    )
    error.damaged = True
    return error


def refuse_foreign_file(path: Path) -> None:
    """Raises `IndexUnavailable` for a file that neither is nor was a database; before it is locked, opened or moved.

    What looks like one is a file with SQLite's mark, an empty one, or one that is named as ours are: the mark may be damaged.
    """
    try:
        if not path.is_file() or path.suffix == DATABASE_SUFFIX:
            return
        with path.open("rb") as file:
            head = file.read(len(SQLITE_MARK))
    except OSError:
        return  # opening it as a database tells what is wrong
    if head and head != SQLITE_MARK:
        raise IndexUnavailable(
            f"{path} is not a Second Brain index, and is left as it is.", hint="Choose another place with --db."
        )


def real(path: Path) -> Path:
    """Where the database *path* lies: SQLite follows a link, and what lies beside the database must not have two names."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


class OpenedFiles:
    """Which files a connection works on: the database, its log and their shared memory, told by device and inode.

    Make it when the connection is open.  SQLite itself goes on writing into files that were deleted or replaced, and readers
    then see an old state, another one, or none.
    """

    def __init__(self, path: Path, named: Path) -> None:
        self._path = path
        self._named = named  # perhaps a link to *path*
        self._opened = self._now()

    def check(self) -> None:
        """Raises `IndexUnavailable` (`replaced`) when one of them is not at its path any more."""
        now = self._now()
        if real(self._named) != self._path or any(
            was is not None and now[name] != was for name, was in self._opened.items()
        ):
            error = IndexUnavailable(
                f"The index {self._path} was deleted or replaced while it was in use.",
                hint="Build it anew with: second-brain sync",
            )
            error.replaced = True
            raise error

    def _now(self) -> dict[str, tuple[int, int] | None]:
        found: dict[str, tuple[int, int] | None] = {}
        for suffix in ("", "-wal", "-shm"):
            try:
                status = self._path.with_name(self._path.name + suffix).stat()
            except OSError:
                found[suffix] = None
            else:
                found[suffix] = (status.st_dev, status.st_ino)
        return found


def set_aside(path: Path) -> Path:
    """Move a damaged database out of the way and return where it is now."""
    name = f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    kept = path.with_name(name)
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{name}-{number}")
    path.replace(kept)
    LOG.warning("%s was damaged and is kept as %s; a new index is built", path, kept.name)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return kept


def connect(path: Path) -> apsw.Connection:
    """A connection that may write, in WAL mode, with the durability of a cache (a power cut may lose the last commits,
    never the consistency).
    """
    connection = apsw.Connection(str(path))
    try:
        if connection.readonly("main"):
            raise apsw.ReadOnlyError(str(path))
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -32000")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
    except BaseException:
        connection.close()
        raise
    return connection


def verify(connection: apsw.Connection) -> None:
    """Look at every page; raises `apsw.CorruptError` when one does not fit the others."""
    if connection.execute("PRAGMA quick_check(1)").get != "ok":
        raise apsw.CorruptError


def connect_readonly(path: Path) -> apsw.Connection:
    """A connection that cannot write; works on a read-only file system too."""
    uri = "file:" + quote(str(path.absolute()))
    try:
        connection = _opened(f"{uri}?mode=ro")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if _has_unwritten_log(path):
            raise
        # A WAL database on a medium where no -shm file can be made: nobody can be writing either.
        connection = _opened(f"{uri}?immutable=1")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA mmap_size = 1073741824")
    return connection


def _opened(uri: str) -> apsw.Connection:
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        # Before the first statement: a writer that closes just now holds the file for a moment.
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("SELECT count(*) FROM sqlite_schema")
    except BaseException:
        connection.close()
        raise
    return connection


def _has_unwritten_log(path: Path) -> bool:
    """True when commits still lie beside the database, where an immutable connection would not see them."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def load_vector_functions(connection: apsw.Connection) -> None:
    """Make sqlite-vec's functions (`vec_distance_cosine`, …) known to *connection*."""
    import sqlite_vec  # noqa: PLC0415 - 8 ms that a search by words does not need

    try:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
    except apsw.ExtensionLoadingError as error:
        raise IndexUnavailable(
            "The vector extension (sqlite-vec) cannot be loaded.",
            hint="Reinstall the program; `second-brain doctor` checks it.",
        ) from error
    finally:
        connection.enable_load_extension(False)


def extension_version() -> str:
    """The versions of SQLite and sqlite-vec in use; raises `IndexUnavailable` when the extension cannot be loaded."""
    connection = apsw.Connection(":memory:")
    try:
        load_vector_functions(connection)
        return f"SQLite {apsw.sqlite_lib_version()}, sqlite-vec {connection.execute('SELECT vec_version()').get}"
    finally:
        connection.close()
