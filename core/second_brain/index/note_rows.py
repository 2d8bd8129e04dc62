"""The rows of one note."""

from __future__ import annotations

import json
import time
from array import array
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.index import vector_rows
from second_brain.index.line_marks import line_marks
from second_brain.index.schema import NOTE_TABLES, hash_of, tag_key, value_key
from second_brain.index.term_batch import TermsBuilder, pack_fields
from second_brain.index.terms import placed_terms, position_starts, term_names
from second_brain.index.text import WORD, exact, fold, in_word, is_english
from second_brain.model import stem_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from second_brain.index.term_batch import Terms
    from second_brain.index.terms import PlacedTerms
    from second_brain.model import Chunk, NoteFile, ParsedNote

ENGLISH_SAMPLE = 500
"""So many terms tell a note's language."""

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note ready to be written: `note` parsed from the redacted text, `chunks` per layout number, `form` as in `files.form`."""

    file: NoteFile
    note: ParsedNote
    chunks: Mapping[int, Sequence[Chunk]]
    form: str

    @property
    def problems(self) -> str:
        """What kept the note from being read as it was meant, "" for nothing."""
        return "; ".join(problem for problem in (self.file.problem, *self.note.problems) if problem)


Rows = defaultdict[str, list[tuple[object, ...]]]
"""Rows by the statement that inserts them: one statement for many rows is what makes a batch fast."""


@dataclass(frozen=True, slots=True)
class NoteBatch:
    """Everything that is written of some notes; made without a database, perhaps in another process."""

    paths: tuple[str, ...]
    rows: Mapping[str, list[tuple[object, ...]]]
    terms: Terms
    problems: tuple[str, ...]


def build(records: Iterable[tuple[int, NoteRecord]]) -> NoteBatch:
    """The rows and terms of notes under their numbers; each record is done with before the next is asked for."""
    rows: Rows = defaultdict(list)
    builder = TermsBuilder()
    paths = []
    problems = []
    for doc, record in records:
        _add_note(rows, builder, doc, record)
        paths.append(record.file.path)
        problems.append(record.problems)
    return NoteBatch(tuple(paths), dict(rows), builder.terms(), tuple(problems))


def insert(connection: apsw.Connection, batch: NoteBatch) -> None:
    """Write the rows of *batch*; those of the notes' former numbers are gone already."""
    connection.executemany("DELETE FROM tags WHERE path = ?", [(path,) for path in batch.paths])
    for statement, values in batch.rows.items():
        connection.executemany(statement, values)


def _add_note(rows: Rows, builder: TermsBuilder, doc: int, record: NoteRecord) -> None:
    note = record.note
    body, before = _terms_and_edges(note.text, record.chunks)
    words = before[len(note.text)]
    rows[_FILE].append(
        _file_row(doc, record, words, english=is_english(body.names[:ENGLISH_SAMPLE], others=len(body.pairs)))
    )
    rows[_TAG] += [(note.path, tag.name, tag.source.value, tag_key(tag.name)) for tag in note.tags]
    _add_parts(rows, doc, note)
    rows["INSERT INTO texts(doc, text, exact) VALUES(?, ?, ?)"].append(
        (doc, note.text, exact(note.text).encode("utf-8", "replace"))
    )
    for layout, chunks in record.chunks.items():
        rows[_CHUNK] += _chunk_rows(doc, layout, chunks, before)
    builder.add(doc, body, pack_fields(_field_terms(note)))


_FILE = (
    "INSERT INTO files(path, doc, content_hash, content_mtime, mtime, mtime_ns, size, extracted, indexed_at, title,"
    " own_title, words, english, form, properties) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT(path) DO UPDATE SET doc = excluded.doc,"
    " content_mtime = CASE WHEN content_hash IS excluded.content_hash"
    " THEN coalesce(content_mtime, excluded.content_mtime) ELSE excluded.content_mtime END,"
    " content_hash = excluded.content_hash, mtime = excluded.mtime, mtime_ns = excluded.mtime_ns,"
    " size = excluded.size, extracted = excluded.extracted, indexed_at = excluded.indexed_at,"
    " title = excluded.title, own_title = excluded.own_title, words = excluded.words, english = excluded.english,"
    " form = excluded.form, properties = excluded.properties"
)
_TAG = "INSERT OR IGNORE INTO tags(path, tag, source, key) VALUES(?, ?, ?, ?)"
_CHUNK = (
    "INSERT INTO chunks(doc, layout, ordinal, heading_path, start, stop, start_line, end_line, first_token, last_token,"
    " prefix, text_hash, lines) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def _file_row(doc: int, record: NoteRecord, words: int, *, english: bool) -> tuple[object, ...]:
    file, note = record.file, record.note
    extracted = {
        "title": note.title,
        "tags": [tag.name for tag in note.tags if tag.source == "frontmatter"],
        "h2s": [heading.text for heading in note.headings if heading.level == 2],  # noqa: PLR2004
    }
    return (
        file.path,
        doc,
        file.content_hash,
        file.stat.mtime,
        file.stat.mtime,
        file.stat.mtime_ns,
        file.stat.size,
        _json(extracted),
        time.time(),
        note.title,
        note.own_title,
        words,
        int(english),
        record.form,
        _json(note.frontmatter.values),
    )


def _json(value: object) -> str:
    return _ENCODE(value)


def _add_parts(rows: Rows, doc: int, note: ParsedNote) -> None:
    names = [("title", note.title), ("stem", stem_of(note.path)), *(("alias", alias) for alias in note.aliases)]
    _add(rows, "names", doc, ((kind, name, value_key(name)) for kind, name in names))
    _add(rows, "frontmatter", doc, ((key, value, value_key(value)) for key, value in note.frontmatter.rows))
    _add(
        rows,
        "headings",
        doc,
        ((heading.level, heading.line, heading.text, _json(list(heading.path))) for heading in note.headings),
    )
    _add(
        rows,
        "anchors",
        doc,
        ((block.anchor, block.start, block.end) for block in note.blocks if block.anchor),
    )
    _add(rows, "tasks", doc, ((task.line, int(task.done), task.text) for task in note.tasks))
    _add(
        rows,
        "links",
        doc,
        (
            (link.target, link.kind.value, link.line, link.column, link.text, value_key(link.name))
            for link in note.links
        ),
    )


def _add(rows: Rows, table: str, doc: int, values: Iterable[tuple[object, ...]]) -> None:
    numbered = [(doc, number, *row) for number, row in enumerate(values)]
    if numbered:
        rows[f"INSERT INTO {table} VALUES({','.join('?' * len(numbered[0]))})"] += numbered


def forget(connection: apsw.Connection, path: str) -> None:
    """Drop what hangs on the number of the note at *path*, its vectors excepted: a text may come back."""
    doc = connection.execute("SELECT doc FROM files WHERE path = ?", (path,)).get
    if doc is None:
        return
    vector_rows.release(connection, doc)
    for table in NOTE_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE doc = ?", (doc,))


def insert_chunks(connection: apsw.Connection, doc: int, layout: int, chunks: Sequence[Chunk], text: str) -> None:
    """Write the chunks of one more layout of the note *text*."""
    before = _terms_and_edges(text, {layout: chunks})[1]
    connection.executemany(_CHUNK, _chunk_rows(doc, layout, chunks, before))


def _chunk_rows(doc: int, layout: int, chunks: Sequence[Chunk], before: Mapping[int, int]) -> list[tuple[object, ...]]:
    return [
        (
            doc,
            layout,
            chunk.ordinal,
            _json(list(chunk.heading_path)),
            chunk.start,
            chunk.end,
            chunk.start_line,
            chunk.end_line,
            before[chunk.start],
            before[chunk.end] - 1,
            chunk.embedded[: len(chunk.embedded) - len(chunk.text)],
            hash_of(chunk.embedded),
            line_marks(chunk.text),
        )
        for chunk in chunks
    ]


def _terms_and_edges(text: str, chunks: Mapping[int, Sequence[Chunk]]) -> tuple[PlacedTerms, dict[int, int]]:
    """The terms of a text with their positions, and how many positions start before each edge of its chunks.

    The text is taken apart in pieces that begin where a word does, so the terms do not depend on the chunks.
    """
    edges = sorted(
        {len(text), *(edge for each in chunks.values() for chunk in each for edge in (chunk.start, chunk.end))}
    )
    pieces: list[str] = []
    at: dict[int, tuple[int, int]] = {}  # edge -> how many pieces stand before it, and where its word begins
    last = looked_from = 0
    for offset in edges:
        start = _word_start(text, offset, looked_from, last)
        if start > last:
            pieces.append(text[last:start])
            last = start
        at[offset] = len(pieces), start
        looked_from = offset
    placed = placed_terms(pieces)
    ends = (0, *placed.ends)
    cut: dict[int, tuple[int, array[int]]] = {}
    return placed, {
        offset: ends[count] + (_positions_before(text, start, offset, cut) if start < offset else 0)
        for offset, (count, start) in at.items()
    }


def _word_start(text: str, offset: int, looked_from: int, start_there: int) -> int:
    """Where the word begins that *offset* cuts, *offset* when it cuts none; *start_there* answers for *looked_from* before it."""
    if not (0 < offset < len(text) and in_word().match(text, offset, offset + 1)):
        return offset
    # Backwards, and never over the same text twice: one word may be as long as a note.
    run = in_word().match(text[looked_from:offset][::-1])
    start = offset - (run.end() if run else 0)
    return start_there if start == looked_from else start


def _positions_before(text: str, start: int, offset: int, known: dict[int, tuple[int, array[int]]]) -> int:
    """How many positions of the word that begins at *start* or just behind begin before *offset*."""
    if start not in known:
        word = WORD.search(text, start)
        known[start] = (word.start(), position_starts(word.group())) if word else (start, array("I"))
    begin, places = known[start]
    return bisect_left(places, offset - begin)


def _field_terms(note: ParsedNote) -> Iterable[list[str]]:
    """Terms of title (and file name), aliases, headings, tags: the order of `term_batch.FIELDS`."""
    stem = stem_of(note.path)
    title = note.title if fold(note.title) == fold(stem) else f"{note.title}\n{stem}"
    yield term_names(title)
    yield term_names("\n".join(note.aliases))
    yield term_names("\n".join(heading.text for heading in note.headings))
    yield term_names("\n".join(tag.name for tag in note.tags))
