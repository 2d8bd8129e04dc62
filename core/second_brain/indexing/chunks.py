"""Cut a note into passages of a size that an embedder takes.

Sections stay apart unless they are small; blocks stay whole unless they alone are too long; a fence or a table that must be cut
is cut between lines, and a table's later rows are embedded with its header.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from second_brain.index.text import UNSPACED
from second_brain.model import BlockKind, Chunk, Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from second_brain.model import Block, Heading, ParsedNote

SMALL_SECTION = 0.15
"""A section below this share of the size joins its neighbour."""

SHORT_CHUNK = 0.35
"""A chunk below this share of the size takes the next section in."""

LONG_WORD = 16
UNIT_WORDS = 40
"""Longer lines are divided into units of about this size, so that chunks can overlap by less than a line."""

_UNSPACED = re.compile(f"[{UNSPACED}]+")
_PIECE = re.compile(r"[^.!?。！？\n]*[.!?。！？]+\s*|[^.!?。！？\n]+\s*")  # noqa: RUF001 - full-width punctuation is meant


def layout_for(chunk_size: int, chunk_overlap: int, max_words: int) -> Layout:
    """The smaller of the configured size and what the embedder takes, the overlap in proportion."""
    size = max(1, min(chunk_size, max_words))
    return Layout(size, min(round(chunk_overlap * size / chunk_size), size - 1))


def size_of(text: str) -> int:
    """Words; in scripts without spaces, characters; what is longer than words are (addresses, encoded data) counts by length."""
    pieces = text.split()
    words = len(pieces)
    if len(text) > LONG_WORD * words:
        words += sum(len(piece) // LONG_WORD for piece in pieces)
    return words if text.isascii() else words + sum(map(len, _UNSPACED.findall(text)))


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch of text that is never cut."""

    start: int
    end: int
    words: int
    context: str = ""  # what must be embedded before it when it does not open its chunk's block


@dataclass(slots=True)
class _Section:
    heading_path: tuple[str, ...]
    units: list[_Unit] = field(default_factory=list)
    words: int = 0


def split(note: ParsedNote, layout: Layout) -> list[Chunk]:
    """The chunks of *note*, in order; none for a note without text."""
    if not note.blocks:
        return []
    lines = note.text.split("\n")
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    whole = _Unit(offsets[note.blocks[0].start - 1], offsets[note.blocks[-1].end] - 1, 0)
    if size_of(note.text[whole.start : whole.end]) <= SHORT_CHUNK * layout.size:
        path = note.headings[0].path if note.headings and note.headings[0].line == note.blocks[0].start else ()
        return [_chunk(note, offsets, 0, path, [whole])]
    packed = [
        (path, group)
        for path, units in _join_small(_sections(note, offsets, layout), layout)
        for group in _pack(units, layout)
    ]
    return [_chunk(note, offsets, number, path, group) for number, (path, group) in enumerate(packed)]


def _chunk(
    note: ParsedNote, offsets: Sequence[int], ordinal: int, path: tuple[str, ...], units: Sequence[_Unit]
) -> Chunk:
    start, end = units[0].start, units[-1].end
    text = note.text[start:end].rstrip()
    end = start + len(text)
    prefix = embedding_prefix(note.own_title, path, units[0].context)
    return Chunk(
        ordinal, path, start, end, _line_at(offsets, start), _line_at(offsets, max(start, end - 1)), text, prefix + text
    )


def embedding_prefix(own_title: str, heading_path: tuple[str, ...], context: str) -> str:
    """What stands before a chunk's text when it is embedded; never the file name, so that a move changes nothing."""
    names = [own_title] if own_title and (not heading_path or heading_path[0] != own_title) else []
    head = " > ".join([*names, *heading_path])
    return "\n".join(part for part in (head, context) if part) + ("\n" if head or context else "")


def _line_at(offsets: Sequence[int], offset: int) -> int:
    from bisect import bisect_right  # noqa: PLC0415

    return bisect_right(offsets, offset)


def _sections(note: ParsedNote, offsets: Sequence[int], layout: Layout) -> Iterator[_Section]:
    """One per heading, the text before the first one included; empty ones too, their heading is text."""
    by_line = {heading.line: heading for heading in note.headings}
    current = _Section(())
    for block in note.blocks:
        heading = by_line.get(block.start) if block.kind is BlockKind.HEADING else None
        if heading is not None:
            if current.units:
                yield current
            current = _Section(heading.path)
            current.units.append(_heading_unit(block, heading, offsets))
            continue
        for unit in _units(note.text, block, offsets, layout):
            current.units.append(unit)
            current.words += unit.words
    if current.units:
        yield current


def _heading_unit(block: Block, heading: Heading, offsets: Sequence[int]) -> _Unit:
    return _Unit(offsets[block.start - 1], offsets[block.end] - 1, size_of(heading.text))


def _units(text: str, block: Block, offsets: Sequence[int], layout: Layout) -> Iterator[_Unit]:
    start, end = offsets[block.start - 1], offsets[block.end] - 1
    words = size_of(text[start:end])
    if words <= min(UNIT_WORDS, layout.size) or (block.kind is BlockKind.FENCE and words <= layout.size):
        yield _Unit(start, end, words)
        return
    header = (
        text[start : offsets[block.start + 1] - 1] if block.kind is BlockKind.TABLE and block.end > block.start else ""
    )
    for line in range(block.start, block.end + 1):
        first, last = offsets[line - 1], offsets[line] - 1
        context = header if line > block.start + 1 else ""
        yield from _line_units(text, first, last, context, layout)


def _line_units(text: str, first: int, last: int, context: str, layout: Layout) -> Iterator[_Unit]:
    most = min(UNIT_WORDS, layout.size)
    line = text[first:last]
    if size_of(line) <= most:
        yield _Unit(first, last, size_of(line), context)
        return
    for piece in _PIECE.finditer(line):
        yield from _windows(text, first + piece.start(), first + piece.end(), context, most)


def _windows(text: str, first: int, last: int, context: str, most: int) -> Iterator[_Unit]:
    """Cut what has no sentence end at white space; what has none at the given number of characters."""
    size = size_of(text[first:last])
    if size <= most:
        yield _Unit(first, last, size, context)
        return
    start, words = first, 0
    for match in re.finditer(r"\S+\s*", text[first:last]):
        token = match.group()
        weight = size_of(token)
        if words and words + weight > most:
            yield _Unit(start, first + match.start(), words, context)
            start, words = first + match.start(), 0
        if weight > most:
            step = most if _UNSPACED.search(token) else most * LONG_WORD
            for cut in range(0, len(token), step):
                begin = first + match.start() + cut
                stop = min(begin + step, first + match.end())
                yield _Unit(start if cut == 0 else begin, stop, min(most, size_of(text[begin:stop])), context)
            start, words = first + match.end(), 0
        else:
            words += weight
    if start < last:
        yield _Unit(start, last, words, context)


def _join_small(sections: Iterable[_Section], layout: Layout) -> Iterator[tuple[tuple[str, ...], list[_Unit]]]:
    """Small sections together, as far as they fit; they go by the heading of the first."""
    path: tuple[str, ...] = ()
    units: list[_Unit] = []
    words = 0
    for section in sections:
        total = sum(unit.words for unit in section.units)
        small = section.words < SMALL_SECTION * layout.size or words < SHORT_CHUNK * layout.size
        if units and not (small and words + total <= layout.size):
            yield path, units
            units, words = [], 0
        if not units:
            path = section.heading_path
        units = units + section.units
        words += total
    if units:
        yield path, units


def _pack(units: Sequence[_Unit], layout: Layout) -> Iterator[list[_Unit]]:
    """Fill chunks up to the size; each but the first opens with the last units of the one before, up to the overlap."""
    current: list[_Unit] = []
    words = 0
    fresh = 0
    for unit in units:
        if fresh and words + unit.words > layout.size:
            yield current
            current = _tail(current, min(layout.overlap, layout.size - unit.words))
            words, fresh = sum(kept.words for kept in current), 0
        current = [*current, unit]
        words += unit.words
        fresh += 1
    if fresh:
        yield current


def _tail(units: Sequence[_Unit], words: int) -> list[_Unit]:
    kept: list[_Unit] = []
    for unit in reversed(units):
        words -= unit.words
        if words < 0:
            break
        kept.insert(0, unit)
    return kept if len(kept) < len(units) else kept[1:]
