"""One writer per database: an operating-system lock beside the file, which dies with its process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.errors import IndexUnavailable, WriterBusy

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path


def acquire(path: Path) -> AbstractContextManager[object]:
    """The lock of the database *path*, held until its ``__exit__``; makes the folder where it is missing.

    Raises `WriterBusy` at once when another process has it, `IndexUnavailable` when the folder cannot be written.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - 20 ms that a reader does not need

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(str(path) + ".lock", timeout=0).acquire()
    except Timeout:
        raise WriterBusy(
            f"Another Second Brain process is writing the index {path}.",
            hint="It keeps the index current; wait for it or stop it. Searching works meanwhile.",
        ) from None
    except OSError as error:
        raise IndexUnavailable(
            f"The index {path} cannot be written: {error.strerror or error}.",
            hint="Make its folder writable, or choose another place with --db.",
        ) from error
