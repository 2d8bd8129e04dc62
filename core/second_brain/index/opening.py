"""Open a database for writing: lock it, look at it, migrate it, or set a damaged one aside."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import apsw

from second_brain.errors import IndexUnavailable
from second_brain.index import connection as connections
from second_brain.index import schema, worker_file, writer_lock
from second_brain.index.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def open_writer(path: Path, *, rebuild_damaged: bool = False) -> Writer:
    """Open *path* for writing, creating or migrating it.

    With *rebuild_damaged* every page and every value are looked at first; a damaged file is set aside and a new one made.  Damaged
    vectors alone are dropped, to be computed anew.

    Raises `WriterBusy` when another process writes it, `IndexUnavailable` when it is damaged or cannot be written,
    `OutOfDate` when a newer program made it.
    """
    named, path = path, connections.real(path)
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
        return Writer(path, connection, lock, named=named)
    except BaseException:
        lock.__exit__(None, None, None)
        raise


@contextlib.contextmanager
def writing(path: Path, *, rebuild_damaged: bool = False) -> Iterator[Writer]:
    """`open_writer` for the length of a block; what surprises there because the database is damaged is told as that."""
    writer = open_writer(path, rebuild_damaged=rebuild_damaged)
    try:
        yield writer
    except connections.SURPRISES as error:
        from second_brain.index import checking  # noqa: PLC0415 - loads numpy

        if checking.is_damaged(writer.path):
            raise connections.corrupt(writer.path) from error
        raise
    finally:
        writer.close()


def _verify(connection: apsw.Connection) -> None:
    from second_brain.index import checking, vector_checks  # noqa: PLC0415 - load numpy

    try:
        checking.check(connection)
        with connection:
            vector_checks.drop_damaged(connection)
    except connections.SURPRISES as error:
        raise apsw.CorruptError from error  # nothing here fails but for what it is given


def _opened(path: Path, *, verify: bool) -> apsw.Connection:
    with connections.told_in_words(path):
        connection = connections.connect(path)
        try:
            if verify:
                connections.verify(connection)
            schema.migrate(connection, path)
            if verify:
                _verify(connection)
        except BaseException:
            connection.close()
            raise
        return connection
