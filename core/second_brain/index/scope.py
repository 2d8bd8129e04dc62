"""Make a scope hold by construction.

A connection gets TEMP VIEWs that shadow the note tables with the rows of the scope, and an authorizer that denies the tables
themselves: every query written against the plain table names is scoped without knowing it.  The word index and the vectors
stay readable, by number only; `words` and `vectors` join them to the scope's notes.

SQLite reports a statement that needs no column of a view, or its row number alone, as a look at the table itself, which is
denied: write ``count(doc)``, not ``count(*)``.
"""

from __future__ import annotations

import unicodedata
from itertools import product
from typing import TYPE_CHECKING

import apsw

from second_brain.index.schema import GRAPH_TABLES, NOTE_TABLES, tag_key

if TYPE_CHECKING:
    from second_brain.model import Scope

_BY_PATH = ("tags", "embeddings", "problems")
_VIEWS = frozenset({"files", *_BY_PATH, *NOTE_TABLES, *GRAPH_TABLES})
_PRIVATE = _VIEWS | {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"}
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


def install(connection: apsw.Connection, scope: Scope) -> None:
    """Shadow the note tables of *connection* by the rows that *scope* shows, and deny everything else."""
    condition = _condition(scope)
    connection.execute(f"CREATE TEMP VIEW files AS SELECT * FROM main.files WHERE {condition}")
    for table in _BY_PATH:
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} AS t"
            " WHERE EXISTS (SELECT 1 FROM temp.files AS f WHERE f.path = t.path)"
            if table != "problems" or scope.tags
            else f"CREATE TEMP VIEW problems AS SELECT * FROM main.problems WHERE {_folder_condition(scope)}"
        )
    for table in NOTE_TABLES:
        if scope.whole_vault:
            # Their rows come and go with the note, in one transaction: none is without.
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table}")
            continue
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} AS t"
            " WHERE EXISTS (SELECT 1 FROM temp.files AS f WHERE f.doc = t.doc)"
        )
    for table in GRAPH_TABLES:
        # What the whole vault knows of its neighbours tells of notes outside; a scope finds its own.
        where = "" if scope.whole_vault else " WHERE 0"
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table}{where}")
    connection.execute("PRAGMA query_only = 1")
    # The names that the views shadow are known to SQLite from here on; no statement may look behind them.
    connection.authorizer = _authorize


def _authorize(action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
    del second
    # *view* is also the name of any common table expression, which must open nothing.
    if action == apsw.SQLITE_READ and database == "main" and first in _PRIVATE and view not in _VIEWS:
        return apsw.SQLITE_DENY
    if action == apsw.SQLITE_READ and first in _PRIVATE - _VIEWS:
        return apsw.SQLITE_DENY
    if action == apsw.SQLITE_PRAGMA:
        return apsw.SQLITE_OK if first == "data_version" else apsw.SQLITE_DENY
    return apsw.SQLITE_OK if action in _ALLOWED_ACTIONS else apsw.SQLITE_DENY


def _condition(scope: Scope) -> str:
    # A row without a number was written by the first version's program since our last sync.
    parts = ["doc IS NOT NULL", _folder_condition(scope)]
    for tag in scope.tags:
        key = tag_key(tag)
        parts.append(
            "EXISTS (SELECT 1 FROM main.tags t WHERE t.path = files.path AND (t.key = "
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
