"""Which notes a filter on properties, paths or links lets through, as masks over the reader's columns.

Property names are compared without regard to case, as Obsidian does; their values exactly.
"""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

from second_brain.index import chunk_parts
from second_brain.index.selection import Condition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader


def path_starts(prefix: str) -> Condition:
    """Notes whose path starts with *prefix*, letter by letter, in either Unicode form a file system may have stored."""
    forms = sorted({prefix, unicodedata.normalize("NFC", prefix), unicodedata.normalize("NFD", prefix)})
    return Condition(
        "(" + " OR ".join(["substr(path, 1, length(?)) = ?"] * len(forms)) + ")",
        tuple(form for form in forms for _ in range(2)),
    )


def indexed_since(moment: float) -> Condition:
    """Notes whose file was changed at *moment* (epoch seconds) or later, as far as the index knows."""
    return Condition("mtime >= ?", (moment,))


def matching(reader: Reader, passes: Callable[[dict[str, Any]], bool], *, key: str = "") -> NDArray[np.bool_]:
    """Notes whose frontmatter, as JSON values, *passes*; with *key* only those that have a scalar under it are looked at."""
    where = " WHERE doc IN (SELECT doc FROM frontmatter WHERE key = ? COLLATE NOCASE)" if key else ""
    rows = reader.connection.execute(
        f"SELECT doc, coalesce(properties, '{{}}') FROM files{where}", (key,) if key else ()
    )
    return mask(reader, [doc for doc, properties in rows if passes(json.loads(properties))])


def with_path(reader: Reader, passes: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Notes whose path *passes*."""
    return mask(reader, [doc for doc, path in reader.connection.execute("SELECT doc, path FROM files") if passes(path)])


def with_mtime(reader: Reader, passes: Callable[[float | None], bool]) -> NDArray[np.bool_]:
    """Notes whose file's time stamp (epoch seconds) *passes*."""
    rows = reader.connection.execute("SELECT doc, mtime FROM files")
    return mask(reader, [doc for doc, mtime in rows if passes(mtime)])


def with_links(reader: Reader, passes: Callable[[list[str]], bool]) -> NDArray[np.bool_]:
    """Notes whose link targets, as written and each once, *pass*."""
    docs = reader.columns.docs.tolist()
    targets = chunk_parts.link_targets(reader, docs)
    return mask(reader, [doc for doc in docs if passes(targets[doc])])


def with_text(reader: Reader, key: str, passes: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Notes with a scalar under the property *key* (also in a list) that *passes* as the text that was typed."""
    rows = list(reader.connection.execute("SELECT doc, value FROM frontmatter WHERE key = ? COLLATE NOCASE", (key,)))
    accepted = {value for value in {value for _, value in rows} if passes(value)}
    return mask(reader, [doc for doc, value in rows if value in accepted])


def first_texts(reader: Reader, keys: Sequence[str]) -> dict[int, str]:
    """By note, the first scalar of the first of *keys* that it has."""
    found: dict[int, str] = {}
    for key in keys:
        rows = reader.connection.execute(
            "SELECT doc, value FROM frontmatter WHERE key = ? COLLATE NOCASE ORDER BY doc, ordinal", (key,)
        )
        for doc, value in rows:
            found.setdefault(doc, value)
    return found


def is_known(reader: Reader, key: str) -> bool:
    """Whether any visible note has the property *key*."""
    return (
        reader.connection.execute("SELECT 1 FROM frontmatter WHERE key = ? COLLATE NOCASE LIMIT 1", (key,)).get
        is not None
    )


def mask(reader: Reader, docs: Iterable[int]) -> NDArray[np.bool_]:
    """The notes *docs*, all others out."""
    found = np.zeros(len(reader.columns), dtype=np.bool_)
    places, _ = reader.columns.places(np.array(list(docs), dtype=np.int64))
    found[places] = True
    return found
