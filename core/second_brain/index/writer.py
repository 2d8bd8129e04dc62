"""Write the index.  Exactly one writer per database, held by an operating-system lock that dies with its process.

Every method is one transaction; between two of them the index is complete and consistent, whatever kills the process.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw
import numpy as np

from second_brain.errors import IndexUnavailable, WriterBusy
from second_brain.index import connection as connections
from second_brain.index import postings, schema
from second_brain.index.note_rows import insert_chunks, insert_note
from second_brain.model import FileStat, Layout, stem_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from second_brain.model import Chunk, Move, NoteFile, ParsedNote


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note ready to be written: `note` parsed from the redacted text, `chunks` per layout number, `form` as in `files.form`."""

    file: NoteFile
    note: ParsedNote
    chunks: Mapping[int, Sequence[Chunk]]
    form: str


@dataclass(frozen=True, slots=True)
class KnownNote:
    """What the index knows of a note's file."""

    stat: FileStat | None
    content_hash: str
    form: str


@dataclass(frozen=True, slots=True)
class WaitingChunk:
    """A chunk without a vector; `embedded` is the text to embed."""

    id: int
    doc: int
    text_hash: bytes
    embedded: str


class Writer:
    """The one writer of a database; get it from `open_writer`."""

    def __init__(self, path: Path, connection: apsw.Connection, lock: contextlib.AbstractContextManager[object]) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock

    @property
    def connection(self) -> apsw.Connection:
        """For tests that look inside or inject faults."""
        return self._connection

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        with connections.told_in_words(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    # -- notes ---------------------------------------------------------------------------------------------------------

    def put_notes(self, records: Sequence[NoteRecord]) -> None:
        """Insert or replace notes.  Vectors of passages whose text was embedded before are taken over."""
        with self._transaction() as connection:
            next_doc = int(schema.get_meta(connection, "last_doc", "0")) + 1
            written = []
            for number, record in enumerate(records):
                self._forget_doc(connection, record.file.path)
                doc = next_doc + number
                written.append((doc, insert_note(connection, doc, record)))
            postings.write(connection, written)
            schema.set_meta(connection, "last_doc", str(next_doc + len(records) - 1))
            docs = [doc for doc, _ in written]
            self._adopt_vectors(connection, docs)
            self._refresh_note_vectors(connection, docs)
            postings.merge_if_due(connection, _live_docs(connection))

    def delete(self, paths: Sequence[str]) -> None:
        """Forget notes; vectors of their passages are kept for a text that comes back."""
        with self._transaction() as connection:
            for path in paths:
                self._forget_doc(connection, path)
                connection.execute("DELETE FROM files WHERE path = ?", (path,))
                connection.execute("DELETE FROM tags WHERE path = ?", (path,))
                connection.execute("DELETE FROM embeddings WHERE path = ?", (path,))
                connection.execute("DELETE FROM problems WHERE path = ?", (path,))
            postings.merge_if_due(connection, _live_docs(connection))

    def move(self, moves: Sequence[tuple[Move, FileStat]]) -> list[str]:
        """Re-key notes whose file moved, content unchanged.

        Returns the new paths whose name changed: their title may depend on it, so they must be put again (from
        `stored_text`, no file is read and nothing is embedded anew).
        """
        renamed = []
        with self._transaction() as connection:
            # Two steps, because notes may swap places.
            for number, (move, _) in enumerate(moves):
                _rekey(connection, move.old, f"\0{number}")
            for number, (move, stat) in enumerate(moves):
                connection.execute("DELETE FROM files WHERE path = ?", (move.new,))
                _rekey(connection, f"\0{number}", move.new)
                connection.execute(
                    "UPDATE files SET mtime = ?, mtime_ns = ?, size = ? WHERE path = ?",
                    (stat.mtime, stat.mtime_ns, stat.size, move.new),
                )
                if stem_of(move.old) != stem_of(move.new):
                    renamed.append(move.new)
        return renamed

    def touch(self, stats: Mapping[str, FileStat]) -> None:
        """Remember new time stamps of notes whose content is the same; the dates that filters use stay."""
        with self._transaction() as connection:
            connection.executemany(
                "UPDATE files SET mtime_ns = ?, size = ? WHERE path = ?",
                ((stat.mtime_ns, stat.size, path) for path, stat in stats.items()),
            )

    def put_problems(self, problems: Mapping[str, str], *, cleared: Iterable[str] = ()) -> None:
        """Remember why a file could not be (fully) read, and forget it for *cleared* ones."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM problems WHERE path = ?", ((path,) for path in cleared))
            connection.executemany("INSERT OR REPLACE INTO problems(path, reason) VALUES(?, ?)", problems.items())

    def replace_scan_problems(self, problems: Mapping[str, str], *, present: Iterable[str]) -> None:
        """Remember what a scan of the whole vault could not list, instead of what the one before could not.

        Problems of notes that are neither *present* nor in the index are forgotten too.
        """
        with self._transaction() as connection:
            connection.execute("DELETE FROM problems WHERE from_scan")
            connection.executemany(
                "INSERT OR REPLACE INTO problems(path, reason, from_scan) VALUES(?, ?, 1)", problems.items()
            )
            present = set(present)
            rows = connection.execute(
                "SELECT path FROM problems WHERE NOT from_scan AND path NOT IN (SELECT path FROM files)"
            ).fetchall()
            connection.executemany(
                "DELETE FROM problems WHERE path = ?", ((path,) for (path,) in rows if path not in present)
            )

    def _forget_doc(self, connection: apsw.Connection, path: str) -> None:
        doc = connection.execute("SELECT doc FROM files WHERE path = ?", (path,)).get
        if doc is None:
            return
        connection.execute(
            "UPDATE vectors SET chunk = NULL WHERE chunk IN (SELECT id FROM chunks WHERE doc = ?)", (doc,)
        )
        for table in schema.NOTE_TABLES:
            connection.execute(f"DELETE FROM {table} WHERE doc = ?", (doc,))

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
        with self._transaction() as connection:
            connection.execute("DELETE FROM tags WHERE path NOT IN (SELECT path FROM files)")
            connection.execute("DELETE FROM embeddings WHERE path NOT IN (SELECT path FROM files)")
            live = connection.execute("SELECT count(*) FROM vectors WHERE chunk IS NOT NULL").get
            spare = connection.execute("SELECT count(*) FROM vectors WHERE chunk IS NULL").get
            surplus = spare - max(1_000, live // 10)
            if surplus > 0:
                connection.execute(
                    "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors WHERE chunk IS NULL ORDER BY id LIMIT ?)",
                    (surplus,),
                )

    # -- models and vectors ---------------------------------------------------------------------------------------------

    def layout(self, layout: Layout) -> int:
        """The number of *layout*."""
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO layouts(size, overlap) VALUES(?, ?)", (layout.size, layout.overlap))
            return int(
                connection.execute(
                    "SELECT id FROM layouts WHERE size = ? AND overlap = ?", (layout.size, layout.overlap)
                ).get
            )

    def layouts_in_use(self) -> dict[int, Layout]:
        """The layouts of all models."""
        with connections.told_in_words(self.path):
            rows = self._connection.execute(
                "SELECT id, size, overlap FROM layouts WHERE id IN (SELECT layout FROM models)"
            )
            return {number: Layout(size, overlap) for number, size, overlap in rows}

    def begin_model(self, fingerprint: str, dim: int, layout: int) -> int:
        """The number of the model that is to answer from now on.

        Another active model goes on answering until `finish_model`; a half-built third one is dropped, its vectors stay as
        spare ones.
        """
        with self._transaction() as connection:
            row = connection.execute("SELECT id, dim, layout FROM models WHERE fingerprint = ?", (fingerprint,)).fetchone()
            if row is not None and row[1:] != (dim, layout):
                if row[1] != dim:
                    raise IndexUnavailable(
                        f"The model {fingerprint} now gives vectors of {dim} dimensions, the index holds {row[1]}.",
                        hint="Choose the former model, or run: second-brain sync --mode full",
                    )
                connection.execute("UPDATE vectors SET chunk = NULL WHERE model = ?", (row[0],))
                connection.execute("UPDATE models SET layout = ?, state = 'building' WHERE id = ?", (layout, row[0]))
            if row is None:
                connection.execute(
                    "INSERT INTO models(fingerprint, dim, layout, state) VALUES(?, ?, ?, 'building')",
                    (fingerprint, dim, layout),
                )
            model = int(connection.execute("SELECT id FROM models WHERE fingerprint = ?", (fingerprint,)).get)
            connection.execute("UPDATE models SET state = 'spare' WHERE state = 'building' AND id <> ?", (model,))
            state = connection.execute("SELECT state FROM models WHERE id = ?", (model,)).get
            has_active = connection.execute("SELECT count(*) FROM models WHERE state = 'active'").get
            if state != "active":
                has_notes_of_others = has_active or connection.execute("SELECT count(*) FROM embeddings").get
                new_state = "building" if has_notes_of_others else "active"
                connection.execute("UPDATE models SET state = ? WHERE id = ?", (new_state, model))
                docs = [doc for (doc,) in connection.execute("SELECT DISTINCT doc FROM chunks WHERE layout = ?", (layout,))]
                self._adopt_vectors(connection, docs)
            return model

    def notes_without_chunks(self, layout: int) -> list[tuple[int, str]]:
        """Notes (doc, path) that were never cut by *layout*, in path order."""
        with connections.told_in_words(self.path):
            return self._connection.execute(
                "SELECT f.doc, f.path FROM files f JOIN texts t ON t.doc = f.doc"
                " WHERE t.text <> '' AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.doc = f.doc AND c.layout = ?)"
                " ORDER BY f.path",
                (layout,),
            ).fetchall()

    def stored_text(self, doc: int) -> str:
        """The redacted text of a note, "" when it is gone."""
        with connections.told_in_words(self.path):
            return self._connection.execute("SELECT text FROM texts WHERE doc = ?", (doc,)).get or ""

    def waiting(self, model: int) -> list[int]:
        """Chunks that *model* has yet to embed, in path order."""
        with connections.told_in_words(self.path):
            rows = self._connection.execute(
                "SELECT c.id FROM models m CROSS JOIN files f CROSS JOIN chunks c ON c.doc = f.doc AND c.layout = m.layout"
                " WHERE m.id = ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = m.id AND v.chunk = c.id)"
                " ORDER BY f.path, c.ordinal",
                (model,),
            )
            return [chunk for (chunk,) in rows]

    def texts_to_embed(self, chunks: Sequence[int]) -> list[WaitingChunk]:
        """The texts of *chunks*, without those that vanished meanwhile."""
        with connections.told_in_words(self.path):
            rows = self._connection.execute(
                "SELECT c.id, c.doc, c.text_hash, c.prefix || substr(t.text, c.start + 1, c.stop - c.start)"
                " FROM chunks c JOIN texts t ON t.doc = c.doc WHERE c.id IN carray(?) ORDER BY c.id",
                (apsw.carray(np.array(chunks, dtype=np.int64)),),
            )
            return [WaitingChunk(*row) for row in rows]

    def path_of(self, doc: int) -> str:
        """The path of a note, "" when it is gone."""
        with connections.told_in_words(self.path):
            return self._connection.execute("SELECT path FROM files WHERE doc = ?", (doc,)).get or ""

    def put_chunks(self, layout: int, cuts: Sequence[tuple[int, str, Sequence[Chunk]]]) -> None:
        """Add the chunks of another layout to notes (doc, text, chunks) that are in the index already."""
        with self._transaction() as connection:
            for doc, text, chunks in cuts:
                connection.execute("DELETE FROM chunks WHERE doc = ? AND layout = ?", (doc, layout))
                insert_chunks(connection, doc, layout, chunks, text)
            self._adopt_vectors(connection, [doc for doc, _, _ in cuts])

    def put_vectors(self, model: int, vectors: Sequence[tuple[WaitingChunk, NDArray[np.float32]]]) -> None:
        """Store vectors; chunks that vanished meanwhile keep theirs as spare ones."""
        with self._transaction() as connection:
            for chunk, vector in vectors:
                blob = vector.astype("<f4", copy=False).tobytes()
                alive = connection.execute(
                    "SELECT 1 FROM chunks WHERE id = ? AND text_hash = ?", (chunk.id, chunk.text_hash)
                ).fetchone()
                if alive and connection.execute(
                    "SELECT 1 FROM vectors WHERE model = ? AND chunk = ?", (model, chunk.id)
                ).fetchone():
                    continue
                connection.execute(
                    "INSERT INTO vectors(model, chunk, text_hash, vector) VALUES(?, ?, ?, ?)",
                    (model, chunk.id if alive else None, chunk.text_hash, blob),
                )
            self._adopt_vectors(connection, sorted({chunk.doc for chunk, _ in vectors}))
            self._refresh_note_vectors(connection, sorted({chunk.doc for chunk, _ in vectors}))

    def finish_model(self, model: int) -> None:
        """Let *model* answer from now on: its note vectors replace the others', older models' vectors are dropped."""
        with self._transaction() as connection:
            state = connection.execute("SELECT state FROM models WHERE id = ?", (model,)).get
            if state == "active":
                return
            connection.execute("UPDATE models SET state = 'active' WHERE id = ?", (model,))
            connection.execute("DELETE FROM vectors WHERE model <> ?", (model,))
            connection.execute("DELETE FROM models WHERE id <> ?", (model,))
            connection.execute(
                "DELETE FROM chunks WHERE layout NOT IN (SELECT layout FROM models)",
            )
            connection.execute("DELETE FROM embeddings")
            docs = [doc for (doc,) in connection.execute("SELECT doc FROM files")]
            self._refresh_note_vectors(connection, docs)

    def _adopt_vectors(self, connection: apsw.Connection, docs: Sequence[int]) -> None:
        """Give chunks of *docs* the vectors that their text already has, from a spare row or from another chunk."""
        if not docs:
            return
        rows = connection.execute(
            "SELECT m.id, c.id, c.text_hash FROM chunks c JOIN models m ON m.layout = c.layout AND m.state <> 'spare'"
            " WHERE c.doc IN carray(?)"
            " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = m.id AND v.chunk = c.id) ORDER BY c.id",
            (apsw.carray(np.array(docs, dtype=np.int64)),),
        ).fetchall()
        for model, chunk, text_hash in rows:
            found = connection.execute(
                "SELECT id, chunk IS NULL FROM vectors WHERE model = ? AND text_hash = ? ORDER BY chunk IS NOT NULL LIMIT 1",
                (model, text_hash),
            ).fetchone()
            if found is None:
                continue
            vector, is_spare = found
            if is_spare:
                connection.execute("UPDATE vectors SET chunk = ? WHERE id = ?", (chunk, vector))
            else:
                connection.execute(
                    "INSERT INTO vectors(model, chunk, text_hash, vector)"
                    " SELECT model, ?, text_hash, vector FROM vectors WHERE id = ?",
                    (chunk, vector),
                )

    def _refresh_note_vectors(self, connection: apsw.Connection, docs: Sequence[int]) -> None:
        """The normalised mean of a note's passages, for notes of the active model whose passages all have vectors."""
        model = connection.execute("SELECT id, fingerprint, dim, layout FROM models WHERE state = 'active'").fetchone()
        if model is None:
            return
        number, fingerprint, dim, layout = model
        for doc in docs:
            rows = connection.execute(
                "SELECT v.vector FROM chunks c LEFT JOIN vectors v ON v.model = ? AND v.chunk = c.id"
                " WHERE c.doc = ? AND c.layout = ? ORDER BY c.ordinal",
                (number, doc, layout),
            ).fetchall()
            path, content_hash = connection.execute(
                "SELECT path, content_hash FROM files WHERE doc = ?", (doc,)
            ).fetchone() or (None, None)
            if path is None:
                continue
            blobs = [blob for (blob,) in rows]
            if not blobs or any(blob is None for blob in blobs):
                connection.execute("DELETE FROM embeddings WHERE path = ?", (path,))
                continue
            mean = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), dim).astype(np.float64).mean(axis=0)
            norm = float(np.linalg.norm(mean))
            vector = (mean / norm if norm else mean).astype("<f4").tobytes()
            connection.execute(
                "INSERT OR REPLACE INTO embeddings(path, model, dim, vector, content_hash) VALUES(?, ?, ?, ?, ?)",
                (path, fingerprint, dim, vector, content_hash),
            )

    # -- state ------------------------------------------------------------------------------------------------------------

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Remember figures of the sync itself."""
        with self._transaction() as connection:
            for key, value in values.items():
                schema.set_meta(connection, key, value)

    def get_meta(self, key: str, default: str = "") -> str:
        """A remembered figure."""
        with connections.told_in_words(self.path):
            return schema.get_meta(self._connection, key, default)

    def close(self) -> None:
        """Write the log back into the file and release the lock."""
        try:
            with contextlib.suppress(apsw.Error):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.close()
        finally:
            self._lock.__exit__(None, None, None)


_KNOWN = "SELECT path, mtime_ns, size, content_hash, form FROM files"


def _known(row: tuple[str, int | None, int | None, str | None, str | None]) -> tuple[str, KnownNote]:
    path, mtime_ns, size, content_hash, form = row
    stat = None if mtime_ns is None or size is None else FileStat(mtime_ns, size)
    return path, KnownNote(stat, content_hash or "", form or "")


def _rekey(connection: apsw.Connection, old: str, new: str) -> None:
    for table in ("files", "tags", "embeddings", "problems"):
        connection.execute(f"DELETE FROM {table} WHERE path = ?", (new,))
        connection.execute(f"UPDATE {table} SET path = ? WHERE path = ?", (new, old))


def _live_docs(connection: apsw.Connection) -> NDArray[np.int64]:
    rows = connection.execute("SELECT doc FROM files ORDER BY doc").fetchall()
    return np.array(rows, dtype=np.int64).reshape(-1)


def open_writer(path: Path) -> Writer:
    """Open *path* for writing, creating or migrating it.

    Raises `WriterBusy` when another process writes it, `IndexUnavailable` when it is damaged or cannot be written,
    `OutOfDate` when a newer program made it.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - 20 ms that a reader does not need

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(str(path) + ".lock", timeout=0)
        held = lock.acquire()
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
    held.__enter__()
    try:
        with connections.told_in_words(path):
            connection = connections.connect(path)
            try:
                schema.migrate(connection, path)
            except BaseException:
                connection.close()
                raise
        return Writer(path, connection, held)
    except BaseException:
        lock.release(force=True)
        raise


def set_aside(path: Path) -> Path:
    """Move a damaged database out of the way and return where it is now."""
    kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    path.replace(kept)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return kept


__all__ = ["KnownNote", "NoteRecord", "WaitingChunk", "Writer", "open_writer", "set_aside"]
