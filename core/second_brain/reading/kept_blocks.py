"""The structure of notes that were looked into, kept between calls.

What is kept is keyed by the number of a note, which a changed text never has again.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from second_brain.index import catalog
from second_brain.reading.note_blocks import NoteBlocks
from second_brain.vault import head
from second_brain.vault.blocks import BlockScanner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.index.reader import Reader

MOST = 3_000_000
"""Characters of all texts that are kept; their structure takes a few times as many bytes."""

MOST_RUNS = 30_000
"""Notes of which the places of running text are kept; a few hundred bytes each."""


def blocks_of(reader: Reader, doc: int) -> NoteBlocks:
    """The blocks of the note number *doc* as the index has its text; numbers are never used twice."""
    if "blocks" not in reader.held:
        reader.held["blocks"] = _Kept()
    kept: _Kept = reader.held["blocks"]
    return kept.of(reader, doc)


class Runs(NamedTuple):
    """Where a note has running text: the lines (from 0) from each of `starts` to before that of `ends`, in order."""

    starts: Sequence[int]
    ends: Sequence[int]


def runs_of(reader: Reader, doc: int, text: str) -> Runs:
    """The running text of the note number *doc*, whose text is *text*."""
    kept: dict[int, Runs] = reader.held.setdefault("runs", {})
    if doc not in kept:
        while len(kept) >= MOST_RUNS:
            del kept[next(iter(kept))]
        runs = sorted(BlockScanner(text.split("\n"), head.end_line(text)).runs)
        kept[doc] = Runs(array("i", [start for start, _ in runs]), array("i", [end for _, end in runs]))
    return kept[doc]


class _Kept:
    """The last used first."""

    def __init__(self) -> None:
        self._notes: OrderedDict[int, tuple[NoteBlocks, int]] = OrderedDict()
        self._size = 0

    def of(self, reader: Reader, doc: int) -> NoteBlocks:
        if doc in self._notes:
            self._notes.move_to_end(doc)
            return self._notes[doc][0]
        text = catalog.text_of(reader, doc)
        blocks = NoteBlocks(text)
        self._notes[doc] = blocks, len(text)
        self._size += len(text)
        while self._size > MOST and len(self._notes) > 1:
            self._size -= self._notes.popitem(last=False)[1][1]
        return blocks
