"""Look at everything in a database, for damage that SQLite itself lets pass and that surfaces as nonsense somewhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from second_brain.errors import IndexUnavailable
from second_brain.index import connection as connections
from second_brain.index import postings, schema, vector_checks
from second_brain.model import LinkKind, TagSource

if TYPE_CHECKING:
    from pathlib import Path

SURPRISES = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""What our own code raises when it meets a value that no database of ours holds; or when it is wrong itself."""

_KINDS = ", ".join(f"'{kind.value}'" for kind in LinkKind)
_SOURCES = ", ".join(f"'{source.value}'" for source in TagSource)
_NONSENSE = (
    f"SELECT 1 FROM links WHERE kind NOT IN ({_KINDS})",
    f"SELECT 1 FROM tags WHERE source NOT IN ({_SOURCES})",
    "SELECT 1 FROM files WHERE properties IS NOT NULL AND NOT json_valid(properties)",
    "SELECT 1 FROM headings WHERE NOT json_valid(path)",
    "SELECT 1 FROM chunks WHERE NOT json_valid(heading_path)",
)


def check(connection: apsw.Connection) -> None:
    """Look at every page and every value; raises `apsw.CorruptError`.  Takes a second for some thousand notes."""
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
        finally:
            connection.close()


def is_damaged(path: Path) -> bool:
    """Whether `check_file` finds damage."""
    try:
        check_file(path)
    except IndexUnavailable as error:
        return error.damaged
    return False
