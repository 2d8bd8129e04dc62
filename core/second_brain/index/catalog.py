"""What the index knows of the notes it shows: names, tags, folders, properties, links, problems, counts."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from second_brain.index import schema
from second_brain.index.numbers import numbers
from second_brain.model import FileStat, Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from second_brain.index.reader import Reader


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note as the index has it; times in epoch seconds."""

    doc: int
    path: str
    title: str
    content_hash: str
    modified: float
    mtime: float
    mtime_ns: int
    size: int
    words: int


_NOTE = (
    "SELECT doc, path, coalesce(title, ''), coalesce(content_hash, ''), coalesce(content_mtime, mtime, 0), coalesce(mtime, 0),"
    " coalesce(mtime_ns, 0), coalesce(size, -1), words FROM files"
)


def notes(reader: Reader, docs: Sequence[int]) -> dict[int, NoteRow]:
    """The rows of *docs*; unknown ones are missing from the answer."""
    rows = reader.connection.execute(f"{_NOTE} WHERE doc IN carray(?)", (numbers(docs),))
    return {row[0]: NoteRow(*row) for row in rows} if len(docs) else {}


def note_at(reader: Reader, path: str) -> NoteRow | None:
    """The note of exactly this path."""
    row = reader.connection.execute(f"{_NOTE} WHERE path = ?", (path,)).fetchone()
    return NoteRow(*row) if row else None


def text_of(reader: Reader, doc: int) -> str:
    """The text of a note as its rows were made from it, redacted; "" for an unknown number."""
    return reader.connection.execute("SELECT text FROM texts WHERE doc = ?", (doc,)).get or ""


def stamps(reader: Reader) -> dict[str, tuple[int | None, int | None]]:
    """Time stamp (nanoseconds) and size of every note's file as it was read; None where that must be done again."""
    rows = reader.connection.execute("SELECT path, mtime_ns, size FROM files")
    return {path: (mtime_ns, size) for path, mtime_ns, size in rows}


class IndexedFile(NamedTuple):
    """A note's file as it was read; without a `stat` it must be read again."""

    stat: FileStat | None
    content_hash: str
    form: str


def indexed_files(reader: Reader) -> dict[str, IndexedFile]:
    """The files of all notes by their paths."""
    rows = reader.connection.execute(
        "SELECT path, mtime_ns, size, coalesce(content_hash, ''), coalesce(form, '') FROM files"
    )
    return {
        path: IndexedFile(None if mtime_ns is None or size is None else FileStat(mtime_ns, size), content_hash, form)
        for path, mtime_ns, size, content_hash, form in rows
    }


def layout_in_use(reader: Reader) -> dict[int, Layout]:
    """How notes are cut for the model that answers, by its number; nothing without a model."""
    rows = reader.connection.execute(
        "SELECT l.id, l.size, l.overlap FROM models m JOIN layouts l ON l.id = m.layout WHERE m.state = 'active'"
    )
    return {number: Layout(size, overlap) for number, size, overlap in rows}


def paths(reader: Reader) -> list[str]:
    """The paths of all notes, in no order."""
    return [path for (path,) in reader.connection.execute("SELECT path FROM files")]


def paths_in_order(reader: Reader) -> list[str]:
    """The paths of all notes, ascending."""
    return [path for (path,) in reader.connection.execute("SELECT path FROM files ORDER BY path")]


def titles(reader: Reader) -> dict[str, str]:
    """The title of every note by its path."""
    return dict(reader.connection.execute("SELECT path, coalesce(title, '') FROM files"))


def stems(reader: Reader, key: str) -> list[str]:
    """The file names, without ``.md``, whose folded form is *key*."""
    rows = reader.connection.execute("SELECT name FROM names WHERE folded = ? AND kind = 'stem'", (key,))
    return [name for (name,) in rows]


def newest_chunk_count(reader: Reader) -> int:
    """How many chunks the newest way of cutting gave."""
    sql = "SELECT count(*) FROM chunks WHERE layout = (SELECT max(layout) FROM chunks)"
    return int(reader.connection.execute(sql).get or 0)


def newest(reader: Reader, limit: int, places: np.ndarray[Any, np.dtype[np.intp]] | None) -> list[NoteRow]:
    """The *limit* notes whose content changed last, of those at *places* (None: of all)."""
    where: str = ""
    values: tuple[Any, ...] = ()
    if places is not None:
        if not len(places):
            return []
        where, values = " WHERE doc IN carray(?)", (numbers(reader.columns.docs[places].tolist()),)
    rows = reader.connection.execute(
        f"{_NOTE}{where} ORDER BY coalesce(content_mtime, mtime, 0) DESC, path LIMIT ?", (*values, limit)
    )
    return [NoteRow(*row) for row in rows]


def tags_of(reader: Reader, paths: Sequence[str]) -> dict[str, list[str]]:
    """The tags of each path as typed, those of the frontmatter first; only tags of indexed notes count."""
    found: dict[str, list[str]] = {path: [] for path in paths}
    for path in paths:
        rows = reader.connection.execute("SELECT tag FROM tags WHERE path = ? ORDER BY source, tag", (path,))
        seen: set[str] = set()
        for (tag,) in rows:
            if (key := schema.tag_key(tag)) not in seen:
                seen.add(key)
                found[path].append(tag)
    return found


def tag_keys(reader: Reader, paths: Sequence[str] | None) -> dict[str, dict[str, str]]:
    """By path, the tags of *paths* (None: of all notes) as their key and as typed; notes without a tag are missing."""
    sql = "SELECT path, key, tag FROM tags"
    values: tuple[Any, ...] = ()
    if paths is not None:
        if not paths:
            return {}
        sql, values = f"{sql} WHERE path IN carray(?)", (apsw.carray(tuple(paths)),)
    found: dict[str, dict[str, str]] = {}
    for path, key, tag in reader.connection.execute(f"{sql} ORDER BY path, source, tag", values):
        found.setdefault(path, {}).setdefault(key, tag)
    return found


def tag_counts(reader: Reader) -> Counter[str]:
    """In how many notes each tag stands, under its most common spelling (ties: the first in code point order)."""
    spellings: dict[str, Counter[str]] = {}
    notes_of: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for path, tag, key in reader.connection.execute("SELECT path, tag, key FROM tags"):
        spellings.setdefault(key, Counter())[tag] += 1
        if (path, key) not in seen:
            seen.add((path, key))
            notes_of[key] += 1
    return Counter(
        {min(counts, key=lambda tag: (-counts[tag], tag)): notes_of[key] for key, counts in spellings.items()}
    )


def folder_counts(reader: Reader) -> Counter[str]:
    """How many notes lie in or below each folder; "" is the vault."""
    own = Counter(path.rpartition("/")[0] for (path,) in reader.connection.execute("SELECT path FROM files"))
    found: Counter[str] = Counter()
    for folder, count in own.items():
        found[""] += count
        above = folder
        while above:
            found[above] += count
            above = above.rpartition("/")[0]
    return found


def property_examples(reader: Reader, limit: int) -> list[tuple[str, int, str]]:
    """The most used frontmatter keys: (key, values, the most common short value).

    Only the index over key and value is read, but for the examples themselves.
    """
    rows: list[Any] = reader.connection.execute(
        "SELECT key, count(doc) AS n FROM frontmatter GROUP BY key ORDER BY n DESC, key LIMIT ?", (limit,)
    ).fetchall()
    found = []
    for key, count in rows:
        common = reader.connection.execute(
            "SELECT folded FROM frontmatter WHERE key = ? AND folded <> '' AND length(folded) <= 40"
            " GROUP BY folded ORDER BY count(doc) DESC, folded LIMIT 1",
            (key,),
        ).get
        example = reader.connection.execute(
            "SELECT min(value) FROM frontmatter WHERE key = ? AND folded = ?", (key, common)
        ).get
        found.append((key, count, example or ""))
    return found


def date_range(reader: Reader) -> tuple[float, float] | None:
    """The oldest and the newest content time, epoch seconds; None without notes."""
    span: Any = reader.connection.execute(
        "SELECT min(coalesce(content_mtime, mtime)), max(coalesce(content_mtime, mtime)) FROM files"
    ).fetchone()
    low, high = span
    return None if low is None else (low, high)


def aliases(reader: Reader) -> dict[str, list[str]]:
    """Every visible note's path with its aliases, in path order."""
    found: dict[str, list[str]] = {
        path: [] for (path,) in reader.connection.execute("SELECT path FROM files ORDER BY path")
    }
    rows = reader.connection.execute(
        "SELECT f.path, n.name FROM names n JOIN files f ON f.doc = n.doc WHERE n.kind = 'alias' ORDER BY f.path, n.ordinal"
    )
    for path, alias in rows:
        found[path].append(alias)
    return found


def named(reader: Reader, folded: str) -> list[int]:
    """Notes whose title, file name or an alias is *folded* (see `schema.value_key`)."""
    rows = reader.connection.execute("SELECT DISTINCT doc FROM names WHERE folded = ?", (folded,))
    return [doc for (doc,) in rows]


class LinkRow(NamedTuple):
    """A link as it stands in a note; `doc` is the number of the note at `source`."""

    source: str
    target: str
    kind: str
    line: int
    column: int
    doc: int


_LINK = "SELECT f.path, l.target, l.kind, l.line, l.col, l.doc FROM links l JOIN files f ON f.doc = l.doc"


def links(reader: Reader, source: str | None = None) -> list[LinkRow]:
    """The links of one note or of all, in path and text order."""
    where, values = (" WHERE f.path = ?", (source,)) if source is not None else ("", ())
    return _link_rows(reader, f"{_LINK}{where} ORDER BY f.path, l.ordinal", values)


def links_by_key(reader: Reader, keys: Sequence[str]) -> list[LinkRow]:
    """The links whose `schema.link_key` is one of *keys*, in path and text order."""
    marks = ", ".join("?" * len(keys))
    return _link_rows(reader, f"{_LINK} WHERE l.key IN ({marks}) ORDER BY f.path, l.ordinal", tuple(keys))


def _link_rows(reader: Reader, sql: str, values: tuple[str, ...]) -> list[LinkRow]:
    rows: list[Any] = reader.connection.execute(sql, values).fetchall()
    return list(map(LinkRow._make, rows))


def names_of(reader: Reader, path: str) -> list[str]:
    """The file name, without ``.md``, and the aliases of the note at *path*."""
    rows = reader.connection.execute(
        "SELECT n.name FROM names n JOIN files f ON f.doc = n.doc WHERE f.path = ? AND n.kind <> 'title'"
        " ORDER BY n.ordinal",
        (path,),
    )
    return [name for (name,) in rows]


def bearers(reader: Reader, folded: str, kind: str) -> list[tuple[str, str]]:
    """(path, name) of the notes with a name of this *kind* ("stem", "alias") and folded form, in path order."""
    return list(
        reader.connection.execute(
            "SELECT f.path, n.name FROM names n JOIN files f ON f.doc = n.doc WHERE n.folded = ? AND n.kind = ?"
            " ORDER BY f.path, n.ordinal",
            (folded, kind),
        )
    )


def headings(reader: Reader, doc: int) -> list[tuple[int, str, int, list[str]]]:
    """(level, text, line, path) of a note's headings."""
    rows = reader.connection.execute(
        "SELECT level, text, line, path FROM headings WHERE doc = ? ORDER BY ordinal", (doc,)
    )
    return [(level, text, line, json.loads(path)) for level, text, line, path in rows]


def heading_paths(reader: Reader, places: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
    """The headings above each (doc, line), outermost first; one on the line itself is among them."""
    rows = reader.connection.execute(
        "SELECT doc, line, path FROM headings WHERE doc IN carray(?) ORDER BY doc, ordinal",
        (numbers(sorted({doc for doc, _ in places})),),
    )
    lines: dict[int, list[int]] = {}
    paths: dict[int, list[str]] = {}
    for doc, line, path in rows:
        lines.setdefault(doc, []).append(line)
        paths.setdefault(doc, []).append(path)
    found = []
    for doc, line in places:
        above = bisect_right(lines.get(doc, ()), line)
        found.append(tuple(json.loads(paths[doc][above - 1])) if above else ())
    return found


def problems(reader: Reader) -> list[tuple[str, str]]:
    """(path, reason) of everything that could not be (fully) read."""
    return list(reader.connection.execute("SELECT path, reason FROM problems ORDER BY path"))


def note_count(reader: Reader) -> int:
    """How many notes are visible."""
    return int(reader.connection.execute("SELECT count(doc) FROM files").get)


def meta(reader: Reader, key: str) -> str:
    """A figure that the writer remembered, "" without one; never of a note."""
    return schema.get_meta(reader.connection, key)
