"""Open the database file and turn every SQLite failure into an error a person can act on."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from second_brain.errors import IndexUnavailable, WriterBusy

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_MS = 5_000


@contextlib.contextmanager
def told_in_words(path: Path) -> Iterator[None]:
    """Within the block every SQLite exception becomes `IndexUnavailable` or `WriterBusy`, naming the database."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, apsw.FormatError) as error:
        raise corrupt(path) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        raise IndexUnavailable(
            f"The index {path} cannot be written: the file or its folder is read-only.",
            hint="Make it writable, or choose another place with --db.",
        ) from error
    except apsw.FullError as error:
        raise IndexUnavailable(
            f"The disk is full: the index {path} could not grow. What was indexed before is kept.",
            hint="Free some space, then run the same command again.",
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise WriterBusy(
            f"The index {path} is locked by another program.",
            hint="Wait for the other program to finish, or stop it.",
        ) from error
    except apsw.CantOpenError as error:
        raise IndexUnavailable(
            f"The index {path} cannot be opened.",
            hint="Check that the folder exists and that you may read and write it, or choose another place with --db.",
        ) from error
    except apsw.IOError as error:
        raise IndexUnavailable(
            f"Reading or writing the index {path} failed on the disk.",
            hint="Check the disk; the index can be rebuilt with: second-brain sync --mode full",
        ) from error


def corrupt(path: Path) -> IndexUnavailable:
    """The error for a file that is no usable database."""
    error = IndexUnavailable(
        f"The index {path} is damaged or is not a Second Brain index.",
        hint="Run `second-brain sync --mode full`: the damaged file is kept aside and a new index is built.",
    )
    error.damaged = True
    return error


def connect(path: Path) -> apsw.Connection:
    """A connection that may write, in WAL mode, with the durability of a cache (a power cut may lose the last commits,
    never the consistency).
    """
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(BUSY_MS)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -32000")
    return connection


def connect_readonly(path: Path) -> apsw.Connection:
    """A connection that cannot write; works on a read-only file system too."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    uri = "file:" + quote(str(path.absolute()))
    try:
        connection = apsw.Connection(f"{uri}?mode=ro", flags=flags)
        connection.execute("SELECT count(*) FROM sqlite_schema")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # A WAL database on a medium where no -shm file can be made: nobody can be writing either.
        connection = apsw.Connection(f"{uri}?immutable=1", flags=flags)
        connection.execute("SELECT count(*) FROM sqlite_schema")
    connection.set_busy_timeout(BUSY_MS)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA mmap_size = 1073741824")
    return connection


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
