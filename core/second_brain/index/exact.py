"""Find every note that holds a quoted piece of text, as a plain scan of the notes would.

Compared is the NFC form without regard to case (`text.exact`).  Whole words inside the piece narrow the notes through the
word index; what is left is decided by looking at the stored text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from second_brain.index.numbers import numbers
from second_brain.index.text import exact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader

_PLAIN_WORD = re.compile(r"[a-z0-9]{1,64}\Z")  # of a longer word the index knows the beginning only
_SURROGATE = re.compile("[\ud800-\udfff]")  # in no stored text
_SCAN_SHARE = 0.4
"""Above this share of candidates a plain scan in storage order is faster than jumping between notes."""


def holders(reader: Reader, piece: str) -> NDArray[np.bool_]:
    """Which visible notes (places in `reader.columns`) hold *piece*; all of them for an empty piece."""
    needle = exact(piece)
    columns = reader.columns
    if not needle:
        return np.ones(len(columns), dtype=np.bool_)
    if _SURROGATE.search(needle):
        return np.zeros(len(columns), dtype=np.bool_)
    candidates = _candidates(reader, needle)
    if candidates is not None and candidates.sum() < _SCAN_SHARE * len(columns):
        docs = np.sort(columns.docs[candidates])
        reader.counters.texts_scanned += len(docs)
        rows = reader.connection.execute(
            "SELECT doc FROM texts WHERE doc IN carray(?) AND instr(exact, ?) > 0", (numbers(docs), needle.encode())
        )
    else:
        reader.counters.texts_scanned += len(columns)
        rows = reader.connection.execute("SELECT doc FROM texts WHERE instr(exact, ?) > 0", (needle.encode(),))
    found = np.array([doc for (doc,) in rows], dtype=np.int64)
    mask = np.zeros(len(columns), dtype=np.bool_)
    places, _ = columns.places(found)
    mask[places] = True
    return mask


def texts(reader: Reader, mask: NDArray[np.bool_]) -> Iterator[tuple[str, int, str, bytes]]:
    """(path, number, text, `text.exact` of it in UTF-8) of the notes in *mask* (places in `reader.columns`), in path order."""
    docs = np.sort(reader.columns.docs[mask])
    return iter(
        reader.connection.execute(
            "SELECT f.path, f.doc, t.text, t.exact FROM files f JOIN texts t ON t.doc = f.doc WHERE f.doc IN carray(?)"
            " ORDER BY f.path",
            (numbers(docs),),
        )
    )


def _candidates(reader: Reader, needle: str) -> NDArray[np.bool_] | None:
    """Notes that hold all whole words of the piece; None when it has none.

    Only words with white space on both sides inside the piece are surely whole in the note too.
    """
    inner = needle.split()
    inner = inner[0 if needle[0].isspace() else 1 : None if needle[-1].isspace() else -1]
    mask: NDArray[np.bool_] | None = None
    for word in sorted({word for word in inner if _PLAIN_WORD.match(word)}):
        places, _ = reader.occurrences(word)
        holds = np.zeros(len(reader.columns), dtype=np.bool_)
        holds[places] = True
        mask = holds if mask is None else mask & holds
    return mask
