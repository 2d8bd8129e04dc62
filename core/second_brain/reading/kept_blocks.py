"""The blocks of the notes whose mentions were shown last, kept between calls."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from second_brain.index import catalog
from second_brain.reading.note_blocks import NoteBlocks

if TYPE_CHECKING:
    from second_brain.index.reader import Reader

MOST = 3_000_000
"""Characters of all texts that are kept; their structure takes a few times as many bytes."""


def blocks_of(reader: Reader, doc: int) -> NoteBlocks:
    """The blocks of the note number *doc* as the index has its text; numbers are never used twice."""
    if "blocks" not in reader.held:
        reader.held["blocks"] = _Kept()
    kept: _Kept = reader.held["blocks"]
    return kept.of(reader, doc)


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
