"""Make a scope hold by construction.

A connection gets TEMP VIEWs that shadow the note tables with the rows of the scope, and an authorizer that denies the tables
themselves: every query written against the plain table names is scoped without knowing it.  The word index and the vectors
stay readable, by number only; `words` and `vectors` join them to the scope's notes.

SQLite reports a statement that needs no column of a view, or its row number alone, as a look at the table itself, which is
denied: write ``count(doc)``, not ``count(*)``.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import apsw

from second_brain.index.schema import GRAPH_TABLES, NOTE_TABLES, OVERLAY, tag_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.model import Scope

_VIEWS = frozenset(
    {
        "files",
        "tags",
        "embeddings",
        "problems",
        *NOTE_TABLES,
        *GRAPH_TABLES,
        "indexed_files",
        "fresh_files",
        "hidden",
        "moved",
    }
)
_PRIVATE = _VIEWS | {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"}
_BEHIND = ("main", OVERLAY)
_ALLOWED_ACTIONS = frozenset(
    {
        apsw.SQLITE_SELECT,
        apsw.SQLITE_READ,
        apsw.SQLITE_FUNCTION,
        apsw.SQLITE_RECURSIVE,
        apsw.SQLITE_TRANSACTION,
        apsw.SQLITE_SAVEPOINT,
    }
)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A database with notes; `files` is the view of those that can be seen."""

    database: str
    files: str


_INDEX_ALONE = (_Layer("main", "files"),)
_OVERLAID = (_Layer("main", "indexed_files"), _Layer(OVERLAY, "fresh_files"))


_VECTOR = "t.model AS model, t.dim AS dim, t.vector AS vector, t.content_hash AS content_hash"
_EMBEDDINGS = (
    f"SELECT t.path AS path, {_VECTOR} FROM main.embeddings AS t"
    " WHERE EXISTS (SELECT 1 FROM temp.files AS f WHERE f.path = t.path)"
)
_MOVED = (
    f" UNION ALL SELECT m.path AS path, {_VECTOR} FROM {OVERLAY}.moved AS m JOIN main.embeddings AS t ON t.path = m.former"
    " WHERE EXISTS (SELECT 1 FROM temp.files AS f WHERE f.path = m.path)"
)


def install(connection: apsw.Connection, scope: Scope, *, overlaid: bool = False) -> None:
    """Shadow the note tables of *connection* by the rows that *scope* shows, and deny everything else.

    *overlaid*: an `overlay` is attached.  Its notes stand before those of the index, by the same rules.
    """
    layers = _OVERLAID if overlaid else _INDEX_ALONE
    for layer in layers:
        hidden = (
            f" AND path NOT IN (SELECT path FROM {OVERLAY}.hidden)" if overlaid and layer.database == "main" else ""
        )
        where = f"{_condition(scope, layer.database)}{hidden}"
        connection.execute(f"CREATE TEMP VIEW {layer.files} AS SELECT * FROM {layer.database}.files WHERE {where}")
    if overlaid:
        _view(connection, "files", [f"temp.{layer.files}" for layer in layers])
    _view(connection, "tags", [_of_notes("tags", "path", layer) for layer in layers])
    # Of a note that changed a moment ago these are as they were; of one that moved they are those of its former path.
    connection.execute(f"CREATE TEMP VIEW embeddings AS {_EMBEDDINGS}{_MOVED if overlaid else ''}")
    unread = f"main.problems WHERE {_folder_condition(scope)}"
    _view(connection, "problems", [_of_notes("problems", "path", _Layer("main", "files")) if scope.tags else unread])
    for table in NOTE_TABLES:
        # In the whole index none is without its note: rows come and go with it, in one transaction.
        whole = scope.whole_vault and not overlaid
        _view(connection, table, [f"main.{table}"] if whole else [_of_notes(table, "doc", layer) for layer in layers])
    for table in GRAPH_TABLES:
        # What the whole vault knows of its neighbours tells of notes outside; a scope finds its own.
        _view(connection, table, [f"main.{table}" if scope.whole_vault else f"main.{table} WHERE 0"])
    connection.execute("PRAGMA query_only = 1")
    # The names that the views shadow are known to SQLite from here on; no statement may look behind them.
    connection.authorizer = _authorize


def _of_notes(table: str, key: str, layer: _Layer) -> str:
    """The rows of *table* that belong to a note that can be seen."""
    return f"{layer.database}.{table} AS t WHERE EXISTS (SELECT 1 FROM temp.{layer.files} AS f WHERE f.{key} = t.{key})"


def _view(connection: apsw.Connection, table: str, sources: Sequence[str]) -> None:
    """A view in place of *table*, of the rows of all *sources*."""
    columns = "*"
    if len(sources) > 1:  # by name, for in a database that grew up they stand in another order
        info = connection.execute(f"PRAGMA {OVERLAY}.table_info({table})")
        columns = ", ".join(str(row[1]) for row in info)
    select = " UNION ALL ".join(f"SELECT {columns} FROM {source}" for source in sources)
    connection.execute(f"CREATE TEMP VIEW {table} AS {select}")


def _authorize(action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
    del second
    # *view* is also the name of any common table expression, which must open nothing.
    if action == apsw.SQLITE_READ and database in _BEHIND and first in _PRIVATE and view not in _VIEWS:
        return apsw.SQLITE_DENY
    if action == apsw.SQLITE_READ and first in _PRIVATE - _VIEWS:
        return apsw.SQLITE_DENY
    if action == apsw.SQLITE_PRAGMA:
        return apsw.SQLITE_OK if first == "data_version" else apsw.SQLITE_DENY
    return apsw.SQLITE_OK if action in _ALLOWED_ACTIONS else apsw.SQLITE_DENY


def _condition(scope: Scope, database: str) -> str:
    # A row without a number was written by the first version's program since our last sync.
    parts = ["doc IS NOT NULL", _folder_condition(scope)]
    for tag in scope.tags:
        key = tag_key(tag)
        parts.append(
            f"EXISTS (SELECT 1 FROM {database}.tags t WHERE t.path = files.path AND (t.key = "
            f"{_literal(key)} OR (t.key >= {_literal(key + '/')} AND t.key < {_literal(key + '0')})))"
        )
    return " AND ".join(parts)


def _folder_condition(scope: Scope) -> str:
    inside = " OR ".join(_below(folder) for folder in scope.folders) or "1"
    outside = "".join(f" AND NOT ({_below(folder)})" for folder in scope.excluded)
    return f"({inside}){outside}"


def _below(folder: str) -> str:
    """Paths below *folder*, segment by segment, each in either Unicode form a file system may have stored."""
    forms = ("/".join(parts) for parts in product(*map(_forms, folder.rstrip("/").split("/"))))
    return " OR ".join(f"(path >= {_literal(form + '/')} AND path < {_literal(form + '0')})" for form in forms)


def _forms(name: str) -> list[str]:
    return sorted({name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)})


def _literal(text: str) -> str:
    """*text* as an SQL literal; views cannot hold bound values."""
    return "CAST(x'" + text.encode("utf-8", "surrogateescape").hex() + "' AS TEXT)"
