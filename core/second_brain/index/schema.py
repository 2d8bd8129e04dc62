"""The tables, and the numbered steps that bring an older database up to date.

`files`, `embeddings` and `tags` keep the shape of the first version's databases: columns are only ever added.  Every note has
a `doc` number that is never used twice; all other tables hang on it, so a move changes one row.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from second_brain.errors import OutOfDate
from second_brain.index.connection import corrupt
from second_brain.index.line_marks import line_marks
from second_brain.index.text import fold
from second_brain.model import linked_name

if TYPE_CHECKING:
    from collections.abc import Iterable

LOG = logging.getLogger(__name__)
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can hold it, no database can

HASH_BYTES = 16
"""The length of a `text_hash`."""

FIRST_VERSION_MODEL = "v1:"
"""Opens the fingerprint of vectors that the first version made.  Their `embeddings.model` stays as that version wrote it."""

SCHEMA_VERSION = 3
"""What this program writes.  1 is the first version's database, which has no `meta` table."""

MIN_READER_VERSION = 2
"""What a program must at least understand to read a database that this program wrote."""

FILES = """CREATE TABLE IF NOT EXISTS files(
    path TEXT PRIMARY KEY, content_hash TEXT, content_mtime REAL, mtime REAL, size INTEGER,
    extracted TEXT, summary TEXT, indexed_at REAL)"""
FILES_ADDED = {
    "content_hash": "TEXT",
    "content_mtime": "REAL",
    "mtime": "REAL",
    "size": "INTEGER",
    "extracted": "TEXT",
    "summary": "TEXT",
    "indexed_at": "REAL",
    "doc": "INTEGER",
    "mtime_ns": "INTEGER",
    "title": "TEXT",
    "own_title": "TEXT",
    "words": "INTEGER NOT NULL DEFAULT 0",
    "english": "INTEGER NOT NULL DEFAULT 0",
    "form": "TEXT",
    "properties": "TEXT",
}
EMBEDDINGS = """CREATE TABLE IF NOT EXISTS embeddings(
    path TEXT PRIMARY KEY, model TEXT, dim INTEGER, vector BLOB, content_hash TEXT)"""
EMBEDDINGS_ADDED = {"model": "TEXT", "dim": "INTEGER", "vector": "BLOB", "content_hash": "TEXT"}
TAGS = """CREATE TABLE IF NOT EXISTS tags(
    path TEXT NOT NULL, tag TEXT NOT NULL, source TEXT NOT NULL DEFAULT 'frontmatter', key TEXT NOT NULL DEFAULT '',
    PRIMARY KEY(path, tag))"""
TAGS_ADDED = {"source": "TEXT NOT NULL DEFAULT 'frontmatter'", "key": "TEXT NOT NULL DEFAULT ''"}

OWN_TABLES = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS files_doc ON files(doc);
CREATE INDEX IF NOT EXISTS tags_tag ON tags(tag);
CREATE INDEX IF NOT EXISTS tags_key ON tags(key, path);
CREATE TABLE IF NOT EXISTS frontmatter(doc INTEGER NOT NULL, ordinal INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    folded TEXT NOT NULL, PRIMARY KEY(doc, ordinal)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS frontmatter_key ON frontmatter(key, folded, doc);
CREATE TABLE IF NOT EXISTS names(doc INTEGER NOT NULL, ordinal INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    folded TEXT NOT NULL, PRIMARY KEY(doc, ordinal)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS names_folded ON names(folded);
CREATE TABLE IF NOT EXISTS headings(doc INTEGER NOT NULL, ordinal INTEGER NOT NULL, level INTEGER NOT NULL,
    line INTEGER NOT NULL, text TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY(doc, ordinal)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS anchors(doc INTEGER NOT NULL, ordinal INTEGER NOT NULL, anchor TEXT NOT NULL,
    start INTEGER NOT NULL, stop INTEGER NOT NULL, PRIMARY KEY(doc, ordinal)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tasks(doc INTEGER NOT NULL, ordinal INTEGER NOT NULL, line INTEGER NOT NULL,
    done INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY(doc, ordinal)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links(doc INTEGER NOT NULL, ordinal INTEGER NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL,
    line INTEGER NOT NULL, col INTEGER NOT NULL, text TEXT NOT NULL, key TEXT NOT NULL DEFAULT '',
    PRIMARY KEY(doc, ordinal)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS problems(path TEXT PRIMARY KEY, reason TEXT NOT NULL,
    from_scan INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts(doc INTEGER PRIMARY KEY, text TEXT NOT NULL, exact BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS chunks(id INTEGER PRIMARY KEY, doc INTEGER NOT NULL, layout INTEGER NOT NULL,
    ordinal INTEGER NOT NULL, heading_path TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, first_token INTEGER NOT NULL, last_token INTEGER NOT NULL,
    prefix TEXT NOT NULL, text_hash BLOB NOT NULL, lines BLOB);
CREATE UNIQUE INDEX IF NOT EXISTS chunks_doc ON chunks(doc, layout, ordinal);
CREATE TABLE IF NOT EXISTS layouts(id INTEGER PRIMARY KEY, size INTEGER NOT NULL, overlap INTEGER NOT NULL,
    UNIQUE(size, overlap));
CREATE TABLE IF NOT EXISTS models(id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, dim INTEGER NOT NULL,
    layout INTEGER NOT NULL, state TEXT NOT NULL, UNIQUE(fingerprint, layout));
CREATE TABLE IF NOT EXISTS vectors(id INTEGER PRIMARY KEY, model INTEGER NOT NULL, chunk INTEGER, text_hash BLOB NOT NULL,
    vector BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_chunk ON vectors(model, chunk);
CREATE INDEX IF NOT EXISTS vectors_hash ON vectors(model, text_hash);
CREATE TABLE IF NOT EXISTS terms(term TEXT PRIMARY KEY, stem TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS terms_stem ON terms(stem) WHERE stem IS NOT NULL;
CREATE TABLE IF NOT EXISTS segments(id INTEGER PRIMARY KEY, docs INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS postings(segment INTEGER NOT NULL, term TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY(segment, term)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS graph_nodes(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, vector BLOB);
CREATE TABLE IF NOT EXISTS neighbours(node INTEGER NOT NULL, other INTEGER NOT NULL, cosine REAL NOT NULL,
    PRIMARY KEY(node, other)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS neighbours_other ON neighbours(other);
CREATE TABLE IF NOT EXISTS graph_changed(path TEXT PRIMARY KEY) WITHOUT ROWID;
"""

INDEX_OF_LINKS = "CREATE INDEX IF NOT EXISTS links_key ON links(key)"
"""On a column that older databases get first."""

NOTE_TABLES = ("frontmatter", "names", "headings", "anchors", "tasks", "links", "texts", "chunks")
"""Tables with one or more rows per note, keyed by `doc`."""

GRAPH_TABLES = ("graph_nodes", "neighbours", "graph_changed")
"""What the graph of the whole vault knows."""

OVERLAY = "fresh"
"""What a reader's connection calls the database of notes that changed a moment ago (see `overlay`)."""

FIRST_OF_OVERLAYS = 1 << 40
"""Chunks of an overlay have numbers from here on: vectors of the index belong to none of them."""

TABLES = frozenset(re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", FILES + EMBEDDINGS + TAGS + OWN_TABLES))


def version_of(connection: apsw.Connection) -> int:
    """The schema version of a database: 0 when it is empty, 1 for the first version's."""
    names = _tables(connection)
    if {"key", "value"} <= _columns(connection, "meta"):
        row = str(connection.execute("SELECT value FROM meta WHERE key = 'index_schema_version'").get)
        if row.isdecimal():
            return int(row)
    if not names:
        return 0
    return 1


_HELD = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real', 'integer'", "BLOB": "'blob'"}


def verify_values(connection: apsw.Connection) -> None:
    """Look whether each value is of the type that its column declares; raises `apsw.CorruptError` otherwise.

    SQLite takes any value anywhere, so its own check finds no fault in a number where a text should be.  Columns that others added
    are theirs.
    """
    declared = apsw.Connection(":memory:")
    migrate(declared, Path(":memory:"))
    for table in sorted(TABLES & _tables(connection)):
        ours: list[Any] = declared.execute(f"PRAGMA table_info({table})").fetchall()
        for _, name, kind, *_ in ours:
            held = _HELD[kind] + ("" if name in ("path", "term") else ", 'null'")
            if connection.execute(f"SELECT EXISTS(SELECT 1 FROM {table} WHERE typeof({name}) NOT IN ({held}))").get:
                raise apsw.CorruptError
            if kind == "TEXT":
                for (value,) in connection.execute(
                    f"SELECT CAST({name} AS BLOB) FROM {table} WHERE {name} IS NOT NULL"
                ):
                    _check_utf8(value)


def _check_utf8(value: bytes) -> None:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise apsw.CorruptError from error


def check_readable(connection: apsw.Connection, path: Path) -> None:
    """Raises `OutOfDate` for a database that this program cannot read as it is."""
    version = version_of(connection)
    if version > SCHEMA_VERSION:
        needed = int(connection.execute("SELECT value FROM meta WHERE key = 'min_reader_version'").get or version)
        if needed > SCHEMA_VERSION:
            raise OutOfDate(
                f"The index {path} was written by a newer Second Brain (schema {version}; this one knows {SCHEMA_VERSION}).",
                hint="Update this program, or choose another place with --db.",
            )
    if 0 < version < SCHEMA_VERSION:
        raise OutOfDate(
            f"The index {path} was written by an older Second Brain (schema {version}).",
            hint="Run `second-brain sync` once: it brings the index up to date and keeps what is in it.",
        )


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Bring the database to `SCHEMA_VERSION` in one transaction; safe to kill and to run again.

    Raises `OutOfDate` for a database that is too new, or that holds foreign tables and none of ours.
    """
    version = version_of(connection)
    if version > SCHEMA_VERSION:
        raise OutOfDate(
            f"The index {path} was written by a newer Second Brain (schema {version}; this one knows {SCHEMA_VERSION}).",
            hint="Update this program, or choose another place with --db.",
        )
    if version == 1:
        _check_first_version(connection, path)
    with connection:
        for step, migration in enumerate((_to_version_2, _to_version_3), start=2):
            if version < step:
                migration(connection)
    if TABLES - _tables(connection):
        raise corrupt(path)


def _check_first_version(connection: apsw.Connection, path: Path) -> None:
    columns = _columns(connection, "files")
    if "path" not in columns:
        raise OutOfDate(
            f"The database {path} is not a Second Brain index, or is from before its first release.",
            hint="Choose another place with --db, or move this file away; the index is then built anew.",
        )


def _tables(connection: apsw.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def _columns(connection: apsw.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _add_columns(connection: apsw.Connection, table: str, wanted: dict[str, str]) -> None:
    present = _columns(connection, table)
    for name, declaration in wanted.items():
        if name not in present:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {declaration}")


def _to_version_2(connection: apsw.Connection) -> None:
    """From nothing, or from a first-version database in any state: add what is missing, backfill once."""
    for table, added in ((FILES, FILES_ADDED), (EMBEDDINGS, EMBEDDINGS_ADDED), (TAGS, TAGS_ADDED)):
        connection.execute(table)
        _add_columns(connection, table.split("(", 1)[0].split()[-1], added)
    highest = connection.execute("SELECT coalesce(max(doc), 0) FROM files").get
    paths = connection.execute("SELECT path FROM files WHERE doc IS NULL ORDER BY path").fetchall()
    connection.executemany(
        "UPDATE files SET doc = ? WHERE path = ?",
        ((doc, path) for doc, (path,) in enumerate(paths, start=highest + 1)),
    )
    connection.execute(OWN_TABLES)
    _backfill_tags(connection)
    highest = connection.execute("SELECT coalesce(max(doc), 0) FROM files").get
    connection.executemany(
        "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)",
        (
            ("index_schema_version", "2"),
            ("min_reader_version", str(MIN_READER_VERSION)),
            ("last_doc", str(highest)),
        ),
    )


def _to_version_3(connection: apsw.Connection) -> None:
    """What the graph needs: the names that links use, the lines of passages, and tables of its own."""
    connection.execute(OWN_TABLES)
    _add_columns(connection, "links", {"key": "TEXT NOT NULL DEFAULT ''"})
    _add_columns(connection, "chunks", {"lines": "BLOB"})
    links: list[Any] = connection.execute("SELECT doc, ordinal, target FROM links").fetchall()
    connection.executemany(
        "UPDATE links SET key = ? WHERE doc = ? AND ordinal = ?",
        ((link_key(target), doc, ordinal) for doc, ordinal, target in links),
    )
    _backfill_lines(connection)
    connection.execute(INDEX_OF_LINKS)
    connection.execute("INSERT OR IGNORE INTO graph_changed(path) SELECT path FROM files")
    set_meta(connection, "index_schema_version", "3")


def _backfill_lines(connection: apsw.Connection) -> None:
    chunks: list[Any] = connection.execute(
        "SELECT id, doc, start, stop FROM chunks WHERE lines IS NULL ORDER BY doc"
    ).fetchall()
    doc, text = -1, ""
    for number, owner, start, stop in chunks:
        if owner != doc:
            doc, text = owner, connection.execute("SELECT text FROM texts WHERE doc = ?", (owner,)).get or ""
        connection.execute("UPDATE chunks SET lines = ? WHERE id = ?", (line_marks(text[start:stop]), number))


def _backfill_tags(connection: apsw.Connection) -> None:
    # As bytes: what is no UTF-8 must not stop the others.
    rows: list[Any] = connection.execute(
        "SELECT path, CAST(extracted AS BLOB) FROM files WHERE extracted IS NOT NULL"
    ).fetchall()
    for path, extracted in rows:
        try:
            tags = _tags_of(json.loads(extracted))
        except (ValueError, RecursionError):
            LOG.warning("%s: its stored metadata cannot be read; its tags come back with the next sync", path)
            continue
        connection.executemany(
            "INSERT OR IGNORE INTO tags(path, tag, source) VALUES(?, ?, 'frontmatter')", ((path, tag) for tag in tags)
        )
    untold: list[Any] = connection.execute("SELECT DISTINCT tag FROM tags WHERE key = ''").fetchall()
    connection.executemany(
        "UPDATE tags SET key = ? WHERE tag = ? AND key = ''", ((tag_key(tag), tag) for (tag,) in untold)
    )


def _tags_of(extracted: Any) -> Iterable[str]:
    tags = extracted.get("tags") if isinstance(extracted, dict) else None
    if isinstance(tags, str):
        tags = tags.replace(",", " ").split()
    names = (tag.strip().lstrip("#") for tag in (tags if isinstance(tags, list) else ()) if isinstance(tag, str))
    return [name for name in names if name and _SURROGATE.search(name) is None]


def tag_key(tag: str) -> str:
    """What tag filters compare: normalised, without regard to case or a leading ``#``."""
    import unicodedata  # noqa: PLC0415

    return unicodedata.normalize("NFC", tag.lstrip("#").strip("/")).casefold()


def link_key(target: str) -> str:
    """What finds the links that can mean a note: its names and aliases folded like the last part of *target*."""
    return value_key(linked_name(target))


def name_keys(name: str) -> tuple[str, ...]:
    """The `link_key` of every target that can mean a note by its file name or alias *name*."""
    return tuple({link_key(name), value_key(name.replace("\\", "/").rpartition("/")[2])})


def hash_of(text: str) -> bytes:
    """`HASH_BYTES` bytes that tell texts apart."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=HASH_BYTES).digest()


def value_key(value: str) -> str:
    """What property filters compare."""
    return fold(value).strip()


def get_meta(connection: apsw.Connection, key: str, default: str = "") -> str:
    """A value of `meta`."""
    value = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).get
    return default if value is None else str(value)


def set_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Set a value of `meta`; the same value again changes nothing, so that readers keep what they derived."""
    connection.execute(
        "INSERT INTO meta(key, value) VALUES(?, ?)"
        " ON CONFLICT(key) DO UPDATE SET value = excluded.value WHERE value IS NOT excluded.value",
        (key, value),
    )
