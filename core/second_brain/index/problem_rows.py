"""The rows that say why something is not, or not fully, in the index: one per path, inside the caller's transaction.

What says nothing new writes nothing: a note that stays unreadable is looked at every few minutes, and readers begin anew after
every change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

NOT_EMBEDDED = "a passage could not be embedded"
"""Opens the reason of a note that is whole but for a vector."""


def put(connection: apsw.Connection, path: str, reason: str) -> None:
    """Say why *path* could not be (fully) read; "" forgets what was said before."""
    if not reason:
        connection.execute("DELETE FROM problems WHERE path = ?", (path,))
        return
    connection.execute(
        "INSERT INTO problems(path, reason) VALUES(?1, ?2) ON CONFLICT(path)"
        " DO UPDATE SET reason = ?2, from_scan = 0 WHERE reason <> ?2 OR from_scan",
        (path, reason),
    )


def put_refused(connection: apsw.Connection, reasons: Mapping[int, str]) -> None:
    """Say why passages of some notes (by doc) have no vector, where nothing worse is said."""
    connection.executemany(
        "INSERT INTO problems(path, reason) SELECT path, ? FROM files WHERE doc = ?"
        " ON CONFLICT(path) DO UPDATE SET reason = excluded.reason"
        " WHERE reason GLOB ? AND reason <> excluded.reason",
        ((f"{NOT_EMBEDDED}: {reason}", doc, NOT_EMBEDDED + "*") for doc, reason in reasons.items()),
    )


def forget_refused(connection: apsw.Connection, waiting: set[str]) -> None:
    """Forget that for all notes that are not *waiting* for a vector any more."""
    rows = connection.execute("SELECT path FROM problems WHERE reason GLOB ?", (NOT_EMBEDDED + "*",)).fetchall()
    connection.executemany("DELETE FROM problems WHERE path = ?", (row for row in rows if row[0] not in waiting))


def replace_scan_problems(connection: apsw.Connection, problems: Mapping[str, str], present: set[str]) -> None:
    """Say what a scan of the whole vault could not list, instead of what the one before could not.

    Problems of notes that are neither *present* nor in the index are forgotten too.
    """
    before: list[Any] = connection.execute("SELECT path, reason FROM problems WHERE from_scan").fetchall()
    if dict(before) != problems:
        connection.execute("DELETE FROM problems WHERE from_scan")
        connection.executemany(
            "INSERT OR REPLACE INTO problems(path, reason, from_scan) VALUES(?, ?, 1)", problems.items()
        )
    rows = connection.execute(
        "SELECT path FROM problems WHERE NOT from_scan AND path NOT IN (SELECT path FROM files)"
    ).fetchall()
    connection.executemany("DELETE FROM problems WHERE path = ?", (row for row in rows if row[0] not in present))
