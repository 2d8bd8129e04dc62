"""Read the index, inside a scope, one consistent state at a time.

Everything is read within ``with reader.snapshot():``; what is derived from a state (columns, vocabulary) is kept until another
process commits.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from second_brain.errors import IndexUnavailable
from second_brain.index import checking, schema, scope, words
from second_brain.index import columns as columns_of
from second_brain.index import connection as connections
from second_brain.index.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from second_brain.index.columns import Columns
    from second_brain.index.overlay import Overlay
    from second_brain.index.postings import Postings
    from second_brain.model import Scope

T = TypeVar("T")


@dataclass(slots=True)
class Counters:
    """What a search cost, for tests and explanations."""

    vectors_read: int = 0
    texts_scanned: int = 0


class Reader:
    """A scoped, read-only view of one database.  Not for concurrent use: a lock serialises `snapshot` across threads."""

    def __init__(self, path: Path, scope_: Scope) -> None:
        self._named = path  # perhaps a link to the database
        self.path = connections.real(path)
        self.scope = scope_
        self.counters = Counters()
        self._lock = threading.RLock()
        self._owner = 0  # the thread that looks at the current state
        self._sound = -1  # the generation that was looked through and found undamaged
        self._data_version = -1
        self.generation = 0  # rises whenever the database was changed by anyone, or another one is in its place
        self.held: dict[str, Any] = {}  # what outlives a change of the database, but not another one in its place
        self._columns: Columns | None = None
        self._occurrences: dict[str, tuple[NDArray[np.intp], Postings]] = {}
        self._derived: dict[str, Any] = {}
        self._vector_functions = False
        self._overlay: Overlay | None = None
        self._file = self._identity()
        with connections.told_in_words(self.path):
            self._connection = self._open()
        self.vocabulary = Vocabulary(self)

    def _identity(self) -> tuple[int, int]:
        """Device and inode of the file."""
        try:
            status = self.path.stat()
        except OSError:
            raise IndexUnavailable(f"There is no index at {self.path} yet.", hint="Run: second-brain sync") from None
        return status.st_dev, status.st_ino

    def _open(self) -> apsw.Connection:
        connection = connections.connect_readonly(self.path)
        try:
            schema.check_readable(connection, self.path)
            if not schema.version_of(connection):
                raise IndexUnavailable(f"The index {self.path} is empty.", hint="Run: second-brain sync")
            if self._overlay is not None:
                connection.execute(f"ATTACH ':memory:' AS {schema.OVERLAY}")
                connection.deserialize(schema.OVERLAY, self._overlay.image)
            scope.install(connection, self.scope, overlaid=self._overlay is not None)
        except BaseException:
            connection.close()
            raise
        return connection

    def _reopen_if_replaced(self) -> None:
        """Go over to another file in the path's place: a rebuilt index must not be hidden by the open old one."""
        self.path = connections.real(self._named)
        file = self._identity()
        if file != self._file:
            self._reopen()
            self._file = file
            self.held.clear()

    def _reopen(self) -> None:
        connection = self._open()
        self._connection.close()
        self._connection, self._vector_functions = connection, False
        self._data_version = -1

    def lay_over(self, overlay: Overlay | None) -> None:
        """See from now on the notes of *overlay* in front of those of the index; None: the index alone."""
        with self._lock, connections.told_in_words(self.path):
            if overlay is not self._overlay:
                self._overlay = overlay
                self._reopen()

    @property
    def edited(self) -> frozenset[str]:
        """The notes whose text is newer than the index, and so than their vectors."""
        return frozenset() if self._overlay is None else self._overlay.edited

    @property
    def databases(self) -> tuple[str, ...]:
        """The databases that hold the words of visible notes."""
        return ("main",) if self._overlay is None else ("main", schema.OVERLAY)

    @property
    def connection(self) -> apsw.Connection:
        """The connection; statements see the scope's rows only."""
        return self._connection

    def load_vector_functions(self) -> None:
        """Make sqlite-vec's functions known, once."""
        if not self._vector_functions:
            connections.load_vector_functions(self._connection)
            self._vector_functions = True

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """One consistent state of the index for everything inside; may be nested.

        What surprises inside because the database is damaged is told as that.
        """
        if self._owner == threading.get_ident():
            yield
            return
        try:
            with self._state():
                yield
        except connections.SURPRISES as error:
            if self._is_damaged():
                raise connections.corrupt(self.path) from error
            raise

    @contextlib.contextmanager
    def _state(self) -> Iterator[None]:
        with self._lock, connections.told_in_words(self.path):
            self._reopen_if_replaced()
            self._connection.execute("BEGIN")
            self._owner = threading.get_ident()
            try:
                self._refresh()
                yield
            finally:
                self._owner = 0
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _is_damaged(self) -> bool:
        """Whether damage is found; looked for once in each state, and while others may use the reader."""
        generation = self.generation
        if self._sound == generation or not checking.is_damaged(self.path):
            self._sound = generation
            return False
        return True

    def _refresh(self) -> None:
        data_version = int(self._connection.execute("PRAGMA data_version").get)
        if data_version != self._data_version:
            self._data_version = data_version
            self.generation += 1
            self._columns = None
            self._occurrences.clear()
            self._derived.clear()
            self.vocabulary.forget()

    @property
    def columns(self) -> Columns:
        """Figures of every visible note."""
        if self._columns is None:
            self._columns = columns_of.load(self._connection)
        return self._columns

    def occurrences(self, term: str) -> tuple[NDArray[np.intp], Postings]:
        """The visible notes that hold *term* (places in `columns`), and where."""
        found = self._occurrences.get(term)
        if found is None:
            if len(self._occurrences) > 512:  # noqa: PLR2004 - a bound on memory, not a tuning knob
                self._occurrences.clear()
            found = self._occurrences[term] = words.visible(self, term)
        return found

    def derived(self, name: str, derive: Callable[[], T]) -> T:
        """What *derive* gives for this state of the index, computed once and kept under *name*."""
        if name not in self._derived:
            self._derived[name] = derive()
        value: T = self._derived[name]
        return value

    def frequency(self, term: str) -> int:
        """In how many visible notes *term* occurs."""
        return len(self.occurrences(term)[0])

    def bytes_on_disk(self) -> int:
        """The size of the database with what still stands in its log."""
        log = self.path.with_name(self.path.name + "-wal")
        return self.path.stat().st_size + (log.stat().st_size if log.exists() else 0)

    def close(self) -> None:
        """Close the file; the reader cannot be used afterwards."""
        with self._lock:
            self._connection.close()


def open_reader(path: Path, scope_: Scope) -> Reader:
    """Open the index at *path* for reading inside *scope_*.

    Raises `IndexUnavailable` when there is none or it is damaged, `OutOfDate` when its schema does not fit.
    """
    return Reader(path, scope_)
