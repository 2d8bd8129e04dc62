"""Write the index.  Exactly one writer per database, held by an operating-system lock that dies with its process.

Every method is one transaction; between two of them the index is complete and consistent, whatever kills the process.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from second_brain import memory
from second_brain.index import connection as connections
from second_brain.index import graph_rows, problem_rows, schema, vector_rows
from second_brain.index.problem_rows import NOT_EMBEDDED
from second_brain.index.vector_rows import WaitingChunk
from second_brain.model import FileStat, Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from second_brain.index.note_rows import NoteBatch, NoteRecord
    from second_brain.index.note_writer import NoteWriter
    from second_brain.model import Chunk, Move


RESTING_CACHE_KB = 4_000
"""Writing vectors touches few pages again."""


@dataclass(frozen=True, slots=True)
class KnownNote:
    """What the index knows of a note's file."""

    stat: FileStat | None
    content_hash: str
    form: str


class Writer:
    """The one writer of a database; get it from `opening.open_writer`."""

    def __init__(
        self, path: Path, connection: apsw.Connection, lock: contextlib.AbstractContextManager[object], *, named: Path
    ) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._note_writer: NoteWriter | None = None
        self._files = connections.OpenedFiles(path, named)

    @property
    def connection(self) -> apsw.Connection:
        """For tests that look inside or inject faults."""
        return self._connection

    @contextlib.contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """One change of the database, for the other modules of `index`."""
        self.check_files()
        with connections.told_in_words(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._note_writer is not None:
                    self._note_writer.forget()
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """The current state, for the other modules of `index`; nobody but this writer changes it."""
        with connections.told_in_words(self.path):
            yield self._connection

    def check_files(self) -> None:
        """Raises `IndexUnavailable` (`replaced`) when the database was deleted or replaced; every change begins with it."""
        self._files.check()

    # -- notes ---------------------------------------------------------------------------------------------------------

    def put_notes(self, records: Sequence[NoteRecord]) -> None:
        """Insert or replace notes.  Vectors of passages whose text was embedded before are taken over."""
        with self.transaction() as connection:
            self._notes.put(connection, records)

    def put_built(self, batch: NoteBatch) -> None:
        """As `put_notes`, of rows that were built under numbers from `next_doc` on."""
        with self.transaction() as connection:
            self._notes.put_built(connection, batch)

    def next_doc(self) -> int:
        """The first number that no note has or had."""
        with connections.told_in_words(self.path):
            return int(schema.get_meta(self._connection, "last_doc", "0")) + 1

    @property
    def _notes(self) -> NoteWriter:
        if self._note_writer is None:
            # Loaded with numpy when there is something to write: a tenth of a second that an unchanged vault does without.
            from second_brain.index.note_writer import NoteWriter  # noqa: PLC0415

            self._note_writer = NoteWriter()
        return self._note_writer

    def delete(self, paths: Sequence[str]) -> None:
        """Forget notes; vectors of their passages are kept for a text that comes back."""
        with self.transaction() as connection:
            self._notes.delete(connection, paths)

    def move(self, moves: Sequence[tuple[Move, FileStat]], renewed: Sequence[NoteRecord] = ()) -> None:
        """Re-key notes whose file moved, content unchanged; nothing is embedded anew.

        *renewed* are those that read differently under their new path: another file name may mean another title.
        """
        with self.transaction() as connection:
            # Two steps, because notes may swap places.
            for number, (move, _) in enumerate(moves):
                _rekey(connection, move.old, f"\0{number}")
            for number, (move, stat) in enumerate(moves):
                _rekey(connection, f"\0{number}", move.new)
                connection.execute(
                    "UPDATE files SET mtime = ?, mtime_ns = ?, size = ? WHERE path = ?",
                    (stat.mtime, stat.mtime_ns, stat.size, move.new),
                )
            graph_rows.mark(connection, (path for move, _ in moves for path in (move.old, move.new)))
            if renewed:
                self._notes.put(connection, renewed)

    def touch(self, stats: Mapping[str, FileStat]) -> None:
        """Remember new time stamps of notes whose content is the same; the dates that filters use stay."""
        with self.transaction() as connection:
            connection.executemany(
                "UPDATE files SET mtime_ns = ?, size = ? WHERE path = ?",
                ((stat.mtime_ns, stat.size, path) for path, stat in stats.items()),
            )

    def put_unreadable(self, path: str, reason: str) -> None:
        """Remember why a file cannot be read.  What the index has of it stays, but counts as changed."""
        with self.transaction() as connection:
            problem_rows.put(connection, path, reason)
            connection.execute("UPDATE files SET mtime_ns = NULL WHERE path = ? AND mtime_ns IS NOT NULL", (path,))

    def put_refused(self, reasons: Mapping[int, str]) -> None:
        """Remember why passages of some notes (by doc) have no vector; what is wrong with a note itself matters more."""
        with self.transaction() as connection:
            problem_rows.put_refused(connection, reasons)

    def forget_refused(self, model: int) -> None:
        """Forget it for notes whose passages all have their vector by now."""
        with self.transaction() as connection:
            problem_rows.forget_refused(connection, vector_rows.waiting_notes(connection, model))

    def replace_scan_problems(self, problems: Mapping[str, str], *, present: Iterable[str]) -> None:
        """Remember what a scan of the whole vault could not list, instead of what the one before could not.

        Problems of notes that are neither *present* nor in the index are forgotten too.
        """
        with self.transaction() as connection:
            problem_rows.replace_scan_problems(connection, problems, set(present))

    def known(self) -> dict[str, KnownNote]:
        """What the index knows of every note's file."""
        with connections.told_in_words(self.path):
            return dict(map(_known, self._connection.execute(_KNOWN)))

    def known_of(self, paths: Iterable[str]) -> dict[str, KnownNote]:
        """As `known`, of just these paths."""
        with connections.told_in_words(self.path):
            rows = [self._connection.execute(f"{_KNOWN} WHERE path = ?", (path,)).fetchone() for path in sorted(paths)]
            return dict(_known(row) for row in rows if row is not None)

    def prune(self) -> None:
        """Drop rows that belong to no note, and vectors of vanished texts beyond a tenth of the living ones."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM tags WHERE path NOT IN (SELECT path FROM files)")
            connection.execute("DELETE FROM embeddings WHERE path NOT IN (SELECT path FROM files)")
            vector_rows.prune(connection)

    def forget_former_texts(self) -> bool:
        """Leave nothing of texts that are no more: no words, no spare vectors, no freed pages; false when that did not succeed.

        For when what may be stored has changed; takes as long as copying the file.  A reader that looks at the former state keeps
        it in the file.
        """
        with self.transaction() as connection:
            self._notes.purge(connection)
            connection.execute("DELETE FROM vectors WHERE chunk IS NULL")
        with connections.told_in_words(self.path):
            self._connection.execute("VACUUM")
            return not self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]

    # -- models and vectors ---------------------------------------------------------------------------------------------

    def layout(self, layout: Layout) -> int:
        """The number of *layout*."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO layouts(size, overlap) VALUES(?, ?)", (layout.size, layout.overlap)
            )
            return int(
                connection.execute(
                    "SELECT id FROM layouts WHERE size = ? AND overlap = ?", (layout.size, layout.overlap)
                ).get
            )

    def layouts_in_use(self) -> dict[int, Layout]:
        """The layouts of all models that notes are to be cut for."""
        with connections.told_in_words(self.path):
            rows = self._connection.execute(
                "SELECT id, size, overlap FROM layouts WHERE id IN (SELECT layout FROM models WHERE state <> 'former')"
            )
            return {number: Layout(size, overlap) for number, size, overlap in rows}

    def begin_model(self, fingerprint: str, dim: int, layout: int) -> int:
        """The number of the model that is to answer from now on.

        Another active model, or the same one in another layout, goes on answering until `finish_model`.  A half-built third
        one is put aside; its vectors are there should it be wanted again before.
        """
        with self.transaction() as connection:
            return vector_rows.begin_model(connection, fingerprint, dim, layout)

    def notes_without_chunks(self, layout: int) -> list[tuple[int, str]]:
        """Notes (doc, path) that were never cut by *layout*, in path order."""
        with connections.told_in_words(self.path):
            return vector_rows.notes_without_chunks(self._connection, layout)

    def stored_text(self, doc: int) -> str:
        """The redacted text of a note, "" when it is gone."""
        with connections.told_in_words(self.path):
            return self._connection.execute("SELECT text FROM texts WHERE doc = ?", (doc,)).get or ""

    def waiting(self, model: int) -> list[int]:
        """Chunks that *model* has yet to embed, in path order."""
        with connections.told_in_words(self.path):
            return vector_rows.waiting(self._connection, model)

    def embedded(self, model: int) -> int:
        """How many passages have a vector of *model*."""
        with connections.told_in_words(self.path):
            return int(
                self._connection.execute(
                    "SELECT count(*) FROM vectors WHERE model = ? AND chunk IS NOT NULL", (model,)
                ).get
            )

    def answering(self) -> tuple[int, str]:
        """The model whose vectors answer queries, and its fingerprint; (0, "") without one."""
        with connections.told_in_words(self.path):
            row = self._connection.execute("SELECT id, fingerprint FROM models WHERE state = 'active'").fetchone()
            return row or (0, "")

    def texts_to_embed(self, chunks: Sequence[int]) -> list[WaitingChunk]:
        """The texts of *chunks*, without those that vanished meanwhile."""
        with connections.told_in_words(self.path):
            return vector_rows.texts_to_embed(self._connection, chunks)

    def path_of(self, doc: int) -> str:
        """The path of a note, "" when it is gone."""
        with connections.told_in_words(self.path):
            return self._connection.execute("SELECT path FROM files WHERE doc = ?", (doc,)).get or ""

    def put_chunks(self, layout: int, cuts: Sequence[tuple[int, str, Sequence[Chunk]]]) -> None:
        """Add the chunks of another layout to notes (doc, text, chunks) that are in the index already."""
        with self.transaction() as connection:
            self._notes.put_chunks(connection, layout, cuts)
            vector_rows.adopt(connection, [doc for doc, _, _ in cuts])
            vector_rows.refresh_notes(connection, [doc for doc, _, _ in cuts])

    def put_vectors(self, model: int, vectors: Sequence[tuple[WaitingChunk, NDArray[np.float32]]]) -> None:
        """Store vectors; chunks that vanished meanwhile keep theirs as spare ones."""
        with self.transaction() as connection:
            for chunk, vector in vectors:
                vector_rows.insert(connection, model, chunk, vector)
            docs = sorted({chunk.doc for chunk, _ in vectors})
            vector_rows.adopt(connection, docs)
            vector_rows.refresh_notes(connection, docs)

    def finish_model(self, model: int) -> None:
        """Let *model* answer from now on.

        What other models and layouts left is dropped, but for the vectors of the model that answered before: it is dear to make
        them again should it be wanted back.
        """
        with self.transaction() as connection:
            vector_rows.finish_model(connection, model)

    # -- state ------------------------------------------------------------------------------------------------------------

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Remember figures of the sync itself."""
        with self.transaction() as connection:
            for key, value in values.items():
                schema.set_meta(connection, key, value)

    def get_meta(self, key: str, default: str = "") -> str:
        """A remembered figure."""
        with connections.told_in_words(self.path):
            return schema.get_meta(self._connection, key, default)

    def rest(self) -> None:
        """Give back the memory that very many notes took; the writer stays open."""
        if self._note_writer is not None:
            self._note_writer.rest()
        with connections.told_in_words(self.path):
            self._connection.execute(f"PRAGMA cache_size = -{RESTING_CACHE_KB}")
            self._connection.execute("PRAGMA shrink_memory")
        memory.trim()

    def close(self) -> None:
        """Write the log back into the file and release the lock."""
        try:
            with contextlib.suppress(apsw.Error):
                self._connection.set_busy_timeout(0)  # what a reader still needs stays in the log
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.close()
        finally:
            self._lock.__exit__(None, None, None)


# A row that the first version's program wrote has no number yet: its note counts as changed.
_KNOWN = "SELECT path, CASE WHEN doc IS NOT NULL THEN mtime_ns END, size, content_hash, form FROM files"


def _known(row: tuple[str, int | None, int | None, str | None, str | None]) -> tuple[str, KnownNote]:
    path, mtime_ns, size, content_hash, form = row
    stat = None if mtime_ns is None or size is None else FileStat(mtime_ns, size)
    return path, KnownNote(stat, content_hash or "", form or "")


def _rekey(connection: apsw.Connection, old: str, new: str) -> None:
    for table in ("files", "tags", "embeddings", "problems"):
        connection.execute(f"DELETE FROM {table} WHERE path = ?", (new,))
        connection.execute(f"UPDATE {table} SET path = ? WHERE path = ?", (new, old))


__all__ = ["NOT_EMBEDDED", "KnownNote", "WaitingChunk", "Writer"]
