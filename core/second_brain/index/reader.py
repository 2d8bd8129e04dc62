"""Read the index, inside a scope, one consistent state at a time.

Everything is read within ``with reader.snapshot():``; what is derived from a state (columns, vocabulary) is kept until another
process commits.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.errors import IndexUnavailable
from second_brain.index import columns as columns_of
from second_brain.index import connection as connections
from second_brain.index import schema, scope, words
from second_brain.index.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from second_brain.index.columns import Columns
    from second_brain.index.postings import Postings
    from second_brain.model import Scope


@dataclass(slots=True)
class Counters:
    """What a search cost, for tests and explanations."""

    vectors_read: int = 0
    texts_scanned: int = 0


class Reader:
    """A scoped, read-only view of one database.  Not for concurrent use: a lock serialises `snapshot` across threads."""

    def __init__(self, path: Path, scope_: Scope) -> None:
        self.path = path
        self.scope = scope_
        self.counters = Counters()
        self._lock = threading.RLock()
        self._depth = 0
        self._state: tuple[int, ...] | None = None
        self._columns: Columns | None = None
        self._occurrences: dict[str, tuple[NDArray[np.intp], Postings]] = {}
        self._vector_functions = False
        if not path.exists():
            raise IndexUnavailable(f"There is no index at {path} yet.", hint="Run: second-brain sync")
        with connections.told_in_words(path):
            self._connection = connections.connect_readonly(path)
            try:
                schema.check_readable(self._connection, path)
                if not schema.version_of(self._connection):
                    raise IndexUnavailable(f"The index {path} is empty.", hint="Run: second-brain sync")
                scope.install(self._connection, scope_)
            except BaseException:
                self._connection.close()
                raise
        self.vocabulary = Vocabulary(self)

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
        """One consistent state of the index for everything inside; may be nested."""
        with self._lock, connections.told_in_words(self.path):
            if self._depth:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                return
            self._connection.execute("BEGIN")
            self._depth = 1
            try:
                self._refresh()
                yield
            finally:
                self._depth = 0
                self._connection.execute("ROLLBACK")

    def _refresh(self) -> None:
        state = (int(self._connection.execute("PRAGMA data_version").get),)
        if state != self._state:
            self._state = state
            self._columns = None
            self._occurrences.clear()
            self.vocabulary.forget()

    @property
    def generation(self) -> tuple[int, ...] | None:
        """Changes whenever the database was changed by anyone."""
        return self._state

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

    def frequency(self, term: str) -> int:
        """In how many visible notes *term* occurs."""
        return len(self.occurrences(term)[0])

    def close(self) -> None:
        """Close the file; the reader cannot be used afterwards."""
        with self._lock:
            self._connection.close()


def open_reader(path: Path, scope_: Scope) -> Reader:
    """Open the index at *path* for reading inside *scope_*.

    Raises `IndexUnavailable` when there is none or it is damaged, `OutOfDate` when its schema does not fit.
    """
    return Reader(path, scope_)
