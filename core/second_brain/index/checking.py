"""Look at everything in a database, for damage that SQLite itself lets pass and that surfaces as nonsense somewhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from second_brain.errors import IndexUnavailable
from second_brain.index import connection as connections
from second_brain.index import postings, schema, vector_checks
from second_brain.index.vector_checks import MOST_DIMENSIONS
from second_brain.model import LinkKind, TagSource

if TYPE_CHECKING:
    from pathlib import Path

_KINDS = ", ".join(f"'{kind.value}'" for kind in LinkKind)
_SOURCES = ", ".join(f"'{source.value}'" for source in TagSource)
_LARGEST = 1 << 31  # characters, lines, words
_SECONDS = 1e11  # since the epoch, either way; what file systems can hold is less
_NUMBERS = "'last_doc', 'last_sync', 'missing_since'"
_NONSENSE = (
    f"SELECT 1 FROM links WHERE kind NOT IN ({_KINDS})",
    f"SELECT 1 FROM tags WHERE source NOT IN ({_SOURCES})",
    "SELECT 1 FROM files WHERE properties IS NOT NULL AND (NOT json_valid(properties) OR json_type(properties) <> 'object')",
    "SELECT 1 FROM headings WHERE NOT json_valid(path) OR json_type(path) <> 'array'",
    "SELECT 1 FROM chunks WHERE NOT json_valid(heading_path) OR json_type(heading_path) <> 'array'",
    f"SELECT 1 FROM files WHERE abs(mtime) > {_SECONDS} OR abs(content_mtime) > {_SECONDS}",
    f"SELECT 1 FROM files WHERE words NOT BETWEEN 0 AND {_LARGEST}",
    f"SELECT 1 FROM chunks WHERE start < 0 OR stop < start OR stop > {_LARGEST}",
    f"SELECT 1 FROM chunks WHERE start_line < 1 OR end_line < start_line OR end_line > {_LARGEST}",
    f"SELECT 1 FROM models WHERE dim NOT BETWEEN 1 AND {MOST_DIMENSIONS}",
    "SELECT 1 FROM files WHERE doc IS NOT NULL AND doc NOT IN (SELECT doc FROM texts)",
    "SELECT 1 FROM postings WHERE segment NOT IN (SELECT id FROM segments)",
    f"SELECT 1 FROM segments WHERE id NOT BETWEEN 1 AND {_LARGEST}",
    f"SELECT 1 FROM meta WHERE key IN ({_NUMBERS}) AND value <> '' AND (value GLOB '*[^0-9.e+-]*' OR CAST(value AS REAL) < 0)",
    "SELECT 1 WHERE (SELECT max(doc) FROM files) > coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'last_doc'), 0)",
    *(
        f"SELECT 1 FROM {table} WHERE doc NOT IN (SELECT doc FROM files WHERE doc IS NOT NULL)"
        for table in schema.NOTE_TABLES
    ),
)


def check(connection: apsw.Connection) -> None:
    """Look at every page and every value; raises `apsw.CorruptError`.  Takes seconds for some thousand notes."""
    connections.verify(connection)
    schema.verify_values(connection)
    for query in _NONSENSE:
        if connection.execute(f"SELECT EXISTS({query})").get:
            raise apsw.CorruptError
    postings.verify(connection)


def check_file(path: Path) -> None:
    """As `check`, of the database at *path* and with its vectors; raises `IndexUnavailable`, `damaged` if it is that."""
    with connections.told_in_words(path):
        connection = connections.connect_readonly(path)
        try:
            check(connection)
            vector_checks.check(connection)
        except connections.SURPRISES as error:
            raise apsw.CorruptError from error  # nothing here fails but for what it is given
        finally:
            connection.close()


def is_damaged(path: Path) -> bool:
    """Whether `check_file` finds damage."""
    try:
        check_file(path)
    except IndexUnavailable as error:
        return error.damaged
    return False
