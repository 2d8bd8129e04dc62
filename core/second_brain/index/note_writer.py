"""Write notes with their words into the index, inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from second_brain.index import graph_rows, note_rows, postings, problem_rows, schema, terms, vector_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw
    from numpy.typing import NDArray

    from second_brain.index.note_rows import NoteBatch, NoteRecord
    from second_brain.model import Chunk


class NoteWriter:
    """Remembers which terms it wrote; `forget` when a transaction was rolled back."""

    def __init__(self) -> None:
        self._written_terms: set[str] = set()

    def put(self, connection: apsw.Connection, records: Sequence[NoteRecord]) -> None:
        """Insert or replace notes; see `Writer.put_notes`."""
        next_doc = int(schema.get_meta(connection, "last_doc", "0")) + 1
        self.put_built(connection, note_rows.build(list(enumerate(records, start=next_doc))))

    def put_built(self, connection: apsw.Connection, batch: NoteBatch) -> None:
        """Insert or replace notes whose rows are built."""
        for path, problem in zip(batch.paths, batch.problems, strict=True):
            note_rows.forget(connection, path)
            problem_rows.put(connection, path, problem)
        note_rows.insert(connection, batch)
        graph_rows.mark(connection, batch.paths)
        postings.write(connection, batch.terms, self._written_terms)
        docs = batch.terms.docs.tolist()
        last = int(schema.get_meta(connection, "last_doc", "0"))
        schema.set_meta(connection, "last_doc", str(max([last, *docs])))
        vector_rows.adopt(connection, docs)
        vector_rows.refresh_notes(connection, docs)
        self.merge_if_due(connection)

    def put_chunks(
        self, connection: apsw.Connection, layout: int, cuts: Sequence[tuple[int, str, Sequence[Chunk]]]
    ) -> None:
        """Add the chunks of another layout to notes; see `Writer.put_chunks`."""
        for doc, text, chunks in cuts:
            connection.execute("DELETE FROM chunks WHERE doc = ? AND layout = ?", (doc, layout))
            note_rows.insert_chunks(connection, doc, layout, chunks, text)

    def delete(self, connection: apsw.Connection, paths: Sequence[str]) -> None:
        """Forget notes; see `Writer.delete`."""
        graph_rows.mark(connection, paths)
        for path in paths:
            note_rows.forget(connection, path)
            for table in ("files", "tags", "embeddings", "problems"):
                connection.execute(f"DELETE FROM {table} WHERE path = ?", (path,))
        self.merge_if_due(connection)

    def merge_if_due(self, connection: apsw.Connection) -> None:
        """Merge segments of the word index when there are many."""
        if postings.merge_if_due(connection, _live_docs(connection)):
            self._written_terms.clear()

    def purge(self, connection: apsw.Connection) -> None:
        """Leave no word of notes that are no more."""
        segments = [number for (number,) in connection.execute("SELECT id FROM segments")]
        if segments:
            postings.merge(connection, segments, _live_docs(connection))
        postings.purge_terms(connection)
        self._written_terms.clear()

    def forget(self) -> None:
        """Look terms up anew from here on."""
        self._written_terms.clear()

    def rest(self) -> None:
        """Give back the memory that very many notes took."""
        self._written_terms = set()
        terms.forget()


def _live_docs(connection: apsw.Connection) -> NDArray[np.int64]:
    rows = connection.execute("SELECT doc FROM files WHERE doc IS NOT NULL ORDER BY doc").fetchall()
    return np.array(rows, dtype=np.int64).reshape(-1)
