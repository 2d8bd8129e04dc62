"""Open a database for writing: lock it, look at it, migrate it, or set a damaged one aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.errors import IndexUnavailable
from second_brain.index import connection as connections
from second_brain.index import schema, worker_file, writer_lock
from second_brain.index.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

    import apsw


def open_writer(path: Path, *, rebuild_damaged: bool = False) -> Writer:
    """Open *path* for writing, creating or migrating it.

    With *rebuild_damaged* every page and every value are looked at first; a damaged file is set aside and a new one made.  Damaged
    vectors alone are dropped, to be computed anew.

    Raises `WriterBusy` when another process writes it, `IndexUnavailable` when it is damaged or cannot be written,
    `OutOfDate` when a newer program made it.
    """
    path = connections.real(path)
    connections.refuse_foreign_file(path)
    lock = writer_lock.acquire(path)
    worker_file.forget(path)  # whoever kept this index and has not the lock any more was killed
    try:
        try:
            connection = _opened(path, verify=rebuild_damaged)
        except IndexUnavailable as error:
            if not (rebuild_damaged and error.damaged):
                raise
            connections.set_aside(path)  # under the lock, or it might be another writer's new one
            connection = _opened(path, verify=False)
        return Writer(path, connection, lock)
    except BaseException:
        lock.__exit__(None, None, None)
        raise


def _opened(path: Path, *, verify: bool) -> apsw.Connection:
    with connections.told_in_words(path):
        connection = connections.connect(path)
        try:
            if verify:
                connections.verify(connection)
            schema.migrate(connection, path)
            if verify:
                from second_brain.index import checking, vector_checks  # noqa: PLC0415 - load numpy

                checking.check(connection)
                with connection:
                    vector_checks.drop_damaged(connection)
        except BaseException:
            connection.close()
            raise
        return connection
