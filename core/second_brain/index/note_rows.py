"""The rows of one note."""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import TYPE_CHECKING

import numpy as np

from second_brain.index import postings
from second_brain.index.schema import tag_key, value_key
from second_brain.index.text import exact, fold, is_english, placed_terms
from second_brain.model import stem_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw
    from numpy.typing import NDArray

    from second_brain.index.writer import NoteRecord
    from second_brain.model import Chunk, ParsedNote

ENGLISH_SAMPLE = 2_000
"""So many terms tell a note's language."""

_SPACED_CHAR = re.compile(r"[^\W\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\uffff]")
_WORD_END = re.compile(r"[^\W\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\uffff]+\Z")
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def insert_note(connection: apsw.Connection, doc: int, record: NoteRecord) -> postings.TermVector:
    """Write every row of a note under the number *doc* and return its terms; rows of its former number are gone already."""
    note = record.note
    names, positions, before = _terms_and_edges(note.text, record.chunks)
    words = before[len(note.text)]
    _insert_file(connection, doc, record, words, english=is_english(names[:ENGLISH_SAMPLE]))
    _insert_tags(connection, note)
    _insert_parts(connection, doc, note)
    connection.execute(
        "INSERT INTO texts(doc, text, exact) VALUES(?, ?, ?)",
        (doc, note.text, exact(note.text).encode("utf-8", "replace")),
    )
    for layout, chunks in record.chunks.items():
        _insert_chunks(connection, doc, layout, chunks, before)
    return postings.TermVector(names, positions, postings.pack_fields(_field_terms(note)))


def _insert_file(connection: apsw.Connection, doc: int, record: NoteRecord, words: int, *, english: bool) -> None:
    file, note = record.file, record.note
    extracted = {
        "title": note.title,
        "tags": [tag.name for tag in note.tags if tag.source == "frontmatter"],
        "h2s": [heading.text for heading in note.headings if heading.level == 2],  # noqa: PLR2004
    }
    connection.execute(
        "INSERT INTO files(path, doc, content_hash, content_mtime, mtime, mtime_ns, size, extracted, indexed_at, title,"
        " own_title, words, english, form, properties) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(path) DO UPDATE SET doc = excluded.doc,"
        " content_mtime = CASE WHEN content_hash IS excluded.content_hash"
        " THEN coalesce(content_mtime, excluded.content_mtime) ELSE excluded.content_mtime END,"
        " content_hash = excluded.content_hash, mtime = excluded.mtime, mtime_ns = excluded.mtime_ns,"
        " size = excluded.size, extracted = excluded.extracted, indexed_at = excluded.indexed_at,"
        " title = excluded.title, own_title = excluded.own_title, words = excluded.words, english = excluded.english,"
        " form = excluded.form, properties = excluded.properties",
        (
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
        ),
    )


def _json(value: object) -> str:
    return _ENCODE(value)


def _insert_tags(connection: apsw.Connection, note: ParsedNote) -> None:
    connection.execute("DELETE FROM tags WHERE path = ?", (note.path,))
    connection.executemany(
        "INSERT OR IGNORE INTO tags(path, tag, source, key) VALUES(?, ?, ?, ?)",
        ((note.path, tag.name, tag.source.value, tag_key(tag.name)) for tag in note.tags),
    )


def _insert_parts(connection: apsw.Connection, doc: int, note: ParsedNote) -> None:
    names = [("title", note.title), ("stem", stem_of(note.path)), *(("alias", alias) for alias in note.aliases)]
    _insert(connection, "names", doc, ((kind, name, value_key(name)) for kind, name in names))
    _insert(connection, "frontmatter", doc, ((key, value, value_key(value)) for key, value in note.frontmatter.rows))
    _insert(
        connection,
        "headings",
        doc,
        ((heading.level, heading.line, heading.text, _json(list(heading.path))) for heading in note.headings),
    )
    _insert(
        connection,
        "anchors",
        doc,
        ((block.anchor, block.start, block.end) for block in note.blocks if block.anchor),
    )
    _insert(connection, "tasks", doc, ((task.line, int(task.done), task.text) for task in note.tasks))
    _insert(
        connection,
        "links",
        doc,
        ((link.target, link.kind.value, link.line, link.column, link.text) for link in note.links),
    )


def _insert(connection: apsw.Connection, table: str, doc: int, rows: Iterable[tuple[object, ...]]) -> None:
    numbered = [(doc, number, *row) for number, row in enumerate(rows)]
    if numbered:
        marks = ",".join("?" * len(numbered[0]))
        connection.executemany(f"INSERT INTO {table} VALUES({marks})", numbered)


def insert_chunks(connection: apsw.Connection, doc: int, layout: int, chunks: Sequence[Chunk], text: str) -> None:
    """Write the chunks of one more layout of the note *text*."""
    _insert_chunks(connection, doc, layout, chunks, _terms_and_edges(text, {layout: chunks})[2])


def _insert_chunks(
    connection: apsw.Connection, doc: int, layout: int, chunks: Sequence[Chunk], before: Mapping[int, int]
) -> None:
    connection.executemany(
        "INSERT INTO chunks(doc, layout, ordinal, heading_path, start, stop, start_line, end_line, first_token, last_token,"
        " prefix, text_hash) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
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
                text_hash(chunk.embedded),
            )
            for chunk in chunks
        ),
    )


def _terms_and_edges(
    text: str, chunks: Mapping[int, Sequence[Chunk]]
) -> tuple[list[str], NDArray[np.uint32], dict[int, int]]:
    """The terms of a text with their positions, and how many positions start before each edge of its chunks.

    The text is taken apart between the edges, once; a word that an edge cuts belongs to where it starts.
    """
    names: list[str] = []
    parts: list[NDArray[np.uint32]] = []
    before: dict[int, int] = {}
    count = last = 0
    edges = sorted({edge for each in chunks.values() for chunk in each for edge in (chunk.start, chunk.end)})
    for offset in [*edges, len(text)]:
        edge = offset
        if 0 < offset < len(text) and _SPACED_CHAR.match(text, offset):
            cut = _WORD_END.search(text, last, offset)
            edge = cut.start() if cut else offset
        if edge > last:
            found, places, width = placed_terms(text[last:edge])
            names += found
            parts.append(np.frombuffer(places, dtype=np.uint32) + np.uint32(count))
            count += width
            last = edge
        before[offset] = count + (edge < offset)
    return names, np.concatenate(parts) if parts else np.empty(0, dtype=np.uint32), before


def text_hash(embedded: str) -> bytes:
    """The key under which a text's vector is kept: 16 bytes."""
    return hashlib.blake2b(embedded.encode("utf-8", "replace"), digest_size=16).digest()


def _field_terms(note: ParsedNote) -> Iterable[list[str]]:
    """Terms of title (and file name), aliases, headings, tags: the order of `postings.FIELDS`."""
    stem = stem_of(note.path)
    title = note.title if fold(note.title) == fold(stem) else f"{note.title}\n{stem}"
    yield placed_terms(title)[0]
    yield placed_terms("\n".join(note.aliases))[0]
    yield placed_terms("\n".join(heading.text for heading in note.headings))[0]
    yield placed_terms("\n".join(tag.name for tag in note.tags))[0]
